"""Runs: which one a start goes on with, what it says about it, and how it ends."""

from collections import Counter
from enum import StrEnum

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    delete,
    false,
    func,
    insert,
    literal_column,
    not_,
    or_,
    select,
    text,
    update,
)

from terrain.errors import ConfigError, RunRefused
from terrain.rules.states import PageState
from terrain.store.clock import iso
from terrain.store.hosts import OPEN, takes_a_place
from terrain.store.outcomes import RunInfo
from terrain.store.policy import Policy
from terrain.store.schema import (
    REVERSE_INDEX,
    frontier_entry,
    host,
    link,
    meta,
    page,
    root_state,
    run_events,
    runs,
)
from terrain.store.supply import forget_frontier

_GRANULARITY = "granularity"
"""The key in `meta`."""

RUNNING, COMPLETED, INTERRUPTED = "running", "completed", "interrupted"


class Start(StrEnum):
    """What the user asked for."""

    AUTO = "auto"
    """Go on with the newest run if it did not finish, else start a new one."""
    FRESH = "fresh"
    """Start a new run."""
    RESUME = "resume"
    """Go on with the newest run; refuse if there is nothing to go on with."""


def granularity(connection: Connection) -> str | None:
    """Return what the terrain is made of, None if there is none yet."""
    return connection.scalar(select(meta.c.value).where(meta.c.key == _GRANULARITY))


def other_granularity(found: str, wanted: str, database: str) -> str:
    """Say that the configuration asks for another kind of terrain than the database holds."""
    return (
        f'{database}: holds a terrain by {found}, and crawler.granularity = "{wanted}": '
        "name another output.database-path, or set the key back"
    )


def starts_differ(granularity: str) -> str:
    """Name what a change of starts a new run."""
    if granularity == "domain":
        return "quality entries, depth limits or visits per domain"
    return "quality entries or depth limits"


def keep_granularity(connection: Connection, policy: Policy, database: str) -> None:
    """Note what the terrain is made of; raises ConfigError for another one than it was.

    Pages that stand for themselves and pages that stand for their hosts cannot be told apart later.
    """
    found = granularity(connection)
    if found is None:
        connection.execute(insert(meta).values(key=_GRANULARITY, value=policy.granularity))
    elif found != policy.granularity:
        raise ConfigError(other_granularity(found, policy.granularity, database))


def open_run(
    connection: Connection, policy: Policy, start: Start, job: str | None, now: float
) -> RunInfo:
    """Choose or make the run that this process works on.

    `job` is the token a JOBDIR holds: the same one names the same run, a new one a new run.
    """
    newest = connection.execute(select(runs).order_by(runs.c.id.desc()).limit(1)).first()
    if job is not None and (start is not Start.FRESH):
        named = connection.execute(select(runs).where(runs.c.job == job)).first()
        if named is None and start is Start.RESUME:
            raise RunRefused("the JOBDIR names no run of this database: there is none to resume")
        if named is None:
            return _new(connection, policy, newest, job, now, [])
        if newest is not None and named.id != newest.id:
            raise RunRefused(
                f"the JOBDIR names run {named.id}, but run {newest.id} has walked this terrain "
                "since; only the newest run can be resumed: use a new JOBDIR"
            )
        if named.status == COMPLETED:
            notice = (
                f"run {named.id}, which the JOBDIR names, is complete: nothing to do "
                "(a new JOBDIR starts a new run)"
            )
            return RunInfo(named.id, resumed=True, finished=True, notices=(notice,))
        return _resume(connection, policy, named, job, now)
    if start is Start.FRESH or newest is None or newest.status == COMPLETED:
        if start is Start.RESUME:
            raise RunRefused("there is no unfinished run to resume; leave --resume out")
        return _new(connection, policy, newest, job, now, [])
    return _resume(connection, policy, newest, newest.job, now)


def _resume(
    connection: Connection,
    policy: Policy,
    run: Row[tuple[object, ...]],
    job: str | None,
    now: float,
) -> RunInfo:
    if run.terrain_hash != policy.terrain_hash:
        notice = (
            f"{starts_differ(policy.granularity)} differ from run {run.id}: its depths would mean "
            "something else, so a new run starts"
        )
        return _new(connection, policy, run, job, now, [notice])
    notices = [f"going on with run {run.id}, started {run.started_at}"]
    if run.config_hash != policy.config_hash:
        notices.append(
            f"the configuration differs from the one run {run.id} was under "
            f"({run.config_hash[:12]} -> {policy.config_hash[:12]}): going on under the new one"
        )
        event(connection, run.id, "config_changed", policy.config_hash, now)
        _limit_anew(connection, policy, run.id)
    connection.execute(
        update(runs)
        .where(runs.c.id == run.id)
        .values(status=RUNNING, finished_at=None, config_hash=policy.config_hash)
    )
    _put_back_fetching(connection)
    event(connection, run.id, "resumed", None, now)
    return RunInfo(run.id, resumed=True, finished=False, notices=tuple(notices))


