"""The request log: what stands in it, when, and what the helpers make of it."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.sampleweb.behaviours import HalfBody, Slow
from terrain.sampleweb.log import (
    Contact,
    Exchange,
    LogWriter,
    by_host,
    gaps,
    host_key,
    max_in_flight,
    read,
    read_contacts,
)
from terrain.sampleweb.pages import BigBody, Hang, Html, Status
from terrain.sampleweb.web import Host
from tests.sampleweb.webclient import Client, ask, read_all, request

PAGE = Html("Logged", size=1_000)


def exchange(host: str, start: float, end: float) -> Exchange:
    return Exchange(
        host, 443, "https", host, "GET", "/", "Probe/1", "get", 1, start, end, 200, 9, "done"
    )


def test_an_exchange_is_logged_with_all_that_was_asked_and_sent(client: Client) -> None:
    client.serve({"www.a.test": Host({"/x?q=1": PAGE}, robots="")})
    session = client.session("www.a.test")
    ask(session, "/robots.txt")
    ask(session, "/x?q=1", "HEAD")
    reply = ask(session, "/x?q=1")
    robots, head, get = client.log()
    assert [record.kind for record in (robots, head, get)] == ["robots", "head", "get"]
    assert (get.host, get.key, get.port, get.sni) == ("www.a.test", "a.test", 443, "www.a.test")
    assert (get.method, get.target, get.scheme) == ("GET", "/x?q=1", "https")
    assert get.url == "https://www.a.test/x?q=1"
    assert (get.user_agent, get.status, get.outcome) == ("Probe/1", 200, "done")
    assert get.bytes == head.bytes + len(reply.body)
    assert robots.connection == head.connection == get.connection
    assert robots.start <= robots.end <= head.start <= head.end <= get.start <= get.end


def test_the_port_of_the_host_header_is_kept_apart(client: Client) -> None:
    client.serve({"a.test": Host({"/": PAGE}), "[2001:db8::1]": Host({"/": PAGE})})
    for host in ("a.test:8443", "[2001:db8::1]:8443", "[2001:db8::1]"):
        sock = client.connect("a.test")
        sock.sendall(request(host, extra="Connection: close\r\n"))
        read_all(sock)
    records = client.log()
    assert [(record.host, record.port, record.status) for record in records] == [
        ("a.test", 8443, 200),
        ("[2001:db8::1]", 8443, 200),
        ("[2001:db8::1]", 443, 200),
    ]
    assert records[0].url == "https://a.test:8443/"
    assert records[0].sni == "a.test"


def test_one_connection_serves_many_requests_and_closes_when_asked(client: Client) -> None:
    client.serve({"a.test": Host({"/": PAGE})})
    sock = client.connect("a.test")
    # all at once: each waits for the one before it
    sock.sendall(request("a.test") * 3 + request("a.test", extra="Connection: close\r\n"))
    assert read_all(sock).count(b"HTTP/1.1 200 OK") == 4
    client.get("a.test")
    records = client.log()
    assert len({record.connection for record in records[:4]}) == 1
    assert records[4].connection != records[0].connection
    assert max_in_flight(records) == 1


def test_requests_that_overlap_are_seen_to_overlap(client: Client) -> None:
    client.serve({"a.test": Host({"/": Hang()}), "b.test": Host({"/": PAGE})})
    socks = [client.connect("a.test") for _ in range(3)]
    for sock in socks:
        sock.sendall(request("a.test"))
    # the server has read all three before it reads what was sent after them
    client.get("b.test")
    for sock in socks:
        sock.close()
    records = client.log_when(lambda records: len(records) == 4)
    hosts = by_host(records)
    assert max_in_flight(hosts["a.test"]) == 3
    assert max_in_flight(hosts["b.test"]) == 1
    assert max_in_flight(records) == 4
    assert all(gap.seconds < 0 for gap in gaps(records))


def test_an_exchange_lasts_until_its_last_byte(client: Client) -> None:
    client.serve({"a.test": Host({"/": Slow(0.02, PAGE), "/half": HalfBody(PAGE)})})
    client.get("a.test")
    client.talk("a.test", "/half")
    slow, half = client.log()
    assert slow.end - slow.start >= 0.02
    assert half.start >= slow.end


def test_the_gap_in_the_log_is_never_shorter_than_the_client_kept_it(client: Client) -> None:
    client.serve({"a.test": Host({"/": PAGE, "/big": BigBody(3_000_000)})})
    session = client.session("a.test")
    kept = []
    before = None
    for target in ["/", "/big"] * 20:
        if before is not None:
            kept.append(time.monotonic() - before)
        ask(session, target)
        before = time.monotonic()
    seen = [gap.seconds for gap in gaps(client.log())]
    assert len(seen) == len(kept)
    assert all(gap >= bound for gap, bound in zip(seen, kept, strict=True))


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GARBAGE\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 400),
        (b"GET https://a.test/ HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno header\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a.test:port\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, 431),
        (b"POST / HTTP/1.1\r\nHost: a.test\r\n\r\n", 405),
    ],
)
def test_what_cannot_be_answered_is_refused_and_logged(
    client: Client, sent: bytes, status: int
) -> None:
    client.serve({"a.test": Host({"/": PAGE})})
    sock = client.connect("a.test")
    sock.sendall(sent)
    assert read_all(sock).startswith(f"HTTP/1.1 {status} ".encode())
    (record,) = client.log()
    assert (record.status, record.kind) == (status, "other")


def test_old_clients_are_answered_and_closed_upon(client: Client) -> None:
    client.serve({"a.test": Host({"/": Status(200, b"hi")})})
    sock = client.connect("a.test")
    sock.sendall(b"GET / HTTP/1.0\r\nHost: a.test\r\n\r\n")
    assert read_all(sock).endswith(b"\r\n\r\nhi")


def test_a_contact_is_logged_for_every_hello(client: Client) -> None:
    client.serve({"a.test": Host({"/": PAGE})})
    client.connect("a.test").close()
    client.get("a.test")
    assert [(contact.host, contact.how) for contact in client.contacts()] == [
        ("a.test", "hello"),
        ("a.test", "hello"),
    ]
    assert len(client.log()) == 1


def test_a_log_is_read_as_it_was_written_without_a_last_half_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert read(path) == []
    later, sooner = exchange("b.test", 3.0, 4.0), exchange("a.test", 1.0, 5.0)
    contact = Contact("a.test", "hello", 0.5)
    writer = LogWriter(path)
    for record in (later, contact, sooner):
        writer.write(record)
    writer.close()
    assert all(json.loads(line) for line in path.read_text().splitlines())
    with path.open("a") as file:
        file.write('{"event": "exchange", "ho')
    assert read(path) == [sooner, later]
    assert read_contacts(path) == [contact]


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("a.test", "a.test"),
        ("www.a.test", "a.test"),
        ("WWW.A.test:8443", "a.test"),
        ("a.test.", "a.test"),
        ("wwwa.test", "wwwa.test"),
        ("[2001:db8::1]:8443", "[2001:db8::1]"),
        ("192.0.2.1:80", "192.0.2.1"),
    ],
)
def test_the_key_of_a_host_has_no_www_and_no_port(host: str, key: str) -> None:
    assert host_key(host) == key


def test_gaps_run_from_the_latest_end_to_the_next_start_within_a_host() -> None:
    records = [
        exchange("www.a.test", 0.0, 10.0),
        exchange("b.test", 1.0, 2.0),
        exchange("a.test", 3.0, 4.0),
        exchange("a.test", 12.5, 13.0),
        exchange("b.test", 2.5, 3.0),
    ]
    assert [(gap.key, gap.seconds) for gap in gaps(records)] == [
        ("a.test", -7.0),
        ("a.test", 2.5),
        ("b.test", 0.5),
    ]
    assert gaps(records)[1].before is records[0]
    by_name = gaps(records, lambda record: record.host)
    assert [(gap.key, gap.seconds) for gap in by_name] == [("b.test", 0.5), ("a.test", 8.5)]


def test_exchanges_that_only_touch_are_not_in_flight_together() -> None:
    assert max_in_flight([]) == 0
    assert max_in_flight([exchange("a", 1.0, 1.0)]) == 1
    assert max_in_flight([exchange("a", 1.0, 2.0), exchange("a", 2.0, 3.0)]) == 1
    assert max_in_flight([exchange("a", 1.0, 2.1), exchange("a", 2.0, 3.0)]) == 2


spans = st.tuples(st.integers(0, 20), st.integers(1, 10)).map(lambda s: (s[0], s[0] + s[1]))


@given(st.lists(spans, max_size=12))
def test_max_in_flight_is_what_a_count_at_every_moment_finds(found: list[tuple[int, int]]) -> None:
    records = [exchange("a", float(start), float(end)) for start, end in found]
    counts = [sum(start <= moment < end for start, end in found) for moment in range(32)]
    assert max_in_flight(records) == max(counts)
