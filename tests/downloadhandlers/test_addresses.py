"""Where names and addresses lead, and which addresses are of the public internet."""

import asyncio
import ipaddress
import socket
import ssl
import threading
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp.client_reqrep import ConnectionKey
from hypothesis import given
from hypothesis import strategies as st

from terrain.config import parse_config
from terrain.downloadhandlers import addresses
from terrain.downloadhandlers.addresses import (
    TLS_BUFFER,
    GuardedConnector,
    GuardedResolver,
    LookupFailed,
    PrivateAddress,
    is_public,
)
from terrain.rules.urls import UrlRules

ENTRY = '[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/"]\n'


def resolver(network: str = "", retry: str = "") -> GuardedResolver:
    text = f"[network]\n{network}\n[retry]\n{retry}\n{ENTRY}"
    return GuardedResolver(parse_config(text, env={}))


def ask(asked: GuardedResolver, host: str, port: int = 443) -> list[tuple[str, int]]:
    """Resolve a host; returns addresses and ports."""

    async def resolve() -> list[tuple[str, int]]:
        answers = await asked.resolve(host, port)
        await asked.close()
        return [(answer["host"], answer["port"]) for answer in answers]

    return asyncio.run(resolve())


def dns_says(*addresses: str) -> Callable[..., list[tuple[Any, ...]]]:
    def getaddrinfo(host: str, port: int, **_: object) -> list[tuple[Any, ...]]:
        return [(None, None, None, "", (address, port)) for address in addresses]

    return getaddrinfo


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.0.1"),
        *("169.254.169.254", "100.64.0.1", "192.0.2.1", "198.18.0.1", "240.0.0.1"),
        *("224.0.0.1", "255.255.255.255"),
        *("::1", "::", "::127.0.0.1", "::ffff:10.0.0.1", "fe80::1", "fe80::1%eth0", "fec0::1"),
        *("fd00::1", "ff02::1", "2001:db8::1", "3fff::1", "100::1", "64:ff9b:1::1", "4000::1"),
        *("2002:7f00:1::", "64:ff9b::10.0.0.1", "2001:0:0:0:0:0:80ff:fffe"),
    ],
)
def test_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("1.1.1.1", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.128.0.1", "223.255.255.1"),
        *(
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:1.1.1.1",
            "2002:101:101::",
            "64:ff9b::1.1.1.1",
        ),
    ],
)
def test_public(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_ipv4_in_ipv6_clothes_is_judged_as_what_it_is(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    clothes = {
        "mapped": ipaddress.IPv6Address((0xFFFF << 32) | number),
        "6to4": ipaddress.IPv6Address((0x2002 << 112) | (number << 80)),
        "NAT64": ipaddress.IPv6Address((0x64FF9B << 96) | number),
        "Teredo": ipaddress.IPv6Address((0x20010000 << 96) | (number ^ 0xFFFFFFFF)),
    }
    expected = is_public(str(address))
    assert {name: is_public(str(six)) for name, six in clothes.items()} == dict.fromkeys(
        clothes, expected
    )


@given(st.ip_addresses(v=6))
def test_nothing_outside_global_unicast_is_public_unless_it_is_ipv4(
    address: ipaddress.IPv6Address,
) -> None:
    first_bits = int(address) >> 125
    if (
        first_bits != 0b001
        and address.ipv4_mapped is None
        and (int(address) >> 32) != 0x64FF9B << 64
    ):
        assert not is_public(str(address))


@pytest.mark.parametrize(
    "written",
    ["2130706433", "0177.0.0.1", "0x7f.1", "0x7F000001", "127.1", "127.0.0.1.", "①②⑦.0.0.1"],
)
def test_the_url_parser_makes_one_address_of_all_its_spellings(written: str) -> None:
    """So the resolver never sees another one; aiohttp would refuse it, or worse."""
    address = UrlRules().address(f"https://{written}/")
    assert address is not None
    assert address.fetch_url == "https://127.0.0.1/"


@pytest.mark.parametrize("literal", ["127.0.0.1", "::1", "169.254.169.254"])
def test_a_private_literal_is_refused(literal: str) -> None:
    with pytest.raises(PrivateAddress):
        ask(resolver(), literal)
    with pytest.raises(PrivateAddress):
        resolver().check_literal(literal)


@pytest.mark.parametrize("literal", ["1.1.1.1", "2606:4700::1111"])
def test_a_public_literal_is_itself(literal: str) -> None:
    assert ask(resolver(), literal) == [(literal, 443)]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("a.test", [("127.0.0.1", 8443)]),
        ("www.a.test", [("127.0.0.1", 8443)]),
        ("b.test", [("::1", 443)]),
        ("10.0.0.1", [("127.0.0.1", 9000)]),
        ("fd00::1", [("127.0.0.1", 9001)]),
    ],
)
def test_what_the_user_maps_goes_where_it_is_mapped_to(
    host: str, expected: list[tuple[str, int]]
) -> None:
    mapped = resolver(
        'resolve = { "a.test" = "127.0.0.1:8443", "*.test" = "[::1]",'
        ' "10.0.0.1" = "127.0.0.1:9000", "[fd00::1]" = "127.0.0.1:9001" }'
    )
    assert ask(mapped, host) == expected
    mapped.check_literal(host)


