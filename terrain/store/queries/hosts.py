"""Hosts: which are quality, which were closed to the run, and what they are called."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, exists, func, select, true

from terrain.rules.hosts import HostKind, HostPattern, root_of
from terrain.rules.states import PageState
from terrain.store.policy import Policy
from terrain.store.queries.records import ClosedHosts, LimitedHost, LimitedHosts
from terrain.store.schema import host, page, page_fact, visits

LISTED = (PageState.BLACKLISTED.value, PageState.STUBBED.value)

CHUNK = 500
"""Ids or names in one statement."""


def quality_hosts(connection: Connection, policy: Policy) -> set[int]:
    """Return the ids of the known quality hosts.

    Roots narrow the hosts down in the database; the lists themselves have the last word.
    """
    patterns = [HostPattern.parse(text) for text in policy.origins]
    roots = sorted({root_of(pattern.host) for pattern in patterns})
    wanted: list[ColumnElement[bool]] = [true()]
    if not any(_spans_roots(pattern) for pattern in patterns):
        chunks = [roots[start : start + CHUNK] for start in range(0, len(roots), CHUNK)]
        wanted = [host.c.root.in_(chunk) for chunk in chunks]
    found: set[int] = set()
    for condition in wanted:
        query = select(host.c.id, host.c.name).where(condition)
        for key, name in connection.execution_options(yield_per=5_000).execute(query):
            if policy.host_rules.classify(name) is HostKind.QUALITY:
                found.add(key)
    return found


def _spans_roots(pattern: HostPattern) -> bool:
    """Tell whether the hosts below it have roots of their own, as those of `*.github.io` do."""
    return pattern.below is not None and root_of(f"x.{pattern.below}") != root_of(pattern.below)


def facts_of(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
    """Return name and home page title by id."""
    found: dict[int, tuple[str, str | None]] = {}
    for start in range(0, len(ids), CHUNK):
        query = (
            select(host.c.id, host.c.name, page_fact.c.title)
            .outerjoin(page_fact, page_fact.c.id == host.c.home_id)
            .where(host.c.id.in_(ids[start : start + CHUNK]))
        )
        found.update({key: (name, title) for key, name, title in connection.execute(query)})
    return found


def limited(connection: Connection, run: int, most: int) -> LimitedHosts:
    """Return the hosts of the run that asked for a pause."""
    where = (host.c.run == run, host.c.run_state == PageState.RATE_LIMITED.value)
    query = (
        select(host.c.name, host.c.limited_at_request, host.c.retry_after)
        .where(*where)
        .order_by(host.c.name)
        .limit(most)
    )
    found = [LimitedHost(*row) for row in connection.execute(query)]
    count = connection.scalar(select(func.count()).select_from(host).where(*where))
    return LimitedHosts(found, int(count or 0))


def closed(connection: Connection, run: int, state: PageState, most: int) -> ClosedHosts:
    """Return the hosts of the run that were closed with this state."""
    where = (host.c.run == run, host.c.run_state == state.value)
    query = select(host.c.name).where(*where).order_by(host.c.name).limit(most)
    names = list(connection.scalars(query))
    count = connection.scalar(select(func.count()).select_from(host).where(*where))
    return ClosedHosts(names, int(count or 0))


def had_their_visits(connection: Connection, run: int, enough: int) -> int:
    """Count the nodes that the run reached and did not ask: visited that often before."""
    this_run = exists().where(visits.c.page_id == page.c.id, visits.c.run_id == run)
    query = (
        select(func.count())
        .select_from(host)
        .join(page, page.c.id == host.c.home_id)
        .where(host.c.crawl_count >= enough, page.c.run == run, page.c.state.not_in(LISTED))
        .where(~this_run)
    )
    return int(connection.scalar(query) or 0)


def met(connection: Connection, run: int) -> int:
    """Count the hosts that the run has met."""
    query = select(func.count()).select_from(host).where(host.c.run == run)
    return int(connection.scalar(query) or 0)
