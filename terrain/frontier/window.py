"""The window over the store: which hosts are in it, what they hold, what they lack."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from terrain.frontier.agenda import Agenda
from terrain.frontier.host import ASKED, LEAVING, LISTED, NOTHING, READY, WAITING, Host
from terrain.frontier.types import Counts, Dropped, DropReason, Tempo, Want

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from terrain.frontier.types import HostTerms, TopUp

_ROOM_SHARE = 8
"""Hosts are brought in when an eighth of the window is free, not one by one."""


class Window:
    """The store's side of the frontier. See `FrontierContract` for what each method promises."""

    def __init__(
        self,
        *,
        terms: Callable[[str], HostTerms],
        max_hosts: int,
        entries_per_host: int,
        token_block: int,
        park_after: float,
    ) -> None:
        self._terms = terms
        self._max_hosts = max_hosts
        self._entries_per_host = entries_per_host
        self._token_block = token_block
        self._hosts: dict[str, Host] = {}
        self._agenda = Agenda(park_after=park_after)
        self._listed: deque[Host] = deque()
        self._dropped: list[Dropped] = []
        self._returned: list[tuple[str, int]] = []
        self._closed: list[tuple[str, DropReason]] = []
        # One bit about the whole world outside, and whether the store is being asked about it.
        self._outside = True
        self._outside_asked = False
        self._outside_again = False
        self._shut = False
        self._wanting = 0
        self._queued = 0
        self._follow_ups = 0
        self._out = 0
        self._in_flight = 0
        self._suspended = 0
        self._demand = [0 for _ in Tempo]

    # ---- hosts come -------------------------------------------------------------------------

    def announce(self, host: str, now: float, *, priority: int | None = None) -> None:
        """Note that the host has new work in the store."""
        known = self._hosts.get(host)
        if self._shut:
            return
        if known is not None:
            self._has_more(known, priority)
            self._settle(known, now)
        elif self._outside or self._room() < 1:
            # Whoever waits outside was there first, so the store picks who comes next.
            self._outside = True
            self._outside_again = self._outside_asked
        else:
            self._settle(self._enter(host), now)

    def hosts_arrived(self, hosts: Iterable[str], now: float, *, more: bool) -> None:
        """Answer `wants_hosts`: these hosts have work; `more` says whether others do too."""
        self._outside = more or self._outside_again
        self._outside_asked = self._outside_again = False
        for name in () if self._shut else hosts:
            host = self._hosts.get(name)
            if host is None:
                host = self._enter(name)
            else:
                self._has_more(host, None)
            self._settle(host, now)

    def wants_hosts(self, now: float) -> int:
        """Say how many hosts from outside to bring in; each number is given once."""
        if not self._outside or self._outside_asked or self._shut:
            return 0
        self._ripen(now)
        room = self._room()
        if room < max(1, self._max_hosts // _ROOM_SHARE):
            return 0
        self._outside_asked = True
        return room

    def held(self, host: str) -> tuple[int, ...]:
        """Give the ids of a host's pages in memory."""
        known = self._hosts.get(host)
        return () if known is None else known.held()

    def hosts(self) -> Collection[str]:
        """Give the hosts in the window."""
        return self._hosts.keys()

    # ---- what they lack ---------------------------------------------------------------------

    def wants(self, limit: int) -> list[Want]:
        """List up to `limit` hosts whose entries or tokens run low."""
        wants: list[Want] = []
        window = self._entries_per_host
        while self._listed and len(wants) < limit:
            host = self._listed.popleft()
            if self._shut or not host.needs(window):
                host.asking = NOTHING
                self._wanting -= 1
                continue
            entries = 0
            if host.needs_entries(window):
                entries = max(window - len(host.queue), window // 2, 1)
            tokens = host.block - host.tokens if host.needs_tokens() else 0
            host.asking = ASKED
            host.again = host.refresh = False
            wants.append(Want(host.name, host.held(), entries, tokens))
        return wants

    def top_up(self, answer: TopUp, now: float) -> None:
        """Take the answer to a Want."""
        host = self._hosts.get(answer.host)
        if host is None or host.closed is not None:
            if answer.tokens:
                self._returned.append((answer.host, answer.tokens))
            if host is None:
                return
        if host.asking is ASKED:
            host.asking = NOTHING
            self._wanting -= 1
        if host.closed is None:
            host.tokens += answer.tokens
            if answer.closed is not None:
                self._close_host(host, answer.closed)
            else:
                self._fill(host, answer)
        self._settle(host, now)

    def _fill(self, host: Host, answer: TopUp) -> None:
        host.budget_spent = host.budget_spent or answer.budget_spent
        host.delay = max(host.delay, answer.delay)
        if answer.not_before is not None:
            host.blocked_until = max(host.blocked_until, answer.not_before)
        handed_back = False
        if answer.entries:
            before = len(host.queue)
            handed_back = host.merge(answer.entries, self._entries_per_host)
            self._queued += len(host.queue) - before
        host.more = answer.more or host.again or handed_back
        host.again = False

    def finish(self, host: str, page_id: int, now: float) -> None:
        """Let go of a page: its outcome is committed."""
        known = self._hosts.get(host)
        if known is None or page_id not in known.out:
            return
        known.out.remove(page_id)
        self._out -= 1
        # A host that waits for its turn goes on waiting for it, whatever is committed.
        if known.place is not WAITING and known.place is not READY:
            self._settle(known, now)

    def take_returned_tokens(self) -> list[tuple[str, int]]:
        """Take reservations that will not be used."""
        taken, self._returned = self._returned, []
        return taken

    def take_closed(self) -> list[tuple[str, DropReason]]:
        """Take the hosts the frontier closed itself."""
        taken, self._closed = self._closed, []
        return taken

    # ---- how it stands ----------------------------------------------------------------------

    def counts(self) -> Counts:
        """Say where everything stands."""
        return Counts(
            hosts=len(self._hosts),
            ready=self._agenda.ready,
            waiting=self._agenda.waiting,
            suspended=self._suspended,
            in_flight=self._in_flight,
            queued=self._queued,
            follow_ups=self._follow_ups,
            leased=self._out,
        )

    @property
    def idle(self) -> bool:
        """Nothing is in flight, held, wanted or known to wait outside."""
        if self._in_flight or self._queued or self._follow_ups or self._out or self._dropped:
            return False
        return self._shut or not (self._wanting or self._outside)

    # ---- inside -----------------------------------------------------------------------------

    def _settle(self, host: Host, now: float) -> None:
        """Put the host where it belongs after anything about it changed."""
        if host.budget_spent and not host.tokens and host.closed is None:
            self._close_host(host, DropReason.BUDGET_SPENT)
            self._closed.append((host.name, DropReason.BUDGET_SPENT))
        if (
            host.asking is NOTHING
            and (host.more or host.tokens <= host.low_tokens)  # spares most calls of the next
            and host.needs(self._entries_per_host)
        ):
            host.asking = LISTED
            self._wanting += 1
            self._listed.append(host)
        when = host.due_at()
        place = WAITING
        if when is None and host.is_drained():
            when, place = host.rested_at(), LEAVING
        if when is None:
            self._agenda.remove(host)
        elif host.place is READY and place is WAITING and when <= now:
            pass
        elif host.place is not place or (host.when != when and not (host.when <= now >= when)):
            # The moment it became ready decides its turn; that cannot lie in the past.
            self._agenda.put(host, max(now, when), now, place)
        self._weigh(host)

    def _weigh(self, host: Host) -> None:
        """Keep count of the places that the hosts of each tempo could use."""
        working = host.queue or host.follow_ups or host.errands
        demand = host.limit if working and not host.parked else 0
        if demand != host.demand or host.tempo is not host.weighed:
            self._demand[host.weighed] -= host.demand
            self._demand[host.tempo] += demand
            host.demand = demand
            host.weighed = host.tempo

    def _ripen(self, now: float) -> None:
        for host in self._agenda.ripen(now):
            self._give_back_tokens(host)
            del self._hosts[host.name]

    def _enter(self, name: str) -> Host:
        host = self._hosts[name] = Host(name, self._terms(name), self._token_block)
        return host

    def _room(self) -> int:
        # Hosts blocked for long keep their seat, but must not keep others out: up to as many
        # again may come in.
        parked = min(self._agenda.parked, self._max_hosts)
        return self._max_hosts - len(self._hosts) + parked

    def _has_more(self, host: Host, priority: int | None) -> None:
        if host.closed is not None:
            return
        host.more = host.again = True
        if priority is not None and host.queue and priority < host.queue[0].priority:
            host.refresh = True

    def _give_back_tokens(self, host: Host) -> None:
        if host.tokens:
            self._returned.append((host.name, host.tokens))
            host.tokens = 0

    def _close_host(self, host: Host, reason: DropReason) -> None:
        """Ask nothing more of the host; what waits in it is dropped."""
        name = host.name
        dropped = self._dropped
        dropped += [Dropped(name, reason, entry) for entry in reversed(host.queue)]
        for _, _, waiting in sorted(host.errands) + sorted(host.follow_ups):
            dropped.append(
                Dropped(name, reason, waiting.entry, payload=waiting.payload, follow_up=True)
            )
        self._queued -= len(host.queue)
        self._follow_ups -= len(host.errands) + len(host.follow_ups)
        host.queue.clear()
        host.errands.clear()
        host.follow_ups.clear()
        host.closed = reason
        host.more = host.refresh = host.robots_pending = False
        self._give_back_tokens(host)
