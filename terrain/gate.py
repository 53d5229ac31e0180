"""The robots verdicts the frontier asks for: memory only, bounded by the text of the rules."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from terrain.frontier import Verdict
from terrain.rules.robots import Robots, RobotsMode, robots_from_answer
from terrain.rules.urls import robots_origin

if TYPE_CHECKING:
    from terrain.config import Config

MAX_WEIGHT = 500_000
"""Characters of rules kept parsed; at up to 50 bytes each that is 25 MB at the very worst."""

MAX_EVICTED = 10_000
"""Origins remembered as dropped for room; one forgotten is asked for its robots.txt again."""

MIN_WEIGHT = 200
"""What an origin without rules counts for: the entry itself."""


@dataclass(slots=True)
class _Known:
    robots: Robots
    expires_at: float
    firm: bool
    """The host answered, if only that there are no rules; not that it could not be reached."""


class RobotsGate:
    """Knows which fetch URLs may be asked, for the origins whose robots.txt it was told."""

    def __init__(self, config: Config) -> None:
        self.mode = RobotsMode(config.robots.mode)
        self._agent = config.user_agent.crawler_name
        self._unreachable: Literal["allow", "disallow"] = config.robots.unreachable
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._weight = 0
        self._evicted: OrderedDict[str, None] = OrderedDict()
        self.now = 0.0
        """Epoch seconds, set by the session: the gate has no clock of its own."""

    def learn(
        self, origin: str, status: int | None, body: bytes | None, expires_at: float
    ) -> Robots:
        """Take in the answer to a request for robots.txt; it holds until `expires_at`."""
        robots = robots_from_answer(status, body, agent=self._agent, unreachable=self._unreachable)
        self.forget(origin)
        firm = status is not None and status < 500
        self._known[origin] = _Known(robots, expires_at, firm)
        self._weight += max(robots.weight, MIN_WEIGHT)
        self._evicted.pop(origin, None)
        while self._weight > MAX_WEIGHT and len(self._known) > 1:
            oldest = next(iter(self._known))
            self.forget(oldest)
            self._evicted[oldest] = None
            if len(self._evicted) > MAX_EVICTED:
                self._evicted.popitem(last=False)
        return robots

    def prolong(self, origin: str, expires_at: float) -> Robots | None:
        """Go by the rules known from before: nothing better came (RFC 9309, 2.4); None if none."""
        known = self._known.get(origin)
        if known is None or not known.firm:
            return None
        known.expires_at = expires_at
        return known.robots

    def knows(self, origin: str) -> bool:
        """Tell whether it was told of an origin, however long ago."""
        return origin in self._known

    def was_evicted(self, origin: str) -> bool:
        """Tell whether the answer was known and dropped for room: then the store still has it."""
        return origin in self._evicted

    def forget(self, origin: str) -> None:
        """Drop what is known of an origin; it is asked or read from the store again."""
        known = self._known.pop(origin, None)
        if known is not None:
            self._weight -= max(known.robots.weight, MIN_WEIGHT)

    def check(self, fetch_url: str) -> Verdict:
        """Say whether the address may be asked, as far as is known now."""
        if self.mode is RobotsMode.IGNORE:
            return Verdict.ALLOWED
        known = self._known.get(robots_origin(fetch_url))
        if known is None or known.expires_at <= self.now:
            return Verdict.UNKNOWN
        if self.mode is RobotsMode.REPORT or known.robots.allows(fetch_url):
            return Verdict.ALLOWED
        return Verdict.DENIED

    def denial(self, fetch_url: str) -> str | None:
        """Return the reason of a denial, for the page's error message."""
        known = self._known.get(robots_origin(fetch_url))
        return None if known is None else known.robots.denial(fetch_url)

    def robots_url(self, fetch_url: str) -> str:
        """Give the robots.txt address that decides about `fetch_url`."""
        return f"{robots_origin(fetch_url)}/robots.txt"

    def delay(self, origin: str) -> float:
        """Return the crawl delay an origin asks for, 0 if none is known."""
        known = self._known.get(origin)
        return 0.0 if known is None else known.robots.crawl_delay or 0.0

    def forget_eviction(self, origin: str) -> None:
        """The store was asked about this origin; if it had nothing, the host is asked."""
        self._evicted.pop(origin, None)
