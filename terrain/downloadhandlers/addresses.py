"""Where a host name leads: the user's own mapping, else DNS; never to a private address.

The check falls on the very addresses the connection is then made to, so an answer of DNS that
changes between check and connection changes nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import resource
import socket
from asyncio.sslproto import SSLProtocol
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from terrain.rules.hosts import normal_host

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.client_reqrep import ConnectionKey

    from terrain.config import Config

_GLOBAL_UNICAST: Final = ipaddress.ip_network("2000::/3")
"""All of IPv6 that IANA has opened; what lies outside is local, reserved or a translation."""

_DOCUMENTATION: Final = ipaddress.ip_network("3fff::/20")
"""RFC 9637; the standard library of Python 3.11 does not know it yet."""

_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
"""RFC 6052: an IPv4 address in its last four bytes."""

MAX_LOOKUPS: Final = 256
"""Lookups at once. One that was given up still holds its thread until the system gives up too."""


MAX_KEPT_HOSTS: Final = 2000
"""Hosts whose connections wait for their next turn, as many as the frontier's window has."""

TLS_BUFFER: Final = 32 * 1024
"""Bytes that a TLS connection reads at a time: two records. asyncio takes 256 KiB for each, which
for the connections of a window of hosts is half a gigabyte."""


class PrivateAddress(OSError):  # noqa: N818 - it names what was found
    """An address that is loopback, private, link-local or reserved."""


class LookupFailed(OSError):  # noqa: N818 - it names what happened
    """DNS has no answer, or none in time. Not a timeout to aiohttp, which would be retried."""


_SPECIAL = (ipaddress.ip_network("192.0.0.0/24"), ipaddress.ip_network("192.88.99.0/24"))
"""Protocol assignments and the former 6to4 relays (IANA's special-purpose registry); Python 3.11
knows only a part of the first and nothing of the second."""


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the public internet."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        # An IPv4 address in IPv6 clothes is judged by what it wears it over.
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if ip not in _GLOBAL_UNICAST or ip in _DOCUMENTATION:
            return False
    return ip.is_global and not ip.is_multicast and not any(ip in block for block in _SPECIAL)


class GuardedResolver(AbstractResolver):
    """Maps hosts as `network.resolve` says, asks DNS for the rest, refuses private answers."""

    def __init__(self, config: Config) -> None:
        self._network = config.network
        self._patience = config.retry.connect_timeout / 1000
        # Its own threads: the loop's few are shared with all else, and a crowd of dead names
        # would make living ones wait until they look dead too.
        places = 2 * config.crawler.max_concurrent_pages_open
        self._threads = ThreadPoolExecutor(min(places, MAX_LOOKUPS), "dns")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses to connect to; `host` may be an IP address too."""
        mapped = self.mapped(host)
        if mapped is not None:
            target, mapped_port = mapped
            where = port if mapped_port is None else mapped_port
            if _is_ip(target):
                return [_answer(host, target, where)]
            return await self._lookup(target, where, family)
        if _is_ip(host):
            self.check_literal(host)
            return [_answer(host, host, port)]
        answers = await self._lookup(host, port, family)
        if self._network.allow_private:
            return answers
        public = [answer for answer in answers if is_public(answer["host"])]
        if not public:
            raise PrivateAddress(f"{host} is {answers[0]['host']}, not a public address")
        return public

    def mapped(self, host: str) -> tuple[str, int | None] | None:
        """Return where the user sends this host."""
        try:
            return self._network.resolve_target(normal_host(f"[{host}]" if ":" in host else host))
        except ValueError:
            return None

    def check_literal(self, host: str) -> None:
        """Refuse a private IP address written in a URL, unless the user sends it elsewhere.

        An IPv6 address comes without its brackets.
        """
        # An address ends in a digit or has colons; nearly every host is a name, told by that.
        if not (host[-1:].isdigit() or ":" in host) or not _is_ip(host):
            return
        if self._network.allow_private or is_public(host):
            return
        if self.mapped(host) is None:
            raise PrivateAddress(f"{host} is not a public address")

    async def close(self) -> None:
        """Let go of the threads; a lookup under way is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _lookup(
        self, host: str, port: int, family: socket.AddressFamily
    ) -> list[ResolveResult]:
        ask = partial(
            socket.getaddrinfo,
            host,
            port,
            family=family,
            type=socket.SOCK_STREAM,
            flags=socket.AI_ADDRCONFIG,
        )
        looking = asyncio.get_running_loop().run_in_executor(self._threads, ask)
        try:
            found = await asyncio.wait_for(looking, self._patience)
        except TimeoutError:
            raise LookupFailed(f"no answer from DNS within {self._patience:g} s") from None
        except UnicodeError:
            # A label too long for DNS: browsers accept such a name, and nobody can have it.
            raise LookupFailed("not a name that DNS can have") from None
        return [_answer(host, str(address[0]), int(address[1])) for *_, address in found]


class GuardedConnector(TCPConnector):
    """Asks the resolver for IP addresses too: aiohttp connects to them without asking.

    It also keeps the connections of a bounded number of hosts: a crawl of many hosts would leave
    more behind than the system gives files, before they time out.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most_kept = min(MAX_KEPT_HOSTS, files // 2)
        # There is no public way; tests/downloadhandlers looks whether there still is this one.
        SSLProtocol.max_size = TLS_BUFFER

    async def _resolve_host(
        self,
        host: str,
        port: int,
        traces: object = None,  # noqa: ARG002 - aiohttp's signature
    ) -> list[ResolveResult]:
        return await self._resolver.resolve(host, port, family=self._family)

    def _release(
        self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False
    ) -> None:
        super()._release(key, protocol, should_close=should_close)
        while len(self._conns) > self._most_kept:
            # A host is taken out when its last connection is used, so the first has waited longest.
            for waiting, _ in self._conns.pop(next(iter(self._conns))):
                waiting.close()


def _answer(host: str, address: str, port: int) -> ResolveResult:
    six = ipaddress.ip_address(address.partition("%")[0]).version == 6
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if six else socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
