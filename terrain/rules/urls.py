"""URLs: what a link means to a browser, the identity of the page it names, where to ask for it.

The *identity* tells pages apart and is never asked for; the *fetch URL* is asked for and tells
nothing apart. References: WHATWG URL (https://url.spec.whatwg.org), RFC 3986 section 6.2.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from ada_url import join_url, normalize_url

from terrain.rules.digests import blake2b
from terrain.rules.hosts import identity_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_URL_LENGTH = 8192
"""Longest identity or fetch URL, in characters; a longer one is no page.

RFC 9110 4.1 asks servers for 8000 octets, and most refuse more than 8 KiB. The fragment and the
userinfo do not count: they are dropped first.
"""

MAX_HREF_LENGTH = 32 * MAX_URL_LENGTH
"""Longest href that is looked at: room for a long fragment, not for a page of megabytes in one.

Parsing multiplies an href: each byte that is not ASCII takes three, in several copies.
"""

DEFAULT_TRACKING_PARAMETERS: tuple[str, ...] = (
    "utm_*",
    "fbclid",
    "gclid",
    "mc_eid",
    "ref",
    "source",
)
"""Query parameters that say where a visitor came from, not which page is meant."""

_CACHED_URLS = 8_192
"""Entries in each cache over URLs: some hundred pages' worth of links."""

_CACHED_LENGTH = 1024
"""A longer href is worked out anew each time, so that the caches are bounded in bytes too."""

_WEB = ("https://", "http://")
"""An href with such a start means the same whatever the base is (WHATWG URL 4.4, scheme state)."""

_SERIALISED = re.compile(
    r"(?P<scheme>https?)://"
    r"(?:[^/@]*@)?"  # userinfo
    r"(?P<host>\[[^\]]*\]|[^/:]+)"
    r"(?::(?P<port>[0-9]+))?"
    r"(?P<path>/[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?"
)
"""The parts of an http(s) URL as the parser serialises it; the fragment is left over.

In that form the path is never empty, the userinfo has no `@` or `/`, the host no delimiter.
"""

_ABNORMAL_ESCAPE = re.compile(
    "%(?:2[DE]|3[0-9]|[46][1-9A-F]|5[0-9AF]|7[0-9AE]"  # of an unreserved character
    "|(?![0-9A-F]{2})(?:[0-9A-Fa-f]{2})?)"  # not upper case, or no escape at all
)
"""A percent sign that `_NORMAL_ESCAPES` changes something about.

The others are passed over: a page can have megabytes of them, as the parser writes every character
that is not ASCII with several.
"""

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
"""RFC 3986 2.3: characters that mean the same escaped and plain."""


def _spellings(byte: int) -> set[str]:
    """Give every way to write the escape of a byte."""
    upper, lower = f"%{byte:02X}", f"%{byte:02x}"
    return {upper, lower, upper[:2] + lower[2], lower[:2] + upper[2]}


_NORMAL_ESCAPES = {
    spelling: chr(byte) if chr(byte) in _UNRESERVED else f"%{byte:02X}"
    for byte in range(256)
    for spelling in _spellings(byte)
} | {"%": "%25"}
"""What each match of `_ABNORMAL_ESCAPE` becomes.

A lone `%` is escaped, as it is what a server reads. Left alone it could form a new escape with what
is decoded behind it (`%%34%31` would turn into `%41`, and that into `A` the next time).
"""

_PAGE_HASH = blake2b(digest_size=12, person=b"terrain.page")
"""Copied for each page: quicker than to set the parameters each time."""

_HOST_HASH = blake2b(digest_size=8, person=b"terrain.host")
"""The same for hosts; another person, so that a host and a page never share an id by text."""


class InvalidUrl(ValueError):  # noqa: N818 - the adjective says it, as in http.client.InvalidURL
    """The text is not an http(s) page address that a browser would accept."""


class Address(NamedTuple):
    """A page's address: which page it is, and where to ask for it."""

    identity: str
    """The normalised URL; ASCII, https, at most `MAX_URL_LENGTH` characters."""
    fetch_url: str
    """The address as found: absolute, without userinfo and fragment, otherwise untouched."""
    host: str
    """The identity's host: lowercase ASCII, no `www.`, no port, IPv6 in brackets.

    The key for clock, budget and suspension.
    """
    page_id: int
    """63-bit hash of the identity."""
    check: int
    """31-bit second hash, to notice two identities with one id without reading URLs."""


def page_key(identity: str) -> tuple[int, int]:
    """Give `page_id` (63 bit) and `check` (31 bit) of an identity.

    blake2b with a 12-byte digest and the person `terrain.page`, over the identity in UTF-8; the
    digest's first 8 bytes and its last 4, each big-endian without the lowest bit.
    """
    state = _PAGE_HASH.copy()
    state.update(identity.encode())
    value = int.from_bytes(state.digest(), "big")
    return value >> 33, (value & 0xFFFF_FFFF) >> 1


