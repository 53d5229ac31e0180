"""Scrapy's core stats, counted where things happen: a signal for every page costs ten counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.extensions.corestats import CoreStats

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

RESPONSES = "response_received_count"
"""Counted by the downloader (terrain/downloader.py)."""

ITEMS = "item_scraped_count"
"""Counted by the pipeline (terrain/pipelines.py), unless pipelines of others have a say."""


def only_ours(crawler: Crawler) -> bool:
    """Tell whether every item that our pipeline lets pass is scraped in the end."""
    return not crawler.settings.getdict("ITEM_PIPELINES")


class QuickCoreStats(CoreStats):
    """The same figures under the same names."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen to what is rare."""
        stats = cls(crawler.stats)
        crawler.signals.connect(stats.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(stats.spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(stats.item_dropped, signal=signals.item_dropped)
        if not only_ours(crawler):
            crawler.signals.connect(stats.item_scraped, signal=signals.item_scraped)
        return stats
