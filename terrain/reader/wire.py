"""What passes between the crawl and the reading process: frames of a length and a value.

Both ends are the same program in the same interpreter, so `marshal` does: it is several times
faster than pickle for fifty links, and nothing of it is ever stored.
"""

from __future__ import annotations

import marshal
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from terrain.rules.extract import PageFacts
from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.urls import Address

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH: Final = 4
"""Bytes in front of a frame that say how long it is."""

MOST_ADDRESSES: Final = 8192
"""Addresses remembered from page to page; with more than that both sides begin anew."""

_KINDS: Final = tuple(sorted(LinkKind))
_POSITIONS: Final = tuple(sorted(Position))

_make_link = cast("Callable[[Value], OutLink]", partial(tuple.__new__, OutLink))
"""`OutLink._make` without its look at the length: half the time, for every link of every page."""

Value = tuple[Any, ...]


def frame(value: Value) -> bytes:
    """Pack a value; a reader knows where it ends."""
    packed = marshal.dumps(value)
    return len(packed).to_bytes(LENGTH, "big") + packed


def unframed(buffer: bytearray) -> Value | None:
    """Take the first whole value out of what has arrived, None if there is none yet."""
    if len(buffer) < LENGTH:
        return None
    end = LENGTH + int.from_bytes(buffer[:LENGTH], "big")
    if len(buffer) < end:
        return None
    value: Value = marshal.loads(memoryview(buffer)[LENGTH:end])  # noqa: S302 - our own process
    del buffer[:end]
    return value


class Packer:
    """Turns facts into what `marshal` knows; the reading process has one.

    An address is sent once and from then on named by its number: the pages of a site mostly link
    to the same pages.
    """

    def __init__(self) -> None:
        self._numbers: dict[Address, int] = {}

    def packed(self, facts: PageFacts) -> Value:
        """Turn one page's facts; they must be unpacked in the same order."""
        numbers = self._numbers
        known = len(numbers)
        new: list[Value] = []
        links: list[Value] = []
        for address, kind, anchor, rel, position in facts.links:
            number = numbers.get(address)
            if number is None:
                number = numbers[address] = len(numbers)
                new.append(tuple(address))
            links.append((number, +kind, anchor, rel, +position))
        if len(numbers) > MOST_ADDRESSES:
            self.forget()
        return (
            facts.title,
            facts.description,
            facts.language,
            facts.canonical_url,
            facts.meta_robots,
            facts.content_hash,
            facts.encoding,
            facts.note,
            known,
            new,
            links,
        )

    def forget(self) -> None:
        """Send every address again: what was packed last did not get through, or it was much."""
        self._numbers = {}


class Unpacker:
    """Turns them back; the crawl has one for each reading process."""

    def __init__(self) -> None:
        self._addresses: list[Address] = []

    def facts(self, value: Value) -> PageFacts:
        """Turn the next page's facts back."""
        *texts, known, new, links = value
        addresses = self._addresses
        del addresses[known:]  # all of them, when the other side has begun anew
        assert len(addresses) == known
        addresses += map(Address._make, new)
        make, kinds, positions = _make_link, _KINDS, _POSITIONS
        title, description, language, canonical_url, meta_robots, content_hash, *rest = texts
        found = [
            make((addresses[number], kinds[kind], anchor, rel, positions[position]))
            for number, kind, anchor, rel, position in links
        ]
        if len(addresses) > MOST_ADDRESSES:
            self._addresses = []  # The other side does the same; a page may bring a million.
        return PageFacts(
            title,
            description,
            language,
            canonical_url,
            meta_robots,
            content_hash,
            tuple(found),
            *rest,
        )
