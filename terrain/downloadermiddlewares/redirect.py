"""Redirects, hop by hop: the same page elsewhere is asked again, another page is an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from terrain.errand import ErrandKind, errand_of, follow_up
from terrain.rules.redirects import HopKind, classify_hop, decode_location

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from terrain.rules.urls import UrlRules


class RedirectMiddleware:
    """Follows only within a page's identity; what leads elsewhere the store decides about."""

    def __init__(self, rules: UrlRules) -> None:
        self.rules = rules

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it for the URL rules of the configuration."""
        return cls(crawler.spider.config.url_rules())  # type: ignore[union-attr]

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Judge a 3xx answer to GET."""
        errand = errand_of(request)
        if errand is None or errand.kind is not ErrandKind.GET or errand.entry is None:
            return response
        if not 300 <= response.status < 400:
            return response
        location = response.headers.get("Location")
        hop = classify_hop(
            address=errand.address,
            status=response.status,
            location=None if location is None else decode_location(location),
            asked=errand.asked,
            hops=errand.entry.hops,
            rules=self.rules,
        )
        if hop.kind is HopKind.FOLLOW:
            assert hop.target is not None
            asked = (*errand.asked, hop.target.fetch_url)
            return follow_up(request, errand.onward(address=hop.target, asked=asked, attempt=0))
        errand.hop = hop
        return response