def page_id(identity: str) -> int:
    """Give the 63-bit id of a page from its identity."""
    return page_key(identity)[0]


def host_id(host: str) -> int:
    """Give the 63-bit id of an identity host.

    blake2b with an 8-byte digest and the person `terrain.host`, big-endian without the lowest bit.
    """
    state = _HOST_HASH.copy()
    state.update(host.encode())
    return int.from_bytes(state.digest(), "big") >> 1


def home_of(host: str) -> str:
    """Give the identity of a host's home page."""
    return f"https://{host}/"


def robots_origin(fetch_url: str) -> str:
    """Give scheme, host and port of a fetch URL: what a robots.txt holds for (RFC 9309 2.3)."""
    return fetch_url[: fetch_url.index("/", len("https://"))]


class UrlRules:
    """How URLs become addresses, under one configuration.

    A tracking parameter is a name, compared with its case as servers do, or the start of one and
    `*`. Raises ValueError for a name that no query can contain.

    With `by_host` a host is one page, its home: all addresses on it have the identity
    `https://host/`, whatever their port, path and query.
    """

    def __init__(
        self,
        tracking_parameters: Iterable[str] = DEFAULT_TRACKING_PARAMETERS,
        *,
        allow_http: bool = False,
        by_host: bool = False,
    ) -> None:
        tracking = self._tracking = tuple(tracking_parameters)
        names = [_parameter_name(text) for text in tracking]
        self._tracking_names = frozenset(name for name in names if not name.endswith("*"))
        self._tracking_starts = tuple(name[:-1] for name in names if name.endswith("*"))
        self._allow_http = allow_http
        self.by_host: Final = by_host
        self._pages = UrlRules(tracking, allow_http=allow_http) if by_host else None
        self._from_href = lru_cache(maxsize=_CACHED_URLS)(self._parse_absolute)
        self._from_url = lru_cache(maxsize=_CACHED_URLS)(self._address_of)
        self._from_relative = lru_cache(maxsize=_CACHED_URLS)(self._parsed)

    def __reduce__(self) -> tuple[object, ...]:
        """To another process go the rules, not what they remember."""
        make = partial(UrlRules, allow_http=self._allow_http, by_host=self.by_host)
        return make, (self._tracking,)

    def address(self, href: str, base: str | None = None) -> Address | None:
        """Give the address that an href means on a page with that base URL.

        None when it is not an http(s) page address that a browser would accept. Never raises. By
        host it is the home page of the host that the href names.
        """
        if len(href) > MAX_HREF_LENGTH:
            return None
        if base is None or href.startswith(_WEB):
            if len(href) <= _CACHED_LENGTH:
                return self._from_href(href)
            return self._parse_absolute(href)
        if href and len(href) <= _CACHED_LENGTH >= len(base):
            return self.resolver(base)(href)
        return self._parsed(href, base)

    def resolver(self, base: str) -> Callable[[str], Address | None]:
        """Give `address` for the hrefs of one document, quicker than with its base each time."""
        if len(base) > _CACHED_LENGTH:
            return partial(self.address, base=base)
        root, directory = _contexts(base)
        from_href, from_relative = self._from_href, self._from_relative

        def resolve(href: str) -> Address | None:
            if len(href) > _CACHED_LENGTH:
                return self.address(href, base)
            if "#" in href:
                # A page of documentation names the parts of another a hundred times.
                page = href.partition("#")[0]
                if not page:
                    return from_relative("", base)
                if page[-1] > " ":  # else it would be trimmed, which it is not before a fragment
                    href = page
            first = href[0]
            # Pages of a site repeat each other's links; the parser need not see them again.
            if first == "/":
                return from_relative(href, root)
            if href.startswith(_WEB):
                return from_href(href)
            if (first == "." or first.isalnum()) and ":" not in href:
                return from_relative(href, directory)
            return self._parsed(href, base)

        return resolve

    def located(self, href: str, base: str | None = None) -> Address | None:
        """Give the same with the fetch URL as found in any case.

        For addresses that a server or the store names: a home page may really be at `/en/`.
        """
        if not self.by_host:
            return self.address(href, base)
        url = None if len(href) > MAX_HREF_LENGTH else _serialised(href, base)
        return None if url is None else self._address_of(url.partition("#")[0])

    def stored(self, fetch_url: str) -> Address | None:
        """Give the address that has this fetch URL; these rules made it, so it needs no parser."""
        return self._address_of(fetch_url) if self.by_host else self._from_url(fetch_url)

    def page(self, href: str, base: str | None = None) -> Address | None:
        """Give the page itself, also where a host is one page: link rules are about it."""
        return (self._pages or self).address(href, base)

    def identity(self, url: str) -> str:
        """Give the identity of an absolute URL; raises InvalidUrl, which does not repeat it.

        (A URL that is refused may hold a password.)
        """
        address = self.address(url)
        if address is None:
            raise InvalidUrl("not an http(s) page address that a browser would accept")
        return address.identity

    def _parse_absolute(self, href: str) -> Address | None:
        return self._parsed(href, None)

    def _parsed(self, href: str, base: str | None) -> Address | None:
        url = _serialised(href, base)
        if url is None:
            return None
        if self.by_host:
            found = _SERIALISED.match(url)
            url = "" if found is None else f"{url[: found.start('path')]}/"
        url = url.partition("#")[0]
        return self._from_url(url) if len(url) <= _CACHED_LENGTH else self._address_of(url)

    def _address_of(self, url: str) -> Address | None:
        """Work out the address of a URL in the parser's own form."""
        parts = _SERIALISED.match(url)
        if parts is None:
            return None
        scheme, found_host, port, path, query = parts.groups()
        host = identity_host(found_host)
        if host is None:
            return None
        if not self._allow_http:
            scheme = "https"
        # The parser drops :443 behind https; what was http before must lose it here.
        https_port = f":{port}" if port and port != "443" else ""
        fetch_port = f":{port}" if port and scheme == "http" else https_port
        fetch_url = f"{scheme}://{found_host}{fetch_port}{url[parts.start('path') :]}"
        if len(fetch_url) > MAX_URL_LENGTH:
            return None
        if self.by_host:
            identity = home_of(host)
        else:
            place = f"{_identity_path(path)}{self._identity_query(query)}"
            identity = f"https://{host}{https_port}{place}"
        if len(identity) > MAX_URL_LENGTH:  # it may be longer: a lone % becomes %25
            return None
        return Address(identity, fetch_url, host, *page_key(identity))

    def _identity_query(self, query: str | None) -> str:
        """Drop tracking and empty parameters, sort the others by name; with its `?` unless empty.

        `a` and `a=`, `+` and `%20` stay apart, and `;` separates nothing: servers differ there.
        """
        if not query:
            return ""
        parameters = []
        for parameter in normal_escapes(query).split("&"):
            name = parameter.partition("=")[0]
            if parameter and not self._is_tracking(name):
                parameters.append((name, parameter))
        if not parameters:
            return ""
        parameters.sort(key=itemgetter(0))
        return "?" + "&".join([parameter for _, parameter in parameters])

    def _is_tracking(self, name: str) -> bool:
        return name in self._tracking_names or name.startswith(self._tracking_starts)


