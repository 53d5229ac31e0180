"""Hosts as the writer sees them: rows cached in bounds, reset when a run first meets them."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from sqlalchemy import Connection, Dialect, bindparam, select

from terrain.rules.hosts import HostKind, root_of
from terrain.rules.states import PageState
from terrain.rules.urls import home_of, page_id
from terrain.rules.urls import host_id as compute_host_id
from terrain.store.policy import Policy
from terrain.store.schema import host, root_state
from terrain.store.statements import Lookup, Prepared, update_by_key, upsert_into

OPEN = "open"

CACHED_HOSTS = 5_000
"""Rows kept between operations. Two generations, so at most twice that."""

CLOSED_BECAUSE = {
    PageState.RATE_LIMITED: "host asked for a pause (429)",
    PageState.REQUEST_LIMIT_HIT: "the host's request budget is spent",
    PageState.SUBDOMAIN_LIMIT_HIT: "the root already has its number of subdomains",
}
"""What pages say that are not asked for because their host is closed."""

_COLUMNS = (
    "run",
    "run_state",
    "requests",
    "admitted",
    "session",
    "asked_at",
    "retry_after",
    "limited_at_request",
    "crawl_count",
)

host_id = lru_cache(maxsize=8_192)(compute_host_id)


@dataclass(slots=True)
class HostRow:
    """One host, in the newest run that met it."""

    id: int
    name: str
    root: str
    home_id: int
    created_at: str
    run: int
    run_state: str
    requests: int
    admitted: int
    session: str | None
    asked_at: int | None
    retry_after: str | None
    limited_at_request: int | None
    crawl_count: int
    new: bool = False

    @property
    def closed(self) -> PageState | None:
        """The state that waiting pages get, None while the host may be asked."""
        return None if self.run_state == OPEN else PageState(self.run_state)


class Hosts:
    """Loads, creates and writes back host rows; the only writer of `host` and `root_state`."""

    def __init__(self, policy: Policy, dialect: Dialect, run: int) -> None:
        self.policy = policy
        self.run = run
        # Every row of the operation at hand, so that one host is one object however many there are:
        # a hostile page may name more hosts than the cache has places.
        self._rows: dict[int, HostRow] = {}
        self._dirty: dict[int, HostRow] = {}
        self._young: dict[int, HostRow] = {}
        self._old: dict[int, HostRow] = {}
        columns = [host.c[column.name] for column in host.columns]
        self._lookup = Lookup(columns, host.c.id, dialect)
        self._insert = upsert_into(host, dialect)
        self._update = update_by_key(host, dialect, _COLUMNS)
        self._root_lookup = Prepared(
            select(root_state.c.subdomains).where(
                root_state.c.name == bindparam("name"), root_state.c.run == bindparam("run")
            ),
            dialect,
            ["name", "run"],
        )
        self._root_upsert = upsert_into(root_state, dialect)

    def forget(self) -> None:
        """Drop everything cached: the transaction it belonged to was rolled back."""
        self._rows, self._dirty, self._young, self._old = {}, {}, {}, {}

    def load(self, connection: Connection, names: set[str], now: str) -> set[str]:
        """Bring all these hosts in, creating the ones not known yet.

        Returns the names refused because another host has their id.
        """
        refused: set[str] = set()
        wanted = {host_id(name): name for name in names}
        missing = {key: name for key, name in wanted.items() if self._cached(key) is None}
        for values in self._lookup.rows(connection, missing):
            self._rows[values[0]] = HostRow(*values)
        for key, name in missing.items():
            row = self._cached(key)
            if row is None:
                home = page_id(home_of(name))
                row = HostRow(
                    key,
                    name,
                    root_of(name),
                    home,
                    now,
                    run=0,
                    run_state=OPEN,
                    requests=0,
                    admitted=0,
                    session=None,
                    asked_at=None,
                    retry_after=None,
                    limited_at_request=None,
                    crawl_count=0,
                    new=True,
                )
                self._rows[key] = row
        for name in names:
            found = self._cached(host_id(name))
            assert found is not None
            if found.name == name:
                self._meet(found, now)
            else:
                refused.add(name)
        return refused

    def get(self, connection: Connection, key: int, now: str) -> HostRow:
        """Return a known host by id."""
        row = self._cached(key)
        if row is None:
            row = self._rows[key] = HostRow(*self._lookup.rows(connection, [key])[0])
        self._meet(row, now)
        return row

    def name_of(self, connection: Connection, key: int) -> str:
        """Return a known host's name, without meeting it in this run."""
        row = self._cached(key)
        if row is None:
            row = HostRow(*self._lookup.rows(connection, [key])[0])
        return row.name

    def id_of(self, name: str) -> int:
        """Return the id of a host, known or not."""
        return host_id(name)

    def named(self, name: str) -> HostRow:
        """Return a host that `load` has brought in."""
        row = self._cached(host_id(name))
        assert row is not None
        return row

    def changed(self, row: HostRow) -> None:
        """Note that the row must be written."""
        self._dirty[row.id] = row

    def admit(self, connection: Connection, row: HostRow) -> PageState | None:
        """Return None if the host may be visited, else the state of its pages.

        The first page that makes a host worth visiting takes one of its root's places.
        """
        if row.closed is not None or row.admitted:
            return row.closed
        row.admitted = 1
        self.changed(row)
        cap = self.policy.max_subdomains
        if cap is None or not takes_a_place(self.policy, row.name, row.root):
            return None
        found = self._root_lookup.all(connection, (row.root, self.run))
        taken = found[0][0] if found else 0
        if taken >= cap:
            row.run_state = PageState.SUBDOMAIN_LIMIT_HIT
        else:
            self._root_upsert.many(connection, [(row.root, self.run, taken + 1)])
        return row.closed

    def flush(self, connection: Connection) -> None:
        """Write what changed; the operation is over, so its rows go to the cache."""
        new, old = [], []
        for row in self._dirty.values():
            values = (
                row.run,
                row.run_state,
                row.requests,
                row.admitted,
                row.session,
                row.asked_at,
                row.retry_after,
                row.limited_at_request,
                row.crawl_count,
            )
            if row.new:
                new.append((row.id, row.name, row.root, row.home_id, row.created_at, *values))
                row.new = False
            else:
                old.append((*values, row.id))
        self._insert.many(connection, new)
        self._update.many(connection, old)
        self._dirty = {}
        if len(self._young) + len(self._rows) > CACHED_HOSTS:
            self._old, self._young = self._young, {}
        self._young.update(islice(self._rows.items(), CACHED_HOSTS))
        self._rows = {}

    def _meet(self, row: HostRow, now: str) -> None:
        """Reset what belongs to a run when this run meets the host for the first time."""
        if row.run == self.run:
            return
        limited = row.retry_after is not None and row.retry_after > now
        row.run = self.run
        row.run_state = PageState.RATE_LIMITED if limited else OPEN
        row.requests = 0
        # By domain a place under a root is kept from run to run by whoever has been visited.
        row.admitted = int(self.policy.by_domain and row.crawl_count > 0)
        row.limited_at_request = None
        self.changed(row)

    def _cached(self, key: int) -> HostRow | None:
        row = self._rows.get(key)
        if row is None and (row := self._young.get(key) or self._old.get(key)) is not None:
            self._rows[key] = row
        return row


def takes_a_place(policy: Policy, name: str, root: str) -> bool:
    """Tell whether a host counts as one of its root's subdomains."""
    return name != root and policy.host_rules.classify(name) is not HostKind.QUALITY
