"""Scrapy's scraper without what only other spiders need.

For every answer Scrapy starts a task that fills a queue and CONCURRENT_ITEMS tasks that empty it,
lets the event loop turn twice, and sends what the callback yields through a dozen generators. A
page yields one item, and mostly there is nobody in between: then it goes straight to the pipelines.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrapy.core.scraper import Scraper
from scrapy.utils.defer import aiter_errback, iter_errback
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.http import Response


class TerrainScraper(Scraper):
    """Passes on what a callback yields one by one, as CONCURRENT_ITEMS = 1 would."""

    @classmethod
    def take_over(cls, engine: ExecutionEngine) -> None:
        """Make the engine's scraper one of these: Scrapy has no setting for its class."""
        engine.scraper.__class__ = cls

    @cached_property
    def _undisturbed(self) -> bool:
        """True if no component of others sees what goes into the spider or comes out of it."""
        spider: Any = self.crawler.spider
        return spider.reads_as_written and not self.crawler.settings.getdict("SPIDER_MIDDLEWARES")

    async def _scrape(self, result: Response | Failure, request: Request) -> None:
        """Make the item of an answer and send it on."""
        if not self._undisturbed or isinstance(result, Failure):
            await super()._scrape(result, request)
            return
        spider: Any = self.crawler.spider
        if result.request is None:
            result.request = request
        try:
            item = await spider.item_of(result)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this page's outcome
            (outcomes,) = self.spidermw.middlewares
            item = outcomes.broken(result, error)
            if item is None:
                self.handle_spider_error(Failure(error), request, result)  # type: ignore[no-untyped-call]
        if item is not None:
            await self.start_itemproc_async(item, response=result)

    async def handle_spider_output_async(
        self,
        result: Iterable[Any] | AsyncIterator[Any],
        request: Request,
        response: Response | Failure,
    ) -> None:
        """Send items to the pipelines and requests to the scheduler, which refuses them."""
        if isinstance(result, AsyncIterator):
            async for output in aiter_errback(result, self.handle_spider_error, request, response):
                await self._process_spidermw_output_async(output, response)
        else:
            for output in iter_errback(result, self.handle_spider_error, request, response):
                await self._process_spidermw_output_async(output, response)
