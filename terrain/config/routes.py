"""`network.resolve`: where to connect for a host, whatever DNS says (curl's --connect-to)."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, NamedTuple

import ada_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from terrain.config.problems import Path

TARGET = '"ip", "ip:port" or "host:port", the port from 1 to 65535, IPv6 in brackets'
PATTERN = "a host such as example.com, *.example.com for it and all below, or * for all"

_TARGET = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\[\]*]+)(?::(?P<port>[0-9]{1,5}))?")


class Route(NamedTuple):
    """One entry: hosts that match the pattern are connected to elsewhere."""

    pattern: str
    """`example.com`, `*.example.com` or `*`; lower case, punycode."""

    host: str
    """IP address (IPv6 without brackets) or host name to connect to."""

    port: int | None
    """Port to connect to; None: the port of the address that is asked."""


class Faults(ValueError):  # noqa: N818 - plural: it carries several
    """Several problems found by one validator, each with its place below the field."""

    def __init__(self, faults: list[tuple[Path, object, str]]) -> None:
        super().__init__("; ".join(message for _, _, message in faults))
        self.faults = faults
        """Place below the field, the value there, what is wrong with it."""


def parse_routes(value: object) -> object:
    """Turn the table into routes; anything but a table is left for the type check to refuse."""
    if not isinstance(value, dict):
        return value
    routes: dict[str, Route] = {}
    faults: list[tuple[Path, object, str]] = []
    for key, target in value.items():
        pattern = _pattern(key)
        place = _target(target)
        if pattern is None:
            faults.append(((key,), target, f"the key must be {PATTERN}"))
        elif pattern in routes:
            faults.append(((key,), target, f'the same host as "{pattern}", which is there already'))
        elif place is None:
            faults.append(((key,), target, f"must be {TARGET}"))
        else:
            routes[pattern] = Route(pattern, *place)
    if faults:
        raise Faults(faults)
    return tuple(sorted(routes.values()))


def find_route(routes: Iterable[Route], host: str) -> Route | None:
    """Return the route for a host: exact before wildcard, longer wildcard first, `*` last.

    A host and its `www.` form are one to terrain, so either one's exact entry serves both, its own
    first.
    """
    by_pattern = {route.pattern: route for route in routes}
    if not by_pattern:
        return None
    name = host.lower().removesuffix(".")
    twin = name.removeprefix("www.") if name.startswith("www.") else f"www.{name}"
    labels = name.split(".")
    suffixes = (".".join(labels[start:]) for start in range(len(labels)))
    wanted = (name, twin, *(f"*.{suffix}" for suffix in suffixes), "*")
    return next((by_pattern[key] for key in wanted if key in by_pattern), None)


def _pattern(text: object) -> str | None:
    if text == "*":
        return "*"
    if not isinstance(text, str):
        return None
    star = "*." if text.startswith("*.") else ""
    host = _host(text.removeprefix(star))
    # "*.10.0.0.1" has no meaning: nothing stands below an address.
    return None if host is None or (star and _is_ip(host)) else star + host


def _target(text: object) -> tuple[str, int | None] | None:
    match = _TARGET.fullmatch(text) if isinstance(text, str) else None
    host = _host(match["host"]) if match else None
    if match is None or host is None:
        return None
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 1 <= port <= 65535:
        return None
    return host.strip("[]"), port


def _host(text: str) -> str | None:
    """Return the host as a browser writes it (WHATWG), or None if it would refuse it."""
    if not re.fullmatch(r"[^\s:/?#@\\*%]+|\[[0-9A-Fa-f:.]+\]", text):
        return None
    try:
        host: str = ada_url.URL(f"https://{text}/").hostname
    except ValueError:
        return None
    host = host.removesuffix(".")
    # A browser reads "8443" as 0.0.32.251; here it is a forgotten host.
    if not host or (_is_ip(host) and not host.startswith("[") and host != text):
        return None
    return host


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
