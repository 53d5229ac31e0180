"""Scrapy's signals, sent only where somebody listens: nobody does for most, on most crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import getReceivers

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Listeners:
    """Knows which signals of the download path somebody listens to."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._known: dict[object, bool] = {}

    def to(self, signal: object) -> bool:
        """Tell whether anybody listens; components connect long before the first request."""
        listened = self._known.get(signal)
        if listened is None:
            listened = self._known[signal] = bool(
                getReceivers(self._crawler.signals.sender, signal)
            )
        return listened

    def tell(self, signal: object, **facts: Any) -> None:
        """Send a signal to whoever listens."""
        if self.to(signal):
            crawler = self._crawler
            crawler.signals.send_catch_log(signal=signal, spider=crawler.spider, **facts)
