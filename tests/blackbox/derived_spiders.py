"""Spiders of somebody else's project, made from terrain's (for test_derived_spiders.py).

One changes how answers are read, so Scrapy's whole way from the callback to the pipelines is taken.
The other only breaks, on the short way that terrain takes when nobody is in between.
"""

from collections.abc import AsyncIterator

from scrapy.http import Response

from terrain.items import PageItem
from terrain.spiders.terrain import TerrainSpider


class Reading(TerrainSpider):
    """Reads answers its own way."""

    name = "reading"

    async def parse(self, response: Response) -> AsyncIterator[PageItem]:
        if "broken.test" in response.url:
            raise RuntimeError("broken while reading")
        async for item in super().parse(response):
            item.title = f"{item.title}, read by another"
            if "nothing.test" not in response.url:
                yield item


class Breaking(TerrainSpider):
    """Reads as terrain does, and breaks."""

    name = "breaking"

    async def item_of(self, response: Response) -> PageItem | None:
        if "broken.test" in response.url:
            raise RuntimeError("broken while reading")
        return await super().item_of(response)
