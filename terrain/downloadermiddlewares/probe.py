"""HEAD before GET: its answer decides only if it is a 2xx that is not HTML."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from terrain.downloadermiddlewares.failures import kind_of
from terrain.errand import ErrandKind, errand_of, follow_up
from terrain.rules.content import is_html
from terrain.rules.retries import LONGEST_WAIT, FailureKind, parse_retry_after

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

NO_ANSWER_AT_ALL = frozenset(
    {
        FailureKind.REFUSED,
        FailureKind.TLS,
        FailureKind.DNS,
        FailureKind.PRIVATE_ADDRESS,
        FailureKind.NO_HTTPS,
        FailureKind.IGNORED,
    }
)
"""What happens before a server could see that it is a HEAD: a GET would fare no better."""


class ProbeMiddleware:
    """Anything but "this is not a page" from HEAD says nothing about the page: ask with GET."""

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Go on to GET unless the answer is the end of the matter."""
        errand = errand_of(request)
        if errand is None or errand.kind is not ErrandKind.HEAD:
            return response
        content_type = response.headers.get("Content-Type", b"").decode("latin-1")  # type: ignore[union-attr]
        not_html = 200 <= response.status < 300 and is_html(content_type or None) is False
        pause = _pause(response)
        if not_html or response.status == 429 or pause > LONGEST_WAIT:
            return response
        return _get(request, time.monotonic() + pause)

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """No answer to HEAD: some servers are like that."""
        errand = errand_of(request)
        if errand is None or errand.kind is not ErrandKind.HEAD:
            return None
        return None if kind_of(exception) in NO_ANSWER_AT_ALL else _get(request)


def _pause(response: Response) -> float:
    """Return the seconds that a 503 asks for, whatever the method."""
    header = response.headers.get("Retry-After")
    if response.status != 503 or header is None:
        return 0.0
    now = time.time()
    return (parse_retry_after(header.decode("latin-1"), now) or now) - now


def _get(request: Request, not_before: float = 0.0) -> Request:
    errand = errand_of(request)
    assert errand is not None
    return follow_up(request, errand.onward(kind=ErrandKind.GET), not_before)
