"""Components of somebody else's project that get in the way; each acts on hosts named for it.

Loaded by Scrapy from the settings that test_foreign_components.py writes.
"""

from collections.abc import AsyncIterator
from typing import Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.http import HtmlResponse, Response

ELSEWHERE = "https://elsewhere.test/"


def host_of(request: Request) -> str:
    return request.url.split("/")[2].removesuffix(".test")


class OnTheWay:
    """A downloader middleware."""

    def __init__(self) -> None:
        self.asked_again: set[str] = set()

    def process_request(self, request: Request) -> Request | Response | None:
        host = host_of(request)
        if host == "ignored-request":
            raise IgnoreRequest("not today")
        if host == "broken-request":
            raise RuntimeError("broken on the way out")
        if host == "replaced-request":
            return Request(ELSEWHERE)
        if host == "answered-from-memory":
            return HtmlResponse(request.url, body=b"<title>Remembered</title>", encoding="utf-8")
        return None

    def process_response(self, request: Request, response: Response) -> Request | Response:
        host = host_of(request)
        robots = request.url.endswith("/robots.txt")
        if host == "ignored-answer" or (host == "ignored-robots" and robots):
            raise IgnoreRequest("seen enough")
        if host == "replaced-robots" and robots:
            return Request(ELSEWHERE)
        if host == "replaced-answer":
            return Request(ELSEWHERE)
        if host == "sent-elsewhere":
            return request.replace(url=ELSEWHERE)
        first = request.url not in self.asked_again
        if host == "asked-again" and request.method == "GET" and not robots and first:
            self.asked_again.add(request.url)
            return request.copy()
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        if host_of(request) == "broken-twice":
            raise RuntimeError("broken by a failure") from exception


class AroundTheSpider:
    """A spider middleware, as near to the engine as one could wish."""

    def process_spider_input(self, response: Response) -> None:
        if "broken-input" in response.url:
            raise RuntimeError("broken on the way in")

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            if "swallowed" in response.url:
                continue
            if "broken-output" in response.url:
                raise RuntimeError("broken on the way back")
            yield {"was": "an item"} if "converted" in response.url else output


class BeforeTheStore:
    """An item pipeline that runs before terrain's."""

    def process_item(self, item: Any) -> Any:
        domain = getattr(item, "domain", "")
        if domain == "dropped-item.test":
            raise DropItem("not wanted")
        if domain == "broken-item.test":
            raise RuntimeError("broken in the pipeline")
        return {"was": "an item"} if domain == "replaced-item.test" else item


class AfterTheStore:
    """One that runs after it."""

    def process_item(self, item: Any) -> Any:
        if getattr(item, "domain", "") == "dropped-late.test":
            raise DropItem("too late")
        return item


class Listening:
    """An extension that keeps requests from the scheduler."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        listening = cls()
        crawler.signals.connect(listening.scheduled, signals.request_scheduled)
        return listening

    def scheduled(self, request: Request) -> None:
        if host_of(request) == "never-scheduled":
            raise IgnoreRequest("not scheduled")


PATH = "tests.blackbox.meddlers"
SETTINGS: dict[str, dict[str, int]] = {
    "DOWNLOADER_MIDDLEWARES": {f"{PATH}.OnTheWay": 543},
    "SPIDER_MIDDLEWARES": {f"{PATH}.AroundTheSpider": 0},
    "ITEM_PIPELINES": {f"{PATH}.BeforeTheStore": 100, f"{PATH}.AfterTheStore": 950},
    "EXTENSIONS": {f"{PATH}.Listening": 500},
}
