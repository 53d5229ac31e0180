"""One host in the window: its waiting pages, follow-ups, tokens and clock."""

from __future__ import annotations

from enum import IntEnum
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from terrain.frontier.types import Tempo

if TYPE_CHECKING:
    from collections.abc import Iterable

    from terrain.frontier.types import DropReason, Entry, HostTerms

_PACE_WEIGHT = 0.3
"""Weight of the newest exchange in a host's pace."""


_TOKENS_PER_PLACE = 8
"""Tokens a host reserves at least, for each request it may have in flight."""


class Place(IntEnum):
    """Where a host stands on the agenda."""

    NOWHERE = 0
    """Nothing to do before something happens to it."""
    WAITING = 1
    """Has work, and waits for its clock."""
    READY = 2
    """Could be asked now."""
    LEAVING = 3
    """Has nothing left, and leaves when its clock has run out."""


class Asking(IntEnum):
    """Where a host stands with the store."""

    NOTHING = 0
    LISTED = 1
    """Will be named by the next `wants`."""
    ASKED = 2
    """Was named; the answer has not come."""


# The hot path uses these names: on Python 3.11 reaching into an Enum costs ten times as much.
NOWHERE: Final = Place.NOWHERE
WAITING: Final = Place.WAITING
READY: Final = Place.READY
LEAVING: Final = Place.LEAVING
NOTHING: Final = Asking.NOTHING
LISTED: Final = Asking.LISTED
ASKED: Final = Asking.ASKED
_QUICK: Final = Tempo.QUICK
_SLOW: Final = Tempo.SLOW


class FollowUp:
    """A further request that waits for its time and its host's clock."""

    __slots__ = ("entry", "not_before", "payload", "url")

    def __init__(self, url: str, payload: object, not_before: float, entry: Entry | None) -> None:
        self.url = url
        self.payload = payload
        self.not_before = not_before
        self.entry = entry


def _worst_first(entry: Entry) -> tuple[int, int]:
    return (-entry.priority, -entry.seq)


