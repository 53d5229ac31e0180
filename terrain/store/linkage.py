"""Links of a batch: what a page's reading adds, changes and no longer shows.

A link is an interval, not a log: it has the first run that saw it and, once its source was read
without it, the last one. A link that is still there costs no write in later runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Dialect, bindparam, literal_column, select

from terrain.rules.links import LinkKind
from terrain.store.rollup import Rollup
from terrain.store.schema import link
from terrain.store.statements import Lookup, Prepared, Values, insert_into, update_by_key

# Written as a literal: SQLite uses a partial index only where the query repeats its condition.
_IS_REDIRECT = link.c.kind == literal_column(str(int(LinkKind.REDIRECT)))
_PRESENT = link.c.last_run.is_(None)


LinkRow = tuple[int, int, int, int, str | None, str | None, int]
"""From, to, kind, position, anchor, rel, and 1 if the target's host is on a list."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link as the spreading of depths sees it."""

    source: int
    target: int
    redirect: bool


class Linkage:
    """Reads and writes the `link` table."""

    def __init__(self, dialect: Dialect, run: int, rollup: Rollup) -> None:
        self._rollup = rollup
        self._insert = insert_into(link, dialect, {"first_run": run, "last_run": None})
        self._update = update_by_key(
            link, dialect, ["kind", "position", "anchor", "rel", "last_run", "listed"]
        )
        self._of_page = Prepared(
            select(
                link.c.to_id,
                link.c.kind,
                link.c.position,
                link.c.anchor,
                link.c.rel,
                link.c.last_run,
                link.c.listed,
            ).where(link.c.from_id == bindparam("page")),
            dialect,
            ["page"],
        )
        edges = [link.c.from_id, link.c.to_id, link.c.kind]
        self._out = Lookup(edges, link.c.from_id, dialect, _PRESENT)
        self._redirects_out = Lookup(edges, link.c.from_id, dialect, _IS_REDIRECT, _PRESENT)
        self._redirects_in = Lookup(edges, link.c.to_id, dialect, _IS_REDIRECT, _PRESENT)
        self._new: list[LinkRow] = []
        self._changed: list[Values] = []

    def start(self) -> None:
        """Begin a batch."""
        self._new, self._changed = [], []

    def replace(
        self,
        connection: Connection,
        page: tuple[int, int],
        read_before: int,
        links: list[LinkRow],
        hosts: list[str],
    ) -> None:
        """Take in the links of a page just read, one for each target.

        `page` is its id and its host's, `hosts` are those the links lead to. `read_before` is the
        run in which the page was last read, 0 for never: then there is nothing to compare with,
        which is the common case and costs no read.
        """
        source, host = page
        if not read_before:
            self._new += links
            self._rollup.read(host, hosts)
            return
        known = {row[0]: row[1:] for row in self._of_page.all(connection, (source,))}
        appeared: list[str] = []
        gone: list[int] = []
        for row, leads_to in zip(links, hosts, strict=True):
            _, target, *facts, listed = row
            before = known.pop(target, None)
            if before is None or before[4] is not None:
                appeared.append(leads_to)
            if before is None:
                self._new.append(row)
                continue
            # `listed` is never taken back: the index may hold too much, never too little.
            after = (*facts, None, listed or before[5])
            if after != before:
                self._changed.append((*after, source, target))
        for target, before in known.items():
            if before[4] is None:
                self._changed.append((*before[:4], read_before, before[5], source, target))
                gone.append(target)
        self._rollup.read_again(connection, host, hosts, appeared=appeared, gone=gone)

    def write(self, connection: Connection) -> None:
        """Write what `replace` collected."""
        self._insert.many(connection, self._new)
        self._update.many(connection, self._changed)
        self._new, self._changed = [], []

    def out_of(self, connection: Connection, pages: Iterable[int]) -> list[Edge]:
        """Return the present links out of these pages."""
        return _edges(self._out.rows(connection, pages))

    def redirects_out_of(self, connection: Connection, pages: Iterable[int]) -> list[Edge]:
        """Return where these pages redirect to."""
        return _edges(self._redirects_out.rows(connection, pages))

    def redirects_into(self, connection: Connection, pages: Iterable[int]) -> list[Edge]:
        """Return which pages redirect to these."""
        return _edges(self._redirects_in.rows(connection, pages))


def _edges(rows: list[Values]) -> list[Edge]:
    # A lookup fills short chunks up with a repeated key, so an edge may come twice: keep one.
    return [Edge(source, target, kind == LinkKind.REDIRECT) for source, target, kind in set(rows)]
