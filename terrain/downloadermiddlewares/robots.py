"""Answers to requests for robots.txt: hops within RFC 9309, then the gate learns of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from terrain.errand import ErrandKind, errand_of, follow_up
from terrain.rules.redirects import decode_location, is_redirect
from terrain.rules.robots import MAX_ROBOTS_HOPS
from terrain.scheduler import scheduler_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from terrain.errand import Errand


class RobotsDone(IgnoreRequest):
    """The robots.txt has been dealt with; the spider has nothing to do with it."""


class RobotsMiddleware:
    """Ends every robots.txt request here, so that the spider sees pages only."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.rules = crawler.spider.config.url_rules()  # type: ignore[union-attr]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Follow a hop, or take the answer in."""
        errand = errand_of(request)
        if errand is None or errand.kind is not ErrandKind.ROBOTS:
            return response
        if is_redirect(response.status):
            hop = self._hop(request, response, errand)
            if hop is not None:
                return hop
        self._answered(errand, response.status, response.body)
        raise RobotsDone

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002 - Scrapy's signature
        """No answer: what that means is the configuration's to say."""
        errand = errand_of(request)
        if errand is not None and errand.kind is ErrandKind.ROBOTS:
            self._answered(errand, None, None)

    def _hop(self, request: Request, response: Response, errand: Errand) -> Request | None:
        """Return the request for the next hop, None if there is none to follow."""
        location = response.headers.get("Location")
        if location is None or len(errand.asked) > MAX_ROBOTS_HOPS:
            return None
        target = self.rules.located(decode_location(location), errand.address.fetch_url)
        if target is None or target.fetch_url in errand.asked:
            return None
        if scheduler_of(self.crawler).conductor.policy.listed(target.host) is not None:
            return None  # A listed host is not asked, not even for this.
        asked = (*errand.asked, target.fetch_url)
        return follow_up(request, errand.onward(host=target.host, address=target, asked=asked))

    def _answered(self, errand: Errand, status: int | None, body: bytes | None) -> None:
        assert errand.robots_for is not None
        errand.settled = True
        host, origin = errand.robots_for
        scheduler_of(self.crawler).conductor.robots_answered(host, origin, status, body)