class Host:
    """The state of one host. Plain attributes, because the frontier's hot path lives on them."""

    __slots__ = (
        "again",
        "asking",
        "block",
        "blocked_until",
        "budget_spent",
        "closed",
        "delay",
        "demand",
        "ended",
        "errands",
        "follow_ups",
        "in_flight",
        "limit",
        "low_tokens",
        "more",
        "name",
        "out",
        "pace",
        "parked",
        "place",
        "queue",
        "refresh",
        "robots_pending",
        "tempo",
        "ticket",
        "tokens",
        "unreleased",
        "weighed",
        "when",
    )

    def __init__(self, name: str, terms: HostTerms, token_block: int) -> None:
        self.name = name
        self.limit = terms.max_in_flight
        self.delay = terms.delay
        # A host with many places uses up tokens faster, so it reserves larger blocks.
        self.block = max(token_block, _TOKENS_PER_PLACE * self.limit)
        self.low_tokens = max(self.block // 4, self.limit)
        self.queue: list[Entry] = []  # worst first, so that the next page is popped from the end
        self.follow_ups: list[tuple[float, int, FollowUp]] = []  # of pages; heap by time
        self.errands: list[tuple[float, int, FollowUp]] = []  # of robots.txt; heap by time
        self.out: set[int] = set()  # pages given out or denied, outcome not committed
        self.ended: list[float] = []  # ends of exchanges whose place has not been used again
        self.in_flight = 0
        self.blocked_until = 0.0
        self.tokens = 0
        self.budget_spent = False
        self.more = True  # nobody knows better until the store has answered
        self.again = False  # announced since the unanswered Want
        self.refresh = False  # the store has entries better than some held here
        self.asking: Asking = NOTHING
        self.closed: DropReason | None = None
        self.unreleased = False  # suspended, and the store does not know yet
        self.robots_pending = False
        self.pace: float | None = None
        self.tempo = Tempo.NEW
        self.place: Place = NOWHERE
        self.ticket = 0  # which agenda item is the valid one
        self.when = 0.0  # time of that item
        self.parked = False  # waits so long that its seat in the window may be used by another
        self.demand = 0  # its share in what hosts of its tempo could use at once
        self.weighed = Tempo.NEW  # the tempo under which that share is counted

    # ---- clock ----------------------------------------------------------------------------

    def clock_at(self) -> float:
        """Give the time from which a further exchange may start, if a place is free."""
        ended = self.ended
        if len(ended) + self.in_flight < self.limit:  # a place that has never been used
            return self.blocked_until
        due = ended[0] + self.delay
        return max(self.blocked_until, due)

    def rested_at(self) -> float:
        """Give the time at which every clock has run out, so that forgetting the host is safe."""
        if not self.ended:
            return self.blocked_until
        return max(self.blocked_until, self.ended[-1] + self.delay)

    def start(self) -> None:
        """Begin an exchange at the place that has rested longest."""
        if len(self.ended) + self.in_flight >= self.limit:
            del self.ended[0]
        self.in_flight += 1

    def end(self, now: float, took: float, slow_after: float) -> None:
        """End an exchange and learn the host's pace from it."""
        self.in_flight -= 1
        self.ended.append(now)
        # One timeout of half a minute must not brand a host for dozens of exchanges.
        took = min(took, 4 * slow_after)
        pace = self.pace
        self.pace = pace = took if pace is None else pace + _PACE_WEIGHT * (took - pace)
        self.tempo = _SLOW if pace > slow_after else _QUICK

    def due_at(self) -> float | None:
        """Give the time of the next request; None if only an event can bring one."""
        if self.in_flight >= self.limit or not self.tokens or self.closed is not None:
            return None
        if self.queue and not self.robots_pending:
            return self.clock_at()
        if not (self.follow_ups or self.errands):
            return None
        work_at: float | None = None
        if self.follow_ups and not self.robots_pending:
            work_at = self.follow_ups[0][0]
        if self.errands and (work_at is None or self.errands[0][0] < work_at):
            work_at = self.errands[0][0]
        return None if work_at is None else max(work_at, self.clock_at())

    # ---- work -----------------------------------------------------------------------------

    def has_work(self) -> bool:
        """Tell whether something waits here to be asked."""
        return bool(self.queue or self.follow_ups or self.errands)

    def is_drained(self) -> bool:
        """Tell whether the host could be forgotten, were it not for its clock."""
        if self.in_flight or self.out or self.unreleased or self.asking is ASKED:
            return False
        return self.closed is not None or not (self.more or self.has_work())

    def needs_entries(self, window: int) -> bool:
        """Tell whether to ask for entries: half of the window is used up, or better ones came.

        Not while much of what was taken awaits its commit: that bounds what one host can pile
        up here, for example when robots.txt denies all of its million pages.
        """
        if not self.more or len(self.out) >= 2 * window + self.limit:
            return False
        return self.refresh or 2 * len(self.queue) <= window

    def needs_tokens(self) -> bool:
        """Tell whether to ask for tokens: few are left, and fewer than the work here may take."""
        if self.budget_spent or self.tokens > self.low_tokens:
            return False
        pages = len(self.queue)
        waiting = pages + len(self.follow_ups) + len(self.errands)
        # Two a page, HEAD and GET, and one for robots.txt. Hosts of a page or two are the rule,
        # and must not cost a second reservation.
        return self.more or (waiting > 0 and self.tokens < waiting + pages + 1)

    def needs(self, window: int) -> bool:
        """Tell whether the store should be asked, before anything runs dry."""
        return self.closed is None and (self.needs_entries(window) or self.needs_tokens())

    def held(self) -> tuple[int, ...]:
        """Give the ids of all pages in memory."""
        return (*(entry.page_id for entry in self.queue), *self.out)

    def merge(self, entries: Iterable[Entry], room: int) -> bool:
        """Take new entries in order; keep the best `room`, tell whether some were handed back."""
        known = {entry.page_id for entry in self.queue}
        known |= self.out
        for entry in entries:
            if entry.page_id not in known:
                known.add(entry.page_id)
                self.queue.append(entry)
        self.queue.sort(key=_worst_first)
        excess = len(self.queue) - room
        if excess <= 0:
            return False
        del self.queue[:excess]
        return True

    def add_follow_up(self, order: int, follow_up: FollowUp) -> None:
        """Queue a follow-up by its time, then by its age."""
        line = self.errands if follow_up.entry is None else self.follow_ups
        heappush(line, (follow_up.not_before, order, follow_up))
        if follow_up.entry is not None:
            self.out.add(follow_up.entry.page_id)

    def pop_errand(self, now: float) -> FollowUp | None:
        """Take the hop or retry of robots.txt that is due."""
        if self.errands and self.errands[0][0] <= now:
            return heappop(self.errands)[2]
        return None
