"""Pages of a run, counted by state, by depth and by domain."""

from collections import Counter
from collections.abc import Iterator
from heapq import heappush, heappushpop
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Integer, Subquery, case, func, select
from sqlalchemy import literal_column as literal

from terrain.rules.states import PageState
from terrain.store.policy import Policy
from terrain.store.queries.hosts import facts_of, quality_hosts
from terrain.store.queries.records import DepthCount, Domain, LeftOut, RunRecord, Territory
from terrain.store.schema import page, page_depth, page_fact

STREAM = 5_000
"""Rows fetched at a time."""

_STATES = tuple(PageState)

_DEPTHS = 65_536
"""More than any depth; one less stands for no depth."""

_MANY = 2**31
"""More than the pages of any host."""

_LISTED = [PageState.BLACKLISTED.value, PageState.STUBBED.value]

_HostRow = tuple[int, int, int, int, int | None, int | None]
"""Host, pages, pages read, pages on a list, least and greatest depth."""


def states(connection: Connection, run: int) -> dict[PageState, int]:
    """Count by state: one scan of the narrow table."""
    query = select(page.c.state, func.count()).where(page.c.run == run).group_by(page.c.state)
    return {PageState(state): count for state, count in connection.execute(query)}


def left_out(connection: Connection, run: int) -> list[LeftOut]:
    """Count the pages that rules and trap guards keep from being asked for, by the reason."""
    reason = page_fact.c.error_message
    query = (
        select(reason, func.count())
        .select_from(page.outerjoin(page_fact, page_fact.c.id == page.c.id))
        .where(page.c.run == run, page.c.state == PageState.DISCOVERED.value)
        .group_by(reason)
        .order_by(func.count().desc(), reason)
    )
    return [LeftOut(*row) for row in connection.execute(query)]


def territory(
    connection: Connection, run: RunRecord, policy: Policy, most_quality: int, most_others: int
) -> Territory:
    """Count by state, depth and domain: two passes over the narrow table.

    Grouped in the database and streamed, so that memory holds the lists that are asked for and
    not the hosts of the terrain.
    """
    depth = least_depth(run, policy)
    by_state: Counter[PageState] = Counter()
    by_depth: Counter[int | None] = Counter()
    read_by_depth: Counter[int | None] = Counter()
    for state, at, count in _by_state_and_depth(connection, run.id, depth):
        by_state[state] += count
        by_depth[at] += count
        if state is PageState.PROCESSED:
            read_by_depth[at] += count
    new_domains: Counter[int | None] = Counter()
    quality_ids = quality_hosts(connection, policy)
    quality, others = _Best(most_quality), _Best(most_others)
    listed_domains = 0
    for host_id, pages, read, listed, nearest, farthest in _by_host(connection, run.id, depth):
        new_domains[nearest] += 1
        if listed == pages:
            listed_domains += 1
        else:
            best = quality if host_id in quality_ids else others
            best.offer(host_id, pages, read, nearest, farthest)
    return Territory(
        states=dict(by_state),
        depths=[
            DepthCount(at, by_depth[at], read_by_depth[at], new_domains[at])
            for at in sorted(by_depth, key=lambda at: (at is None, at))
        ],
        quality=quality.domains(connection),
        quality_domains=quality.seen,
        others=others.domains(connection),
        other_domains=others.seen,
        listed_domains=listed_domains,
    )


def least_depth(run: RunRecord, policy: Policy) -> ColumnElement[Any]:
    """Return a page's depth from its nearest origin, in SQL.

    Under one limit for all origins it follows from the radius, which lies in the page's row and is
    exact while the run is on. Otherwise it is looked up, and there once depths are settled.
    """
    widest = policy.depth.widest
    if set(policy.depth.limits) == {widest} and policy.terrain_hash == run.terrain_hash:
        return literal(str(widest), Integer) - page.c.radius
    return (
        select(func.min(page_depth.c.depth))
        .where(page_depth.c.page_id == page.c.id)
        .scalar_subquery()
    )


def _by_state_and_depth(
    connection: Connection, run: int, depth: ColumnElement[Any]
) -> Iterator[tuple[PageState, int | None, int]]:
    """Count by both, packed into one number: SQLite sorts those in half the time."""
    numbers = {state.value: number for number, state in enumerate(_STATES)}
    packed = case(numbers, value=page.c.state) * _DEPTHS + func.coalesce(depth, _DEPTHS - 1)
    rows = _rows(run, packed.label("packed"))
    query = select(rows.c.packed, func.count()).group_by(rows.c.packed)
    for key, count in connection.execute(query):
        number, at = divmod(key, _DEPTHS)
        yield _STATES[number], None if at == _DEPTHS - 1 else at, count


def _by_host(connection: Connection, run: int, depth: ColumnElement[Any]) -> Iterator[_HostRow]:
    """Count by host; read and listed pages in one number, which makes the sort a sixth cheaper."""
    weight = case(
        (page.c.state == PageState.PROCESSED.value, 1),
        (page.c.state.in_(_LISTED), literal(str(_MANY), BigInteger)),
        else_=0,
    )
    rows = _rows(run, page.c.host_id, weight.label("weight"), depth.label("depth"))
    query = select(
        rows.c.host_id,
        func.count(),
        func.sum(rows.c.weight),
        func.min(rows.c.depth),
        func.max(rows.c.depth),
    ).group_by(rows.c.host_id)
    found = connection.execution_options(yield_per=STREAM).execute(query)
    for host_id, pages, weights, nearest, farthest in found:
        listed, read = divmod(int(weights), _MANY)
        yield host_id, pages, read, listed, nearest, farthest


def _rows(run: int, *columns: ColumnElement[Any]) -> Subquery:
    """Return the run's pages as these columns.

    The offset keeps SQLite from working a column out again wherever it is used.
    """
    return select(*columns).where(page.c.run == run).offset(0).subquery("rows")


class _Best:
    """The hosts with most pages read, then most pages, of those that go by; and their number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[int, int, int, int | None, int | None]] = []
        self.seen = 0

    def offer(
        self, host_id: int, pages: int, read: int, nearest: int | None, farthest: int | None
    ) -> None:
        """Take a host in if it is among the best so far."""
        self.seen += 1
        # The id is unique, so depths, which may be None, are never compared.
        entry = (read, pages, host_id, nearest, farthest)
        if len(self._heap) < self._most:
            heappush(self._heap, entry)
        elif self._most:
            heappushpop(self._heap, entry)

    def domains(self, connection: Connection) -> list[Domain]:
        """Return them with their names, best first."""
        facts = facts_of(connection, [entry[2] for entry in self._heap])
        found = [
            Domain(*facts[host_id], pages, read, nearest, farthest)
            for read, pages, host_id, nearest, farthest in self._heap
        ]
        return sorted(found, key=lambda domain: (-domain.read, -domain.pages, domain.name))
