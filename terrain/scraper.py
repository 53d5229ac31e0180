"""Scrapy's scraper without its tasks: a page yields one item, so there is nothing to do at once.

For every answer Scrapy starts a task that fills a queue and CONCURRENT_ITEMS tasks that empty it;
even with one of them that is a tenth of the event loop's work for a page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy.core.scraper import Scraper
from scrapy.utils.defer import aiter_errback, iter_errback

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.http import Response
    from twisted.python.failure import Failure


class TerrainScraper(Scraper):
    """Passes on what a callback yields one by one, as CONCURRENT_ITEMS = 1 would."""

    @classmethod
    def take_over(cls, engine: ExecutionEngine) -> None:
        """Make the engine's scraper one of these: Scrapy has no setting for its class."""
        engine.scraper.__class__ = cls

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
