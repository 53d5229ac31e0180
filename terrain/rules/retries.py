"""What an answer or a failure means: try again at some time, or the page's outcome.

Pure decisions; times are seconds since the epoch and come in as arguments. The downloader
middleware translates them into requests and items.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final

from terrain.rules.redirects import is_redirect
from terrain.rules.states import PageState
from terrain.rules.texts import clean

LONGEST_WAIT: Final = 300.0
"""A 503 may make the retry wait up to this many seconds; one that asks for more counts as 429."""

MAX_RETRY_AFTER: Final = 365 * 86_400.0
"""A Retry-After beyond a year is a mistake or malice, and would lock the host out for good."""

MAX_REASON: Final = 300
"""Characters kept of what an exception says: enough to recognise it, not enough to fill a disk."""


class FailureKind(StrEnum):
    """Why there was no whole answer."""

    TIMEOUT = "timeout"
    """Nothing, or not all of it, within the timeout; connecting included."""
    BROKEN_TRANSFER = "broken transfer"
    """The connection was lost, or the answer did not make sense as HTTP."""
    REFUSED = "connection refused"
    """Nobody listens there, or there is no route."""
    TLS = "TLS error"
    """No handshake, or a certificate that does not hold."""
    DNS = "DNS failure"
    """The name does not resolve, or not in time."""
    PRIVATE_ADDRESS = "private address"
    """The name leads to an address that must not be asked."""
    NO_HTTPS = "no https"
    """The host does not speak https."""
    TOO_LARGE = "body too large"
    """The body is over `max-body-bytes`."""
    BOMB = "decompression bomb"
    """The body grows beyond `max-body-bytes` when it is unpacked."""
    IGNORED = "request ignored"
    """Some component dropped the request or its item."""
    OTHER = "error"
    """An exception that nobody foresaw."""


_STATE_AFTER: Final[Mapping[FailureKind, PageState]] = {
    FailureKind.TIMEOUT: PageState.FAILED,
    FailureKind.BROKEN_TRANSFER: PageState.FAILED,
    FailureKind.REFUSED: PageState.UNREACHABLE,
    FailureKind.TLS: PageState.UNREACHABLE,
    FailureKind.DNS: PageState.UNREACHABLE,
    FailureKind.PRIVATE_ADDRESS: PageState.UNREACHABLE,
    FailureKind.NO_HTTPS: PageState.UNREACHABLE,
    FailureKind.TOO_LARGE: PageState.FAILED,
    FailureKind.BOMB: PageState.FAILED,
    FailureKind.IGNORED: PageState.FAILED,
    FailureKind.OTHER: PageState.FAILED,
}
"""The outcome when there is no further try."""

_WORTH_ANOTHER_TRY: Final = frozenset({FailureKind.TIMEOUT, FailureKind.BROKEN_TRANSFER})
"""What may pass by itself within seconds; the rest does not, or is none of the server's doing."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, how far apart and how patiently to try again. All times in seconds."""

    attempts: int = 3
    """Further tries after the first one."""
    delay: float = 5.0
    """From a failure to the next try."""
    timeout: float = 30.0
    """For the first try."""
    timeout_step: float = 2.0
    """By how much each try may take longer than the one before."""
    connect_timeout: float = 10.0
    """For the connection alone, on every try."""

    def timeout_for(self, attempt: int) -> float:
        """Return the timeout of a try; 0 is the first."""
        return self.timeout + attempt * self.timeout_step


@dataclass(frozen=True, slots=True)
class Again:
    """Ask once more."""

    at: float
    """Not before this time; the host's clock may add to it."""
    timeout: float
    """Seconds that the try may take."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The page's state, for good in this run."""

    state: PageState
    """Always a terminal one."""
    reason: str
    """For `error_message`."""
    suspend: bool = False
    """Whether the host must not be asked any more in this run."""
    suspend_until: float | None = None
    """The time before which a later run must not ask it either; None if the host named none."""


def verdict_for_status(
    status: int, *, attempt: int, retry_after: float | None, now: float, policy: RetryPolicy
) -> Outcome | Again | None:
    """Judge the status of an answer to GET on the try `attempt` (0 is the first).

    `retry_after` is absolute, as `parse_retry_after` gives it. None means that the status is no
    obstacle: the answer has a body to look at, or a Location (`terrain.rules.redirects`).
    """
    if 200 <= status < 300 or is_redirect(status):
        return None
    reason = f"HTTP {status}"
    if status in {404, 410}:
        return Outcome(PageState.DEAD_LINK, reason)
    if status == 429:
        return Outcome(PageState.RATE_LIMITED, reason, suspend=True, suspend_until=retry_after)
    if status == 503 and retry_after is not None:
        if retry_after > now + LONGEST_WAIT:
            reason = f"{reason} with Retry-After over {LONGEST_WAIT:.0f} s"
            return Outcome(PageState.RATE_LIMITED, reason, suspend=True, suspend_until=retry_after)
        return _again(attempt, retry_after, now, policy) or Outcome(PageState.FAILED, reason)
    if 500 <= status < 600:
        return _again(attempt, now, now, policy) or Outcome(PageState.FAILED, reason)
    return Outcome(PageState.FAILED, reason)


def verdict_for_failure(
    kind: FailureKind, detail: str, *, attempt: int, now: float, policy: RetryPolicy
) -> Outcome | Again:
    """Judge a request that ended without a whole answer; `detail` is the exception's own words."""
    if kind in _WORTH_ANOTHER_TRY:
        again = _again(attempt, now, now, policy)
        if again is not None:
            return again
    return Outcome(_STATE_AFTER[kind], failure_reason(kind, detail))


def failure_reason(kind: FailureKind, detail: str) -> str:
    """Say in one short line what went wrong."""
    # `detail` may be a page's whole body in some exception's message, or bytes that are no text.
    words = clean(detail, MAX_REASON - len(kind.value) - 2)
    return f"{kind.value}: {words}" if words else kind.value


def _again(attempt: int, not_before: float, now: float, policy: RetryPolicy) -> Again | None:
    if attempt >= policy.attempts:
        return None
    return Again(at=max(not_before, now + policy.delay), timeout=policy.timeout_for(attempt + 1))


_DELTA_SECONDS: Final = re.compile(r"([0-9]+)(?:\.[0-9]*)?", re.ASCII)
_LONGEST_DATE: Final = 64
"""An HTTP-date has at most 33 characters; the parser for mail dates need not see much more."""


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Return the time that a Retry-After header names, or None if it names none.

    Both forms of RFC 9110, 10.2.3: seconds (a fraction, which some servers send, is dropped) and
    an HTTP-date. Never before `now`, never later than `MAX_RETRY_AFTER` from now.
    """
    if value is None:
        return None
    value = value.strip()
    latest = now + MAX_RETRY_AFTER
    seconds = _DELTA_SECONDS.fullmatch(value)
    if seconds is not None:
        digits = seconds[1].lstrip("0")
        # Ten digits are three centuries: not worth converting, whatever their number.
        return latest if len(digits) > 9 else min(now + int(digits or "0"), latest)
    if len(value) > _LONGEST_DATE:
        return None
    try:
        date = parsedate_to_datetime(value)
        # A date without a zone, as asctime writes it, is in GMT (RFC 9110, 5.6.7), not local time.
        at = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None
    return min(max(at, now), latest)
