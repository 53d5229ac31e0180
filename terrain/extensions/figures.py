"""The figures of a crawl under way: what the progress shows, and how each is come by."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from terrain.config import Config
    from terrain.frontier import Counts
    from terrain.gate import RobotsGate
    from terrain.store.gauge import HostQueue, Reading

RATE_SECONDS = 10.0
"""How far back "per second" looks: long enough to be steady, short enough to be now."""

ERROR_STATES = ("failed", "unreachable", "dead_link", "rate_limited")
"""States that a person would call an error."""

PAGES, REQUESTS = "terrain/pages/", "terrain/requests/"


@dataclass(frozen=True, slots=True)
class Figures:
    """One look at a crawl."""

    run: int
    elapsed: float
    """Seconds since this process started on the run."""
    done: int
    """Pages that this process has brought to an outcome by asking."""
    per_second: float
    requests: int
    counts: Counts
    waiting: int | None = None
    """Pages of the whole frontier; None until the database has been looked at."""
    waiting_hosts: int = 0
    states: Mapping[str, int] = field(default_factory=dict)
    """Pages of the run by state, earlier processes included."""
    seconds_left: float | None = None
    """For what is known now, at the least; None: not known."""
    slowest: str | None = None
    """The host that the rest of the crawl waits for."""
    ended: str | None = None
    """How the run ended; None while it is on."""

    @property
    def queued(self) -> int:
        """Pages that wait to be asked; only those in memory until more is known."""
        if self.waiting is None:
            return self.counts.queued
        return max(0, self.waiting - self.counts.leased)

    @property
    def errors(self) -> dict[str, int]:
        """States that are errors, with their pages."""
        return {state: self.states[state] for state in ERROR_STATES if self.states.get(state)}


class Meter:
    """Turns counters into figures. Time is an argument."""

    def __init__(self, config: Config, gate: RobotsGate, run: int, now: float) -> None:
        self._config = config
        self._gate = gate
        self._run = run
        self._started = now
        self._past: deque[tuple[float, int]] = deque([(now, 0)])
        self._best = 0.0

    def look(
        self, stats: Mapping[str, object], counts: Counts, reading: Reading | None, now: float
    ) -> Figures:
        """Work the figures out."""
        done = _sum(stats, PAGES)
        requests = _sum(stats, REQUESTS)
        per_second = self._rate(done, now)
        elapsed = now - self._started
        if reading is None:
            states = {name.removeprefix(PAGES): n for name, n in _part(stats, PAGES)}
            return Figures(self._run, elapsed, done, per_second, requests, counts, states=states)
        left, slowest = self._left(reading, requests / done if done else None)
        return Figures(
            run=self._run,
            elapsed=elapsed,
            done=done,
            per_second=per_second,
            requests=requests,
            counts=counts,
            waiting=reading.waiting,
            waiting_hosts=reading.waiting_hosts,
            states=reading.states,
            seconds_left=left,
            slowest=slowest,
        )

    def _rate(self, done: int, now: float) -> float:
        past = self._past
        past.append((now, done))
        while len(past) > 2 and now - past[1][0] >= RATE_SECONDS:
            past.popleft()
        seconds = now - past[0][0]
        rate = (done - past[0][1]) / seconds if seconds > 0 else 0.0
        if seconds >= RATE_SECONDS / 2:
            self._best = max(self._best, rate)
        return rate

    def _left(
        self, reading: Reading, requests_per_page: float | None
    ) -> tuple[float | None, str | None]:
        """Give the time that is left for what is known, and who it is waited for.

        Hosts are asked side by side, each at its own pace, so the slowest queue decides; unless
        there are so many hosts that the places do, which the best rate so far tells.
        """
        if not reading.waiting:
            return None, None
        per_page = requests_per_page or (2.0 if self._config.crawler.head_probe == "always" else 1)
        slowest = max(reading.longest, key=lambda queue: self._queue_seconds(queue, per_page))
        seconds = self._queue_seconds(slowest, per_page)
        overall = reading.waiting / self._best if self._best else 0.0
        return (seconds, slowest.host) if seconds >= overall else (overall, None)

    def _queue_seconds(self, queue: HostQueue, per_page: float) -> float:
        terms = self._config.host_terms(queue.host)
        delay = max(terms.delay, self._gate.delay(f"https://{queue.host}"))
        allowed = max(0, self._config.crawler.max_domain_requests - queue.requests)
        return min(queue.pages * per_page, allowed) * delay / terms.max_in_flight


def _part(stats: Mapping[str, object], prefix: str) -> list[tuple[str, int]]:
    return [
        (name, value)
        for name, value in stats.items()
        if name.startswith(prefix) and isinstance(value, int)
    ]


def _sum(stats: Mapping[str, object], prefix: str) -> int:
    return sum(value for _, value in _part(stats, prefix))


def in_words(seconds: float) -> str:
    """Write a time span as a person would: `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`."""
    whole = max(0, round(seconds))
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit} {rest} {smaller}" if rest else f"{whole // size} {unit}"
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{rest} s"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def one_line(figures: Figures) -> str:
    """Write the figures as one plain line of ASCII, for logs."""
    counts = figures.counts
    parts = [
        f"run {figures.run}, {in_words(figures.elapsed)}: {figures.done} pages",
        f"{figures.per_second:.1f}/s",
        f"{figures.queued} waiting, {counts.in_flight} in flight",
        f"hosts {counts.ready} ready {counts.waiting} waiting {counts.suspended} suspended",
        ", ".join(f"{n} {state}" for state, n in figures.errors.items()) or "no errors",
    ]
    if figures.ended is not None:
        parts.append(figures.ended)
    elif figures.seconds_left is not None:
        parts.append(f"at least {in_words(figures.seconds_left)} left")
    return "; ".join(parts)
