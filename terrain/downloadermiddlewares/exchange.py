"""Tells the frontier when an exchange with a host is over. Nearest to the downloader."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from terrain.errand import errand_of
from terrain.scheduler import scheduler_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class ExchangeMiddleware:
    """The host's clock runs from the last byte, the error or the timeout."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Note when the exchange starts."""
        request.meta["terrain_started"] = time.monotonic()

    def process_response(self, request: Request, response: Response) -> Response:
        """The answer is complete."""
        self._ended(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002 - Scrapy's signature
        """There will be no answer."""
        self._ended(request)

    def _ended(self, request: Request) -> None:
        errand = errand_of(request)
        if errand is not None:
            started = request.meta.get("terrain_started")
            if started is not None:
                request.meta["terrain_fetch_ms"] = round((time.monotonic() - started) * 1000)
            scheduler_of(self.crawler).exchange_ended(errand)
