"""Where a run stands, for its progress: read beside the crawl, on a connection of its own."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from terrain.store.engine import database_url, errors_in_our_words, make_engine
from terrain.store.schema import frontier_entry, host, page

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import URL

LONGEST_QUEUES = 50
"""Hosts looked at for the time that is left; the slowest is among those with long queues."""


@dataclass(frozen=True, slots=True)
class HostQueue:
    """A host with waiting pages."""

    host: str
    pages: int
    requests: int
    """Requests it has had in this run, or that are reserved for it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at the database."""

    states: dict[str, int]
    """Pages that the run has reached, by state."""
    waiting: int
    """Pages in the durable frontier; those in flight are among them."""
    waiting_hosts: int
    longest: tuple[HostQueue, ...]
    """The longest queues, longest first."""
    took: float
    """Seconds that the reading took: how often it may be repeated depends on it."""


class Gauge:
    """Reads where one run stands. The cost grows with the terrain; `Reading.took` tells."""

    def __init__(self, location: str | Path | URL, run: int) -> None:
        self._url = database_url(location)
        self._engine = make_engine(self._url, readonly=True)
        self._run = run

    def read(self) -> Reading:
        """Look once; a reader on WAL disturbs nobody."""
        started = time.monotonic()
        states = (
            select(page.c.state, func.count()).where(page.c.run == self._run).group_by(page.c.state)
        )
        queues = (
            select(frontier_entry.c.host_id, func.count().label("pages"))
            .group_by(frontier_entry.c.host_id)
            .subquery()
        )
        totals = select(func.coalesce(func.sum(queues.c.pages), 0), func.count())
        longest = (
            select(host.c.name, queues.c.pages, host.c.requests)
            .join(host, host.c.id == queues.c.host_id)
            .order_by(queues.c.pages.desc(), host.c.name)
            .limit(LONGEST_QUEUES)
        )
        with errors_in_our_words(self._url), self._engine.begin() as connection:
            by_state = {str(row[0]): int(row[1]) for row in connection.execute(states)}
            waiting, hosts = connection.execute(totals.select_from(queues)).one()
            slow = tuple(HostQueue(*row) for row in connection.execute(longest))
        return Reading(by_state, int(waiting), hosts, slow, time.monotonic() - started)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()
