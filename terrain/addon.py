"""All of terrain's wiring, in the order of the flow; a project switches it on with ADDONS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings, Settings

    from terrain.config import Config

SCHEDULER = "terrain.scheduler.TerrainScheduler"
DOWNLOADER = "terrain.downloader.TerrainDownloader"
LOG_FORMATTER = "terrain.logformatter.QuietLogFormatter"

DOWNLOADER_MIDDLEWARES: dict[str, int] = {
    # Engine side
    "terrain.downloadermiddlewares.robots.RobotsMiddleware": 100,
    "terrain.downloadermiddlewares.redirect.RedirectMiddleware": 400,
    "terrain.downloadermiddlewares.retry.RetryMiddleware": 500,
    "terrain.downloadermiddlewares.decompression.DecompressionMiddleware": 600,
    "terrain.downloadermiddlewares.probe.ProbeMiddleware": 700,
    "terrain.downloadermiddlewares.exchange.ExchangeMiddleware": 900,
    # Downloader side
}
"""From the engine (asked first) to the downloader (answers first)."""

SPIDER_MIDDLEWARES: dict[str, int] = {
    # Engine side, whatever others choose: nobody may swallow an item behind its back.
    "terrain.spidermiddlewares.outcome.OutcomeMiddleware": -1_000_000,
    # Spider side
}

ITEM_PIPELINES: dict[str, int] = {
    "terrain.pipelines.StorePipeline": 900,
}
"""Last, so that what other pipelines change is what is stored."""

EXTENSIONS: dict[str, int] = {
    "terrain.corestats.QuickCoreStats": 0,
    "scrapy.extensions.logcount.LogCount": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "scrapy.extensions.feedexport.FeedExporter": 0,
    "scrapy.extensions.memusage.MemoryUsage": 0,
    # In this order at the end: the view gives the terminal back, then the reports are written.
    "terrain.extensions.progress.Progress": 200,
    "terrain.extensions.reporting.Reporting": 300,
}

DOWNLOAD_HANDLERS: dict[str, str | None] = {
    "https": "terrain.downloadhandlers.http.TerrainDownloadHandler",
    "http": "terrain.downloadhandlers.http.PlainHttpHandler",
    # Nothing but the web: each of these could read what it should not.
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}

SWITCHED_OFF: dict[str, Any] = {
    # Terrain's own take their place.
    "REDIRECT_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "COOKIES_ENABLED": False,
    "HTTPCACHE_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False,
    # Both run code that comes over the network.
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    # The frontier keeps the clocks; a second delay would only blur them.
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_DELAY_JITTER": 0,
}


class TerrainAddon:
    """Sets what the crawl needs; what the user set (`-s`) wins where both mean the same."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TerrainAddon:
        """Make it; Scrapy does so after the spider has loaded the configuration."""
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Make the spider known to `scrapy crawl`."""
        modules = list(settings.getlist("SPIDER_MODULES"))
        if "terrain.spiders" not in modules:
            settings.set("SPIDER_MODULES", [*modules, "terrain.spiders"], "addon")

    def update_settings(self, settings: Settings) -> None:
        """Wire the components and carry the configuration over."""
        config: Config = self.crawler.spider.config  # type: ignore[union-attr]
        places = config.crawler.max_concurrent_pages_open
        # These are not matters of taste: without them it would not be terrain.
        for name, value in SWITCHED_OFF.items():
            settings.set(name, value, "cmdline")
        settings.set("SCHEDULER", SCHEDULER, "cmdline")
        settings.set("DOWNLOADER", DOWNLOADER, "cmdline")
        settings.set("LOG_FORMATTER", LOG_FORMATTER, "addon")
        settings.set("DOWNLOAD_HANDLERS", DOWNLOAD_HANDLERS, "cmdline")
        _components(settings, "DOWNLOADER_MIDDLEWARES", DOWNLOADER_MIDDLEWARES)
        _components(settings, "SPIDER_MIDDLEWARES", SPIDER_MIDDLEWARES)
        _components(settings, "ITEM_PIPELINES", ITEM_PIPELINES)
        _components(settings, "EXTENSIONS", EXTENSIONS)
        settings.set("CONCURRENT_REQUESTS", places, "addon")
        settings.set(
            "CONCURRENT_REQUESTS_PER_DOMAIN", settings.getint("CONCURRENT_REQUESTS"), "cmdline"
        )
        # A page yields one item; Scrapy starts this many tasks for every answer.
        settings.set("CONCURRENT_ITEMS", 1, "cmdline")
        settings.set("DOWNLOAD_MAXSIZE", config.crawler.max_body_bytes, "addon")
        settings.set("DOWNLOAD_WARNSIZE", 0, "addon")
        settings.set("DOWNLOAD_VERIFY_CERTIFICATES", True, "cmdline")  # noqa: FBT003 - Scrapy's API
        settings.set("USER_AGENT", config.user_agent.header, "cmdline")
        settings.set(
            "DEFAULT_REQUEST_HEADERS",
            {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"},
            "addon",
        )


def _components(settings: Settings, name: str, ours: dict[str, int]) -> None:
    """Put our components in the place of Scrapy's defaults; what the user adds is kept.

    Of Scrapy's own those are left that stand in the tables above. The others are not needed, and
    even one that is switched off would be imported.
    """
    settings.set(f"{name}_BASE", ours, "cmdline")
