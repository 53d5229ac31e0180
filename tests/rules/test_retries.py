"""What an answer or a failure means for the page and its host (design 3.3)."""

import time
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.retries import (
    MAX_REASON,
    MAX_RETRY_AFTER,
    Again,
    FailureKind,
    Outcome,
    RetryPolicy,
    parse_retry_after,
    verdict_for_failure,
    verdict_for_status,
)
from terrain.rules.states import TERMINAL, PageState

NOW = 1_700_000_000.0
POLICY = RetryPolicy(attempts=3, delay=5.0, timeout=30.0, timeout_step=2.0, connect_timeout=10.0)


def status(
    code: int, *, attempt: int = 0, retry_after: float | None = None, policy: RetryPolicy = POLICY
) -> Outcome | Again | None:
    return verdict_for_status(
        code, attempt=attempt, retry_after=retry_after, now=NOW, policy=policy
    )


def failure(
    kind: FailureKind, detail: str = "", *, attempt: int = 0, policy: RetryPolicy = POLICY
) -> Outcome | Again:
    return verdict_for_failure(kind, detail, attempt=attempt, now=NOW, policy=policy)


@pytest.mark.parametrize("code", [200, 204, 206, 301, 302, 303, 307, 308])
def test_2xx_and_redirects_are_judged_elsewhere(code: int) -> None:
    assert status(code) is None


@pytest.mark.parametrize("code", [404, 410])
def test_a_page_that_is_gone_is_a_dead_link(code: int) -> None:
    assert status(code) == Outcome(PageState.DEAD_LINK, f"HTTP {code}")


@pytest.mark.parametrize("code", [400, 401, 403, 405, 406, 408, 418, 451])
def test_other_4xx_fail_at_once(code: int) -> None:
    assert status(code) == Outcome(PageState.FAILED, f"HTTP {code}")


@pytest.mark.parametrize("code", [100, 300, 304, 600, 999])
def test_a_status_that_makes_no_sense_fails_at_once(code: int) -> None:
    assert status(code) == Outcome(PageState.FAILED, f"HTTP {code}")


@pytest.mark.parametrize("code", [500, 502, 503, 504, 520, 599])
def test_5xx_is_tried_three_more_times_with_growing_patience(code: int) -> None:
    assert [status(code, attempt=attempt) for attempt in range(4)] == [
        Again(at=NOW + 5, timeout=32),
        Again(at=NOW + 5, timeout=34),
        Again(at=NOW + 5, timeout=36),
        Outcome(PageState.FAILED, f"HTTP {code}"),
    ]


def test_429_suspends_the_host_on_any_try() -> None:
    for attempt in range(4):
        assert status(429, attempt=attempt) == Outcome(
            PageState.RATE_LIMITED, "HTTP 429", suspend=True, suspend_until=None
        )


def test_429_keeps_the_time_it_names() -> None:
    for seconds in (0, 10, 100_000):
        verdict = status(429, retry_after=NOW + seconds)
        assert isinstance(verdict, Outcome)
        assert verdict.suspend
        assert verdict.suspend_until == NOW + seconds


@pytest.mark.parametrize(
    ("seconds", "waits"),
    [
        (0, 5),  # not sooner than any other retry
        (3, 5),
        (60, 60),
        (300, 300),
    ],
)
def test_503_with_a_retry_after_up_to_300_s_waits_that_long(seconds: int, waits: int) -> None:
    assert status(503, retry_after=NOW + seconds) == Again(at=NOW + waits, timeout=32)


def test_503_with_a_short_retry_after_still_has_only_so_many_tries() -> None:
    assert status(503, attempt=3, retry_after=NOW + 60) == Outcome(PageState.FAILED, "HTTP 503")


@pytest.mark.parametrize("attempt", [0, 3])
def test_503_with_a_longer_retry_after_counts_as_429(attempt: int) -> None:
    assert status(503, attempt=attempt, retry_after=NOW + 301) == Outcome(
        PageState.RATE_LIMITED,
        "HTTP 503 with Retry-After over 300 s",
        suspend=True,
        suspend_until=NOW + 301,
    )


def test_retry_after_means_nothing_with_another_status() -> None:
    assert status(500, retry_after=NOW + 9_999) == Again(at=NOW + 5, timeout=32)
    assert status(403, retry_after=NOW + 9_999) == Outcome(PageState.FAILED, "HTTP 403")


@pytest.mark.parametrize("kind", [FailureKind.TIMEOUT, FailureKind.BROKEN_TRANSFER])
def test_a_timeout_or_a_broken_transfer_is_tried_three_more_times(kind: FailureKind) -> None:
    assert [failure(kind, attempt=attempt) for attempt in range(4)] == [
        Again(at=NOW + 5, timeout=32),
        Again(at=NOW + 5, timeout=34),
        Again(at=NOW + 5, timeout=36),
        Outcome(PageState.FAILED, kind.value),
    ]


@pytest.mark.parametrize(
    ("kind", "state", "word"),
    [
        (FailureKind.REFUSED, PageState.UNREACHABLE, "connection refused"),
        (FailureKind.TLS, PageState.UNREACHABLE, "TLS error"),
        (FailureKind.DNS, PageState.UNREACHABLE, "DNS failure"),
        (FailureKind.PRIVATE_ADDRESS, PageState.UNREACHABLE, "private address"),
        (FailureKind.NO_HTTPS, PageState.UNREACHABLE, "no https"),
        (FailureKind.TOO_LARGE, PageState.FAILED, "body too large"),
        (FailureKind.BOMB, PageState.FAILED, "decompression bomb"),
        (FailureKind.IGNORED, PageState.FAILED, "request ignored"),
        (FailureKind.OTHER, PageState.FAILED, "error"),
    ],
)
def test_any_other_failure_is_final_at_once(kind: FailureKind, state: PageState, word: str) -> None:
    assert failure(kind, "what it said") == Outcome(state, f"{word}: what it said")