def test_a_name_that_is_mapped_to_a_name_asks_dns_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", dns_says("10.0.0.7"))
    assert ask(resolver('resolve = { "a.test" = "b.test:8443" }'), "a.test") == [("10.0.0.7", 8443)]


def test_of_what_dns_answers_only_the_public_part_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", dns_says("10.0.0.7", "1.1.1.1", "::1"))
    assert ask(resolver(), "a.example") == [("1.1.1.1", 443)]


def test_a_name_that_leads_to_private_addresses_only_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", dns_says("10.0.0.7", "::1"))
    with pytest.raises(PrivateAddress, match=r"a\.example is 10\.0\.0\.7"):
        ask(resolver(), "a.example")


def test_private_addresses_may_be_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", dns_says("10.0.0.7"))
    allowing = resolver("allow-private = true")
    assert ask(allowing, "a.example") == [("10.0.0.7", 443)]
    allowing.check_literal("127.0.0.1")


def test_dns_that_does_not_answer_in_time_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answer.wait(60))
    try:
        with pytest.raises(LookupFailed, match=r"within 0\.05 s"):
            ask(resolver(retry="connect-timeout = 50"), "a.example")
    finally:
        answer.set()


def test_a_label_too_long_for_dns_has_failed() -> None:
    with pytest.raises(LookupFailed):
        ask(resolver(), f"{'x' * 64}.invalid")


def test_neither_failure_is_a_timeout_to_aiohttp() -> None:
    """It would raise it as it is, and the page would be tried again."""
    assert not issubclass(LookupFailed, TimeoutError)
    assert not issubclass(PrivateAddress, TimeoutError)


class FakeConnection:
    """What aiohttp keeps of a connection."""

    should_close = False
    closed = False

    def close(self) -> None:
        self.closed = True


def test_connections_of_so_many_hosts_are_kept_and_the_oldest_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(addresses, "MAX_KEPT_HOSTS", 3)

    async def keep() -> list[bool]:
        connector = GuardedConnector(resolver=resolver(), limit=0)
        kept = [FakeConnection() for _ in range(5)]
        for number, connection in enumerate(kept):
            key = ConnectionKey(f"h{number}.test", 443, True, True, None, None, None)
            connector._release(key, connection)  # type: ignore[arg-type]
        closed = [connection.closed for connection in kept]
        connector._conns.clear()
        await connector.close()
        return closed

    assert asyncio.run(keep()) == [True, True, False, False, False]


def test_no_more_than_the_system_has_files_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses.resource, "getrlimit", lambda _: (64, 64))

    async def most() -> int:
        connector = GuardedConnector(resolver=resolver())
        await connector.close()
        return connector._most_kept

    assert asyncio.run(most()) == 32


def test_a_tls_connection_takes_little_memory() -> None:
    """The buffer is asyncio's own affair: this notices when it goes another way about it."""

    async def size() -> int:
        connector = GuardedConnector(resolver=resolver())
        await connector.close()
        protocol = SSLProtocol(
            asyncio.get_running_loop(),
            asyncio.Protocol(),
            ssl.create_default_context(),
            None,
            server_hostname="a.test",
        )
        if protocol._app_transport is not None:
            protocol._app_transport._closed = True  # it never was open
        return len(protocol.get_buffer(-1))

    assert asyncio.run(size()) == TLS_BUFFER
