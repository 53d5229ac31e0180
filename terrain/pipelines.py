"""From the spider's items to the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals

from terrain.items import PageItem
from terrain.rules.retries import FailureKind, failure_reason
from terrain.rules.states import PageState
from terrain.scheduler import scheduler_of
from terrain.store import PageOutcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class StorePipeline:
    """Hands each page to the store and waits for the commit: Scrapy's back-pressure holds."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it, and watch for items that other pipelines drop or break on."""
        pipeline = cls(crawler)
        crawler.signals.connect(pipeline.item_dropped, signals.item_dropped)
        crawler.signals.connect(pipeline.item_error, signals.item_error)
        return pipeline

    async def process_item(self, item: Any) -> Any:
        """Commit a page; other items pass."""
        if isinstance(item, PageItem):
            await self._commit(item.domain, item.outcome())
        return item

    async def item_dropped(self, item: Any, exception: BaseException) -> None:
        """A page dropped by another pipeline still ends in an outcome."""
        await self._failed(item, f"item dropped: {exception}")

    async def item_error(self, item: Any, failure: Any) -> None:
        """A page on which a pipeline broke still ends in an outcome."""
        await self._failed(item, f"item pipeline: {failure.value!r}")

    async def _failed(self, item: Any, detail: str) -> None:
        conductor = scheduler_of(self.crawler).conductor
        if isinstance(item, PageItem) and conductor.error is None:
            reason = failure_reason(FailureKind.IGNORED, detail)
            outcome = PageOutcome(
                item.page_id,
                PageState.FAILED,
                status_code=item.status_code,
                error_message=reason,
            )
            await self._commit(item.domain, outcome)

    async def _commit(self, host: str, outcome: PageOutcome) -> None:
        scheduler = scheduler_of(self.crawler)
        stats = self.crawler.stats
        try:
            await scheduler.conductor.record(host, outcome)
        finally:
            scheduler.page_done(outcome.page_id)
        stats.inc_value(f"terrain/pages/{outcome.state}")
        if outcome.bytes:
            stats.inc_value("terrain/bytes", outcome.bytes)
