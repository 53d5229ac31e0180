"""The frontier in memory: every request to a host passes its one clock here."""

from __future__ import annotations

from heapq import heappop
from typing import TYPE_CHECKING, Final

from terrain.frontier.host import READY, WAITING, FollowUp, Host
from terrain.frontier.types import Dropped, DropReason, Lease, RequestKind, Tempo, Verdict
from terrain.frontier.window import Window

# The hot path uses these names: on Python 3.11 reaching into an Enum costs ten times as much.
_ALLOWED: Final = Verdict.ALLOWED
_UNKNOWN: Final = Verdict.UNKNOWN
_PAGE: Final = RequestKind.PAGE
_FOLLOW_UP: Final = RequestKind.FOLLOW_UP
_QUICK: Final = Tempo.QUICK
_NEW: Final = Tempo.NEW
_SLOW: Final = Tempo.SLOW

if TYPE_CHECKING:
    from collections.abc import Callable

    from terrain.frontier.contract import FrontierContract
    from terrain.frontier.types import Entry, Gate, HostTerms

    def _keeps_the_contract(frontier: Frontier) -> FrontierContract:
        return frontier  # checked by mypy, never run


class Frontier(Window):
    """Who may be asked next, and when. See `FrontierContract` for what each method promises.

    gate: the robots verdicts.
    terms: delay and concurrency of a host, asked each time it enters the window.
    places: requests in flight over all hosts.
    max_hosts, entries_per_host: the size of the window.
    token_block: how many requests are reserved at a time; a crash may forfeit that many.
    slow_after: a host whose exchanges take longer than this many seconds counts as slow.
    park_after: a host that waits longer than this many seconds does not keep others outside.
    """

    def __init__(
        self,
        *,
        gate: Gate,
        terms: Callable[[str], HostTerms],
        places: int,
        max_hosts: int = 2000,
        entries_per_host: int = 32,
        token_block: int = 16,
        slow_after: float = 0.5,
        park_after: float = 30.0,
    ) -> None:
        sizes = {
            "places": places,
            "max_hosts": max_hosts,
            "entries_per_host": entries_per_host,
            "token_block": token_block,
        }
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1, not {size}")
        super().__init__(
            terms=terms,
            max_hosts=max_hosts,
            entries_per_host=entries_per_host,
            token_block=token_block,
            park_after=park_after,
        )
        self._gate = gate
        self._places = places
        self._slow_after = slow_after
        self._leases: set[int] = set()
        self._serial = 0
        self._in_flight_by = [0 for _ in Tempo]

    # ---- requests go out --------------------------------------------------------------------

    def lease(self, now: float) -> Lease | None:
        """Give the next request that may start now, or None."""
        self._ripen(now)
        if self._shut or self._in_flight >= self._places:
            return None
        while True:
            host = self._agenda.take(self._slowest())
            if host is None:
                return None
            lease = self._lease_from(host, now)
            self._settle(host, now)
            if lease is not None:
                return lease

    def _slowest(self) -> Tempo:
        """Say how slow a host may be to get a place now.

        A slow answer occupies a place for as long as dozens of quick ones would. Without this a
        few slow hosts, or a stream of new ones that do not answer at all, end up holding every
        place, and all others wait for them. So up to a quarter of the places is kept for hosts
        known to be quick, and up to half for hosts not known to be slow, as far as these have
        work to use them for.
        """
        _, new, slow = self._in_flight_by
        quick_demand, new_demand, _ = self._demand
        places = self._places
        if new + slow >= places - min(places // 4, quick_demand):
            return _QUICK
        if slow >= places - min(places // 2, quick_demand + new_demand):
            return _NEW
        return _SLOW

    def _lease_from(self, host: Host, now: float) -> Lease | None:
        """Pick the host's next request. Its clock and tokens allow one."""
        errand = host.pop_errand(now)
        if errand is not None:
            self._follow_ups -= 1
            return self._give(host, _FOLLOW_UP, errand.url, now, None, errand.payload)
        check = self._gate.check
        while host.follow_ups and host.follow_ups[0][0] <= now:
            waiting = host.follow_ups[0][2]
            verdict = check(waiting.url)
            if verdict is _UNKNOWN:
                return self._give_robots(host, waiting.url, now)
            heappop(host.follow_ups)
            self._follow_ups -= 1
            entry, payload = waiting.entry, waiting.payload
            if verdict is _ALLOWED:
                return self._give(host, _FOLLOW_UP, waiting.url, now, entry, payload)
            self._dropped.append(
                Dropped(host.name, DropReason.DENIED, entry, payload, follow_up=True)
            )
        queue = host.queue
        while queue:
            page = queue[-1]
            verdict = check(page.fetch_url)
            if verdict is _UNKNOWN:
                return self._give_robots(host, page.fetch_url, now)
            queue.pop()
            self._queued -= 1
            host.out.add(page.page_id)
            self._out += 1
            if verdict is _ALLOWED:
                return self._give(host, _PAGE, page.fetch_url, now, page)
            self._dropped.append(Dropped(host.name, DropReason.DENIED, page))
        return None

    def _give_robots(self, host: Host, fetch_url: str, now: float) -> Lease:
        host.robots_pending = True
        url = self._gate.robots_url(fetch_url)
        return self._give(host, RequestKind.ROBOTS, url, now)

    def _give(
        self,
        host: Host,
        kind: RequestKind,
        url: str,
        now: float,
        entry: Entry | None = None,
        payload: object | None = None,
    ) -> Lease:
        host.tokens -= 1
        host.start()
        self._in_flight += 1
        self._in_flight_by[host.tempo] += 1
        self._serial = serial = self._serial + 1
        self._leases.add(serial)
        return Lease(serial, host.name, kind, url, entry, payload, now, host.tempo)

    def exchange_ended(self, lease: Lease, now: float) -> None:
        """Start the host's clock."""
        if lease.id not in self._leases:
            return
        self._leases.remove(lease.id)
        self._in_flight -= 1
        self._in_flight_by[lease.tempo] -= 1
        host = self._hosts[lease.host]
        before = host.tempo
        host.end(now, now - lease.started_at, self._slow_after)
        if host.tempo is not before and host.place is READY:
            self._agenda.put(host, host.when, now, WAITING)  # to line up with its kind
        self._settle(host, now)

    def follow_up(
        self,
        host: str,
        url: str,
        now: float,
        *,
        payload: object,
        not_before: float = 0.0,
        entry: Entry | None = None,
    ) -> None:
        """Queue a further request at the host's clock, ahead of its pages."""
        known = self._hosts.get(host)
        closed = DropReason.CLOSED if self._shut else known and known.closed
        if closed:
            self._dropped.append(Dropped(host, closed, entry, payload, follow_up=True))
            return
        if known is None:
            known = self._enter(host)
        if entry is not None and entry.page_id not in known.out:
            self._out += 1
        self._serial += 1
        known.add_follow_up(self._serial, FollowUp(url, payload, not_before, entry))
        self._follow_ups += 1
        self._settle(known, now)

    # ---- what answers say about a host ------------------------------------------------------

    def robots_known(self, host: str, now: float) -> None:
        """Let the host's pages go on: the gate can answer."""
        known = self._hosts.get(host)
        if known is not None:
            known.robots_pending = False
            self._settle(known, now)

    def set_delay(self, host: str, seconds: float, now: float) -> None:
        """Raise the host's delay to a crawl delay."""
        known = self._hosts.get(host)
        if known is not None and seconds > known.delay:
            known.delay = seconds
            self._settle(known, now)

    def block_until(self, host: str, when: float, now: float) -> None:
        """Ask nothing of the host before `when`."""
        known = self._hosts.get(host) or self._enter(host)
        known.blocked_until = max(known.blocked_until, when)
        self._settle(known, now)

    def suspend(self, host: str, now: float) -> None:
        """Ask nothing more of the host in this run."""
        known = self._hosts.get(host) or self._enter(host)
        if known.closed is None:
            self._close_host(known, DropReason.SUSPENDED)
            self._suspended += 1
        known.unreleased = True
        self._settle(known, now)

    def release(self, host: str, now: float) -> None:
        """Say that the store knows of the suspension."""
        known = self._hosts.get(host)
        if known is not None:
            known.unreleased = False
            self._settle(known, now)

    def take_dropped(self) -> list[Dropped]:
        """Take what will not be asked, each thing once."""
        taken, self._dropped = self._dropped, []
        return taken

    def close(self, now: float) -> None:
        """Give out and want nothing more."""
        self._shut = True
        for host in self._hosts.values():
            self._queued -= len(host.queue)
            host.queue.clear()
            if host.closed is None:
                self._close_host(host, DropReason.CLOSED)
            self._settle(host, now)

    def ready_at(self, now: float) -> float | None:
        """Say when `lease` or `wants_hosts` may next bring something by time alone."""
        if self._shut or self._in_flight >= self._places:
            return None
        if self._agenda.has_ready(self._slowest()):
            return now
        when = self._agenda.next_time()
        return None if when is None else max(when, now)
