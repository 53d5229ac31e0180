"""Failures and refusals: ask again later, or the end. The rules decide (rules/retries.py)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from terrain.downloadermiddlewares.failures import kind_of
from terrain.errand import ErrandKind, errand_of, follow_up
from terrain.rules.retries import (
    Again,
    FailureKind,
    RetryPolicy,
    parse_retry_after,
    verdict_for_failure,
    verdict_for_status,
)
from terrain.scheduler import scheduler_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from terrain.errand import Errand
    from terrain.rules.retries import Outcome


class RetryMiddleware:
    """Sends a request back to the frontier with a later time and a longer timeout."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        retry = crawler.spider.config.retry  # type: ignore[union-attr]
        self.policy = RetryPolicy(
            attempts=retry.attempts,
            delay=retry.delay / 1000,
            timeout=retry.timeout / 1000,
            timeout_step=retry.timeout_step / 1000,
            connect_timeout=retry.connect_timeout / 1000,
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it for the policy of the configuration."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Judge the status of an answer."""
        errand = errand_of(request)
        if errand is None:
            return response
        now = time.time()
        header = response.headers.get("Retry-After")
        verdict = verdict_for_status(
            response.status,
            attempt=errand.attempt,
            retry_after=parse_retry_after(header.decode("latin-1") if header else None, now),
            now=now,
            policy=self.policy,
        )
        if errand.kind is ErrandKind.ROBOTS and not getattr(verdict, "suspend", False):
            if header and isinstance(verdict, Again):
                self._pause(errand.host, verdict.at)
            return response  # A robots.txt has its own rules for the rest.
        if isinstance(verdict, Again):
            return self._again(request, errand, verdict)
        if verdict is not None:
            self._conclude(errand, verdict)
        return response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Judge a request that ended without a whole answer."""
        errand = errand_of(request)
        kind = kind_of(exception)
        if errand is None or (errand.kind is ErrandKind.ROBOTS and not _our_fault(errand, kind)):
            return None
        verdict = verdict_for_failure(
            kind,
            str(exception),
            attempt=errand.attempt,
            now=time.time(),
            policy=self.policy,
        )
        if isinstance(verdict, Again):
            return self._again(request, errand, verdict)
        self._conclude(errand, verdict)
        return None

    def _again(self, request: Request, errand: Errand, again: Again) -> Request:
        self.crawler.stats.inc_value("terrain/retries")
        onward = errand.onward(attempt=errand.attempt + 1, timeout=again.timeout)
        return follow_up(request, onward, _on_our_clock(again.at))

    def _pause(self, host: str, at: float) -> None:
        """A 503 to robots.txt named a time: nothing of the host is asked before."""
        conductor = scheduler_of(self.crawler).conductor
        conductor.frontier.block_until(host, _on_our_clock(at), conductor.now())

    def _conclude(self, errand: Errand, verdict: Outcome) -> None:
        errand.verdict = verdict
        if verdict.suspend:
            self.crawler.stats.inc_value("terrain/hosts/suspended")
            scheduler_of(self.crawler).conductor.suspend(errand.host, verdict.suspend_until)


def _our_fault(errand: Errand, kind: FailureKind) -> bool:
    """Tell whether a robots.txt gets a second chance.

    No answer in time may mean that this machine slept; rules must not be passed over for that.
    """
    return kind is FailureKind.TIMEOUT and errand.attempt == 0


def _on_our_clock(at: float) -> float:
    """Turn seconds since the epoch into the frontier's monotonic time."""
    return time.monotonic() + max(0.0, at - time.time())
