"""Core statements compiled once and run many times with plain tuples.

SQLAlchemy builds and inspects a parameter dictionary per row; for the fifty links of every page
that costs more than SQLite itself. Compiling once keeps the statements portable and leaves only
the driver's work in the loop. They run on the driver's own cursor: the way through SQLAlchemy's
takes 30 µs, about as long as SQLite takes for ten rows, and holds the interpreter's lock meanwhile.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    Table,
    bindparam,
    literal_column,
    null,
)
from sqlalchemy import select as sa_select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from sqlalchemy.sql.dml import Update

Values = tuple[Any, ...]

BULK = (64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1)
"""Numbers of rows that there is a statement for, most first.

With 64 a row costs a third less than alone, and more gain little. Not one for every number: each
stays prepared, and those of six tables together took 5 MB.
"""

CHUNK = 200
"""Ids per lookup: few enough for every driver, many enough that the call no longer matters."""

_VALUE = r"(?:\?|%s|NULL|\d+)"
"""What may stand in a row of an INSERT: a parameter, or what is the same in every row."""

SIZES = (1, 16, 64, CHUNK)
"""Numbers of ids that there is a statement for."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A compiled statement: what the driver gets, and in which form it wants the parameters."""

    sql: str
    names: tuple[str, ...]
    constants: dict[str, Any]
    positional: bool
    order: tuple[str, ...] | None
    """The driver's order of parameters; None in the usual case, where it is ours."""

    @property
    def plain(self) -> bool:
        """Whether the driver takes our rows as they are."""
        return self.positional and self.order is None and not self.constants

    def parameters(self, row: Values) -> Any:
        if self.positional and self.order is None:
            return row
        values = {**self.constants, **dict(zip(self.names, row, strict=True))}
        if self.order is None:
            return values
        return tuple(values[name] for name in self.order)


class Prepared:
    """One statement for one dialect; its parameters are given by position.

    It is compiled when it is first run: a short crawl does not pay for what it never says.
    """

    def __init__(self, statement: Executable, dialect: Dialect, names: Sequence[str]) -> None:
        self._statement = statement
        self._dialect = dialect
        self._names = tuple(names)

    @cached_property
    def text(self) -> _Text:
        """The statement as the driver gets it."""
        compiled = self._statement.compile(dialect=self._dialect)  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)
        ours = set(self._names)
        constants = {name: value for name, value in compiled.params.items() if name not in ours}
        order = None
        if compiled.positional:
            assert compiled.positiontup is not None
            order = tuple(compiled.positiontup)
            order = None if order == self._names else order
        return _Text(str(compiled), self._names, constants, compiled.positional, order)

    def many(self, connection: Connection, rows: list[Values]) -> None:
        """Run it once per row, in one round trip."""
        if not rows:
            return
        text = self.text
        if text.order is not None or not text.positional:
            rows = [text.parameters(row) for row in rows]
        with _cursor(connection) as cursor:
            cursor.executemany(text.sql, rows)

    def run(self, connection: Connection, row: Values) -> None:
        """Run it with one row of parameters."""
        with _cursor(connection) as cursor:
            cursor.execute(self.text.sql, self.text.parameters(row))

    def all(self, connection: Connection, row: Values) -> list[Values]:
        """Run it with one row of parameters and fetch what it returns."""
        with _cursor(connection) as cursor:
            cursor.execute(self.text.sql, self.text.parameters(row))
            found: list[Values] = cursor.fetchall()
            return found


class ByKeys:
    """A statement `… WHERE key IN (...)`, in chunks of a fixed size."""

    def __init__(self, statement: Any, key: Column[Any], dialect: Dialect) -> None:
        self._key = key
        self._statement = statement
        self._dialect = dialect
        self._sized: dict[int, Prepared] = {}

    def statement(self, size: int) -> Prepared:
        """Return the statement for that many keys."""
        if size not in self._sized:
            names = [f"k{number}" for number in range(size)]
            keys = [bindparam(name, type_=self._key.type) for name in names]
            statement = self._statement.where(self._key.in_(keys))
            self._sized[size] = Prepared(statement, self._dialect, names)
        return self._sized[size]

    def run(self, connection: Connection, keys: Iterable[int]) -> None:
        """Run it for all keys."""
        for chunk in _chunks(keys):
            self.statement(len(chunk)).run(connection, chunk)


class Lookup(ByKeys):
    """`SELECT columns FROM table WHERE key IN (...)`."""

    def __init__(
        self,
        columns: Sequence[Column[Any]],
        key: Column[Any],
        dialect: Dialect,
        *where: ColumnElement[bool],
    ) -> None:
        super().__init__(sa_select(*columns).where(*where), key, dialect)

    def rows(self, connection: Connection, keys: Iterable[int]) -> list[Values]:
        """Fetch the rows of all keys that exist, in no particular order, some perhaps twice."""
        found: list[Values] = []
        for chunk in _chunks(keys):
            found += self.statement(len(chunk)).all(connection, chunk)
        return found