def test_no_attempts_means_one_try() -> None:
    once = RetryPolicy(attempts=0)
    assert status(500, policy=once) == Outcome(PageState.FAILED, "HTTP 500")
    assert failure(FailureKind.TIMEOUT, policy=once) == Outcome(PageState.FAILED, "timeout")


def test_a_reason_is_one_short_line() -> None:
    verdict = failure(FailureKind.OTHER, "two\n  lines\tand " + "x" * 1_000_000)
    assert isinstance(verdict, Outcome)
    assert verdict.reason.startswith("error: two lines and xxx")
    assert len(verdict.reason) <= MAX_REASON


def test_a_reason_can_be_stored_and_shown() -> None:
    # Servers' bytes get into exceptions' messages; PostgreSQL takes no NUL, UTF-8 no surrogate.
    said = b"bad \x00header\x1b[31m \xff".decode("utf-8", "surrogateescape")
    assert failure(FailureKind.TLS, said) == Outcome(
        PageState.UNREACHABLE, "TLS error: bad header[31m"
    )


@given(
    code=st.integers(0, 1_000),
    attempt=st.integers(0, 6),
    wait=st.none() | st.floats(-1_000, 1_000_000),
    policy=st.builds(
        RetryPolicy,
        attempts=st.integers(0, 5),
        delay=st.floats(0, 60),
        timeout=st.floats(1, 60),
        timeout_step=st.floats(0, 10),
    ),
)
def test_whatever_the_status_the_verdict_is_sound(
    code: int, attempt: int, wait: float | None, policy: RetryPolicy
) -> None:
    retry_after = None if wait is None else NOW + wait
    verdict = status(code, attempt=attempt, retry_after=retry_after, policy=policy)
    if isinstance(verdict, Again):
        assert attempt < policy.attempts
        assert verdict.at >= NOW + policy.delay
        assert verdict.at <= NOW + max(policy.delay, 300)
        assert verdict.timeout >= policy.timeout_for(attempt)
    elif isinstance(verdict, Outcome):
        assert verdict.state in TERMINAL
        assert verdict.suspend == (verdict.state is PageState.RATE_LIMITED)
        assert verdict.suspend or verdict.suspend_until is None


@given(kind=st.sampled_from(FailureKind), detail=st.text(), attempt=st.integers(0, 6))
def test_every_failure_ends_after_the_last_attempt(
    kind: FailureKind, detail: str, attempt: int
) -> None:
    verdict = failure(kind, detail, attempt=attempt)
    if isinstance(verdict, Outcome):
        assert verdict.state in TERMINAL
        assert verdict.reason.startswith(kind.value)
        assert not verdict.suspend
    else:
        assert attempt < POLICY.attempts


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 120 ", 120),
        ("007", 7),
        ("1.5", 1),
        ("Tue, 14 Nov 2023 22:15:20 GMT", 120),  # IMF-fixdate
        ("Tuesday, 14-Nov-23 22:15:20 GMT", 120),  # RFC 850
        ("Tue Nov 14 22:15:20 2023", 120),  # asctime
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0),  # in the past: now
        ("31536001", MAX_RETRY_AFTER),
        ("9" * 30, MAX_RETRY_AFTER),
        ("9" * 1_000_000, MAX_RETRY_AFTER),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_RETRY_AFTER),
    ],
)
def test_retry_after_in_each_of_its_forms(value: str, seconds: float) -> None:
    assert parse_retry_after(value, NOW) == NOW + seconds


def test_a_date_without_a_zone_is_in_gmt_wherever_the_crawl_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert parse_retry_after("Tue Nov 14 22:15:20 2023", NOW) == NOW + 120
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        " ",
        "-1",
        "-120",
        "soon",
        "NaN",
        "inf",
        "1e3",
        "0x10",
        "१२",
        "120, 120",
        "Tue, 99 Nov 2023 22:15:20 GMT",
        "Tue, 14 Nov 99999 22:15:20 GMT",
        "x" * 1_000_000,
    ],
)
def test_garbage_names_no_time(value: str | None) -> None:
    assert parse_retry_after(value, NOW) is None


@given(
    st.text(max_size=80)
    | st.from_regex(r"\A[A-Z][a-z]{2}, [0-9]{1,3} [A-Z][a-z]{2} [0-9]{1,6} [0-9:]{1,12} .{0,6}\Z")
)
def test_no_header_breaks_the_parser_or_leaves_the_bounds(value: str) -> None:
    at = parse_retry_after(value, NOW)
    assert at is None or NOW <= at <= NOW + MAX_RETRY_AFTER


@given(st.integers(1, int(MAX_RETRY_AFTER)))
def test_seconds_and_the_date_that_they_lead_to_mean_the_same(seconds: int) -> None:
    date = format_datetime(datetime.fromtimestamp(NOW + seconds, UTC), usegmt=True)
    assert parse_retry_after(date, NOW) == parse_retry_after(str(seconds), NOW)
