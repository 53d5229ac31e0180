"""Hosts: the name a host is known by, the root it belongs to, and the user's lists about it.

A host is known by its *identity host*: lowercase ASCII (IDNA), no trailing dot, no leading `www.`.
Everything here takes hosts in any spelling and compares identity hosts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Self

from ada_url import idna_to_unicode, normalize_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from publicsuffixlist import PublicSuffixList

MAX_HOST_LENGTH = 253
"""Characters in a host name: what the 255 octets of RFC 1035 2.3.4 leave for text."""

_CACHED_HOSTS = 4_096
"""Entries in each cache over hosts; with `MAX_HOST_LENGTH` this bounds them to a few megabytes."""

_NOT_IN_A_HOST = frozenset("/\\?#@%")
"""What would turn a host in a list into another part of a URL, or escape it."""


def identity_host(host: str) -> str | None:
    """Give the identity host of a parsed URL's host; None for a name no server can have.

    `www.` goes however often it stands there, as long as two labels remain: `www.com` is a site of
    its own. The Public Suffix List is not asked: it changes, and identities must be the same on
    every machine and in every year.
    """
    # Asked before the cache: pages full of hosts of megabytes must not stay in memory.
    return None if len(host) > MAX_HOST_LENGTH + 1 else _identity_host(host)


@lru_cache(maxsize=_CACHED_HOSTS)
def _identity_host(host: str) -> str | None:
    name = _without_trailing_dot(host)
    return _without_www(name) if _is_possible(name) else None


def _without_trailing_dot(host: str) -> str:
    """Drop the dot of a fully qualified name; a host of empty labels is left as it is."""
    return host[:-1] if host.endswith(".") and not host.endswith("..") and host != "." else host


def _without_www(host: str) -> str:
    """Drop each leading `www.` that leaves at least two labels."""
    while host.startswith("www.") and "." in (rest := host[4:]) and not rest.startswith("."):
        host = rest
    return host


def _is_possible(host: str) -> bool:
    """Tell whether the name fits into DNS and its punycode labels mean something (UTS 46).

    Parsers differ about `xn--` labels that decode to nothing valid, by version. Such a label is
    refused here, so that the same link is a page for all of them or for none.
    """
    if len(host) > MAX_HOST_LENGTH:
        return False
    if "xn--" not in host:
        return True
    return not any(label.startswith("xn--") for label in idna_to_unicode(host).split("."))


def _parsed(text: str) -> str:
    """Read a host written by a person as a browser would, without a trailing dot.

    Raises:
        ValueError: it is not a host.

    """
    if not text or text.split() != [text]:
        raise ValueError("a host must not be empty or contain white space")
    if found := _NOT_IN_A_HOST.intersection(text):
        raise ValueError(f"{min(found)!r} cannot stand in a host; give the host only")
    if ":" in text and not (text.startswith("[") and text.endswith("]")):
        raise ValueError("a host has no scheme and no port; an IPv6 address stands in brackets")
    try:
        host = normalize_url(f"https://{text}/").removeprefix("https://").removesuffix("/")
    except ValueError:
        raise ValueError("no browser would accept it as a host") from None
    host = _without_trailing_dot(host)
    if not _is_possible(host):
        raise ValueError("it is too long, or a label that starts with xn-- is not valid punycode")
    return host


@lru_cache(maxsize=_CACHED_HOSTS)
def normal_host(text: str) -> str:
    """Give the identity host of a host in any spelling; raises ValueError for what is none."""
    return _without_www(_parsed(text))


def is_ip(host: str) -> bool:
    """Tell whether an identity host is an IP literal.

    A host whose last label is a number is an IPv4 address or refused (WHATWG URL, "ends in a
    number checker"), so one look at that label is enough.
    """
    return host.startswith("[") or host.rpartition(".")[2].isdecimal()


@cache
def _suffix_list() -> PublicSuffixList:
    """Load the Public Suffix List of the installed version; it is never fetched.

    Private suffixes count: the pages under `github.io` belong to as many owners as there are names.
    Late, because it takes 50 ms and the reading process never asks for it.
    """
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


@lru_cache(maxsize=_CACHED_HOSTS)
def root_of(host: str) -> str:
    """Give the registrable domain that a host belongs to; raises ValueError for what is no host.

    An IP literal, a single label and a public suffix are their own root. Under a top-level domain
    that the list does not know, the last two labels are the root (the list's default rule, `*`).
    """
    name = normal_host(host)
    labels = name.split(".")
    if is_ip(name) or not all(labels):
        return name
    suffix = _suffix_list().publicsuffix(name) or ""
    # `www.` under a public suffix (`www.github.io`) is that suffix to us, here as everywhere.
    return _without_www(".".join(labels[-(suffix.count(".") + 2) :]))


class HostKind(StrEnum):
    """What the user's lists say about a host."""

    BLACKLISTED = "blacklisted"
    """To be ignored: recorded, never visited."""
    STUBBED = "stubbed"
    """Worth noting, not visiting."""
    QUALITY = "quality"
    """Trusted: the crawl starts here."""
    DISCOVERED = "discovered"
    """On no list: visited within the depth limits."""


@dataclass(frozen=True, slots=True)
class HostPattern:
    """An entry of the user's lists: one host, or with `*.` a host and everything below it."""

    text: str
    """The entry as normalised: two entries with the same meaning have the same text."""
    host: str
    """The identity host that it matches itself."""
    below: str | None
    """The domain whose subdomains it matches too; None without `*.`.

    Keeps its `www.`: `*.www.example.com` is about hosts below `www.`, not all of `example.com`.
    """

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern; raises ValueError with the reason when it is none."""
        name = text.removeprefix("*.")
        if "*" in name:  # URLs may have it in a host, DNS has no such host
            raise ValueError("'*' stands only once, before a dot and a host, as in *.example.com")
        if name == text:
            host = normal_host(name)
            return cls(text=host, host=host, below=None)
        domain = _parsed(name)
        if is_ip(domain):
            raise ValueError("an IP address has no subdomains")
        return cls(text=f"*.{domain}", host=_without_www(domain), below=domain)

    def matches(self, host: str) -> bool:
        """Tell whether the host is meant; raises ValueError for what is no host."""
        name = normal_host(host)
        return name == self.host or (self.below is not None and name.endswith(f".{self.below}"))


class _PatternTable:
    """Patterns by the domain they name, so that matching costs labels of the host, not patterns."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._exact: defaultdict[str, list[int]] = defaultdict(list)
        self._below: defaultdict[str, list[int]] = defaultdict(list)
        for index, text in enumerate(texts):
            pattern = HostPattern.parse(text)
            self._exact[pattern.host].append(index)
            if pattern.below is not None:
                self._below[pattern.below].append(index)
        self._deepest = max((domain.count(".") + 1 for domain in self._below), default=0)

    def matches(self, host: str) -> tuple[int, ...]:
        """Give the indexes of all patterns that match an identity host, ascending."""
        found = set(self._exact.get(host, ()))
        for domain in _domains_above(host, self._deepest):
            found.update(self._below.get(domain, ()))
        return tuple(sorted(found))


def _domains_above(host: str, most: int) -> Iterator[str]:
    """Yield the domains a host lies below, shortest first, up to that many labels."""
    dot = len(host)
    for _ in range(most):
        dot = host.rfind(".", 0, dot)
        if dot == -1:
            return
        yield host[dot + 1 :]


class HostRules:
    """The user's three lists: which kind a host is of, and from which origins it is depth 0."""

    def __init__(
        self, *, blacklist: Sequence[str], stub: Sequence[str], quality: Sequence[str]
    ) -> None:
        self._blacklist = _PatternTable(blacklist)
        self._stub = _PatternTable(stub)
        self._quality = _PatternTable(quality)
        self._facts = lru_cache(maxsize=_CACHED_HOSTS)(self._look_up)

    def classify(self, host: str) -> HostKind:
        """Tell the host's kind: blacklist, then stub, then quality; ValueError for no host."""
        return self._facts(host)[0]

    def origins(self, host: str) -> tuple[int, ...]:
        """Give the indexes of all quality patterns that match, ascending, whatever its kind."""
        return self._facts(host)[1]

    def _look_up(self, host: str) -> tuple[HostKind, tuple[int, ...]]:
        name = normal_host(host)
        origins = self._quality.matches(name)
        if self._blacklist.matches(name):
            return HostKind.BLACKLISTED, origins
        if self._stub.matches(name):
            return HostKind.STUBBED, origins
        return (HostKind.QUALITY if origins else HostKind.DISCOVERED), origins
