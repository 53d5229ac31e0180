"""What the spider says of a page. Scrapy's feeds write the same items (`-O pages.jsonl`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from terrain.rules.links import OutLink
from terrain.store import Fault, PageOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from terrain.rules.states import PageState

LinkItem = OutLink
"""One link out of a page: address, kind, anchor text, rel, position."""


def _links_for_feeds(links: Sequence[LinkItem]) -> list[dict[str, Any]]:
    """Render links in the database's words, and ids as strings: JSON numbers are small."""
    return [
        {
            "url": link.address.identity,
            "fetch_url": link.address.fetch_url,
            "page_id": str(link.address.page_id),
            "kind": link.kind.word,
            "anchor": link.anchor,
            "rel": link.rel,
            "position": link.position.word,
        }
        for link in links
    ]


@dataclass
class PageItem:
    """How one page ended: its state, its facts and its outlinks."""

    page_id: int = field(metadata={"serializer": str})
    """63-bit hash of the identity; a string in JSON."""
    url: str
    """The identity."""
    domain: str
    """The identity's host."""
    state: PageState
    """How it ended."""
    fetch_url: str | None = None
    """Where the server answered."""
    title: str | None = None
    description: str | None = None
    status_code: int | None = None
    """Absent if there was no answer."""
    content_type: str | None = None
    last_modified: str | None = None
    """The header's value, as sent."""
    etag: str | None = None
    """The header's value, as sent."""
    content_hash: str | None = None
    """Hash of the visible text."""
    language: str | None = None
    canonical_url: str | None = None
    meta_robots: str | None = None
    bytes: int | None = None
    """Length of the body after decompression."""
    fetch_ms: int | None = None
    """From the request to the last byte of the last exchange."""
    visited_at: str | None = None
    """ISO 8601 UTC."""
    error_message: str | None = None
    """Why it is not `processed`, or what was cut."""
    retry_count: int = 0
    """Tries before the last one."""
    own_hops: int = 0
    """Redirect hops within the page's identity."""
    fault: Fault = field(default=Fault.NONE, metadata={"serializer": int})
    """Set when redirects make the page `failed`."""
    links: Sequence[LinkItem] = field(default=(), metadata={"serializer": _links_for_feeds})
    """Outlinks, in document order; for a redirected page the one redirect."""

    def outcome(self) -> PageOutcome:
        """Return what the store needs."""
        return PageOutcome(
            page_id=self.page_id,
            state=self.state,
            fetch_url=self.fetch_url,
            links=self.links,
            own_hops=self.own_hops,
            fault=self.fault,
            title=self.title,
            description=self.description,
            status_code=self.status_code,
            content_type=self.content_type,
            last_modified=self.last_modified,
            etag=self.etag,
            content_hash=self.content_hash,
            language=self.language,
            canonical_url=self.canonical_url,
            meta_robots=self.meta_robots,
            bytes=self.bytes,
            fetch_ms=self.fetch_ms,
            visited_at=self.visited_at,
            error_message=self.error_message,
            retry_count=self.retry_count,
        )
