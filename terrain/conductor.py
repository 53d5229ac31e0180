"""Keeps the frontier's window and the store in step, on the event loop and without waiting.

The frontier is synchronous and in memory, the store works in its own thread. This is what stands
between: it answers the frontier's wants from the store, tells it of commits, settles hosts that
are closed, and knows whether anything is still on its way.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from terrain.errors import StoreError
from terrain.frontier import DropReason, Entry, Frontier, HostTerms, TopUp
from terrain.gate import RobotsGate
from terrain.rules.robots import ROBOTS_DENIED, ROBOTS_LIFETIME
from terrain.rules.states import PageState
from terrain.store import HostSupply, PageOutcome, Policy, Recorded, RobotsRecord, Start, Store
from terrain.store.clock import iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from terrain.config import Config
    from terrain.frontier import Dropped, Lease
    from terrain.store import RunInfo

Result = TypeVar("Result")

WANTS_AT_ONCE = 64
"""Hosts asked of the store in one go."""

BUDGET_SHARE = 32
"""A reservation takes at most this part of a host's budget."""

BRIEF_ROBOTS_LIFETIME = 3600.0
"""How long "no answer" and server errors hold for a robots.txt: an hour, not a day."""

STATE_OF = {
    DropReason.DENIED: PageState.FAILED,
    DropReason.BUDGET_SPENT: PageState.REQUEST_LIMIT_HIT,
    DropReason.SUSPENDED: PageState.RATE_LIMITED,
    DropReason.SUBDOMAIN_LIMIT: PageState.SUBDOMAIN_LIMIT_HIT,
}
"""What a page becomes when the frontier drops it."""

REASON_OF = {
    PageState.RATE_LIMITED: DropReason.SUSPENDED,
    PageState.REQUEST_LIMIT_HIT: DropReason.BUDGET_SPENT,
    PageState.SUBDOMAIN_LIMIT_HIT: DropReason.SUBDOMAIN_LIMIT,
}
"""Why the frontier closes a host that the store has closed."""


