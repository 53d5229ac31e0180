"""The exact depths of a run, for all origins at once.

A breadth-first search, level by level, over the links this run saw, done inside the database so
that memory does not grow with the terrain. Origins are bits: a page's links are followed once per
level for all origins that reach it there, not once per origin. Pages that the run did not reach
keep the depths of earlier runs.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    MetaData,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
)
from sqlalchemy.sql import Select

from terrain.rules.links import LinkKind
from terrain.store.engine import CACHE_KIB
from terrain.store.policy import Policy
from terrain.store.revisits import origin_bits
from terrain.store.schema import Id, host, link, page, page_depth, revisit
from terrain.store.statements import insert_for

Rows = Select[Any]
"""A query that gives page ids with their masks."""


def settle_depths(connection: Connection, policy: Policy, run: int) -> None:
    """Work out and write the depths of every page that the run reached."""
    search = _Search(connection, run, origin_bits(connection, policy), policy.depth.limits)
    with search:
        _forget_old_depths(connection, run)
        search.start(policy)
        depth = 0
        while search.arrive():
            search.keep(depth)
            search.go_on(depth)
            depth += 1


def _forget_old_depths(connection: Connection, run: int) -> None:
    reached = exists().where(page.c.id == page_depth.c.page_id, page.c.run == run)
    connection.execute(delete(page_depth).where(reached))


class _Search:
    """The scratch tables of one search, and its steps."""

    def __init__(
        self,
        connection: Connection,
        run: int,
        bits: Sequence[tuple[int, int]],
        limits: Sequence[int],
    ) -> None:
        self._connection = connection
        self._run = run
        self._bits = bits
        self._limits = limits
        # Only words that an origin of this run lives in: each is a column of the scratch tables.
        self._words = sorted({word for word, _ in bits})
        self._scratch = MetaData()
        self._wave = self._masks("settle_wave", "page_id")  # arriving at this depth
        self._fresh = self._masks("settle_fresh", "page_id")  # the part of it that is new
        self._seen = self._masks("settle_seen", "page_id")  # all that is new here or was before
        self._level = self._masks("settle_level", "page_id")  # all that is new at this depth
        self._host = self._masks("settle_host", "host_id")  # what a host's own pages have

    def __enter__(self) -> None:
        if self._connection.dialect.name == "sqlite":
            # The scratch tables have a cache of their own, by default too small for them.
            self._connection.exec_driver_sql(f"PRAGMA temp.cache_size = -{CACHE_KIB}")
        self._scratch.drop_all(self._connection)
        self._scratch.create_all(self._connection)

    def __exit__(self, *_: object) -> None:
        self._scratch.drop_all(self._connection)

    def _masks(self, name: str, key: str) -> Table:
        # A single integer key makes it SQLite's rowid: half the cost of any other key.
        columns = [Column(_name(word), BigInteger, nullable=False) for word in self._words]
        key_column = Column(key, Id, primary_key=True, autoincrement=False)
        return Table(name, self._scratch, key_column, *columns, prefixes=["TEMPORARY"])

    def _masks_of(self, origins: Iterable[int]) -> dict[str, int]:
        """Return the masks of some origins, by column."""
        masks = dict.fromkeys(map(_name, self._words), 0)
        for index in origins:
            word, bit = self._bits[index]
            masks[_name(word)] |= 1 << bit
        return masks

    def start(self, policy: Policy) -> None:
        """Depth 0: every reached page on a host that matches an origin, and nodes visited again."""
        query = select(host.c.id, host.c.name).where(host.c.run == self._run)
        rows = [
            {"host_id": key, **self._masks_of(origins)}
            for key, name in self._connection.execute(query)
            if (origins := policy.host_rules.origins(name))
        ]
        if rows:
            self._connection.execute(insert(self._host), rows)
        own = (
            select(page.c.id, *_mask_columns(self._host))
            .join(self._host, self._host.c.host_id == page.c.host_id)
            .where(page.c.run == self._run)
        )
        self._merge(self._wave, own)
        for word in self._words:
            masks = [revisit.c.mask if word == each else literal(0) for each in self._words]
            again = select(revisit.c.page_id, *masks).where(revisit.c.word == word)
            self._merge(self._wave, again)

    def arrive(self) -> bool:
        """Take in the wave at one depth, through redirects too, which cost no depth."""
        self._clear(self._level)
        any_new = False
        while self._find_fresh():
            any_new = True
            self._merge(self._seen, select(self._fresh))
            self._merge(self._level, select(self._fresh))
            self._clear(self._wave)
            self._follow(self._fresh, self._masks_of(range(len(self._bits))), redirect=True)
        return any_new

    def keep(self, depth: int) -> None:
        """Write the level to the table."""
        for word, mask in zip(self._words, _mask_columns(self._level), strict=True):
            found = select(self._level.c.page_id, literal(depth), literal(word), mask)
            self._connection.execute(
                insert(page_depth).from_select(
                    ["page_id", "depth", "word", "mask"], found.where(mask != 0)
                )
            )

    def go_on(self, depth: int) -> None:
        """Follow links from what is new; an origin's bit goes no further than its limit + 1."""
        self._clear(self._wave)
        within = [index for index, limit in enumerate(self._limits) if depth <= limit]
        if within:
            self._follow(self._level, self._masks_of(within), redirect=False)

    def _find_fresh(self) -> bool:
        """Find what of the wave was not seen before; False if there is nothing."""
        wave, seen = self._wave, self._seen
        self._clear(self._fresh)
        new = [
            mask.bitwise_and(func.coalesce(before, 0).bitwise_not())
            for mask, before in zip(_mask_columns(wave), _mask_columns(seen), strict=True)
        ]
        arrived = (
            select(wave.c.page_id, *new)
            .outerjoin(seen, seen.c.page_id == wave.c.page_id)
            .where(or_(*(mask != 0 for mask in new)))
        )
        self._merge(self._fresh, arrived)
        return bool(self._connection.scalar(select(exists(select(self._fresh.c.page_id)))))

    def _follow(self, sources: Table, within: dict[str, int], *, redirect: bool) -> None:
        """Fill the wave with where links lead that this run read; only bits `within` go along."""
        kind: ColumnElement[int] = literal_column(str(int(LinkKind.REDIRECT)))
        leads = and_(
            link.c.from_id == sources.c.page_id,
            link.c.kind == kind if redirect else link.c.kind != kind,
            link.c.last_run.is_(None),
        )
        onward = [mask.bitwise_and(within[mask.name]) for mask in _mask_columns(sources)]
        self._merge(
            self._wave,
            select(link.c.to_id, *onward)
            .select_from(sources)
            .join(page, and_(page.c.id == sources.c.page_id, page.c.read_run == self._run))
            .join(link, leads)
            .where(or_(*(mask != 0 for mask in onward))),
        )

    def _merge(self, table: Table, rows: Rows) -> None:
        """Insert masks, or-ing them with what is there for the same key."""
        if self._connection.dialect.name == "postgresql":
            # PostgreSQL wants each key once per statement, and has the aggregate SQLite lacks.
            key, *masks = rows.subquery().c
            rows = select(key, *map(func.bit_or, masks)).group_by(key)
        else:
            # Without a WHERE, SQLite's parser takes ON CONFLICT for a join's ON.
            rows = rows.where(literal_column("1") == literal_column("1"))
        statement = insert_for(self._connection.dialect, table)
        statement = statement.from_select([column.name for column in table.c], rows)
        merged = {
            mask.name: mask.bitwise_or(statement.excluded[mask.name])
            for mask in _mask_columns(table)
        }
        # Most links bring nothing new to their target: then nothing is written.
        news = or_(*(table.c[name] != value for name, value in merged.items()))
        (key,) = table.primary_key.columns
        self._connection.execute(
            statement.on_conflict_do_update(index_elements=[key.name], set_=merged, where=news)
        )

    def _clear(self, table: Table) -> None:
        self._connection.execute(delete(table))


def _name(word: int) -> str:
    return f"mask_{word}"


def _mask_columns(table: Table) -> list[Column[Any]]:
    return [column for column in table.columns if not column.primary_key]
