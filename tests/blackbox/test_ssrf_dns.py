"""DNS as the attacker's: what it answers is judged, and what was judged is what is connected to."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from terrain.config import Config, parse_config
from terrain.downloadhandlers.addresses import GuardedConnector, GuardedResolver, is_public
from terrain.sampleweb.pages import Html, Redirect, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.canary import Canary
from tests.blackbox.crawls import Database, assert_polite, crawl, write_config

ENTRY = '[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/"]\n'

PUBLIC = "192.0.2.77"
"""Stands for a public address below: nothing that is really public may be connected to here."""

NOT_PUBLIC = {
    "192.0.0.0": "192.0.0.255",
    "192.88.99.0": "192.88.99.255",
    "0.0.0.0": "0.255.255.255",
    "10.0.0.0": "10.255.255.255",
    "100.64.0.0": "100.127.255.255",
    "127.0.0.0": "127.255.255.255",
    "169.254.0.0": "169.254.255.255",
    "172.16.0.0": "172.31.255.255",
    "192.0.2.0": "192.0.2.255",
    "192.168.0.0": "192.168.255.255",
    "198.18.0.0": "198.19.255.255",
    "198.51.100.0": "198.51.100.255",
    "203.0.113.0": "203.0.113.255",
    "224.0.0.0": "239.255.255.255",
    "240.0.0.0": "255.255.255.255",
    "::": "::ffff",
    "::7f00:1": "::ffff:127.0.0.1",
    "64:ff9b::": "64:ff9b::0.255.255.255",
    "64:ff9b:1::": "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
    "100::": "100::ffff:ffff:ffff:ffff",
    "2001:db8::": "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2002:7f00:1::": "2002:a9fe:a9fe::1",
    "3fff::": "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
    "4000::": "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fc00::": "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fe80::": "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fe80::1%eth0": "fec0::1",
    "ff00::": "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
}
"""First and last of the blocks that IANA's special-purpose registries call not globally reachable
(https://www.iana.org/assignments/iana-ipv4-special-registry, …-ipv6-…), and what is multicast,
unallocated or IPv4 in disguise."""


@pytest.mark.parametrize("address", [each for ends in NOT_PUBLIC.items() for each in ends])
def test_what_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
        ),
        *("128.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "223.255.255.255"),
        *("2606:4700:4700::1111", "2a00::", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::"),
    ],
)
def test_what_is_public(address: str) -> None:
    assert is_public(address)


class FakeDns:
    """Answers the n-th question with the n-th of its lists, later ones with the last."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = answers
        self.asked = 0

    def __call__(self, host: str, port: int, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        answers = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (each, port, 0, 0))
            if ":" in each
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port))
            for each in answers
        ]


class ReachedError(OSError):
    """A socket was about to be made for this address."""


def config_with(text: str = "") -> Config:
    return parse_config(ENTRY + text, env={})


def connect(dns: FakeDns, monkeypatch: pytest.MonkeyPatch, times: int = 1) -> list[str]:
    """Ask a host by name through the connector of the handler; returns what was connected to.

    No connection is made: the moment a socket is wanted is the end of each try.
    """
    monkeypatch.setattr(socket, "getaddrinfo", dns)
    monkeypatch.setattr(
        "terrain.downloadhandlers.addresses.is_public", lambda address: address == PUBLIC
    )
    reached: list[str] = []

    def refuse(info: Any) -> socket.socket:
        reached.append(info[4][0])
        raise ReachedError

    async def ask() -> None:
        connector = GuardedConnector(
            resolver=GuardedResolver(config_with()), use_dns_cache=False, socket_factory=refuse
        )
        async with aiohttp.ClientSession(connector=connector) as session:
            for _ in range(times):
                with pytest.raises(aiohttp.ClientConnectorError):
                    await session.get("https://rebinding.example/")

    asyncio.run(ask())
    return reached