class Conductor:
    """One run: its store, its frontier and the traffic between them."""

    def __init__(self, config: Config, *, places: int) -> None:
        self.config = config
        self.urls = config.url_rules()
        self.gate = RobotsGate(config)
        self._terms = config.host_terms
        fastest = max((entry.max_concurrent for entry in config.quality), default=1)
        self.frontier = Frontier(
            gate=self.gate,
            terms=self._host_terms,
            places=places,
            # An own host that is asked many times at once needs a supply to match.
            entries_per_host=max(32, 4 * fastest),
            token_block=max(16, 4 * fastest),
        )
        self.policy = Policy.from_config(config)
        self.store: Store | None = None
        self.run: RunInfo | None = None
        self.error: StoreError | None = None
        """What made the run end, if the store did."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when the frontier may have something new to give."""
        self.on_dropped: Callable[[Dropped], None] = lambda _dropped: None
        """Called for a follow-up without a page that will not be asked (robots.txt)."""
        self._underway = 0
        self._cursor = -1
        self._draining: set[str] = set()
        self._last_recorded: Recorded | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._arrived: deque[Callable[[], None]] = deque()
        self._delivering = False
        self._leased: list[int] = []
        self._marking: Future[None] | None = None
        self._closing = False
        self._opened_at = 0.0
        """When this process had the database to itself: no other asks from here on."""

    def open(self, start: Start, job: str | None, *, strict: bool = False) -> RunInfo:
        """Open the database and the run. Blocks; nothing is under way yet."""
        location = self.config.output.database_url or self.config.output.database_path
        self.store = Store(str(location), self.policy, strict=strict)
        try:
            self.run = self.store.open_run(start, job)
        except BaseException:
            self.store.close()
            self.store = None
            raise
        self._loop = asyncio.get_running_loop()
        self._opened_at = self.now()
        return self.run

    # ---- the frontier's needs ---------------------------------------------------------------

    def pump(self) -> None:
        """Pass on all that the frontier wants and has to say."""
        store, frontier = self.store, self.frontier
        if store is None or self.error is not None:
            return
        now = self.now()
        for want in frontier.wants(WANTS_AT_ONCE):
            future = store.supply(
                want.host,
                held=frozenset(want.held),
                pages=want.entries,
                tokens=min(want.tokens, self._most_tokens(want.host)),
            )
            self._then(future, self._supplied)
        wanted_hosts = frontier.wants_hosts(now)
        if wanted_hosts:
            window = frozenset(frontier.hosts())
            self._then(store.hosts_outside(wanted_hosts, window, self._cursor), self._hosts_found)
        for host, reason in frontier.take_closed():
            self._then(store.close_host(host, STATE_OF[reason]), partial(self._closed, host))
        for dropped in frontier.take_dropped():
            self._settle_dropped(dropped)
        returned = frontier.take_returned_tokens()
        if returned:
            self._then(store.give_back(returned), lambda _: None)
        if self._leased and (self._marking is None or self._marking.done()):
            # Nobody waits for this note, and one at a time is enough.
            self._marking = store.mark_fetching(self._leased)
            self._leased = []

    def _most_tokens(self, host: str) -> int:
        """Say how many requests may be reserved in one go.

        A crash forfeits what is reserved, so it must stay a small share of the host's budget.
        """
        share = self.config.crawler.max_domain_requests // BUDGET_SHARE
        return max(share, self._terms(host).max_in_flight)

    def _supplied(self, supply: HostSupply) -> None:
        now = self.now()
        for record in supply.robots:
            if record.expires_at <= self.gate.now and self.gate.knows(record.origin):
                continue  # What it was told since may be better, and cannot be worse.
            body = None if record.body is None else record.body.encode()
            self.gate.learn(record.origin, record.status, body, record.expires_at)
        delay = self._host_terms(supply.host).delay
        crawl_delay = max((self.gate.delay(r.origin) for r in supply.robots), default=0.0)
        delay = max(delay, crawl_delay)
        not_before = None
        if supply.crashed:
            not_before = now + delay
        elif supply.not_before is not None:
            # Whoever asked last did so before this process began, or left the window with its
            # delay served. The wall clock may have been set in between, so it is not consulted.
            not_before = self._opened_at + delay
        closed = None
        if supply.closed is not None:
            closed = REASON_OF.get(supply.closed, DropReason.CLOSED)
            self._drain(supply.host)
        self.frontier.top_up(
            TopUp(
                host=supply.host,
                entries=[
                    Entry(p.page_id, p.fetch_url, p.priority, p.seq, p.hops) for p in supply.pages
                ],
                more=supply.more,
                tokens=supply.tokens,
                budget_spent=supply.spent,
                closed=closed,
                delay=crawl_delay,
                not_before=not_before,
            ),
            now,
        )

    def _hosts_found(self, answer: tuple[list[str], int, bool]) -> None:
        hosts, self._cursor, more = answer
        self.frontier.hosts_arrived(hosts, self.now(), more=more)

    def _settle_dropped(self, dropped: Dropped) -> None:
        """Give a page that will not be asked its outcome; what belongs to no page goes on."""
        if dropped.entry is None:
            self.on_dropped(dropped)
            return
        if dropped.reason is DropReason.CLOSED:
            return  # The run stops here; the page waits in the store.
        if dropped.reason is not DropReason.DENIED and not dropped.follow_up:
            return  # Its host is closed and drained: the store settles all that only waited.
        url = dropped.entry.fetch_url
        state = STATE_OF[dropped.reason]
        message = {
            PageState.FAILED: self.gate.denial(url) or ROBOTS_DENIED,
            PageState.REQUEST_LIMIT_HIT: "the host's request budget is spent",
            PageState.RATE_LIMITED: "host asked for a pause (429)",
        }.get(state)
        self.record(
            dropped.host,
            PageOutcome(
                dropped.entry.page_id, state, visited=dropped.follow_up, error_message=message
            ),
        )

    def _closed(self, host: str, _: None) -> None:
        self._drain(host)

    def _drain(self, host: str) -> None:
        """Give a closed host's waiting pages their state, chunk by chunk."""
        if self.store is None or host in self._draining:
            return
        self._draining.add(host)
        self._drain_on(host)

    def _drain_on(self, host: str) -> None:
        assert self.store is not None

        def drained(more: bool) -> None:  # noqa: FBT001 - it is the future's result
            if more and not self._closing:
                self._drain_on(host)
            else:
                self._draining.discard(host)

        held = frozenset(self.frontier.held(host))
        self._then(self.store.drain(host, held), drained)

    # ---- what answers bring -----------------------------------------------------------------

    def record(self, host: str, outcome: PageOutcome) -> asyncio.Future[Recorded]:
        """Commit an outcome; then the frontier lets go of the page and learns of new work."""
        assert self.store is not None
        assert self._loop is not None
        committed: asyncio.Future[Recorded] = self._loop.create_future()

        def done(recorded: Recorded) -> None:
            now = self.now()
            self.frontier.finish(host, outcome.page_id, now)
            if recorded is not self._last_recorded:
                # Outcomes of one batch share one record of the work they made.
                self._last_recorded = recorded
                for name in recorded.hosts:
                    self.frontier.announce(name, now)
            if not committed.done():
                committed.set_result(recorded)

        def failed(error: BaseException) -> None:
            if not committed.done():
                committed.set_exception(error)
                # Nobody may be waiting (a page dropped by the frontier): the error is kept here.
                committed.exception()

        self._then(self.store.record(outcome), done, failed)
        return committed

    def suspend(self, host: str, until: float | None) -> None:
        """A host said 429: ask it nothing more in this run, nor before `until` in a later one."""
        assert self.store is not None
        self.frontier.suspend(host, self.now())
        closing = self.store.close_host(host, PageState.RATE_LIMITED, retry_after=until)

        def known(_: None) -> None:
            self.frontier.release(host, self.now())
            self._drain(host)

        self._then(closing, known)

    def robots_answered(
        self, host: str, origin: str, status: int | None, body: bytes | None
    ) -> None:
        """A robots.txt came, or did not: the gate knows, the store keeps it, the pages go on."""
        assert self.store is not None
        now, epoch = self.now(), time.time()
        firm = status is not None and status < 500
        lifetime = ROBOTS_LIFETIME if firm else BRIEF_ROBOTS_LIFETIME
        # Rules that were read once outlive a bad hour of their host.
        old = None if firm else self.gate.prolong(origin, epoch + lifetime)
        robots = old or self.gate.learn(origin, status, body, epoch + lifetime)
        if robots.crawl_delay is not None:
            self.frontier.set_delay(host, robots.crawl_delay, now)
        self.frontier.robots_known(host, now)
        # A 429 says nothing about the rules: a later run asks again, when it may.
        if status != 429 and old is None:
            text = None if body is None or status is None or status >= 300 else _storable(body)
            record = RobotsRecord(origin, status, text, iso(epoch), int(epoch + lifetime))
            self._then(self.store.keep_robots(host, record), lambda _: None)
        self.on_change()

    def robots_from_store(self, host: str, lease: Lease, origin: str) -> None:
        """Answer a robots lease from the store: the gate had dropped it for want of room."""
        assert self.store is not None

        def found(records: tuple[RobotsRecord, ...]) -> None:
            now = self.now()
            self.frontier.exchange_ended(lease, now)
            for record in records:
                body = None if record.body is None else record.body.encode()
                self.gate.learn(record.origin, record.status, body, record.expires_at)
            self.gate.forget_eviction(origin)
            self.frontier.robots_known(host, now)

        self._then(self.store.robots_of(host), found)

    def mark_fetching(self, page_id: int) -> None:
        """Note in the store that a page is being asked for; together with others, when it can."""
        self._leased.append(page_id)

    # ---- the end ----------------------------------------------------------------------------

    @property
    def pending(self) -> bool:
        """True while anything is waited for, wanted or not yet committed."""
        if self.error is not None or self.store is None:
            return False
        return not self.frontier.idle or self._underway > 0 or bool(self._draining)

    async def close(self, *, completed: bool, metrics: str | None = None) -> bool:
        """Give everything back, settle the run and close the store; tell if it is complete."""
        if self.store is None or self.run is None:
            return False
        self._closing = True
        store = self.store
        self.frontier.close(self.now())
        self.frontier.take_dropped()
        loop = asyncio.get_running_loop()
        finished = self.run.finished

        def settle() -> bool:
            returned = self.frontier.take_returned_tokens()
            if returned:
                store.give_back(returned).result()
            return finished or store.close_run(completed=completed, metrics=metrics)

        try:
            if self.error is not None:
                return False
            return await loop.run_in_executor(None, settle)
        except StoreError as error:
            self.error = error
            return False
        finally:
            await loop.run_in_executor(None, store.close)
            self.store = None

    def abandon(self, within: float) -> bool:
        """Mark the run as interrupted and let go, if `close` has not run.

        False if that takes longer than `within` seconds (the store may be settling a large
        terrain, or wait for a lock): then only ending the process helps, as a kill would.
        """
        store = self.store
        if store is None or self.run is None or self.error is not None:
            return True

        def let_go() -> None:
            with contextlib.suppress(StoreError):
                if not self.run.finished:  # type: ignore[union-attr]
                    store.abandon_run()
            store.close()

        # A thread that does not keep the process alive; waiting for the writer cannot be limited.
        thread = threading.Thread(target=let_go, name="terrain-abandon", daemon=True)
        thread.start()
        thread.join(within)
        return not thread.is_alive()

    def now(self) -> float:
        """Monotonic time, the frontier's; the gate gets the wall clock robots.txt is kept by."""
        self.gate.now = time.time()
        return time.monotonic()

    def _host_terms(self, host: str) -> HostTerms:
        terms = self._terms(host)
        return HostTerms(terms.delay, terms.max_in_flight)

    def _then(
        self,
        future: Future[Result],
        action: Callable[[Result], None],
        failed: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Run `action` on the event loop when the store has committed."""
        loop = self._loop
        assert loop is not None
        self._underway += 1

        def hand_over(done: Future[Result]) -> None:
            # On the writer's thread. One wake-up of the loop serves all that a commit resolves.
            # `done` and not `future`: a future that its own callback holds is a cycle, and a page
            # with all its links would stay until the collector comes by.
            self._arrived.append(partial(self._arrive, done, action, failed))
            if not self._delivering and not loop.is_closed():
                self._delivering = True
                loop.call_soon_threadsafe(self._deliver)

        future.add_done_callback(hand_over)

    def _arrive(
        self,
        future: Future[Result],
        action: Callable[[Result], None],
        failed: Callable[[BaseException], None] | None,
    ) -> None:
        self._underway -= 1
        error = future.exception()
        if error is not None:
            self._fail(error)
            if failed is not None:
                failed(error)
            return
        action(future.result())
        self.on_change()

    def _deliver(self) -> None:
        # Cleared first: what the writer appends from here on asks for a delivery of its own.
        self._delivering = False
        assert self._loop is not None
        while self._arrived:
            self._loop.call_soon(self._arrived.popleft())

    def _fail(self, error: BaseException) -> None:
        if not isinstance(error, StoreError):
            raise error
        if self.error is None:
            self.error = error
        self.on_change()


def _storable(body: bytes) -> str:
    """Return a robots.txt as text a database can hold."""
    return body.decode("utf-8", "replace").replace("\x00", "\ufffd")
