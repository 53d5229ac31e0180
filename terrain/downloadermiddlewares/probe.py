"""HEAD before GET: its answer decides only if it is a 2xx that is not HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from terrain.errand import ErrandKind, errand_of, follow_up
from terrain.rules.content import is_html

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

RATE_LIMITED = 429
"""The one refusal that a HEAD can get for the whole host."""


class ProbeMiddleware:
    """Anything but "this is not a page" from HEAD says nothing about the page: ask with GET."""

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Go on to GET unless the answer is the end of the matter."""
        errand = errand_of(request)
        if errand is None or errand.kind is not ErrandKind.HEAD:
            return response
        content_type = response.headers.get("Content-Type", b"").decode("latin-1")  # type: ignore[union-attr]
        not_html = 200 <= response.status < 300 and is_html(content_type or None) is False
        if not_html or response.status == RATE_LIMITED:
            return response
        return self._get(request)

    def process_exception(self, request: Request, exception: Exception) -> Request | None:  # noqa: ARG002 - Scrapy's signature
        """No answer to HEAD: some servers are like that."""
        errand = errand_of(request)
        if errand is None or errand.kind is not ErrandKind.HEAD:
            return None
        return self._get(request)

    def _get(self, request: Request) -> Request:
        errand = errand_of(request)
        assert errand is not None
        return follow_up(request, errand.onward(kind=ErrandKind.GET))
