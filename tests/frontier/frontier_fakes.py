"""A store, a gate and a clock for frontier tests: as simple as they can be, all in memory."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from terrain.frontier import (
    Dropped,
    DropReason,
    Entry,
    FrontierContract,
    HostTerms,
    Lease,
    TopUp,
    Verdict,
    Want,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])


@dataclass
class FakeGate:
    """Allows everything that is not named."""

    unknown: set[str] = field(default_factory=set)
    """Origins whose robots.txt has not been read."""
    denied: set[str] = field(default_factory=set)
    """Addresses that robots.txt forbids once it is known."""

    def check(self, fetch_url: str) -> Verdict:
        if origin(fetch_url) in self.unknown:
            return Verdict.UNKNOWN
        return Verdict.DENIED if fetch_url in self.denied else Verdict.ALLOWED

    def robots_url(self, fetch_url: str) -> str:
        return origin(fetch_url) + "/robots.txt"


@dataclass
class FakeStore:
    """The durable frontier: entries and budgets by host."""

    entries: dict[str, dict[int, Entry]] = field(default_factory=dict)
    budgets: dict[str, int] = field(default_factory=dict)
    """Requests left; a host that is not named has no limit."""
    closed: dict[str, DropReason] = field(default_factory=dict)
    granted: dict[str, int] = field(default_factory=dict)
    """Tokens given and not given back."""
    not_before: dict[str, float] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)

    def add(self, host: str, *entries: Entry) -> None:
        self.entries.setdefault(host, {}).update({entry.page_id: entry for entry in entries})

    def remove(self, host: str, page_id: int) -> None:
        self.entries.get(host, {}).pop(page_id, None)

    def give_back(self, returned: Iterable[tuple[str, int]]) -> None:
        for host, tokens in returned:
            self.granted[host] -= tokens
            if host in self.budgets:
                self.budgets[host] += tokens

    def answer(self, want: Want) -> TopUp:
        host = want.host
        if host in self.closed:
            return TopUp(host, closed=self.closed[host])
        waiting = sorted(
            (e for e in self.entries.get(host, {}).values() if e.page_id not in want.held),
            key=lambda e: (e.priority, e.seq),
        )
        tokens = min(want.tokens, self.budgets.get(host, want.tokens))
        if host in self.budgets:
            self.budgets[host] -= tokens
        self.granted[host] = self.granted.get(host, 0) + tokens
        return TopUp(
            host,
            entries=waiting[: want.entries],
            more=len(waiting) > want.entries,
            tokens=tokens,
            budget_spent=self.budgets.get(host) == 0,
            not_before=self.not_before.get(host),
            delay=self.delays.get(host, 0.0),
        )

    def hosts_with_work(self, limit: int, *, without: Iterable[str]) -> tuple[list[str], bool]:
        inside = set(without)
        names = [h for h, waiting in self.entries.items() if waiting and h not in inside]
        return names[:limit], len(names) > limit


def page(number: int, host: str = "a.test", *, priority: int = 0, prefix: str = "") -> Entry:
    """A page whose age is its number."""
    url = f"https://{prefix}{host}/{number}"
    return Entry(page_id=number, fetch_url=url, priority=priority, seq=number)


@dataclass
class Rig:
    """A frontier with its store and a clock that the test turns by hand."""

    frontier: FrontierContract
    store: FakeStore
    gate: FakeGate
    now: float = 1000.0

    def offer(self, host: str, *pages: Entry, priority: int | None = None) -> None:
        """Commit entries to the store and let the frontier know."""
        self.store.add(host, *pages)
        self.frontier.announce(host, self.now, priority=priority)
        self.pump()

    def pump(self) -> None:
        """Answer everything the frontier wants from the store."""
        while True:
            self.store.give_back(self.frontier.take_returned_tokens())
            limit = self.frontier.wants_hosts(self.now)
            if limit:
                names, more = self.store.hosts_with_work(limit, without=self.frontier.hosts())
                self.frontier.hosts_arrived(names, self.now, more=more)
            wants = self.frontier.wants(100)
            if not wants:
                return
            for want in wants:
                self.frontier.top_up(self.store.answer(want), self.now)

    def lease(self) -> Lease | None:
        self.pump()
        return self.frontier.lease(self.now)

    def must_lease(self) -> Lease:
        lease = self.lease()
        assert lease is not None
        return lease

    def url(self) -> str | None:
        """The address that may be asked now, if any."""
        lease = self.lease()
        return None if lease is None else lease.url

    def end(self, lease: Lease, *, after: float = 0.0) -> None:
        self.now += after
        self.frontier.exchange_ended(lease, self.now)

    def commit(self, host: str, page_id: int) -> None:
        self.store.remove(host, page_id)
        self.frontier.finish(host, page_id, self.now)

    def complete(self, lease: Lease, *, after: float = 0.0) -> None:
        """The exchange ends and the page's outcome is committed."""
        self.end(lease, after=after)
        if lease.entry is not None:
            self.commit(lease.host, lease.entry.page_id)

    def dropped(self) -> list[Dropped]:
        return self.frontier.take_dropped()


@dataclass(frozen=True)
class Exchange:
    """One line of a simulated server's log."""

    host: str
    start: float
    end: float


def simulate(rig: Rig, takes: Callable[[Lease], float]) -> list[Exchange]:
    """Run the rig to the end on a virtual clock; `takes` says how long each exchange lasts."""
    log: list[Exchange] = []
    running: list[tuple[float, int, Lease]] = []
    while True:
        while (lease := rig.lease()) is not None:
            end = rig.now + takes(lease)
            heapq.heappush(running, (end, lease.id, lease))
            log.append(Exchange(lease.host, rig.now, end))
        times = [running[0][0]] if running else []
        ready_at = rig.frontier.ready_at(rig.now)
        if ready_at is not None:
            times.append(ready_at)
        if not times:
            return log
        rig.now = max(rig.now, min(times))
        while running and running[0][0] <= rig.now:
            rig.complete(heapq.heappop(running)[2])


def constant_terms(delay: float = 1.0, places: int = 1) -> Callable[[str], HostTerms]:
    terms = HostTerms(delay=delay, max_in_flight=places)
    return lambda _host: terms
