"""One redirect answer, and what it means for the page that gave it.

A server may move a page to another spelling of the same page (`example.com` to `www.example.com`,
`/docs` to `/docs/`): that is followed at once and is no loop. Anything else is another page, which
has a life of its own. Cycles over several pages cannot be seen from one hop; the store finds them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import ada_url

from terrain.rules.depth import MAX_HOPS
from terrain.rules.states import PageState
from terrain.rules.urls import Address, UrlRules

REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
"""What browsers follow (Fetch standard, "redirect status"). Not 300, 304, 305 and 306: they offer a
choice, confirm a cached copy that was never claimed, or are retired (RFC 9110, 15.4)."""

DOWNGRADE_REASON: Final = "https redirects to http of the same page"
LOOP_REASON: Final = "redirect loop: the same address twice"
NO_LOCATION_REASON: Final = "redirect without a usable Location"
TOO_MANY_REASON: Final = f"more than {MAX_HOPS} redirect hops"


class HopKind(StrEnum):
    """What a redirect answer is."""

    FOLLOW = "follow"
    """The same page at another address: ask there."""
    ELSEWHERE = "elsewhere"
    """Another page: this one is `redirected`."""
    DOWNGRADE = "downgrade"
    """The same page over http, which is not asked: `unreachable`."""
    LOOP = "loop"
    """The same page at an address that was already asked: `failed`."""
    TOO_MANY = "too_many"
    """The target would be more than `MAX_HOPS` hops away: `failed`."""
    NO_LOCATION = "no_location"
    """A 3xx that leads nowhere: `failed`."""


@dataclass(frozen=True, slots=True)
class Hop:
    """The verdict on one redirect answer."""

    kind: HopKind
    """What the answer is."""
    target: Address | None
    """Where it leads; None if nowhere that can be asked. `TOO_MANY` has one too: if it is another
    page, the link must be recorded, because a shorter way to either end may be found later."""
    state: PageState | None
    """The outcome of the page that redirects; None if it must be asked again at the target."""
    reason: str | None
    """The page's `error_message`; None if nothing is wrong."""
    hops: int
    """Hops to the target along this way, counted from the nearest seed or ordinary link."""


def is_redirect(status: int) -> bool:
    """Tell whether an answer with this status sends the reader to its Location."""
    return status in REDIRECT_STATUSES


def decode_location(raw: bytes) -> str:
    """Decode a Location header as browsers do: UTF-8 if it is that, else Latin-1."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def classify_hop(
    *,
    address: Address,
    status: int,
    location: str | None,
    asked: Sequence[str],
    hops: int,
    rules: UrlRules,
) -> Hop:
    """Judge a 3xx answer to a request for `address.fetch_url`.

    `asked` are the fetch URLs asked for this page so far, in order, this one included; after a
    `FOLLOW` the caller comes back with the target as `address`. `hops` are the hops that led to
    the page itself.
    """
    hops_to_target = hops + max(len(asked), 1)

    def verdict(
        kind: HopKind, target: Address | None, state: PageState | None, reason: str | None = None
    ) -> Hop:
        return Hop(kind, target, state, reason, hops_to_target)

    target = None
    if is_redirect(status) and location is not None and location.strip():
        target = rules.located(location, address.fetch_url)
        if target is not None and target.identity != address.identity:
            target = rules.address(location, address.fetch_url)
    if target is None:
        reason = f"HTTP {status}: {NO_LOCATION_REASON}"
        return verdict(HopKind.NO_LOCATION, None, PageState.FAILED, reason)

    same_page = target.identity == address.identity
    if same_page:
        if _asks_for_http(location, address.fetch_url) and target.fetch_url.startswith("https:"):
            return verdict(
                HopKind.DOWNGRADE, None, PageState.UNREACHABLE, f"HTTP {status}: {DOWNGRADE_REASON}"
            )
        if target.fetch_url == address.fetch_url or target.fetch_url in asked:
            return verdict(HopKind.LOOP, None, PageState.FAILED, LOOP_REASON)
    if hops_to_target > MAX_HOPS:
        return verdict(HopKind.TOO_MANY, target, PageState.FAILED, TOO_MANY_REASON)
    if same_page:
        return verdict(HopKind.FOLLOW, target, None)
    return verdict(HopKind.ELSEWHERE, target, PageState.REDIRECTED)


def _asks_for_http(location: str | None, base: str) -> bool:
    """Tell whether the server named http; `UrlRules` hides that unless http is allowed."""
    try:
        return ada_url.URL(location or "", base).protocol == "http:"
    except ValueError:
        return False
