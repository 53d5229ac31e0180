"""Scrapy's downloader with a net under it: no request that goes in is lost, whoever drops it.

Middlewares of other people may answer a request with another one, raise where nobody listens, or
hear of a follow-up and have it ignored. Each would leave a page waiting for ever, and the crawl
with it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.exceptions import IgnoreRequest

from terrain.errand import ErrandKind, errand_of
from terrain.scheduler import scheduler_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from terrain.errand import Errand


class TerrainDownloader(Downloader):
    """Sees what all the middlewares together made of a request."""

    def fetch(
        self,
        request: Request,
        spider: Spider | None = None,  # noqa: ARG002 - Scrapy's signature
    ) -> Deferred[Response | Request]:
        """Download, and see to it that the outcome is one."""
        fetched: Deferred[Any] = super().fetch(request)
        return fetched.addBoth(self._ended, request)

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
