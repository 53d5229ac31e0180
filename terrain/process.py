"""A crawl in this process, as the `terrain` command runs it."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, TypeVar

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from terrain.errors import Interrupted, TerrainError
from terrain.extensions.progress import Progress
from terrain.extensions.reporting import Reporting
from terrain.scheduler import TerrainScheduler, scheduler_of
from terrain.spiders.terrain import TerrainSpider

if TYPE_CHECKING:
    from types import FrameType

    from scrapy.crawler import Crawler

    from terrain.config import Config

Extension = TypeVar("Extension")

REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"

LAST_SECONDS = 0.7
"""How long a crawl that was told to stop twice may take to say so in the database."""


LOG_FORMAT = "%(asctime)s %(levelname)s: %(message)s"
"""Without the logger's name: at the usual level only terrain itself has something to say."""


def run_crawl(
    config: Config,
    *,
    start: str,
    log_level: str,
    progress: str = "none",
    interval: float = 10.0,
) -> int:
    """Crawl to the end or to a signal; return the exit code of the command.

    `progress` and `interval`: see terrain/extensions/progress.py.
    """
    settings = Settings(
        {
            "ADDONS": {"terrain.addon.TerrainAddon": 0},
            "TWISTED_REACTOR": REACTOR,
            "TERRAIN_START": start,
            "LOG_LEVEL": log_level,
            "LOG_FORMAT": LOG_FORMAT,
            "STATS_DUMP": False,
            "TERRAIN_PROGRESS": progress,
            "TERRAIN_PROGRESS_INTERVAL": interval,
        }
    )
    _spare_the_collector()
    early = _EarlySignals()
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(TerrainSpider)
    schedulers: list[TerrainScheduler] = []

    def opened() -> None:
        # The engine forgets its scheduler when it closes; its verdict is wanted after that.
        schedulers.append(scheduler_of(crawler))

    crawler.signals.connect(opened, signals.spider_opened)
    process.crawl(crawler, config=config)
    asyncio.get_event_loop().call_soon(early.deliver)
    process.start()
    gc.freeze()  # The exit would go through all that is left, to no end.
    if (view := _extension(crawler, Progress)) is not None:
        view.stop()  # A second signal leaves it on the terminal.
    scheduler = schedulers[0] if schedulers else _half_open(crawler)
    if scheduler is None:
        return TerrainError.exit_code if process.bootstrap_failed else Interrupted.exit_code
    code = _exit_code(scheduler)
    reporting = _extension(crawler, Reporting)
    if reporting is None:
        return code
    reporting.write("second signal", quick=True)  # Unless the end of the run has written all.
    return code or (TerrainError.exit_code if reporting.failed else 0)


def _spare_the_collector() -> None:
    """Look for cycles of garbage less often, and never again in what is imported by now.

    A page brings thousands of small objects that live until its commit, and nearly none of them is
    in a cycle: the collector went through them, and through all modules, for a tenth of the time.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 10, 10)
    # The writer thread gets its turn sooner, so that pages are not held up for want of a commit.
    sys.setswitchinterval(0.001)


def _extension(crawler: Crawler, kind: type[Extension]) -> Extension | None:
    try:
        return crawler.get_extension(kind)
    except RuntimeError:
        return None  # It did not get as far as that.


class _EarlySignals:
    """Keeps a signal that comes before Scrapy listens for it, and then gives it to Scrapy."""

    def __init__(self) -> None:
        self._kept: list[int] = []
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._keep)

    def _keep(self, number: int, _frame: FrameType | None) -> None:
        self._kept.append(number)

    def deliver(self) -> None:
        """Called from the event loop, so Scrapy's handlers are in place."""
        for number in self._kept[:1]:
            signal.raise_signal(number)


def _half_open(crawler: Crawler) -> TerrainScheduler | None:
    """Return the scheduler of a crawl that was stopped before its spider was open, if there is."""
    try:
        return scheduler_of(crawler)
    except (RuntimeError, AssertionError):
        return None  # It did not get as far as that.


def _exit_code(scheduler: TerrainScheduler) -> int:
    if scheduler.error is not None:
        return scheduler.error.exit_code
    if scheduler.completed:
        return 0
    if not scheduler.abandon(LAST_SECONDS):
        # Threads that still work would keep the process; what they do is undone like by a kill.
        logging.shutdown()
        os._exit(Interrupted.exit_code)
    return Interrupted.exit_code
