"""What a page's outlink is: its kind, its place in the document, its target.

Apart from `extract`, so that the store can speak of links without importing an HTML parser.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from terrain.rules.urls import Address


class LinkKind(IntEnum):
    """How one page names another; when a pair has several kinds, the lowest number wins."""

    REDIRECT = 0
    """The server answered the source with a 3xx to the target."""
    ANCHOR = 1
    """An `<a href>` anywhere in the document."""
    CANONICAL = 2
    """A `<link rel=canonical>`."""

    @property
    def word(self) -> str:
        """The kind as the database's readers see it."""
        return self.name.lower()


class Position(IntEnum):
    """The part of the document a link stands in: its nearest sectioning ancestor."""

    NAV = 0
    HEADER = 1
    FOOTER = 2
    ASIDE = 3
    MAIN = 4
    BODY = 5
    """None of the others."""

    @property
    def word(self) -> str:
        """The position as the database's readers see it."""
        return self.name.lower()


class OutLink(NamedTuple):
    """One link out of a page; a tuple, because fifty are made for every page."""

    address: Address
    """Where it leads."""
    kind: LinkKind
    """How the page names the target."""
    anchor: str
    """The visible text, white space collapsed, at most 200 characters; empty when there is none."""
    rel: str
    """The `rel` attribute's tokens, lower case, joined by one space; empty when there are none."""
    position: Position
    """Where in the document it stands."""
