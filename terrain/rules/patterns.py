"""URL patterns: a glob or a regular expression over `host/path?query`.

That text is a page's identity without `https://`, so a pattern sees what pages are told apart by:
no `www.`, no fragment, no tracking parameters, no trailing slash, the query sorted by name.

A glob has one special character, `*`. Its part before the first `/` is about the host, as in the
lists: `*.example.com` is that host and all below. A glob without `/` means all pages of the host.
`re:` starts a regular expression, looked for anywhere in the text.

Either becomes an expression for RE2, which reads a text once from left to right whatever the
expression is. Python's `re` backtracks: `(a+)+$`, or `*a*a*a*` made into one of its expressions,
takes it longer than the crawl on an address that somebody has written for that purpose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import quote

import re2

from terrain.rules.hosts import HostPattern
from terrain.rules.urls import normal_escapes

if TYPE_CHECKING:
    from collections.abc import Callable

REGEX: Final = "re:"
"""What a regular expression starts with."""

MAX_LENGTH: Final = 400
"""Characters of a pattern."""

MAX_PROGRAM: Final = 250
"""Instructions of a compiled regular expression. At worst, when its states are new at every
character, an address takes time in proportion to their number; RE2 alone would allow thousands, by
counted repetition. A glob has no such worst case: its states are as many as its characters."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PORT: Final = re.compile(r"(?P<host>.*[^:]):(?P<port>[0-9]{1,5})")
_HOST_WITH_STARS: Final = re.compile(r"[a-z0-9*._-]+")
_ESCAPE: Final = re.compile("%[0-9A-Fa-f]{2}")
_ANY_HOST: Final = r"\[[^/\]]*\]|[^/:]+"
_ANY_PORT: Final = "(?::[0-9]+)?"


def re2_options(max_mem: int) -> re2.Options:
    """Return RE2's options: texts are ASCII, and errors are ours to tell."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = max_mem
    return options


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """A pattern that was read and found good."""

    text: str
    """The pattern as it was written."""
    expression: str
    """The same for RE2, to be searched for in `host/path?query`."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern; raises ValueError with what is wrong and what to write instead."""
        if not text or text == REGEX or text.split() != [text]:
            raise ValueError("must not be empty or contain white space")
        if len(text) > MAX_LENGTH:
            raise ValueError(f"must be at most {MAX_LENGTH} characters long")
        if not text.startswith(REGEX):
            return cls(text, _glob(text))
        expression = text.removeprefix(REGEX)
        _check(expression)
        return cls(text, expression)

    def matches(self, identity: str) -> bool:
        """Tell whether a page's identity is meant; for many patterns at once see `linkrules`."""
        return _compile(self.expression).search(subject(identity)) is not None


def subject(identity: str) -> bytes:
    """Return the text that patterns are matched against."""
    return identity[len("https://") :].encode()


def host_matcher(text: str) -> Callable[[str], bool]:
    """Return a test for hosts from a glob: the part of a URL pattern before its first `/`."""
    if not text or text.split() != [text] or len(text) > MAX_LENGTH:
        raise ValueError("must not be empty or contain white space")
    if "/" in text:
        raise ValueError("is about a host; leave out what is behind it")
    found = _compile(rf"\A(?:{_host(text)})\z")
    return lambda host: found.search(host.encode()) is not None


def _check(expression: str) -> None:
    """Refuse what is no expression, or too large; raises ValueError."""
    if not expression.isascii():
        raise ValueError(
            "has characters that no address has: write them as percent-escapes, "
            f"such as {quote(next(c for c in expression if not c.isascii()))}"
        )
    try:
        compiled = _compile(expression)
    except re2.error as error:
        reason = error.args[0].decode() if error.args else "refused"
        remedy = ""
        if "(?" in reason or "escape sequence" in reason:
            remedy = "; look-around and back-references do not exist here"
        raise ValueError(f"not a regular expression for RE2 ({reason}){remedy}") from None
    if compiled.programsize > MAX_PROGRAM:
        raise ValueError("is too large when it is compiled; use shorter repetitions")


def _compile(expression: str) -> re2._Regexp:
    return re2.compile(expression.encode(), re2_options(1 << 20))


def _glob(text: str) -> str:
    """Translate a glob; raises ValueError."""
    if scheme := _SCHEME.match(text):
        raise ValueError(f'is matched without a scheme; write "{text[scheme.end() :]}"')
    if "#" in text:
        raise ValueError("no address has a fragment here; leave out what begins with #")
    host, slash, rest = text.partition("/")
    if not host:
        raise ValueError(f'starts with a host or *; write "*{text}"')
    if "?" in host:
        wanted = f"{host.partition('?')[0] or '*'}/*?{host.partition('?')[2]}{slash}{rest}"
        raise ValueError(f'a query stands behind a path; write "{wanted}"')
    start = rf"\A(?:{_host(host)})" + ("" if _PORT.fullmatch(host) else _ANY_PORT)
    if not slash:
        return f"{start}/"
    path, mark, query = f"/{rest}".partition("?")
    # As in an identity, where a trailing slash is no part of the path.
    path = path.rstrip("/") or "/"
    return rf"{start}{_stars(_spelt(path + mark + query), '.*')}\z"


def _host(text: str) -> str:
    """Translate the part of a glob that is about the host."""
    with_port = _PORT.fullmatch(text)
    host = with_port["host"] if with_port else text
    port = f":{int(with_port['port'])}" if with_port and with_port["port"] != "443" else ""
    if host == "*":
        return f"(?:{_ANY_HOST}){port}"
    if "*" in host.removeprefix("*."):
        name = host.lower().removeprefix("www.")
        if not _HOST_WITH_STARS.fullmatch(name):
            raise ValueError("a host with * has letters, digits, hyphens and dots besides")
        below = name.startswith("*.")
        stars = _stars(name[2:] if below else name, "[^/:]*")
        return rf"(?:[^/:]+\.)?{stars}{port}" if below else f"{stars}{port}"
    try:
        pattern = HostPattern.parse(host)
    except ValueError as error:
        raise ValueError(f"does not start with a host: {error}") from None
    exact = re2.escape(pattern.host)
    if pattern.below is None:
        return f"{exact}{port}"
    return rf"(?:{exact}|[^/:]+\.{re2.escape(pattern.below)}){port}"


def _spelt(text: str) -> str:
    """Spell the path and query of a glob as an identity does: ASCII, no needless escapes."""
    escaped = "".join(c if c.isascii() else quote(c) for c in text)
    return _ESCAPE.sub(lambda found: normal_escapes(found.group()), escaped)


def _stars(text: str, anything: str) -> str:
    """Translate a text in which only `*` is special."""
    return anything.join(re2.escape(part) for part in re.split(r"\*+", text))