def test_the_answer_that_was_checked_is_the_one_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dns = FakeDns([PUBLIC], ["127.0.0.1"])
    assert connect(dns, monkeypatch) == [PUBLIC]
    assert dns.asked == 1, "a second question could get another answer"


def test_every_connection_is_judged_by_an_answer_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dns = FakeDns([PUBLIC], ["127.0.0.1"], ["::1"], [PUBLIC])
    assert connect(dns, monkeypatch, times=4) == [PUBLIC, PUBLIC]
    assert dns.asked == 4


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1", PUBLIC],
        [PUBLIC, "127.0.0.1"],
        ["::ffff:127.0.0.1", PUBLIC, "fe80::1%eth0"],
    ],
)
def test_of_mixed_answers_no_private_one_is_connected_to(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(connect(FakeDns(answers), monkeypatch)) <= {PUBLIC}


@pytest.mark.parametrize("allowed", [True, False])
def test_only_allow_private_lifts_it(allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", FakeDns(["127.0.0.1"]))
    resolver = GuardedResolver(config_with(f"[network]\nallow-private = {str(allowed).lower()}\n"))

    async def ask() -> list[str]:
        return [answer["host"] for answer in await resolver.resolve("a.example", 443)]

    if allowed:
        assert asyncio.run(ask()) == ["127.0.0.1"]
    else:
        with pytest.raises(OSError, match="not a public address"):
            asyncio.run(ask())


DISGUISES = {
    "loopback": "127.0.0.1",
    "any": "0.0.0.0",
    "six": "::1",
    "mapped": "::ffff:127.0.0.1",
    "translated": "64:ff9b::7f00:1",
    "sixtofour": "2002:7f00:1::1",
    "metadata": "169.254.169.254",
    "neighbour": "192.168.0.1",
}
"""What the zone `.attack` answers, by name; a name that turns gets each of them in turn."""

FAKE_ZONE = """
import itertools, socket
ZONE = {zone!r}
turns = itertools.cycle(ZONE.values())
ask = socket.getaddrinfo

def getaddrinfo(host, *rest, **options):
    if isinstance(host, str) and host.endswith(".attack"):
        name = host.partition(".")[0]
        host = ZONE.get(name) or next(turns)
        options["flags"] = socket.AI_NUMERICHOST
    return ask(host, *rest, **options)

socket.getaddrinfo = getaddrinfo
"""


def test_names_in_an_attackers_zone(
    serve: Callable[[Web], ServedWeb], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole command, under a DNS whose answers all lead here, some of them changing."""
    patched = tmp_path / "patched"
    patched.mkdir()
    (patched / "sitecustomize.py").write_text(FAKE_ZONE.format(zone=DISGUISES))
    names = [*DISGUISES, *(f"turning-{number}" for number in range(4))]
    with Canary() as canary:
        zone = [f"https://{name}.attack:{canary.port}/" for name in names]
        redirecting = {
            f"to-{name}.test": Host({"/": Redirect(f"{url}led")})
            for name, url in zip(names, zone, strict=True)
        }
        robots = {
            "robots.test": Host({"/": Html()}, robots=Redirect(f"{zone[0]}robots.txt")),
        }
        start = Host(
            {"/": Html(links=to(*zone, *(f"//{name}/" for name in (*redirecting, *robots))))}
        )
        served = serve(Web({"start.test": start, **redirecting, **robots}))
        config = write_config(
            tmp_path,
            served,
            [{"domain": "start.test", "seeds": ["https://start.test/"]}],
            crawler={"head-probe": "never", "max-concurrent-pages-open": 50},
            network={"resolve": served.resolve_only("*.test")},
        )
        monkeypatch.setenv("PYTHONPATH", str(patched), prepend=":")
        crawl(config)
        assert canary.visitors == []
    assert_polite(served)
    pages = Database(config).pages()
    for url in zone:
        for page in (pages[url], pages[f"{url}led"]):
            assert page.state == "unreachable"
            assert (page.error_message or "").startswith("private address: "), page
    assert pages["https://robots.test/"].state == "processed"
