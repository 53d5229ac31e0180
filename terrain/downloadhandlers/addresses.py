"""Where a host name leads: the user's own mapping, else DNS; never to a private address.

The check falls on the very addresses the connection is then made to, so an answer of DNS that
changes between check and connection changes nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from terrain.rules.hosts import normal_host

if TYPE_CHECKING:
    from terrain.config import Config


class PrivateAddress(OSError):  # noqa: N818 - it names what was found
    """An address that is loopback, private, link-local or reserved."""


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
    return ip.is_global and not ip.is_multicast


_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class GuardedResolver(AbstractResolver):
    """Maps hosts as `network.resolve` says, asks DNS for the rest, refuses private answers."""

    def __init__(self, config: Config) -> None:
        self._network = config.network
        self._dns = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses to connect to."""
        mapped = self.mapped(host)
        if mapped is None:
            answers = await self._dns.resolve(host, port, family)
            return [self._checked(answer) for answer in answers]
        target, mapped_port = mapped
        where = port if mapped_port is None else mapped_port
        if _is_ip(target):
            version = ipaddress.ip_address(target).version
            kind = socket.AF_INET if version == 4 else socket.AF_INET6
            flags = socket.AI_NUMERICHOST
            return [
                ResolveResult(
                    hostname=host, host=target, port=where, family=kind, proto=0, flags=flags
                )
            ]
        return await self._dns.resolve(target, where, family)

    def mapped(self, host: str) -> tuple[str, int | None] | None:
        """Return where the user sends this host."""
        try:
            return self._network.resolve_target(normal_host(host))
        except ValueError:
            return None

    def check_literal(self, host: str) -> None:
        """Refuse an IP address written in a URL: it never passes `resolve`."""
        literal = host.strip("[]")
        if _is_ip(literal) and not self._network.allow_private and not is_public(literal):
            raise PrivateAddress(f"{literal} is not a public address")

    async def close(self) -> None:
        """Nothing to let go of."""
        await self._dns.close()

    def _checked(self, answer: ResolveResult) -> ResolveResult:
        if not self._network.allow_private and not is_public(answer["host"]):
            raise PrivateAddress(f"{answer['hostname']} is {answer['host']}, not a public address")
        return answer


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
