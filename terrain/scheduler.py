"""Scrapy's scheduler interface over the frontier.

Everything a host is asked leaves through `next_request`: robots.txt, HEAD, GET, redirect hops and
retries. Nothing here waits: the store works in its own thread, and a timer wakes the engine at the
moment a host's clock allows the next request.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro

from terrain.conductor import Conductor
from terrain.errand import Errand, ErrandKind, errand_of, make_request
from terrain.errors import TerrainError
from terrain.frontier import RequestKind
from terrain.jobdir import read_job
from terrain.rules.content import looks_like_file
from terrain.rules.retries import FailureKind, failure_reason
from terrain.rules.states import PageState
from terrain.rules.urls import robots_origin
from terrain.scraper import TerrainScraper
from terrain.store import PageOutcome, Start

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from terrain.config import Config
    from terrain.frontier import Dropped, Lease

logger = logging.getLogger(__name__)

COMPLETE_REASONS = frozenset({"finished"})
"""Closing reasons that mean the terrain was walked to its end."""


class TerrainScheduler(BaseScheduler):
    """Turns leases into requests, and follow-up requests back into the frontier."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self.crawler = crawler
        self.config = config
        self.settings = crawler.settings
        self.places = max(1, crawler.settings.getint("CONCURRENT_REQUESTS"))
        self.conductor = Conductor(config, places=self.places)
        self.conductor.on_change = self._changed
        self.conductor.on_dropped = self._robots_dropped
        self.error: TerrainError | None = None
        """What keeps the run from starting or going on; the command says it in one line."""
        self.completed = False
        """True once the run was walked to its end and closed."""
        self._count = crawler.stats.inc_value  # looked up once: that takes longer than to count
        self._ready: deque[Request] = deque()
        self._answered: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._waking = False
        self._callbacks: dict[str, Any] = {}
        # Never asked: giving it to the engine is the public way to make it look again.
        self._nudge = Request("https://terrain.invalid/", dont_filter=True)
        retry = config.retry
        self._timeout = retry.timeout / 1000

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it for the crawler whose spider has loaded the configuration."""
        scheduler = cls(crawler, crawler.spider.config)  # type: ignore[union-attr]
        crawler.signals.connect(scheduler._idle, signals.spider_idle)
        TerrainScraper.take_over(crawler.engine)
        return scheduler

    # ---- Scrapy's interface -----------------------------------------------------------------

    def open(self, spider: Spider) -> None:
        """Open the database and choose the run; what is wrong is kept and ends the crawl."""
        # Bound once: Scrapy parses the source of every callback object that it has not seen yet.
        self._callbacks = {"callback": spider.parse, "errback": spider.failed}  # type: ignore[attr-defined]
        start = Start(self.settings.get("TERRAIN_START", Start.AUTO))
        try:
            run = self.conductor.open(start, read_job(self.settings.get("JOBDIR")))
        except TerrainError as error:
            self.error = error
            logger.error("%s", error)  # noqa: TRY400 - one line, no traceback
            return
        for notice in run.notices:
            logger.warning("%s", notice)
        if not run.finished:
            self.conductor.pump()

    def has_pending_requests(self) -> bool:
        """Tell whether anything is left to ask, to wait for or to commit."""
        if self.error is not None or self.conductor.run is None or self.conductor.run.finished:
            return False
        return bool(self._ready) or self.conductor.pending

    def enqueue_request(self, request: Request) -> bool:
        """Take a follow-up back at its host's clock; nothing else may get in."""
        if request is self._nudge:
            return True
        errand = errand_of(request)
        if errand is None:
            # Links are data here; a request of a foreign component would pass no clock.
            logger.error("refused a request that did not come from the frontier: %s", request.url)
            return False
        errand.settled = True
        if errand.entry is not None:
            self.page_done(errand.entry.page_id)
        conductor = self.conductor
        conductor.frontier.follow_up(
            errand.host,
            request.url,
            conductor.now(),
            payload=request,
            not_before=request.meta.pop("terrain_not_before", 0.0),
            entry=errand.entry,
        )
        conductor.pump()
        return True

    def next_request(self) -> Request | None:
        """Give the next request that may go out now."""
        if self._ready:
            return self._ready.popleft()
        return self._lease()

    def close(self, reason: str) -> Deferred[None]:
        """Close the run: completed if the terrain was walked to its end, else interrupted."""
        if self._timer is not None:
            self._timer.cancel()
        completed = reason in COMPLETE_REASONS and self.error is None
        return deferred_from_coro(self._close(completed=completed))

    async def _close(self, *, completed: bool) -> None:
        # No page is left to be read: that process's memory goes before settling takes its own.
        await self.crawler.spider.reader.close()  # type: ignore[union-attr]
        self.completed = await self.conductor.close(completed=completed)
        self.error = self.error or self.conductor.error

    def abandon(self, within: float) -> bool:
        """A stop that could not wait left the store open: mark the run and let go."""
        return self.conductor.abandon(within)

    # ---- leases -----------------------------------------------------------------------------

    def _lease(self) -> Request | None:
        conductor = self.conductor
        if conductor.store is None or conductor.error is not None:
            return None
        # What is answered but not committed holds a place too, so that a kill costs no more.
        while conductor.frontier.counts().in_flight + len(self._answered) < self.places:
            lease = conductor.frontier.lease(conductor.now())
            conductor.pump()
            if lease is None:
                break
            request = self._request(lease)
            if request is not None:
                return request
        self._set_timer()
        return None

    def _request(self, lease: Lease) -> Request | None:
        conductor = self.conductor
        if lease.kind is RequestKind.ROBOTS:
            origin = robots_origin(lease.url)
            if conductor.gate.was_evicted(origin):
                conductor.robots_from_store(lease.host, lease, origin)
                return None
        if lease.kind is RequestKind.FOLLOW_UP:
            request: Request = lease.payload  # type: ignore[assignment]
            errand = errand_of(request)
            assert errand is not None
            # Another component may have sent the very same request again.
            errand.status = errand.verdict = errand.hop = None
            errand.settled = False
        else:
            errand = self._first_errand(lease)
            request = make_request(errand, **self._callbacks)
        errand.lease = lease
        self._count(f"terrain/requests/{errand.kind}")
        return request

    def _first_errand(self, lease: Lease) -> Errand:
        address = self.conductor.urls.stored(lease.url)
        assert address is not None
        if lease.kind is RequestKind.ROBOTS:
            return Errand(
                ErrandKind.ROBOTS,
                lease.host,
                None,
                address,
                timeout=self._timeout,
                asked=(lease.url,),
                robots_for=(lease.host, robots_origin(lease.url)),
            )
        assert lease.entry is not None
        self.conductor.mark_fetching(lease.entry.page_id)
        probe = self.config.crawler.head_probe
        probing = probe == "always" or (probe == "auto" and looks_like_file(lease.url))
        return Errand(
            ErrandKind.HEAD if probing else ErrandKind.GET,
            lease.host,
            lease.entry,
            address,
            timeout=self._timeout,
            asked=(lease.url,),
        )

    def exchange_ended(self, errand: Errand) -> None:
        """The last byte came, or an error: the host's clock runs from here."""
        lease, errand.lease = errand.lease, None
        if lease is None:
            return
        self.conductor.frontier.exchange_ended(lease, self.conductor.now())
        if errand.entry is not None:
            self._answered.add(errand.entry.page_id)

    def page_done(self, page_id: int) -> None:
        """The page's answer led to a follow-up or a commit: it holds no place any more."""
        self._answered.discard(page_id)

    def awaits_outcome(self, page_id: int) -> bool:
        """Tell whether the page was answered and neither committed nor asked again since."""
        return page_id in self._answered

    def lost(self, errand: Errand, reason: str) -> None:
        """A component made away with a request: that is its page's outcome."""
        if errand.entry is None:
            self.robots_lost(errand)
            return
        self.page_done(errand.entry.page_id)
        message = failure_reason(FailureKind.IGNORED, reason)
        outcome = PageOutcome(errand.entry.page_id, PageState.FAILED, error_message=message)
        self.conductor.record(errand.host, outcome)

    def robots_lost(self, errand: Errand) -> None:
        """No answer will come for a robots.txt: whoever waits for it must know."""
        if errand.robots_for is not None:
            host, origin = errand.robots_for
            self.conductor.robots_answered(host, origin, None, None)

    # ---- waking the engine ------------------------------------------------------------------

    def _changed(self) -> None:
        """Something new may be ready; look once per turn of the loop."""
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_soon(self._wake)

    def _wake(self) -> None:
        self._waking = False
        if self.conductor.error is not None and self.error is None:
            self.error = self.conductor.error
            logger.error("%s", self.error)
            engine = self.crawler.engine
            asyncio.ensure_future(engine.close_spider_async(reason="store_error"))  # noqa: RUF006
            return
        self.conductor.pump()
        engine = self.crawler.engine
        if engine.spider is None or engine.needs_backout():
            self._set_timer()
            return
        request = self._lease()
        if request is not None:
            self._ready.append(request)
        if request is not None or not self.has_pending_requests():
            engine.crawl(self._nudge)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.conductor.store is None:
            return
        now = self.conductor.now()
        at = self.conductor.frontier.ready_at(now)
        if at is not None and at > now:
            self._timer = asyncio.get_running_loop().call_later(at - now, self._wake)

    def _idle(self) -> None:
        """Scrapy finds nothing to do: say why, if it is not that all is done."""
        if self.error is not None:
            raise CloseSpider("terrain_error")

    def _robots_dropped(self, dropped: Dropped) -> None:
        """A robots.txt hop will not be asked: whoever waits for it gets no answer."""
        errand = errand_of(dropped.payload)  # type: ignore[arg-type]
        if errand is not None:
            self.robots_lost(errand)


def scheduler_of(crawler: Crawler) -> TerrainScheduler:
    """Return the running scheduler, for the components that report to it."""
    scheduler = crawler.engine.scheduler
    assert isinstance(scheduler, TerrainScheduler)
    return scheduler
