"""What an answer is made of, before any of it is sent."""

import gzip
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from terrain.sampleweb.answers import Answer
from terrain.sampleweb.behaviours import Behaviour, Flaky, Slow
from terrain.sampleweb.bodies import Stream, filler, gzip_bomb, in_chunks, in_pieces, shortened
from terrain.sampleweb.pages import Html, Status
from terrain.sampleweb.responder import Responder
from terrain.sampleweb.web import Host, Latency, Web
from tests.sampleweb.web_strategies import behaviours

parts = st.lists(st.binary(max_size=30), max_size=6)


def answered(behaviour: Behaviour, method: str = "GET", target: str = "/") -> Answer:
    web = Web({"a.test": Host(otherwise=behaviour)})
    return Responder(web).answer("a.test", target, method, "https")


@given(behaviours, st.sampled_from(["GET", "HEAD"]), st.text("/a0?", min_size=1, max_size=5))
def test_every_behaviour_has_an_answer_and_a_whole_one_is_as_long_as_it_says(
    behaviour: Behaviour, method: str, target: str
) -> None:
    answer = answered(behaviour, method, target)
    head = answer.head()
    if answer.framing == "raw":
        assert head == b""
    else:
        assert head.startswith(f"HTTP/1.1 {answer.status} ".encode())
        assert head.endswith(b"\r\n\r\n")
    if answer.is_whole and answer.framing == "length" and isinstance(answer.body, bytes):
        sent = sum(map(len, answer.body_parts()))
        if sent or b"Content-Length" in head:
            assert f"Content-Length: {sent}\r\n".encode() in head


@given(st.integers(0, 300_000), st.binary(max_size=9), st.binary(min_size=1, max_size=9))
def test_a_filled_body_begins_as_told_and_has_its_size(
    size: int, start: bytes, fill: bytes
) -> None:
    body = filler(size, start=start[:size], fill=fill)
    data = b"".join(body) if isinstance(body, Stream) else body
    assert len(body) == len(data) == size
    assert data.startswith(start[:size])


@given(st.integers(1, 5_000_000))
def test_a_bomb_is_valid_gzip_of_the_announced_lengths(size: int) -> None:
    bomb = gzip_bomb(size)
    data = b"".join(bomb)
    assert len(bomb) == len(data)
    assert len(gzip.decompress(data)) == size


def test_a_bomb_of_a_terabyte_is_not_packed_before_it_is_sent() -> None:
    bomb = gzip_bomb(10**12)
    assert len(bomb) < 2 * 10**9
    assert next(islice(bomb, 1, None))


@given(parts)
def test_chunks_read_back_as_the_body(body: list[bytes]) -> None:
    wire = b"".join(in_chunks(body))
    read = b""
    while True:
        size, _, wire = wire.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            break
        read, wire = read + wire[:length], wire[length + 2 :]
    assert read == b"".join(body)
    assert wire == b"\r\n"


@given(parts, st.integers(0, 100))
def test_a_shortened_body_is_a_beginning(body: list[bytes], limit: int) -> None:
    assert b"".join(shortened(body, limit)) == b"".join(body)[:limit]


@given(parts, st.integers(1, 40))
def test_pieces_are_the_same_bytes_none_larger_than_asked(body: list[bytes], size: int) -> None:
    pieces = list(in_pieces(body, size))
    assert b"".join(pieces) == b"".join(body)
    assert all(0 < len(piece) <= size for piece in pieces)


def test_a_page_is_answered_in_one_go_unless_it_is_slow_or_large() -> None:
    assert answered(Html("x", size=20_000)).in_one_go
    assert not answered(Slow(1, Html("x"))).in_one_go
    assert not answered(Html("x", size=1_000_000)).in_one_go


def test_turns_are_counted_by_host_and_address() -> None:
    page = Flaky((Status(500), Status(200)))
    web = Web({"a.test": Host(otherwise=page), "b.test": Host(otherwise=page)})
    responder = Responder(web)
    asked = [("a.test", "/1"), ("a.test", "/2"), ("b.test", "/1"), ("a.test", "/1")]
    answers = [responder.answer(host, target, "GET", "https") for host, target in asked]
    assert [answer.status for answer in answers] == [500, 500, 500, 200]


def test_a_host_is_found_with_a_trailing_dot_too() -> None:
    responder = Responder(Web({"a.test": Host({"/": Html("x")})}))
    assert responder.answer("a.test.", "/", "GET", "https").status == 200


def latencies(latency: Latency, targets: list[str]) -> list[float]:
    responder = Responder(Web({"a.test": Host()}, latency=latency))
    return [responder.answer("a.test", target, "GET", "https").delay for target in targets]


def test_latency_is_the_same_for_the_same_seed_whatever_the_order() -> None:
    latency = Latency(0.1, seed=3)
    there = latencies(latency, ["/1", "/2", "/3"])
    back = latencies(latency, ["/3", "/2", "/1"])
    assert there == back[::-1]
    assert len(set(there)) == 3
    assert there != latencies(Latency(0.1, seed=4), ["/1", "/2", "/3"])


def test_latency_has_its_median_and_never_exceeds_its_ceiling() -> None:
    drawn = sorted(latencies(Latency(0.1, sigma=1, ceiling=0.5), [f"/{n}" for n in range(999)]))
    assert 0.08 < drawn[499] < 0.12
    assert drawn[-1] == 0.5
    assert drawn[0] > 0


def test_latency_without_spread_is_the_median() -> None:
    assert latencies(Latency(0.1, sigma=0), ["/1", "/2"]) == [0.1, 0.1]
