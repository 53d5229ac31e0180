"""Scrapy's downloader with a net under it: no request that goes in is lost, whoever drops it.

Middlewares of other people may answer a request with another one, raise where nobody listens, or
hear of a follow-up and have it ignored. Each would leave a page waiting for ever, and the crawl
with it.
"""

from __future__ import annotations

import asyncio
import traceback
from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import getReceivers
from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.exceptions import IgnoreRequest
from twisted.python.failure import Failure

from terrain.errand import ErrandKind, errand_of
from terrain.scheduler import scheduler_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from terrain.errand import Errand


class TerrainDownloader(Downloader):
    """Sees what all the middlewares together made of a request."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._listened: dict[object, bool] = {}

    def fetch(
        self,
        request: Request,
        spider: Spider | None = None,  # noqa: ARG002 - Scrapy's signature
    ) -> Deferred[Response | Request]:
        """Download, and see to it that the outcome is one."""
        fetched: Deferred[Any] = super().fetch(request)
        return fetched.addBoth(self._ended, request)

    async def _enqueue_request(self, request: Request) -> Response:
        """Straight to the handler: the frontier has kept the clock, there is nothing to queue for.

        Scrapy's slots would cost as much again as the rest of the way. Their signals are still
        sent, to whoever listens.
        """
        self._tell(signals.request_reached_downloader, request=request)
        try:
            response = await self.handlers.download_request_async(request)
            self._tell(signals.response_downloaded, response=response, request=request)
        finally:
            self._tell(signals.request_left_downloader, request=request)
        return response

    def _tell(self, signal: object, **facts: Any) -> None:
        listened = self._listened.get(signal)
        if listened is None:
            # Components connect when they are made, long before the first request.
            listened = self._listened[signal] = bool(getReceivers(self.crawler, signal))
        if listened:
            self.signals.send_catch_log(signal=signal, spider=self.crawler.spider, **facts)

    def _ended(self, result: Any, request: Request) -> Any:
        errand = errand_of(request)
        if errand is None:
            return result
        scheduler = scheduler_of(self.crawler)
        scheduler.exchange_ended(errand)
        strange = None
        if isinstance(result, Request):
            strange = _strange(result, request)
            if strange is None:
                asyncio.get_running_loop().call_soon(self._check_queued, result)
                return result
        if errand.kind is ErrandKind.ROBOTS and not errand.settled:
            scheduler.robots_lost(errand)
        if strange is not None:
            raise IgnoreRequest(strange)
        if isinstance(result, Failure):
            _let_go(result.value)
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
