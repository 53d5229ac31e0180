"""From the spider's items to the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals

from terrain.corestats import ITEMS, only_ours
from terrain.errand import errand_of
from terrain.errors import StoreError
from terrain.items import PageItem
from terrain.rules.retries import FailureKind, failure_reason
from terrain.rules.states import PageState
from terrain.scheduler import scheduler_of
from terrain.store import PageOutcome

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Self

    from scrapy.crawler import Crawler

    from terrain.errand import Errand


OF_OTHERS = ("ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
"""Where components of others would be that can make something else of an item."""


class StorePipeline:
    """Hands each page to the store and waits for the commit: Scrapy's back-pressure holds."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._count = crawler.stats.inc_value
        self._counts_items = only_ours(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it, and watch for items that other components drop, replace or break on."""
        pipeline = cls(crawler)
        if any(crawler.settings.getdict(name) for name in OF_OTHERS):
            crawler.signals.connect(pipeline.item_scraped, signals.item_scraped)
        crawler.signals.connect(pipeline.item_dropped, signals.item_dropped)
        crawler.signals.connect(pipeline.item_error, signals.item_error)
        crawler.signals.connect(pipeline.spider_error, signals.spider_error)
        return pipeline

    async def process_item(self, item: Any) -> Any:
        """Commit a page; other items pass."""
        if isinstance(item, PageItem):
            await self._commit(item.domain, item.outcome())
        if self._counts_items:
            self._count(ITEMS)
        return item

    def item_scraped(self, item: Any, response: Any) -> Awaitable[None] | None:
        """A page whose item became something else on the way still ends in an outcome."""
        if isinstance(item, PageItem):
            return None
        return self._failed(response, f"item replaced by {type(item).__name__}")

    async def item_dropped(self, response: Any, exception: BaseException) -> None:
        """A page dropped by another pipeline still ends in an outcome."""
        await self._failed(response, f"item dropped: {exception}")

    async def item_error(self, response: Any, failure: Any) -> None:
        """A page on which a pipeline broke still ends in an outcome."""
        await self._failed(response, f"item pipeline: {failure.value!r}")

    def spider_error(self, response: Any, failure: Any) -> None:
        """A page on which a callback or spider middleware broke still ends in an outcome."""
        errand = errand_of(getattr(response, "request", None))
        if errand is not None and self._awaited(errand):
            scheduler_of(self.crawler).lost(errand, repr(failure.value))

    async def _failed(self, response: Any, detail: str) -> None:
        """Commit a failure, unless the page came through before."""
        errand = errand_of(getattr(response, "request", None))
        if errand is None or not self._awaited(errand):
            return
        assert errand.entry is not None
        outcome = PageOutcome(
            errand.entry.page_id,
            PageState.FAILED,
            status_code=errand.status,
            error_message=failure_reason(FailureKind.IGNORED, detail),
        )
        await self._commit(errand.host, outcome)

    def _awaited(self, errand: Errand) -> bool:
        scheduler = scheduler_of(self.crawler)
        if errand.entry is None or scheduler.conductor.error is not None:
            return False
        return scheduler.awaits_outcome(errand.entry.page_id)

    async def _commit(self, host: str, outcome: PageOutcome) -> None:
        scheduler = scheduler_of(self.crawler)
        try:
            await scheduler.conductor.record(host, outcome)
        except StoreError:
            # It ends the run, and is said there once; the page waits in the store.
            return
        finally:
            scheduler.page_done(outcome.page_id)
        self._count(f"terrain/pages/{outcome.state}")
        if outcome.bytes:
            self._count("terrain/bytes", outcome.bytes)
