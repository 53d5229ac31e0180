"""What a request carries through Scrapy: the lease it runs under and the story so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from scrapy import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response

    from terrain.frontier import Entry, Lease
    from terrain.rules.redirects import Hop
    from terrain.rules.retries import Outcome
    from terrain.rules.urls import Address

META_KEY = "terrain"


class ErrandKind(StrEnum):
    """What a request is for."""

    ROBOTS = "robots"
    HEAD = "head"
    GET = "get"


@dataclass(slots=True)
class Errand:
    """One request for a page or a robots.txt, and what led to it."""

    kind: ErrandKind
    host: str
    """The host whose clock and budget it runs under."""
    entry: Entry | None
    """The page it is for; None for robots.txt."""
    address: Address
    """The page's identity and the address asked now."""
    attempt: int = 0
    """Tries that failed before this one."""
    timeout: float = 0.0
    """Seconds this try may take."""
    asked: tuple[str, ...] = ()
    """Fetch URLs asked for the page in this chain of redirects, this one included."""
    robots_for: tuple[str, str] | None = None
    """For robots.txt: the host that waits for it and the origin it speaks for."""
    lease: Lease | None = None
    """Set while the request is out."""
    status: int | None = None
    """Status of the answer, known before its body is."""
    verdict: Outcome | None = field(default=None)
    """What the retry rules made of the answer, if it ends here."""
    hop: Hop | None = field(default=None)
    """What the redirect rules made of it."""
    settled: bool = False
    """True once nothing more need be done: it is queued, its robots.txt was taken in, or the item
    that says what broke is on its way."""

    def onward(self, **changes: object) -> Errand:
        """Return the errand of a follow-up: the same story, no lease and no verdict yet."""
        fresh: dict[str, object] = dict.fromkeys(("lease", "status", "verdict", "hop"))
        fresh["settled"] = False
        return replace(self, **{**fresh, **changes})  # type: ignore[arg-type]


def errand_of(request: Request | None) -> Errand | None:
    """Return the errand a request runs, None for a request that is not terrain's."""
    return None if request is None else request.meta.get(META_KEY)


def errand_of_answer(response: Response) -> Errand | None:
    """Return the errand whose answer this is."""
    return errand_of(response.request)


def make_request(
    errand: Errand,
    *,
    callback: Callable[..., object],
    errback: Callable[..., object],
) -> Request:
    """Make the request that runs an errand."""
    return Request(
        errand.address.fetch_url,
        method="HEAD" if errand.kind is ErrandKind.HEAD else "GET",
        callback=callback,
        errback=errback,
        dont_filter=True,
        meta={
            META_KEY: errand,
            "download_timeout": errand.timeout,
            # The frontier keeps the host's clock; Scrapy's slot must not hold anything back.
            "download_slot": errand.host,
            # The address goes out byte for byte as it was found.
            "verbatim_url": True,
        },
    )


def follow_up(request: Request, errand: Errand, not_before: float = 0.0) -> Request:
    """Make the request that a middleware answers with: it goes back through the frontier."""
    assert request.callback is not None
    assert request.errback is not None
    following = make_request(errand, callback=request.callback, errback=request.errback)
    following.meta["terrain_not_before"] = not_before
    return following
