"""The spider: an answer or a failure in, a PageItem with its links out; links are data."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from scrapy import Spider, signals

from terrain.config import load_config
from terrain.downloadermiddlewares.failures import kind_of
from terrain.errand import ErrandKind, errand_of, errand_of_answer
from terrain.errors import ConfigError
from terrain.items import LinkItem, PageItem
from terrain.reader.reader import PageReader
from terrain.rules.content import is_html, sniff_html
from terrain.rules.links import LinkKind, Position
from terrain.rules.redirects import HopKind
from terrain.rules.retries import FailureKind, RetryPolicy, failure_reason, verdict_for_failure
from terrain.rules.robots import RobotsMode
from terrain.rules.states import PageState
from terrain.scheduler import scheduler_of
from terrain.store import Fault
from terrain.store.clock import iso

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from terrain.config import Config
    from terrain.errand import Errand
    from terrain.rules.linkrules import LinkRules
    from terrain.rules.urls import UrlRules

MAX_HEADER = 500
"""Characters kept of a header's value: they are servers' words, of any length."""


class TerrainSpider(Spider):
    """Walks outward from the quality domains: `scrapy crawl terrain -a config=config.toml`."""

    name = "terrain"
    config: Config
    urls: UrlRules
    link_rules: LinkRules
    reader: PageReader

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Load the configuration, before anything is built on it."""
        given = kwargs.pop("config", None)
        try:
            if given is None:
                raise ConfigError("name a configuration: -a config=config.toml")  # noqa: TRY301
            config = load_config(given) if isinstance(given, str) else given
        except ConfigError as error:
            # A user's mistake gets its lines and no traceback, also under `scrapy crawl`.
            for problem in error.problems:
                print(problem, file=sys.stderr)  # noqa: T201 - logging may not be set up yet
            raise SystemExit(error.exit_code) from None
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.config = config
        spider.urls, spider.link_rules = config.url_rules(), config.link_rules()
        spider.reader = PageReader(config)
        # Only own hosts are asked for many pages at once: it will be needed, and takes a while.
        if any(entry.max_concurrent > 1 for entry in config.quality):
            spider.reader.expect_many()
        crawler.signals.connect(spider.reader.close, signals.spider_closed)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Nothing: the seeds are in the frontier already."""
        seeds: tuple[Any, ...] = ()
        for seed in seeds:
            yield seed

    @property
    def reads_as_written(self) -> bool:
        """False for a spider made from this one that reads answers its own way."""
        return type(self).parse is TerrainSpider.parse

    async def parse(self, response: Response) -> AsyncIterator[PageItem]:
        """Yield the item of an answer."""
        item = await self.item_of(response)
        if item is not None:
            yield item

    async def item_of(self, response: Response) -> PageItem | None:
        """Make the item of an answer, None for an answer that is not a page's."""
        errand = errand_of_answer(response)
        if errand is None or errand.entry is None:
            return None
        item = self._item(response.request, errand)
        item.status_code = response.status
        item.content_type = _header(response, "Content-Type")
        if errand.verdict is not None:
            item.state, item.error_message = errand.verdict.state, errand.verdict.reason
        elif errand.hop is not None:
            self._redirected(item, errand)
        else:
            await self._answered(item, errand, response)
        return item

    def failed(self, failure: Failure) -> Iterator[PageItem]:
        """Make the item of a request that got no whole answer."""
        request: Request = failure.request  # type: ignore[attr-defined]
        errand = errand_of(request)
        if errand is None or errand.entry is None or errand.kind is ErrandKind.ROBOTS:
            return
        item = self._item(request, errand)
        verdict = errand.verdict
        if verdict is None:
            # It did not pass the retry rules: something on the way refused it for good.
            last = RetryPolicy(attempts=0)
            error = failure.value or RuntimeError("no reason given")
            judged = verdict_for_failure(
                kind_of(error), _detail(error), attempt=0, now=0.0, policy=last
            )
            verdict = judged  # type: ignore[assignment]
        assert verdict is not None
        item.state, item.error_message = verdict.state, verdict.reason
        item.status_code = errand.status
        yield item

    def broken(self, request: Request, error: BaseException) -> PageItem | None:
        """Make the item of a page whose callback broke or whose item was swallowed."""
        errand = errand_of(request)
        if errand is None or errand.entry is None:
            return None
        item = self._item(request, errand)
        item.status_code = errand.status
        item.error_message = failure_reason(FailureKind.OTHER, _detail(error))
        return item

    def _item(self, request: Request | None, errand: Errand) -> PageItem:
        assert errand.entry is not None
        meta = {} if request is None else request.meta
        return PageItem(
            page_id=errand.entry.page_id,
            url=errand.address.identity,
            domain=errand.host,
            state=PageState.FAILED,
            fetch_url=errand.address.fetch_url,
            fetch_ms=meta.get("terrain_fetch_ms"),
            visited_at=iso(time.time()),
            retry_count=errand.attempt,
            own_hops=len(errand.asked) - 1,
        )

    def _redirected(self, item: PageItem, errand: Errand) -> None:
        hop = errand.hop
        assert hop is not None
        target = hop.target
        if target is not None and target.identity != errand.address.identity:
            # How many hops away the target is, the store knows best: it has all ways to it.
            item.state = PageState.REDIRECTED
            # The page it names, also where hosts are nodes.
            page = self.urls.page(target.fetch_url) or target
            rule = self.link_rules.first(page.identity)
            if rule is not None and rule.skips:
                item.error_message = f"redirects to an address {rule.reason}"
                return
            item.links = (LinkItem(target, LinkKind.REDIRECT, "", "", Position.BODY),)
            return
        assert hop.state is not None
        item.state, item.error_message = hop.state, hop.reason
        if hop.kind is HopKind.LOOP:
            item.fault = Fault.CYCLE
        elif hop.kind is HopKind.TOO_MANY:
            item.fault = Fault.TOO_FAR

    async def _answered(self, item: PageItem, errand: Errand, response: Response) -> None:
        html = is_html(item.content_type)
        if html is None and errand.kind is ErrandKind.GET:
            html = sniff_html(response.body)
        if not html:
            item.state = PageState.CONTENT_MISMATCH
            item.error_message = f"not HTML: {item.content_type or 'no type given'}"
            return
        facts = await self.reader.read(
            response.body, item.content_type, errand.address.fetch_url, errand.address.identity
        )
        item.state = PageState.PROCESSED
        item.title, item.description = facts.title, facts.description
        item.language, item.meta_robots = facts.language, facts.meta_robots
        item.canonical_url, item.content_hash = facts.canonical_url, facts.content_hash
        item.links, item.error_message = facts.links, facts.note
        item.bytes = len(response.body)
        item.last_modified = _header(response, "Last-Modified")
        item.etag = _header(response, "ETag")
        if RobotsMode(self.config.robots.mode) is RobotsMode.REPORT:
            denial = scheduler_of(self.crawler).conductor.gate.denial(errand.address.fetch_url)
            item.error_message = item.error_message or denial


def _header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    if value is None:
        return None
    text: str = value.decode("utf-8", "replace").replace("\x00", "")
    return text[:MAX_HEADER]


def _detail(error: BaseException) -> str:
    return str(error) or type(error).__name__
