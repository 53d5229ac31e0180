"""Every page that was asked ends in an item, whatever happens to its answer on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from terrain.errand import errand_of_answer
from terrain.items import PageItem
from terrain.scheduler import scheduler_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Swallowed(Exception):  # noqa: N818 - it names what happened and is never raised
    """A component took the page's item out of the spider's output."""


class OutcomeMiddleware:
    """Nearest to the engine: sees what really comes out of the spider."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it."""
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass everything on; add the item that is missing."""
        seen = False
        async for output in result:
            seen = seen or isinstance(output, PageItem)
            yield output
        if not seen:
            item = self.broken(response, Swallowed("a component swallowed the page's item"))
            if item is not None:
                yield item

    def process_spider_exception(
        self, response: Response, exception: Exception
    ) -> Iterable[Any] | None:
        """A callback broke: that is the page's outcome."""
        item = self.broken(response, exception)
        return None if item is None else [item]

    def broken(self, response: Response, error: Exception) -> PageItem | None:
        """Make the item that says what broke, unless the page has its outcome."""
        errand = errand_of_answer(response)
        if errand is None or errand.entry is None or response.request is None:
            return None
        if errand.settled or not scheduler_of(self.crawler).awaits_outcome(errand.entry.page_id):
            return None  # Its item came through before, or the one that says what broke will.
        errand.settled = True
        return self.crawler.spider.broken(response.request, error)  # type: ignore[union-attr,no-any-return]
