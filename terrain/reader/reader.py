"""Who reads a page: this process, or the one beside it.

A polite crawl has a page every now and then, and reads it where it is. A fast one spends a third of
its time on it, and a second core can take that over; and no page, however large or strange, should
keep the crawl from everything else for seconds, or take it down.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from typing import TYPE_CHECKING

from terrain.reader.facts import FactsOf
from terrain.reader.process import AskAgain, ReaderDied, ReadingProcess

if TYPE_CHECKING:
    from terrain.config import Config
    from terrain.rules.extract import PageFacts

logger = logging.getLogger(__name__)

LARGE = 512 * 1024
"""A body of this size is never read here: it may take seconds."""

WINDOW = 0.25
"""Seconds over which the time spent on reading is added up."""

BUSY = 0.04
"""Seconds of reading within a window from which on a process of its own is worth it."""

MOST_WAITING = 1024 * 1024
"""Bytes of pages out from which on this process lends a hand: some ten milliseconds of reading."""

MOST_DEATHS = 5
"""After so many the crawl reads by itself: it cannot be the pages alone."""


class PageReader:
    """Reads pages, and finds out by itself where."""

    def __init__(self, config: Config, *, cores: int | None = None) -> None:
        self._facts_of = FactsOf.configured(config)
        self._several = (cores or len(os.sched_getaffinity(0))) > 1
        self._process: ReadingProcess | None = None
        self._starting: asyncio.Task[None] | None = None
        self._deaths = 0
        self._closed = False
        self._window_began = 0.0
        self._spent = 0.0

    async def read(
        self, body: bytes, content_type: str | None, fetch_url: str, identity: str
    ) -> PageFacts:
        """Return the facts of a page; raises ReaderDied if it was too much for a process."""
        large = len(body) > LARGE
        if large:
            await self._started()
        while True:
            process = self._usable()
            if process is None or (process.bytes_waiting >= MOST_WAITING and not large):
                return self._read_here(body, content_type, fetch_url, identity)
            try:
                return await process.read(body, content_type, fetch_url, identity)
            except AskAgain:
                if large:
                    await self._started()
            except ReaderDied:
                self._died()
                raise

    def expect_many(self) -> None:
        """Start the process now: the crawl will be a fast one."""
        if self._several:
            self._start()

    async def close(self) -> None:
        """End the process, if there is one; a second time does nothing."""
        self._closed = True
        if self._starting is not None:
            await asyncio.wait([self._starting])
        process, self._process = self._process, None
        if process is not None:
            await process.close()

    def _read_here(
        self, body: bytes, content_type: str | None, fetch_url: str, identity: str
    ) -> PageFacts:
        began = time.perf_counter()
        facts = self._facts_of(body, content_type, fetch_url, identity)
        now = time.perf_counter()
        if now - self._window_began > WINDOW:
            self._window_began, self._spent = began, 0.0
        self._spent += now - began
        if self._spent > BUSY and self._several:
            self._start()
        return facts

    def _usable(self) -> ReadingProcess | None:
        process = self._process
        if process is None or process.gone or not process.ready.done():
            return None
        return process

    def _start(self) -> None:
        """Start the process if there is none; it takes a while, and is not waited for."""
        running = self._process is not None and not self._process.gone
        if running or self._starting is not None or self._closed or self._deaths >= MOST_DEATHS:
            return
        self._starting = asyncio.get_running_loop().create_task(self._bring_up())

    async def _started(self) -> None:
        """Wait until the process is there, or is known not to come."""
        if self._usable() is None:
            self._start()
            if self._starting is not None:
                await asyncio.wait([self._starting])

    async def _bring_up(self) -> None:
        if self._process is not None:
            await self._process.close()  # It is gone; somebody must take note of it.
        process = self._process = ReadingProcess(self._facts_of)
        try:
            await process.start()
            await process.ready
        except (OSError, ReaderDied) as error:
            process.gone = True
            self._died()
            logger.warning("pages are read without a process of their own: %s", error)
        finally:
            self._starting = None

    def _died(self) -> None:
        self._deaths += 1