@lru_cache(maxsize=1024)
def _contexts(base: str) -> tuple[str, str]:
    """Give what of a base URL matters to hrefs that start with `/`, and with a path segment.

    Those two kinds replace all behind the host, or all behind the last slash of the path; an href
    that starts otherwise (`?`, `#`, white space) or has a colon (`http:x`) may keep more and is
    always parsed.
    """
    path = base.partition("#")[0].partition("?")[0]
    path_starts = path.find("/", len("https://"))
    if path_starts < 0 or not base.startswith(_WEB) or "\\" in base:
        return base, base
    return path[: path_starts + 1], path[: path.rindex("/") + 1]


def _serialised(href: str, base: str | None) -> str | None:
    """Parse as a browser does; None for what it rejects."""
    try:
        return normalize_url(href) if base is None else join_url(base, href)
    except ValueError:
        # Lone surrogates have no UTF-8. Browsers put U+FFFD in their place before they parse.
        scalar_values = href.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return None if scalar_values == href else _serialised(scalar_values, base)


def normal_escapes(text: str) -> str:
    """Decode needless percent-escapes, uppercase the others."""
    if "%" not in text:
        return text
    return _ABNORMAL_ESCAPE.sub(lambda escape: _NORMAL_ESCAPES[escape.group()], text)


def _identity_path(path: str) -> str:
    """Normalise escapes, drop trailing slashes; the parser has removed the dot segments.

    It takes `%2e` for a dot there, so decoding makes no new ones. All trailing slashes go, because
    to drop one of two would not be idempotent; empty segments elsewhere stay.
    """
    return normal_escapes(path).rstrip("/") or "/"


def _parameter_name(text: str) -> str:
    """Spell a tracking parameter as it stands in a normalised query, with its `*` if it has one."""
    name = text.removesuffix("*")
    if not text or text.split() != [text] or any(character in name for character in "*&=#"):
        raise ValueError(
            f"{text!r} is not the name of a query parameter; '*' may stand at its end, "
            "'&', '=', '#' and white space nowhere"
        )
    query = normalize_url(f"https://localhost/?{name}").partition("?")[2]
    return normal_escapes(query) + text[len(name) :]
