"""How the crawl is getting on: a live view on a terminal, plain lines anywhere else.

Settings: `TERRAIN_PROGRESS` is `log` (through logging, the default, as Scrapy's own LogStats does),
`live`, `lines` (to standard error, without control characters) or `none`;
`TERRAIN_PROGRESS_INTERVAL` is the seconds between two lines.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from scrapy import signals
from scrapy.exceptions import NotConfigured

from terrain.errors import StoreError
from terrain.extensions.figures import Figures, Meter, one_line
from terrain.scheduler import TerrainScheduler, scheduler_of
from terrain.store.gauge import Gauge, Reading

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

DEFAULT_INTERVAL = 10.0
"""Seconds between two plain lines."""

LIVE_INTERVAL = 0.5
"""Seconds between two drawings of the live view."""

GAUGE_SHARE = 100
"""The database is looked at again after this many times the time that the last look took."""

GAUGE_INTERVAL = 1.0
"""Seconds between two looks at the database, at least."""


class Display(Protocol):
    """Somewhere figures can be shown."""

    def start(self) -> None:
        """Begin."""

    def show(self, figures: Figures) -> None:
        """Show these figures."""

    def stop(self) -> None:
        """End; leave everything as it was."""


class LogLines:
    """Through logging, for `scrapy crawl`."""

    def start(self) -> None:
        """Nothing to prepare."""

    def show(self, figures: Figures) -> None:
        """Log a line."""
        logger.info("%s", one_line(figures))

    def stop(self) -> None:
        """Nothing to put back."""


class PlainLines:
    """To standard error, whatever the log level, for pipes and cron."""

    def start(self) -> None:
        """Nothing to prepare."""

    def show(self, figures: Figures) -> None:
        """Print a line."""
        stamp = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
        sys.stderr.write(f"{stamp} {one_line(figures)}\n")
        sys.stderr.flush()

    def stop(self) -> None:
        """Nothing to put back."""


def display_for(mode: str) -> Display:
    """Return the display of a mode; raises NotConfigured for `none`."""
    if mode == "none":
        raise NotConfigured
    if mode == "live":
        from terrain.extensions.liveview import LiveView  # only a terminal needs rich

        return LiveView()
    return PlainLines() if mode == "lines" else LogLines()


class Progress:
    """Looks at the crawl at a steady interval and shows it."""

    def __init__(self, crawler: Crawler, display: Display, interval: float) -> None:
        self.crawler = crawler
        self.display = display
        self.interval = interval
        self._scheduler: TerrainScheduler | None = None
        self._meter: Meter | None = None
        self._gauge: Gauge | None = None
        self._reading: Reading | None = None
        self._read_again_at = 0.0
        self._reader: asyncio.Future[Reading] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it for the mode that the settings name."""
        mode = crawler.settings.get("TERRAIN_PROGRESS", "log")
        seconds = crawler.settings.getfloat("TERRAIN_PROGRESS_INTERVAL", DEFAULT_INTERVAL)
        progress = cls(crawler, display_for(mode), LIVE_INTERVAL if mode == "live" else seconds)
        crawler.signals.connect(progress.spider_opened, signals.spider_opened)
        crawler.signals.connect(progress.spider_closed, signals.spider_closed)
        return progress

    def spider_opened(self) -> None:
        """Begin, if there is a run to watch."""
        scheduler = scheduler_of(self.crawler)
        conductor = scheduler.conductor
        if conductor.run is None or conductor.run.finished:
            return
        self._scheduler = scheduler
        now = time.monotonic()
        self._meter = Meter(conductor.config, conductor.gate, conductor.run.id, now)
        output = conductor.config.output
        location = output.database_url or output.database_path
        self._gauge = Gauge(str(location), conductor.run.id)
        self.display.start()
        self._tick()

    def spider_closed(self) -> None:
        """Show the end."""
        if self._meter is None or self._gauge is None:
            return
        self._cancel()
        try:
            # The run is closed: this look is exact.
            self._reading = self._gauge.read()
        except StoreError:
            logger.debug("the last look at the database failed", exc_info=True)
        assert self._scheduler is not None
        ended = "completed" if self._scheduler.completed else "interrupted"
        self.display.show(replace(self._look(), ended=ended))
        self.stop()

    def stop(self) -> None:
        """Give the terminal back; safe to call at any time, and twice."""
        self._cancel()
        if self._gauge is not None:
            self.display.stop()
            self._gauge.close()
            self._gauge = None

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.interval, self._tick)
        # A fresh look at the database shows the figures when it is there.
        if not self._ask_gauge(loop):
            self.display.show(self._look())

    def _look(self) -> Figures:
        assert self._meter is not None
        assert self._scheduler is not None
        counts = self._scheduler.conductor.frontier.counts()
        stats = self.crawler.stats.get_stats()
        return self._meter.look(stats, counts, self._reading, time.monotonic())

    def _ask_gauge(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Look at the database in another thread, seldom enough to cost next to nothing."""
        now = time.monotonic()
        if self._gauge is None or self._reader is not None or now < self._read_again_at:
            return False
        self._reader = loop.run_in_executor(None, self._gauge.read)
        self._reader.add_done_callback(self._gauge_read)
        return True

    def _gauge_read(self, reader: asyncio.Future[Reading]) -> None:
        self._reader = None
        pause = GAUGE_INTERVAL
        if not reader.cancelled():
            error = reader.exception()
            if error is None:
                self._reading = reader.result()
                pause = max(pause, GAUGE_SHARE * self._reading.took)
            else:
                # Progress is never worth a crawl: try again later.
                pause = 10 * GAUGE_INTERVAL
                logger.debug("a look at the database failed: %s", error)
        self._read_again_at = time.monotonic() + pause
        if self._timer is not None:
            self.display.show(self._look())

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
