"""One line per page is for debugging: otherwise it is not even put together."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class QuietLogFormatter(LogFormatter):
    """Scrapy's words, and none for what happens to every page unless LOG_LEVEL is DEBUG.

    Scrapy formats and counts these lines whatever the level, and drops them at the very end.
    """

    def __init__(self, *, debugging: bool) -> None:
        self._debugging = debugging

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it for the level that the user chose."""
        level = crawler.settings.get("LOG_LEVEL")
        number = logging.getLevelName(level) if isinstance(level, str) else level
        return cls(debugging=isinstance(number, int) and number <= logging.DEBUG)

    def crawled(self, *args: Any, **kwargs: Any) -> Any:
        """Say that a page was answered."""
        return super().crawled(*args, **kwargs) if self._debugging else None

    def scraped(self, *args: Any, **kwargs: Any) -> Any:
        """Say what was made of it."""
        return super().scraped(*args, **kwargs) if self._debugging else None
