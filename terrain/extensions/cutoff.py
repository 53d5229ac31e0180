"""Cuts an answer off where the rest is of no use: at its headers, or within a robots.txt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import StopDownload

from terrain.errand import ErrandKind, errand_of
from terrain.rules.content import is_html
from terrain.rules.robots import MAX_ROBOTS_BYTES

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

SMALL_BODY = 64 * 1024
"""An unwanted body up to this size is read all the same: it saves the connection."""


class CutOff:
    """Neither a body that is not HTML nor a long error page is downloaded."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for headers."""
        cutoff = cls()
        crawler.signals.connect(cutoff.headers_received, signals.headers_received)
        crawler.signals.connect(cutoff.bytes_received, signals.bytes_received)
        return cutoff

    def headers_received(self, request: Request, headers: Headers, body_length: int | None) -> None:
        """Stop the download if nobody will read the body."""
        errand = errand_of(request)
        if errand is None or errand.kind is not ErrandKind.GET:
            return
        content_type = headers.get("Content-Type")
        not_html = is_html(content_type.decode("latin-1") if content_type else None) is False
        wanted = errand.status is None or 200 <= errand.status < 300
        large = body_length is None or body_length > SMALL_BODY
        if (wanted and not_html) or (not wanted and large):
            raise StopDownload(fail=False)

    def bytes_received(self, request: Request, data: bytes) -> None:
        """Stop reading a robots.txt where the rules stop reading it (RFC 9309, 2.5)."""
        errand = errand_of(request)
        if errand is not None and errand.kind is ErrandKind.ROBOTS:
            errand.received += len(data)
            if errand.received > MAX_ROBOTS_BYTES:
                raise StopDownload(fail=False)