class Bulk:
    """A statement over whole rows, many to a call.

    It is not only that a call costs more than a row: the driver lets go of the interpreter's lock
    for every row it is given singly, and has to wait for its turn to get it back.
    """

    def __init__(self, statement: Executable, dialect: Dialect, columns: Sequence[str]) -> None:
        """`statement` is the one for a single row, whose parameters are `columns`."""
        self._single = Prepared(statement, dialect, columns)
        self._sized: dict[int, str] = {}

    def many(self, connection: Connection, rows: list[Values]) -> None:
        """Run it for all rows."""
        if not self._single.text.plain:
            self._single.many(connection, rows)
            return
        if not rows:
            return
        start = 0
        with _cursor(connection) as cursor:
            for size in BULK:
                while len(rows) - start >= size:
                    some = rows[start : start + size]
                    start += size
                    cursor.execute(self._sql(size), tuple(chain.from_iterable(some)))

    def _sql(self, size: int) -> str:
        """Return the text for that many rows: the one row of parameters, as often as needed.

        To have it compiled would take milliseconds for each size.
        """
        sql = self._sized.get(size)
        if sql is None:
            head, tail = self._single.text.sql.split(self._row, 1)
            sql = self._sized[size] = head + ", ".join([self._row] * size) + tail
        return sql

    @cached_property
    def _row(self) -> str:
        """The parameters of one row, as they stand in the statement."""
        found = re.search(rf"\({_VALUE}(?:, {_VALUE})*\)", self._single.text.sql)
        assert found is not None
        return found[0]


@contextmanager
def _cursor(connection: Connection) -> Iterator[Any]:
    """Give the driver's cursor; its errors become SQLAlchemy's, as everywhere else."""
    cursor = connection.connection.cursor()
    try:
        yield cursor
    except connection.dialect.loaded_dbapi.Error as error:
        raise DBAPIError(None, None, error) from error
    finally:
        cursor.close()


def _chunks(keys: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Cut into numbers that there is a statement for.

    A short chunk is filled up with its last key: few statement texts, few plans.
    """
    wanted = list(keys)
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        size = next(size for size in SIZES if size >= len(chunk))
        yield (*chunk, *[chunk[-1]] * (size - len(chunk)))


def insert_into(
    table: Table, dialect: Dialect, constants: Mapping[str, int | None] | None = None
) -> Bulk:
    """`INSERT` of rows in the table's column order; without the columns that are `constants`.

    To hand a value over costs the driver about as much as to write it.
    """
    fixed = constants or {}
    names = [column.name for column in table.columns if column.name not in fixed]
    values: dict[str, ColumnElement[Any]] = {name: bindparam(name) for name in names}
    for name, value in fixed.items():
        values[name] = null() if value is None else literal_column(str(value))
    return Bulk(insert_for(dialect, table).values(values), dialect, names)


def upsert_into(table: Table, dialect: Dialect) -> Bulk:
    """`INSERT`, or replace all columns but the key where the key is there already.

    No key may come twice in one call: PostgreSQL refuses that.
    """
    names = [column.name for column in table.columns]
    statement = insert_for(dialect, table).values({name: bindparam(name) for name in names})
    keys = [column.name for column in table.primary_key.columns]
    statement = statement.on_conflict_do_update(
        index_elements=keys,
        set_={name: statement.excluded[name] for name in names if name not in keys},
    )
    return Bulk(statement, dialect, names)


def update_by_key(table: Table, dialect: Dialect, columns: Sequence[str]) -> Prepared:
    """`UPDATE columns … WHERE key`: parameters are the columns, then the key's."""
    keys = [column.name for column in table.primary_key.columns]
    statement: Update = table.update().values({name: bindparam(name) for name in columns})
    for key in keys:
        statement = statement.where(table.c[key] == bindparam(f"key_{key}"))
    return Prepared(statement, dialect, [*columns, *(f"key_{key}" for key in keys)])


def delete_by_key(table: Table, dialect: Dialect) -> Prepared:
    """`DELETE … WHERE key`: the parameters are the key's columns."""
    keys = [column.name for column in table.primary_key.columns]
    statement = table.delete()
    for key in keys:
        statement = statement.where(table.c[key] == bindparam(f"key_{key}"))
    return Prepared(statement, dialect, [f"key_{key}" for key in keys])


def insert_for(dialect: Dialect, table: Table) -> Any:
    """Return the dialect's own INSERT: both have ON CONFLICT, SQLAlchemy has no common word."""
    if dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    return sqlite.insert(table)
