"""What passes between the crawl and the reading process: frames of a length and a value.

Both ends are the same program in the same interpreter, so `marshal` does: it is several times
faster than pickle for fifty links, and nothing of it is ever stored.
"""

from __future__ import annotations

import marshal
from typing import Any, Final

from terrain.rules.extract import PageFacts
from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.urls import Address

LENGTH: Final = 4
"""Bytes in front of a frame that say how long it is."""

_KINDS: Final = tuple(sorted(LinkKind))
_POSITIONS: Final = tuple(sorted(Position))

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


def plain_facts(facts: PageFacts) -> Value:
    """Turn facts into what `marshal` knows."""
    return (
        facts.title,
        facts.description,
        facts.language,
        facts.canonical_url,
        facts.meta_robots,
        facts.content_hash,
        [
            (*link.address, int(link.kind), link.anchor, link.rel, int(link.position))
            for link in facts.links
        ],
        facts.encoding,
        facts.note,
    )


def facts_from(value: Value) -> PageFacts:
    """Turn them back."""
    title, description, language, canonical_url, meta_robots, content_hash, links, *rest = value
    encoding, note = rest
    kinds, positions = _KINDS, _POSITIONS
    return PageFacts(
        title,
        description,
        language,
        canonical_url,
        meta_robots,
        content_hash,
        tuple(
            [
                OutLink(Address(a, b, c, d, e), kinds[kind], anchor, rel, positions[position])
                for a, b, c, d, e, kind, anchor, rel, position in links
            ]
        ),
        encoding,
        note,
    )
