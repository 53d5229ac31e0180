"""A crawl in this process, as the `terrain` command runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from terrain.errors import Interrupted
from terrain.scheduler import TerrainScheduler, scheduler_of
from terrain.spiders.terrain import TerrainSpider

if TYPE_CHECKING:
    from terrain.config import Config

REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"


def run_crawl(config: Config, *, start: str, log_level: str) -> int:
    """Crawl to the end or to a signal; return the exit code of the command."""
    settings = Settings(
        {
            "ADDONS": {"terrain.addon.TerrainAddon": 0},
            "TWISTED_REACTOR": REACTOR,
            "TERRAIN_START": start,
            "LOG_LEVEL": log_level,
            "STATS_DUMP": False,
        }
    )
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(TerrainSpider)
    schedulers: list[TerrainScheduler] = []

    def opened() -> None:
        # The engine forgets its scheduler when it closes; its verdict is wanted after that.
        schedulers.append(scheduler_of(crawler))

    crawler.signals.connect(opened, signals.spider_opened)
    process.crawl(crawler, config=config)
    process.start()
    return _exit_code(schedulers)


def _exit_code(schedulers: list[TerrainScheduler]) -> int:
    if not schedulers:
        return 1
    scheduler = schedulers[0]
    if scheduler.error is not None:
        return scheduler.error.exit_code
    scheduler.abandon()
    return 0 if scheduler.completed else Interrupted.exit_code
