"""What asking for pages brought: outcomes, times, failures."""

import math
from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Connection, and_, func, select

from terrain.rules.states import PageState
from terrain.store.queries.records import Failure, FetchTimes
from terrain.store.schema import page, page_fact, visits

ASKED = [
    state.value
    for state in (
        PageState.PROCESSED, PageState.REDIRECTED, PageState.CONTENT_MISMATCH,
        PageState.DEAD_LINK, PageState.UNREACHABLE, PageState.FAILED, PageState.RATE_LIMITED,
        # The budget may be spent between two requests for one page.
        PageState.REQUEST_LIMIT_HIT,
    )
]  # fmt: skip
"""States that a page which was asked for may have."""

FAILURES = [state.value for state in (PageState.FAILED, PageState.UNREACHABLE, PageState.DEAD_LINK)]

# By page, not by run: `visits` holds every run there ever was, a run's pages are found by key.
_OF_RUN = page.join(visits, and_(visits.c.page_id == page.c.id, visits.c.run_id == page.c.run))


def fetch_times(connection: Connection, run: int) -> FetchTimes:
    """Return number, size, the average and the exact 95th percentile, by a histogram in ms."""
    took = visits.c.fetch_ms
    query = (
        select(took, func.count(), func.coalesce(func.sum(visits.c.bytes), 0))
        .select_from(_OF_RUN)
        .where(page.c.run == run, page.c.state.in_(ASKED))
        .group_by(took)
    )
    histogram: Counter[int] = Counter()
    number = size = 0
    for milliseconds, count, length in connection.execute(query):
        number += count
        size += int(length)
        if milliseconds is not None:
            histogram[milliseconds] += count
    timed = histogram.total()
    average = sum(ms * count for ms, count in histogram.items()) / timed if timed else None
    return FetchTimes(number, average, _nearest_rank(histogram, 0.95), size)


def outcomes(connection: Connection, run: int) -> dict[PageState, int]:
    """Count the run's page visits by what became of them."""
    query = (
        select(visits.c.state, func.count())
        .select_from(_OF_RUN)
        .where(page.c.run == run, page.c.state.in_(ASKED))
        .group_by(visits.c.state)
    )
    return {PageState(state): count for state, count in connection.execute(query)}


def _nearest_rank(histogram: Counter[int], share: float) -> int | None:
    """Return the least value that at least this share of the values does not exceed."""
    rank = math.ceil(share * histogram.total())
    passed = 0
    for value in sorted(histogram):
        passed += histogram[value]
        if passed >= rank:
            return value
    return None


def domains(connection: Connection, run: int) -> int:
    """Count the domains of which a page was asked for."""
    query = (
        select(func.count(page.c.host_id.distinct()))
        .select_from(_OF_RUN)
        .where(page.c.run == run, page.c.state.in_(ASKED))
    )
    return int(connection.scalar(query) or 0)


def failures(connection: Connection, run: int) -> Iterator[Failure]:
    """Stream pages that brought nothing, with what is said about them."""
    query = (
        select(page.c.state, page_fact.c.error_message)
        .outerjoin(page_fact, page_fact.c.id == page.c.id)
        .where(page.c.run == run, page.c.state.in_(FAILURES))
    )
    for row in connection.execution_options(yield_per=5_000).execute(query):
        yield Failure(*row)
