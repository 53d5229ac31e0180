"""When each host is next due, and which of the due ones comes first.

A heap of times, and for each tempo a queue of hosts whose time has come.
Nothing is ever searched or taken out of the middle: an item whose ticket is not its host's current
one is stale and skipped, and when stale items outnumber the valid ones all of them are swept out,
so an operation costs O(log hosts) and memory stays in proportion to the hosts.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from terrain.frontier.host import LEAVING, NOWHERE, READY, WAITING, Host, Place
from terrain.frontier.types import Tempo

if TYPE_CHECKING:
    from collections.abc import Sequence

_Item = tuple[float, int, Host]
"""Time, ticket, host. Tickets are unique, so hosts are never compared."""

_SWEEP_FROM = 64
"""Fewer stale items than this are not worth a sweep."""


class Agenda:
    """Hosts by the time they are due, then in the order they became ready."""

    def __init__(self, *, park_after: float) -> None:
        self._heap: list[_Item] = []
        self._ready: tuple[deque[_Item], ...] = tuple(deque() for _ in Tempo)
        self._ticket = 0
        self._stale = 0
        self._park_after = park_after
        self.ready = 0
        """Hosts that could be asked."""
        self.waiting = 0
        """Hosts with work whose time has not come."""
        self.parked = 0
        """Hosts among these whose time is far off."""

    def put(self, host: Host, when: float, now: float, place: Place) -> None:
        """Set the host down for `when`, instead of any time it had before."""
        if host.place is not NOWHERE:
            self.remove(host)
        self._ticket = ticket = self._ticket + 1
        host.ticket = ticket
        host.when = when
        host.place = place
        if place is WAITING:
            self.waiting += 1
        if when - now > self._park_after:
            host.parked = True
            self.parked += 1
        heappush(self._heap, (when, ticket, host))

    def remove(self, host: Host) -> None:
        """Forget the host's time; its item stays behind, stale."""
        if host.place is NOWHERE:
            return
        self._leave(host)
        self._stale += 1
        if self._stale > _SWEEP_FROM:
            self._sweep()

    def ripen(self, now: float) -> Sequence[Host]:
        """Make ready what has become due; give the hosts that were only waiting to leave."""
        heap = self._heap
        if not heap or heap[0][0] > now:
            return ()
        left: list[Host] = []
        while heap and heap[0][0] <= now:
            item = heappop(heap)
            host = item[2]
            if host.ticket != item[1] or host.place is NOWHERE:
                self._stale -= 1
                continue
            leaving = host.place is LEAVING
            self._leave(host)
            if leaving:
                left.append(host)
            else:
                host.place = READY
                self.ready += 1
                self._ready[host.tempo].append(item)
        return left

    def take(self, slowest: Tempo) -> Host | None:
        """Take the host that has been ready longest, among those not slower than `slowest`."""
        first: _Item | None = None
        for line in self._ready[: slowest + 1]:
            head = self._head(line) if line else None
            if head is not None and (first is None or head < first):
                first = head
        if first is None:
            return None
        host = first[2]
        self._ready[host.tempo].popleft()
        self._leave(host)
        return host

    def has_ready(self, slowest: Tempo) -> bool:
        """Tell whether `take` would find a host."""
        return any(self._head(line) is not None for line in self._ready[: slowest + 1])

    def next_time(self) -> float | None:
        """Give the earliest time on the agenda that is still to come."""
        heap = self._heap
        while heap and (heap[0][2].ticket != heap[0][1] or heap[0][2].place is NOWHERE):
            heappop(heap)
            self._stale -= 1
        return heap[0][0] if heap else None

    def _head(self, line: deque[_Item]) -> _Item | None:
        while line:
            item = line[0]
            if item[2].ticket == item[1] and item[2].place is READY:
                return item
            line.popleft()
            self._stale -= 1
        return None

    def _leave(self, host: Host) -> None:
        if host.place is READY:
            self.ready -= 1
        elif host.place is WAITING:
            self.waiting -= 1
        host.place = NOWHERE
        if host.parked:
            host.parked = False
            self.parked -= 1

    def _sweep(self) -> None:
        lines = (self._heap, *self._ready)
        if self._stale * 2 < sum(map(len, lines)):
            return
        for line in lines:
            kept = [i for i in line if i[2].ticket == i[1] and i[2].place is not NOWHERE]
            line.clear()
            line.extend(kept)
        heapify(self._heap)
        self._stale = 0
