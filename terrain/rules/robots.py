"""robots.txt: may this page be asked for, and how slowly (RFC 9309; read and matched by protego).

The file comes from strangers, so its cost is bounded: in size, in the groups that are kept, and in
the work that one verdict may take.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, Literal

from protego import Protego

MAX_ROBOTS_BYTES: Final = 500 * 1024
"""What is read of a robots.txt: the least that RFC 9309, 2.5 demands."""

MAX_ROBOTS_HOPS: Final = 5
"""Redirects followed for robots.txt; after more it counts as unavailable (RFC 9309, 2.3.1.2)."""

ROBOTS_LIFETIME: Final = 24 * 3600.0
"""Seconds for which an answer is used (RFC 9309, 2.4)."""

MAX_CRAWL_DELAY: Final = ROBOTS_LIFETIME
"""A longer crawl delay, in seconds, is cut to this: no rule is trusted for longer than its file."""

MAX_MATCH_WORK: Final = 100_000_000
"""Bytes of wildcard rules times characters of address for one verdict: some 20 ms if made to hurt.

It leaves room for a file of full size with addresses of 195 characters, and for 12 KB of wildcard
rules with the longest address there is.
"""

ROBOTS_DENIED: Final = "robots denied"
"""The reason on a page that robots.txt forbids."""

_UNKNOWN_REASON: Final = f"{ROBOTS_DENIED}: robots.txt could not be read"
_TOO_COSTLY_REASON: Final = f"{ROBOTS_DENIED}: too many wildcard rules for so long an address"

# The names under which protego gets to see the groups; none is part of another.
_US: Final = "this-crawler"
_OTHERS: Final = "someone-else"

_UNKNOWN_LINE: Final = "Unknown: -"
"""Stands for any line that is no rule; to protego it ends the names that a group starts with."""

_DIRECTIVE: Final = re.compile(
    r"(?P<field>user[\s-]*agent|allow|d(?:is+al+[oa]w|iasllow)|crawl[\s-]delay|site-?maps?|host)"
    r"(?:\s*:|\s|$)\s*(?P<value>.*)",
    re.IGNORECASE | re.ASCII,
)
"""The lines that matter, with the misspellings that protego forgives and the colon left out."""

_FIELDS: Final = {
    "u": "User-agent",
    "a": "Allow",
    "d": "Disallow",
    "c": "Crawl-delay",
    "s": "Sitemap",
    "h": "Host",
}
"""What a field of `_DIRECTIVE` means, by its first letter."""


class RobotsMode(StrEnum):
    """What a verdict is used for."""

    RESPECT = "respect"
    """A denied page is not asked for."""
    IGNORE = "ignore"
    """robots.txt is not fetched."""
    REPORT = "report"
    """It is fetched and the verdict noted, but the page is asked for all the same."""


class Robots:
    """The rules of one scheme, host and port for this crawler. Made by `robots_from_answer`."""

    __slots__ = ("_always", "_parsed", "_wild_bytes", "crawl_delay", "weight")

    crawl_delay: float | None
    """Seconds between two requests that the host asks for; None if it does not."""
    weight: int
    """Characters of rules kept, so that a cache can be bounded by their sum.

    protego needs up to 50 times that in bytes, when the rules are short.
    """

    def __init__(self, parsed: Protego | None, *, always: bool, wild_bytes: int, weight: int):
        self._parsed = parsed
        self._always = always
        self._wild_bytes = wild_bytes
        self.weight = weight
        delay = parsed.crawl_delay(_US) if parsed is not None else None
        self.crawl_delay = None if delay is None else min(delay, MAX_CRAWL_DELAY)

    def allows(self, fetch_url: str) -> bool:
        """Tell whether the page may be asked for."""
        return self.denial(fetch_url) is None

    def denial(self, fetch_url: str) -> str | None:
        """Return why the page may not be asked for, for its `error_message`; None if it may."""
        if self._parsed is None:
            return None if self._always else _UNKNOWN_REASON
        # Matching a rule like `*aaabaaa` costs its length times the length of the address. Rather
        # than stall the crawl for one host, the page is left alone, which is never impolite.
        if self._wild_bytes * len(fetch_url) > MAX_MATCH_WORK:
            return _TOO_COSTLY_REASON
        try:
            return None if self._parsed.can_fetch(fetch_url, _US) else ROBOTS_DENIED
        except ValueError:
            # Not an address that urllib accepts, so not one that could be matched.
            return ROBOTS_DENIED


def robots_from_answer(
    status: int | None,
    body: bytes | None,
    *,
    agent: str,
    unreachable: Literal["allow", "disallow"],
) -> Robots:
    """Make the rules from the last answer to a request for robots.txt (RFC 9309, 2.3.1).

    `status` is None if there was no whole answer; `agent` is the crawler's name (product token).
    `unreachable` decides what then holds, and after a server error. A 3xx is one redirect too many
    and counts as "no such file", like a 4xx. A 429 is for the caller to act on; nothing is allowed.
    """
    if status is None or not 200 <= status < 500:
        return _everything() if unreachable == "allow" else _nothing()
    if status == 429:
        return _nothing()
    if status >= 300 or not body:
        return _everything()
    return _parse(body, agent)


def _everything() -> Robots:
    return Robots(None, always=True, wild_bytes=0, weight=0)


def _nothing() -> Robots:
    return Robots(None, always=False, wild_bytes=0, weight=0)


def _parse(body: bytes, agent: str) -> Robots:
    lines = list(_relevant_lines(_lines(body), agent.strip().lower()))
    text = "\n".join(lines)
    wild_bytes = sum(len(line.encode()) for line in lines if "*" in line)
    return Robots(Protego.parse(text), always=True, wild_bytes=wild_bytes, weight=len(text))


def _lines(body: bytes) -> list[str]:
    """Cut a file into lines; what is not UTF-8 is replaced, as protego does it in addresses."""
    if len(body) > MAX_ROBOTS_BYTES:
        # Half a rule would be another rule: drop the line that the limit cuts.
        head = body[:MAX_ROBOTS_BYTES]
        body = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    # The same idea of a line as protego's, or names could be hidden from `_relevant_lines`.
    return text.splitlines()


def _relevant_lines(lines: list[str], agent: str) -> Iterator[str]:
    """Yield what concerns this crawler, spelt plainly and with the crawlers' names replaced.

    protego keeps every rule once for every name of its group: in a file of full size, with ten
    thousand names over ten thousand rules, a hundred million times. Here three names remain, and
    nothing is passed on as it stands, so that no odd spelling can bring the others back.
    """
    ours = False
    among_names = False
    for raw in lines:
        line = raw.partition("#")[0].strip()
        found = _DIRECTIVE.match(line)
        field = _FIELDS[found["field"][0].lower()] if found else None
        if found and field == "User-agent":
            if not among_names:
                among_names, ours = True, False
                yield f"User-agent: {_OTHERS}"
            name = found["value"].lower()
            if name == "*" or _is_us(name, agent):
                ours = True
                yield f"User-agent: {'*' if name == '*' else _US}"
        elif field in {"Sitemap", "Host"} or (field is None and ":" not in line):
            # These stand outside the groups: they do not end the names that a group starts with.
            continue
        else:
            if ours and found:
                yield f"{field}: {found['value']}"
            elif ours and among_names:
                yield _UNKNOWN_LINE
            among_names = False


def _is_us(name: str, agent: str) -> bool:
    """Tell whether a name is ours: `Terrain`, `terrain/1.0`, `Terrain*`, but not `TerrainBot`."""
    rest = name.removeprefix(agent)
    return rest != name and (not rest or not (rest[0].isalnum() or rest[0] in "-_"))
