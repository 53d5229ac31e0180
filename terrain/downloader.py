"""Scrapy's downloader with a net under it: no request that goes in is lost, whoever drops it.

Middlewares of other people may answer a request with another one, raise where nobody listens, or
hear of a follow-up and have it ignored. Each would leave a page waiting for ever, and the crawl
with it.
"""

from __future__ import annotations

import asyncio
import traceback
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import build_from_crawler

from terrain.corestats import RESPONSES
from terrain.errand import ErrandKind, errand_of
from terrain.listeners import Listeners
from terrain.middlewarechain import MiddlewareChain
from terrain.scheduler import scheduler_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from terrain.errand import Errand


class TerrainDownloader(Downloader):
    """Sees what all the middlewares together made of a request."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.middleware = build_from_crawler(MiddlewareChain, crawler)
        self._listeners = Listeners(crawler)
        self._count = crawler.stats.inc_value

    def fetch(
        self,
        request: Request,
        spider: Spider | None = None,  # noqa: ARG002 - Scrapy's signature
    ) -> Deferred[Response | Request]:
        """Download, and see to it that the outcome is one."""
        return deferred_from_coro(self._fetch(request)).addCallback(self._watched)

    def _watched(self, result: Response | Request) -> Response | Request:
        """Look after a follow-up once the engine, next to be called, has had its turn."""
        if isinstance(result, Request) and errand_of(result) is not None:
            asyncio.get_running_loop().call_soon(self._check_queued, result)
        return result

    async def _fetch(self, request: Request) -> Response | Request:
        errand = errand_of(request)
        self.active.add(request)
        try:
            result = await self.middleware.download_async(self._enqueue_request, request)
        except Exception as error:
            if errand is not None:
                self._over(errand)
                _let_go(error)
            raise
        finally:
            self.active.remove(request)
        if isinstance(result, Response):
            self._count(RESPONSES)
        return result if errand is None else self._ended(result, request, errand)

    async def _enqueue_request(self, request: Request) -> Response:
        """Straight to the handler: the frontier has kept the clock, there is nothing to queue for.

        Scrapy's slots would cost as much again as the rest of the way. Their signals are still
        sent, to whoever listens.
        """
        tell = self._listeners.tell
        tell(signals.request_reached_downloader, request=request)
        try:
            response = await self.handlers.download_request_async(request)
            tell(signals.response_downloaded, response=response, request=request)
        finally:
            tell(signals.request_left_downloader, request=request)
        return response

    def _over(self, errand: Errand) -> None:
        """The exchange has ended, and nothing follows it."""
        scheduler = scheduler_of(self.crawler)
        scheduler.exchange_ended(errand)
        if errand.kind is ErrandKind.ROBOTS and not errand.settled:
            scheduler.robots_lost(errand)

    def _ended(
        self, result: Response | Request, request: Request, errand: Errand
    ) -> Response | Request:
        if isinstance(result, Request):
            strange = _strange(result, request)
            if strange is not None:
                self._over(errand)
                raise IgnoreRequest(strange)
            scheduler_of(self.crawler).exchange_ended(errand)
            return result
        self._over(errand)
        return result

    def _check_queued(self, request: Request) -> None:
        """By now the engine has given the follow-up to the scheduler, unless it was kept from it.

        (A handler of the signal `request_scheduled` may do so.)
        """
        errand = errand_of(request)
        assert errand is not None
        # After a pause of the whole process (SIGSTOP) it may even have been leased again by now.
        if not errand.settled and errand.lease is None and not self._closing:
            scheduler_of(self.crawler).lost(errand, "kept from the scheduler by a component")

    @property
    def _closing(self) -> bool:
        """While the crawl ends, what is not queued waits in the store."""
        engine = self.crawler.engine
        return engine.spider is None or not engine.running


def _strange(following: Request, request: Request) -> str | None:
    """Say what keeps a follow-up from being asked; None for ours, and for the same address again.

    Another address belongs to another page and perhaps to another host, with a clock of its own.
    """
    errand: Errand | None = errand_of(following)
    if errand is None:
        return f"a component answered with another request: {following.url}"
    if errand is errand_of(request) and following.url != request.url:
        return f"a component sent the request elsewhere: {following.url}"
    return None


def _let_go(error: BaseException | None) -> None:
    """Free what the frames of a refused answer hold: all that a bomb had unpacked to by then.

    The error is part of a cycle, so it would stay until the garbage collector comes by; a hundred
    bombs are a gigabyte. Only frames below the refusal, which are plain functions and have ended.
    """
    if isinstance(error, IgnoreRequest) and error.__cause__ is not None:
        traceback.clear_frames(error.__cause__.__traceback__)