def _limit_anew(connection: Connection, policy: Policy, run: int) -> None:
    """Judge budgets and caps under a changed configuration; what a host asked for (429) stands.

    A host that has been asked keeps its place under its root. The others are let in again, or
    not, when their waiting pages are loaded.
    """
    limits = [PageState.REQUEST_LIMIT_HIT.value, PageState.SUBDOMAIN_LIMIT_HIT.value]
    met = host.c.run == run
    connection.execute(update(host).where(met, host.c.run_state.in_(limits)).values(run_state=OPEN))
    visited = host.c.crawl_count > 0 if policy.by_domain else false()
    never_asked = and_(met, host.c.requests == 0, not_(visited))
    connection.execute(update(host).where(never_asked).values(admitted=0))
    _count_places(connection, policy, run, or_(and_(met, host.c.admitted == 1), visited))


def _count_places(
    connection: Connection, policy: Policy, run: int, admitted: ColumnElement[bool]
) -> None:
    """Work out how many places each root has given away to these hosts."""
    found = connection.execute(select(host.c.name, host.c.root).where(admitted))
    places = Counter(root for name, root in found if takes_a_place(policy, name, root))
    connection.execute(delete(root_state))  # counts of earlier runs mean nothing any more
    if places:
        rows = [{"name": root, "run": run, "subdomains": n} for root, n in places.items()]
        connection.execute(insert(root_state), rows)


def _new(
    connection: Connection,
    policy: Policy,
    newest: Row[tuple[object, ...]] | None,
    job: str | None,
    now: float,
    notices: list[str],
) -> RunInfo:
    if newest is not None:
        # A run that is given up ends here; its pages stay as it left them.
        connection.execute(
            update(runs)
            .where(runs.c.status == RUNNING)
            .values(status=INTERRUPTED, finished_at=iso(now))
        )
        connection.execute(update(runs).where(runs.c.job == job).values(job=None))
        forget_frontier(connection)
        _put_back_fetching(connection)
    key = (newest.id if newest is not None else 0) + 1
    connection.execute(
        insert(runs).values(
            id=key,
            started_at=iso(now),
            config_hash=policy.config_hash,
            terrain_hash=policy.terrain_hash,
            status=RUNNING,
            job=job,
        )
    )
    if policy.by_domain:
        # Who has been visited keeps its place: else each run would let others in beside it.
        _count_places(connection, policy, key, host.c.crawl_count > 0)
    event(connection, key, "started", policy.config_hash, now)
    return RunInfo(key, resumed=False, finished=False, notices=tuple(notices))


def end_run(connection: Connection, run: int, status: str, metrics: str | None, now: float) -> None:
    """Write how the run ended; what was out and not answered waits again."""
    _put_back_fetching(connection)
    ending = {"status": status, "finished_at": iso(now)}
    if metrics is not None:
        ending["metrics"] = metrics
    connection.execute(update(runs).where(runs.c.id == run).values(ending))
    event(connection, run, "closed", status, now)


def event(connection: Connection, run: int, kind: str, detail: str | None, now: float) -> None:
    """Append to the run's history."""
    connection.execute(insert(run_events).values(run_id=run, at=iso(now), kind=kind, detail=detail))


def newest_config(connection: Connection) -> str | None:
    """Return the configuration hash of the newest run."""
    return connection.scalar(select(runs.c.config_hash).order_by(runs.c.id.desc()).limit(1))


def next_seq(connection: Connection) -> int:
    """Return a number that no page of the frontier has reached yet."""
    return int(connection.scalar(select(func.coalesce(func.max(page.c.seq), 0))) or 0)


def build_reverse_index(connection: Connection) -> None:
    """Make "who links here" cheap; kept off while a run is on, see schema.link."""
    connection.execute(text(f"CREATE INDEX IF NOT EXISTS {REVERSE_INDEX} ON link (to_id)"))


def drop_reverse_index(connection: Connection) -> None:
    """Make way for fast writing."""
    connection.execute(text(f"DROP INDEX IF EXISTS {REVERSE_INDEX}"))


def _put_back_fetching(connection: Connection) -> None:
    """Pages that were out when a process died are asked again."""
    # As the partial index has it.
    fetching: ColumnElement[str] = literal_column(f"'{PageState.FETCHING.value}'")
    connection.execute(
        update(page).where(page.c.state == fetching).values(state=PageState.QUEUED.value)
    )


def has_frontier(connection: Connection) -> bool:
    """Tell whether any page waits."""
    return connection.scalar(select(frontier_entry.c.page_id).limit(1)) is not None


def mark_listed_links(connection: Connection, policy: Policy) -> None:
    """After a change of the lists: find the links into hosts that are listed now."""
    listed = [
        key
        for key, name in connection.execute(select(host.c.id, host.c.name))
        if policy.listed(name) is not None
    ]
    for start in range(0, len(listed), 500):
        targets = select(page.c.id).where(page.c.host_id.in_(listed[start : start + 500]))
        connection.execute(
            update(link).where(link.c.to_id.in_(targets), link.c.listed == 0).values(listed=1)
        )
