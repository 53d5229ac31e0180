"""The store: the terrain in a database, as the crawl uses it."""

import logging
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import URL, Connection

from terrain.errors import StoreError
from terrain.rules.states import PageState
from terrain.store import runs
from terrain.store.clock import iso
from terrain.store.engine import (
    database_url,
    errors_in_our_words,
    make_engine,
    require_writable,
)
from terrain.store.lock import CrawlLock
from terrain.store.migrate import upgrade
from terrain.store.outcomes import HostSupply, PageOutcome, Recorded, RobotsRecord, RunInfo
from terrain.store.policy import Policy
from terrain.store.record import Recorder
from terrain.store.runs import Start
from terrain.store.settle import settle_depths
from terrain.store.supply import Supply
from terrain.store.writer import Writer

if TYPE_CHECKING:
    from concurrent.futures import Future

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


class Store:
    """One crawl's hold on a database. Methods return futures that resolve after the commit.

    Opening it migrates the schema and takes the lock; `close` lets go of both.
    """

    def __init__(
        self,
        location: str | Path | URL,
        policy: Policy,
        *,
        now: Callable[[], float] = time.time,
        strict: bool = False,
    ) -> None:
        self.url = database_url(location)
        self.policy = policy
        self._now = now
        self._strict = strict
        self._session = uuid.uuid4().hex
        require_writable(self.url)
        self._lock = CrawlLock(self.url)
        with errors_in_our_words(self.url):
            self._lock.acquire()
        self._engine = make_engine(self.url)
        try:
            with errors_in_our_words(self.url):
                upgrade(self._engine, str(self.url.database))
        except BaseException:
            self._engine.dispose()
            self._lock.release()
            raise
        self._recorder: Recorder | None = None
        self._supply: Supply | None = None
        self._writer = Writer(self._engine, self.url, self._forget)
        self.run: RunInfo | None = None

    def open_run(self, start: Start = Start.AUTO, job: str | None = None) -> RunInfo:
        """Choose or make the run to work on, and reach its seeds. Blocks: nothing runs yet."""
        self.run = self._do(lambda connection: self._open_run(connection, start, job)).result()
        return self.run

    def record(self, outcome: PageOutcome) -> "Future[Recorded]":
        """Commit a page's outcome; outcomes that come together share a transaction."""
        return self._writer.submit_merged(self._record, outcome)

    def record_all(self, outcomes: Sequence[PageOutcome]) -> "Future[Recorded]":
        """Commit several outcomes in one transaction."""
        return self._do(lambda connection: self._recording.record(connection, outcomes, self._iso))

    def hosts_with_work(self, most: int, after: int = -1) -> "Future[list[tuple[int, str]]]":
        """Return (id, name) of hosts that have waiting pages, in pages of `most`."""
        return self._do(lambda c: self._supplying.hosts_with_work(c, most, after))

    def hosts_outside(
        self, most: int, window: Collection[str], after: int
    ) -> "Future[tuple[list[str], int, bool]]":
        """Return hosts with waiting pages that are not in the window; see `Supply`."""
        return self._do(lambda c: self._supplying.hosts_outside(c, most, window, after))

    def robots_of(self, host: str) -> "Future[tuple[RobotsRecord, ...]]":
        """Return what is known of a host's robots.txt and still fresh."""
        return self._do(lambda c: self._supplying.robots_of(c, host, self._now()))

    def supply(
        self, host: str, *, held: Collection[int], pages: int, tokens: int
    ) -> "Future[HostSupply]":
        """Return a host's next pages, with requests reserved for them."""
        return self._do(
            lambda c: self._supplying.supply(
                c, host, held=held, pages=pages, tokens=tokens, now=self._now()
            )
        )

    def give_back(self, unused: Iterable[tuple[str, int]]) -> "Future[None]":
        """Return unused reservations of hosts that have no request out."""
        returned = list(unused)
        return self._do(lambda c: self._supplying.give_back(c, returned, self._now()))

    def close_host(
        self, host: str, state: PageState, *, retry_after: float | None = None
    ) -> "Future[None]":
        """Stop asking a host in this run; `drain` then gives its waiting pages the state."""
        return self._do(
            lambda c: self._supplying.close_host(
                c, host, state, retry_after=retry_after, now=self._now()
            )
        )

    def drain(self, host: str, held: Collection[int] = ()) -> "Future[bool]":
        """Give a chunk of a closed host's waiting pages its state; True while more wait."""
        return self._do(lambda c: self._supplying.drain(c, host, held=held, now=self._now()))

    def mark_fetching(self, pages: Sequence[int]) -> "Future[None]":
        """Note that pages are being asked for."""
        return self._do(lambda c: self._supplying.mark_fetching(c, pages))

    def keep_robots(self, host: str, record: RobotsRecord) -> "Future[None]":
        """Keep a robots.txt answer."""
        return self._do(lambda c: self._supplying.keep_robots(c, host, record))

    def settle(self) -> "Future[None]":
        """Work out `page_depths` for what the run has seen so far."""
        return self._do(self._settle)

    def close_run(self, *, completed: bool, metrics: str | None = None) -> bool:
        """Drain closed hosts, settle the depths, write the end. Blocks until it is committed.

        Returns whether the run is complete: never while a page waits, whatever the caller thinks.
        """
        run = self._run_id
        self._drain_closed_hosts()
        if completed and self._do(runs.has_frontier).result():
            logger.error("run %d was to be completed, but pages still wait in its frontier", run)
            completed = False
        self.settle().result()
        status = runs.COMPLETED if completed else runs.INTERRUPTED
        if completed:
            self._do(runs.build_reverse_index).result()
        self._do(lambda c: runs.end_run(c, run, status, metrics, self._now())).result()
        return completed

    def abandon_run(self) -> None:
        """Mark the run as interrupted and nothing else: for a stop that cannot wait."""
        run = self._run_id
        self._do(lambda c: runs.end_run(c, run, runs.INTERRUPTED, None, self._now())).result()

    def close(self) -> None:
        """Finish what is queued and let go of the database."""
        self._writer.close()
        self._engine.dispose()
        self._lock.release()

    @property
    def transactions(self) -> int:
        """Transactions committed so far."""
        return self._writer.transactions

    def _do(self, work: Callable[[Connection], Result]) -> "Future[Result]":
        return self._writer.submit(work)

    def _open_run(self, connection: Connection, start: Start, job: str | None) -> RunInfo:
        runs.keep_granularity(connection, self.policy, str(self.url.database))
        before = runs.newest_config(connection)
        info = runs.open_run(connection, self.policy, start, job, self._now())
        if info.finished:
            return info
        if before is not None and before != self.policy.config_hash:
            runs.mark_listed_links(connection, self.policy)
        # Only now: marking has just used it.
        runs.drop_reverse_index(connection)
        dialect = self._engine.dialect
        self._recorder = Recorder(
            self.policy,
            dialect,
            info.id,
            first_seq=runs.next_seq(connection),
            strict=self._strict,
        )
        self._supply = Supply(self._recorder.hosts, dialect, self._session)
        if not info.resumed:
            self._recorder.seed(connection, self._iso)
        return info

    def _record(self, connection: Connection, outcomes: list[PageOutcome]) -> list[Recorded]:
        recorded = self._recording.record(connection, outcomes, self._iso)
        # Every outcome of the batch learns of all the work it made: who asks first, gets it.
        return [recorded] * len(outcomes)

    def _settle(self, connection: Connection) -> None:
        settle_depths(connection, self.policy, self._run_id)

    def _drain_closed_hosts(self) -> None:
        after: int | None = -1
        while after is not None:
            after = self._do(partial(self._drain_next, after)).result()

    def _drain_next(self, after: int, connection: Connection) -> int | None:
        return self._supplying.drain_next(connection, after, self._now())

    def _forget(self) -> None:
        if self._recorder is not None:
            self._recorder.forget()

    @property
    def _iso(self) -> str:
        return iso(self._now())

    @property
    def _run_id(self) -> int:
        if self.run is None:
            raise StoreError("no run is open")
        return self.run.id

    @property
    def _recording(self) -> Recorder:
        if self._recorder is None:
            raise StoreError("no run is open")
        return self._recorder

    @property
    def _supplying(self) -> Supply:
        if self._supply is None:
            raise StoreError("no run is open")
        return self._supply
