"""Writes metrics, summary and picture when a crawl ends, however it ends."""

from __future__ import annotations

import logging
import resource
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy import signals

from terrain.errors import TerrainError
from terrain.extensions.figures import REQUESTS
from terrain.reports.files import write_text
from terrain.reports.metrics import RunCounters, gather_metrics, render_metrics
from terrain.reports.prometheus import render_prometheus
from terrain.scheduler import TerrainScheduler, scheduler_of
from terrain.store.clock import iso
from terrain.store.history import keep_metrics
from terrain.store.queries import open_terrain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self

    from scrapy.crawler import Crawler

    from terrain.store.queries import TerrainReader

logger = logging.getLogger(__name__)

REASONS = {"shutdown": "signal"}
"""Scrapy's words for why a crawl ended, where a person would use another."""


class Reporting:
    """Reports once per process, after the run is closed in the database."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.failed = False
        """True if a report could not be written; each failure has had its line."""
        self._scheduler: TerrainScheduler | None = None
        self._began = iso(time.time())

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for the beginning and the end."""
        reporting = cls(crawler)
        crawler.signals.connect(reporting.spider_opened, signals.spider_opened)
        crawler.signals.connect(reporting.spider_closed, signals.spider_closed)
        return reporting

    def spider_opened(self) -> None:
        """Remember the scheduler, which the engine forgets before the end, if there is a run."""
        scheduler = scheduler_of(self.crawler)
        run = scheduler.conductor.run
        if run is not None and not run.finished:
            self._scheduler = scheduler

    def spider_closed(self, reason: str) -> None:
        """Write everything: the run is closed."""
        self.write(REASONS.get(reason, reason))

    def write(self, reason: str, *, quick: bool = False) -> None:
        """Write the reports, once; `quick` leaves out all that takes counting or waiting.

        The metrics come first: they are what a stop that cannot wait has time for.
        """
        scheduler, self._scheduler = self._scheduler, None
        if scheduler is None:
            return
        output = scheduler.config.output
        location = str(output.database_url or output.database_path)
        # What the database has against it has been told, if that is what ended the crawl.
        told = None if scheduler.error is None else str(scheduler.error)
        with self._saying_what_fails(told), open_terrain(location) as reader:
            self._metrics(scheduler, reader, self._counters(scheduler, reason), quick=quick)
            if not quick:
                self._summary(scheduler, reader)

    def _counters(self, scheduler: TerrainScheduler, reason: str) -> RunCounters:
        stats = self.crawler.stats.get_stats()
        return RunCounters(
            status="completed" if scheduler.completed else "interrupted",
            termination_reason=reason,
            session_started_at=self._began,
            ended_at=iso(time.time()),
            requests_by_kind={
                name.removeprefix(REQUESTS): value
                for name, value in stats.items()
                if name.startswith(REQUESTS)
            },
            bytes_received=stats.get("terrain/bytes", 0),
            peak_memory_bytes=peak_memory(),
        )

    def _metrics(
        self,
        scheduler: TerrainScheduler,
        reader: TerrainReader,
        counters: RunCounters,
        *,
        quick: bool,
    ) -> None:
        output = scheduler.config.output
        metrics = gather_metrics(reader, counters, quick=quick)
        text = render_metrics(metrics)
        with self._saying_what_fails():
            write_text(output.metrics_path, text)
        if output.prometheus_path is not None:
            with self._saying_what_fails():
                write_text(output.prometheus_path, render_prometheus(metrics))
        # Not if the database is what failed, which has been told of, nor if there is no time to
        # wait for its lock.
        if scheduler.error is None and not quick:
            with self._saying_what_fails():
                location = output.database_url or output.database_path
                keep_metrics(str(location), reader.run.id, text)

    def _summary(self, scheduler: TerrainScheduler, reader: TerrainReader) -> None:
        # Late, so that a crawl does not load what only its end needs.
        from terrain.reports.picture import render_picture
        from terrain.reports.summary import render_summary

        path = scheduler.config.output.summary_path
        policy = scheduler.conductor.policy
        picture = picture_path(path)
        shown: str | None = None
        with self._saying_what_fails():
            write_text(picture, render_picture(reader, policy))
            shown = picture.name
        with self._saying_what_fails():
            write_text(path, render_summary(reader, policy, now=time.time(), picture=shown))

    @contextmanager
    def _saying_what_fails(self, told: str | None = None) -> Iterator[None]:
        """One report that cannot be written must not cost the others; nothing is said twice."""
        try:
            yield
        except TerrainError as error:
            self.failed = True
            if str(error) != told:
                logger.error("%s", error)  # noqa: TRY400 - one line, no traceback


def picture_path(summary: Path) -> Path:
    """Return where the picture goes: beside the summary."""
    return summary.with_suffix(".svg")


def peak_memory() -> int:
    """Return the most memory that this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Kibibytes on Linux, bytes on macOS.
    return most if sys.platform == "darwin" else most * 1024
