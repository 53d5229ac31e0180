"""What the frontier's window asks of the store: pages, request tokens, robots answers, drains."""

import logging
import math
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    bindparam,
    delete,
    func,
    literal_column,
    select,
)

from terrain.rules.states import PageState
from terrain.store.clock import iso
from terrain.store.hosts import CLOSED_BECAUSE, HostRow, Hosts, host_id
from terrain.store.outcomes import HostSupply, RobotsRecord, WaitingPage
from terrain.store.schema import frontier_entry, page, page_address, page_fact, robots
from terrain.store.statements import (
    ByKeys,
    Lookup,
    Prepared,
    Values,
    delete_by_key,
    insert_for,
    update_by_key,
    upsert_into,
)

logger = logging.getLogger(__name__)

DRAIN_CHUNK = 1_000
"""Pages given their state in one transaction when a host is closed: the writer stays available."""


class Supply:
    """The durable frontier, host by host. Used by the writer thread only."""

    def __init__(self, hosts: Hosts, dialect: Dialect, session: str) -> None:
        self._hosts = hosts
        self._session = session
        entry, address = frontier_entry.c, page_address.c
        waiting = (
            select(entry.page_id, address.url, address.fetch_url, entry.priority, entry.seq,
                   page.c.hops)
            .join(page_address, address.id == entry.page_id)
            .join(page, page.c.id == entry.page_id)
            .where(entry.host_id == bindparam("host"))
            .order_by(entry.priority, entry.seq)
            .limit(bindparam("most"))
        )  # fmt: skip
        self._waiting = Prepared(waiting, dialect, ["host", "most"])
        following = select(func.min(entry.host_id)).where(entry.host_id > bindparam("after"))
        self._next_host = Prepared(following, dialect, ["after"])
        self._keys = Prepared(
            select(entry.host_id, entry.priority, entry.seq, entry.page_id)
            .where(entry.host_id == bindparam("host"))
            .order_by(entry.priority, entry.seq)
            .limit(bindparam("most")),
            dialect,
            ["host", "most"],
        )
        self._robots = Lookup(
            [robots.c.origin, robots.c.status, robots.c.body, robots.c.fetched_at,
             robots.c.expires_at],
            robots.c.host_id, dialect,
        )  # fmt: skip
        self._keep_robots = upsert_into(robots, dialect)
        self._delete_entry = delete_by_key(frontier_entry, dialect)
        self._set_state = update_by_key(page, dialect, ["state"])
        message = insert_for(dialect, page_fact).values(
            id=bindparam("id"), error_message=bindparam("error_message")
        )
        self._message = Prepared(
            message.on_conflict_do_update(
                index_elements=["id"], set_={"error_message": message.excluded.error_message}
            ),
            dialect,
            ["id", "error_message"],
        )
        # As literals: the keys alone are given.
        queued: ColumnElement[str] = literal_column(f"'{PageState.QUEUED}'")
        fetching: ColumnElement[str] = literal_column(f"'{PageState.FETCHING}'")
        self._mark = ByKeys(
            page.update().where(page.c.state == queued).values(state=fetching), page.c.id, dialect
        )

    def hosts_with_work(
        self, connection: Connection, most: int, after: int = -1
    ) -> list[tuple[int, str]]:
        """Return up to `most` hosts that have waiting pages, by id, after the given one."""
        # One seek per host, not a scan over all entries: "the next host id after this one".
        found: list[tuple[int, str]] = []
        while len(found) < most:
            next_id = self._next_host.all(connection, (after,))[0][0]
            if next_id is None:
                break
            found.append((next_id, self._hosts.name_of(connection, next_id)))
            after = next_id
        return found

    def hosts_outside(
        self, connection: Connection, most: int, window: Collection[str], after: int
    ) -> tuple[list[str], int, bool]:
        """Return hosts with waiting pages that are not in the window, going round by id.

        Also the id to go on after, and whether there may be more.
        """
        found: list[str] = []
        for start, end in ((after, None), (-1, after)):
            cursor = start
            while batch := self.hosts_with_work(connection, 64, cursor):
                for cursor, name in batch:
                    if end is not None and cursor > end:
                        return found, -1, False
                    if name not in window:
                        found.append(name)
                        if len(found) == most:
                            return found, cursor, True
        return found, -1, False

    def robots_of(self, connection: Connection, name: str, now: float) -> tuple[RobotsRecord, ...]:
        """Return what is known of a host's robots.txt and still fresh."""
        known = self._known_robots(connection, host_id(name))
        return tuple(record for record in known if record.expires_at > now)

    def supply(
        self,
        connection: Connection,
        name: str,
        *,
        held: Collection[int],
        pages: int,
        tokens: int,
        now: float,
    ) -> HostSupply:
        """Give a host's window its next pages and reserve requests for them.

        `held` are the pages the window has already: they stay in the durable frontier until their
        outcome is committed. Reservations are written before they are used, so a crash can only
        forfeit requests, never exceed the budget.
        """
        stamp = iso(now)
        self._hosts.load(connection, {name}, stamp)
        row = self._hosts.named(name)
        closed = self._closed(row) or self._hosts.admit(connection, row)
        crashed = row.session not in {None, self._session}
        not_before = None if row.asked_at is None else row.asked_at / 1000
        found: list[WaitingPage] = []
        more = False
        if closed is None:
            # Also when only tokens are wanted: `more` must be true whenever more is there.
            found, more = self._pages(connection, row, held, pages)
        granted = 0
        left = max(0, self._hosts.policy.budget - row.requests)
        if closed is None and tokens > 0:
            granted = min(left, tokens)
            if granted:
                row.requests += granted
                row.session = self._session
                self._hosts.changed(row)
        self._hosts.flush(connection)
        return HostSupply(
            host=name,
            pages=tuple(found),
            more=more,
            tokens=granted,
            spent=granted >= left,
            closed=closed,
            not_before=not_before,
            crashed=crashed,
            robots=self._known_robots(connection, row.id) if closed is None else (),
        )

    def give_back(
        self, connection: Connection, unused: Iterable[tuple[str, int]], now: float
    ) -> None:
        """Take back reservations that were not used; the host has no request out."""
        returned = list(unused)
        self._hosts.load(connection, {name for name, _ in returned}, iso(now))
        for name, tokens in returned:
            row = self._hosts.named(name)
            row.requests -= tokens
            if row.limited_at_request is not None:
                # Now it is known how many of the reserved requests were really made.
                row.limited_at_request = row.requests
            row.session = None
            row.asked_at = math.ceil(now * 1000)
            self._hosts.changed(row)
        self._hosts.flush(connection)

    def close_host(
        self,
        connection: Connection,
        name: str,
        state: PageState,
        *,
        retry_after: float | None,
        now: float,
    ) -> None:
        """The host may not be asked any more in this run; its waiting pages get the state."""
        self._hosts.load(connection, {name}, iso(now))
        row = self._hosts.named(name)
        row.run_state = state.value
        if retry_after is not None:
            row.retry_after = iso(retry_after)
        if state is PageState.RATE_LIMITED and row.limited_at_request is None:
            row.limited_at_request = row.requests
        self._hosts.changed(row)
        self._hosts.flush(connection)

    def drain(
        self, connection: Connection, name: str, *, held: Collection[int], now: float
    ) -> bool:
        """Give a closed host's waiting pages their state, a chunk at a time; True if more wait."""
        self._hosts.load(connection, {name}, iso(now))
        row = self._hosts.named(name)
        state = self._closed(row)
        if state is None:
            return False
        # One more than is done: whether it is there says whether to come again.
        keys = self._keys.all(connection, (row.id, DRAIN_CHUNK + len(held) + 1))
        waiting = [(page_id, entry) for *entry, page_id in keys if page_id not in held]
        free = waiting[:DRAIN_CHUNK]
        self._set_state.many(connection, [(state.value, page_id) for page_id, _ in free])
        reason = CLOSED_BECAUSE.get(state)
        self._message.many(connection, [(page_id, reason) for page_id, _ in free])
        self._delete_entry.many(connection, [tuple(entry) for _, entry in free])
        self._hosts.flush(connection)
        return len(waiting) > len(free)

    def drain_next(self, connection: Connection, after: int, now: float) -> int | None:
        """Drain closed hosts among the next ones that have waiting pages, when the run closes.

        Returns the id to go on after, None when all are done. One call looks at many hosts: an
        interrupted run may have a million of them, nearly all open.
        """
        batch = self.hosts_with_work(connection, 100, after)
        for key, name in batch:
            if self.drain(connection, name, held=(), now=now):
                return after  # come again for the rest of it
            after = key
        return after if batch else None

    def mark_fetching(self, connection: Connection, pages: Sequence[int]) -> None:
        """Note that these pages are being asked for; after a crash they are put back."""
        self._mark.run(connection, pages)

    def keep_robots(self, connection: Connection, name: str, record: RobotsRecord) -> None:
        """Keep a robots.txt answer until it expires."""
        row: Values = (
            record.origin, host_id(name), record.status, record.body, record.fetched_at,
            record.expires_at,
        )  # fmt: skip
        self._keep_robots.many(connection, [row])

    def _pages(
        self, connection: Connection, row: HostRow, held: Collection[int], most: int
    ) -> tuple[list[WaitingPage], bool]:
        limit = most + len(held) + 1
        rows = self._waiting.all(connection, (row.id, limit))
        free: list[WaitingPage] = []
        refused: list[tuple[int, str, Values]] = []
        for key, url, fetch_url, priority, seq, hops in rows:
            if key in held:
                continue
            # Judged when it was reached, perhaps under another configuration.
            reason = self._hosts.policy.refusal(key, url)
            if reason is None:
                free.append(WaitingPage(key, fetch_url or url, priority, seq, hops))
            else:
                refused.append((key, reason, (row.id, priority, seq)))
        if refused:
            self._leave_known(connection, refused)
        # Behind what was refused more may wait: then come again.
        return free[:most], len(free) > most or bool(refused and len(rows) == limit)

    def _leave_known(
        self, connection: Connection, refused: Sequence[tuple[int, str, Values]]
    ) -> None:
        """Take pages off the frontier that the rules do not let be asked for any more."""
        state = PageState.DISCOVERED.value
        self._set_state.many(connection, [(state, key) for key, _, _ in refused])
        self._message.many(connection, [(key, reason) for key, reason, _ in refused])
        self._delete_entry.many(connection, [entry for _, _, entry in refused])

    def _closed(self, row: HostRow) -> PageState | None:
        """Return the state that keeps a host from being asked, under the configuration of now."""
        listed = self._hosts.policy.listed(row.name)
        return PageState(listed.value) if listed is not None else row.closed

    def _known_robots(self, connection: Connection, key: int) -> tuple[RobotsRecord, ...]:
        # A lookup fills its chunk up with one key, so a row may come more than once.
        rows = {tuple(found) for found in self._robots.rows(connection, [key])}
        return tuple(RobotsRecord(*values) for values in rows)


def forget_frontier(connection: Connection) -> None:
    """Empty the durable frontier: it belongs to a run that was given up."""
    connection.execute(delete(frontier_entry))
