"""Depth while a run is on: one number per page, whatever the number of origins.

The *radius* of a page is the number of links that may still be followed from it: the maximum over
all origins of (the origin's limit - the page's depth from it). An origin's own pages have its
limit, a link takes one, a redirect nothing, and the largest value found is kept. A page may be
asked for if its radius is not negative: exactly then it is within the limit of some origin.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from terrain.rules.hosts import HostRules

MAX_HOPS: Final = 10
"""Redirect hops from the nearest seed or ordinary link; a page further away is not asked for."""

HOSTS_REMEMBERED: Final = 4_096
"""Hosts whose radius is kept: enough for the hosts of many pages, a few MB, and no more."""


def after_link(radius: int) -> int:
    """Return the radius that a page passes on through a link."""
    return radius - 1


def after_redirect(radius: int) -> int:
    """Return the radius that a page passes on through a redirect."""
    return radius


def crawlable(radius: int) -> bool:
    """Tell whether a page with this radius is within the limit of some origin."""
    return radius >= 0


class DepthRules:
    """The depth limits of the origins, and the radius they give to hosts and seeds.

    `limits` holds the limit of each origin, in the order of the quality entries in `host_rules`.
    """

    def __init__(self, host_rules: HostRules, limits: Sequence[int]) -> None:
        if not limits:
            raise ValueError("there must be at least one origin")
        if min(limits) < 0:
            raise ValueError(f"a depth limit must not be negative: {min(limits)}")
        self._host_rules = host_rules
        self.limits: Final = tuple(limits)
        """The limit of each origin."""
        self.widest: Final = max(limits)
        """The largest limit: no page has a larger radius."""
        self._own_radius = lru_cache(maxsize=HOSTS_REMEMBERED)(self._find_own_radius)

    def own_radius(self, host: str) -> int | None:
        """Return the radius of every page on `host`, or None if it belongs to no origin.

        Such pages are at depth 0 however they are reached, so of several matching origins the
        widest one counts.
        """
        return self._own_radius(host)

    def _find_own_radius(self, host: str) -> int | None:
        return max((self.limits[origin] for origin in self._host_rules.origins(host)), default=None)

    def reached(self, host: str, radius: int) -> int:
        """Return the radius of a page on `host` to which a link or redirect passes `radius`."""
        own = self._own_radius(host)
        return radius if own is None or own < radius else own

    def seed_radius(self, origin: int) -> int:
        """Return the radius of the seeds of an origin, given by its index."""
        return self.limits[origin]

    def priority(self, radius: int) -> int:
        """Return the place in the queue: 0 is asked first, and shallow pages before deep ones."""
        return self.widest - radius
