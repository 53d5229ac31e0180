"""URLs: the first line of an input is the page's address, the rest the href found on it."""

import ada_url

from terrain.rules.hosts import HostPattern, HostRules, normal_host, root_of
from terrain.rules.urls import (
    MAX_URL_LENGTH,
    Address,
    InvalidUrl,
    UrlRules,
    page_key,
    robots_origin,
)
from tests.fuzz.target import Target, assert_storable, first_line

HTTPS_ONLY = UrlRules()
WITH_HTTP = UrlRules(allow_http=True)

WORDS = (
    *(b"https://", b"http://", b"HTTPS:", b"//", b"/", b"\\", b"?", b"#", b"@", b":", b";", b"\n"),
    *(b".", b"..", b"/../", b"%2e%2E", b"%2f", b"%", b"%4", b"%41", b"%00", b"%e4", b"%25", b"&"),
    *(b"www.", b"www.www.", b"example.com", b"co.uk", b"localhost", b"xn--", b"xn--bcher-kva"),
    *(b"127.0.0.1", b"0x7f.1", b"0177", b"2130706433", b"[::1]", b"[::ffff:1.2.3.4]", b"[", b"]"),
    *(b":80", b":443", b":8443", b":0", b":65536", b"user:secret@", b"utm_a=1", b"ref", b"=", b"+"),
    *(b"javascript:", b"data:,", b"file:///", b"mailto:", b"blob:https://", b"*.", b"*", b"%zz"),
)
TEXTS = (
    "ü",
    "ß",
    "例え",
    "\u00ad",
    "\u200d",
    "。",
    "\uff11",
    "\u202e",
    "\ufeff",
    "İ",
    "\U0001f4a9",
)


def check(data: bytes) -> None:
    base, rest = first_line(data)
    href = rest.decode("utf-8", "surrogateescape")
    pattern = _pattern(base)
    for rules in (HTTPS_ONLY, WITH_HTTP):
        for address in (rules.address(href), rules.address(href, base)):
            if address is not None:
                _settled(address, rules)
                _known_host(address.host, pattern)
    secure, any_scheme = HTTPS_ONLY.address(href, base), WITH_HTTP.address(href, base)
    assert (secure and secure.identity) == (any_scheme and any_scheme.identity)
    assert secure is None or secure.fetch_url.startswith("https://")
    _refused(href)
    _pattern(href)
    _as_parsed(href, base)


def _as_parsed(href: str, base: str) -> None:
    """The shortcuts for links that pages repeat mean the same as the parser without them."""
    try:
        page = ada_url.normalize_url(base)
        joined = ada_url.join_url(page, href)
    except ValueError:
        return
    assert HTTPS_ONLY.address(href, page) == HTTPS_ONLY.address(joined)


def _settled(address: Address, rules: UrlRules) -> None:
    """What was found is found again, from the identity as from the fetch URL."""
    for text in (address.identity, address.fetch_url):
        assert text.isascii()
        assert " " not in text
        assert_storable(text, MAX_URL_LENGTH)
    assert rules.address(address.fetch_url) == address
    assert rules.identity(address.identity) == address.identity
    assert ada_url.normalize_url(address.identity) == address.identity
    assert (address.page_id, address.check) == page_key(address.identity)
    parts = ada_url.URL(address.fetch_url)
    assert not parts.username
    assert not parts.password
    assert not parts.hash
    assert robots_origin(address.fetch_url) == parts.origin


def _known_host(host: str, pattern: HostPattern | None) -> None:
    assert normal_host(host) == host
    root = root_of(host)
    assert host == root or host.endswith(f".{root}")
    assert root_of(root) == root
    if pattern is not None:
        rules = HostRules(blacklist=[], stub=[], quality=[pattern.text])
        assert rules.origins(host) == ((0,) if pattern.matches(host) else ())


def _refused(url: str) -> None:
    try:
        HTTPS_ONLY.identity(url)
    except InvalidUrl as error:
        said = str(error)
    else:
        return
    assert "secret" not in said


def _pattern(text: str) -> HostPattern | None:
    try:
        pattern = HostPattern.parse(text)
    except ValueError as error:
        reason = str(error)
    else:
        return _settled_pattern(pattern)
    assert reason.isprintable()
    return None


def _settled_pattern(pattern: HostPattern) -> HostPattern:
    assert HostPattern.parse(pattern.text) == pattern
    assert pattern.matches(pattern.host)
    return pattern


TARGET = Target(
    name="urls",
    check=check,
    words=WORDS + tuple(text.encode() for text in TEXTS),
    largest=64 * 1024,
    seconds=0.5,
    megabytes=16,
)
