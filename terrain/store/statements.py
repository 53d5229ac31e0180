"""Core statements compiled once and run many times with plain tuples.

SQLAlchemy builds and inspects a parameter dictionary per row; for the fifty links of every page
that costs more than SQLite itself. Compiling once keeps the statements portable and leaves only
the driver's work in the loop.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, ColumnElement, Connection, Dialect, Executable, Table, bindparam
from sqlalchemy import select as sa_select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from sqlalchemy.sql.dml import Update

Values = tuple[Any, ...]

CHUNK = 200
"""Ids per lookup: few enough for every driver, many enough that the call no longer matters."""


class Prepared:
    """One statement, compiled for one dialect; its parameters are given by position."""

    def __init__(self, statement: Executable, dialect: Dialect, names: Sequence[str]) -> None:
        compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)
        self.sql = str(compiled)
        self._names = tuple(names)
        self._constants = {
            name: value for name, value in compiled.params.items() if name not in self._names
        }
        # None is the usual case, kept free of any per-row work: the driver's order is ours.
        self._order: list[str] | None = None
        if compiled.positional:
            assert compiled.positiontup is not None
            order = list(compiled.positiontup)
            self._order = None if order == list(self._names) else order
        self._positional = compiled.positional

    def _driver(self, row: Values) -> Any:
        if self._positional and self._order is None:
            return row
        values = {**self._constants, **dict(zip(self._names, row, strict=True))}
        if self._order is None:
            return values
        return tuple(values[name] for name in self._order)

    def many(self, connection: Connection, rows: list[Values]) -> None:
        """Run it once per row, in one round trip."""
        if not rows:
            return
        if self._order is not None or not self._positional:
            rows = [self._driver(row) for row in rows]
        connection.exec_driver_sql(self.sql, rows)

    def all(self, connection: Connection, row: Values) -> Sequence[Any]:
        """Run it with one row of parameters and fetch what it returns."""
        return connection.exec_driver_sql(self.sql, self._driver(row)).fetchall()


class Lookup:
    """`SELECT columns FROM table WHERE key IN (...)`, in chunks of a fixed size."""

    def __init__(
        self,
        columns: Sequence[Column[Any]],
        key: Column[Any],
        dialect: Dialect,
        *where: ColumnElement[bool],
    ) -> None:
        def prepared(size: int) -> Prepared:
            names = [f"k{number}" for number in range(size)]
            condition = key.in_([bindparam(name, type_=key.type) for name in names])
            return Prepared(sa_select(*columns).where(condition, *where), dialect, names)

        self._chunk = prepared(CHUNK)
        self._small = prepared(16)
        self._one = prepared(1)

    def rows(self, connection: Connection, keys: Iterable[int]) -> list[Any]:
        """Fetch the rows of all keys that exist, in no particular order."""
        wanted = list(keys)
        found: list[Any] = []
        for start in range(0, len(wanted), CHUNK):
            chunk = wanted[start : start + CHUNK]
            if len(chunk) == 1:
                found.extend(self._one.all(connection, (chunk[0],)))
                continue
            # A short chunk is filled up with its last key: one statement text, one plan.
            statement, size = (self._small, 16) if len(chunk) <= 16 else (self._chunk, CHUNK)
            chunk.extend([chunk[-1]] * (size - len(chunk)))
            found.extend(statement.all(connection, tuple(chunk)))
        return found


def insert_into(table: Table, dialect: Dialect, *, ignore: bool = False) -> Prepared:
    """`INSERT` of whole rows in the table's column order; `ignore` keeps what is there."""
    names = [column.name for column in table.columns]
    statement = insert_for(dialect, table).values({name: bindparam(name) for name in names})
    if ignore:
        statement = statement.on_conflict_do_nothing()
    return Prepared(statement, dialect, names)


def upsert_into(table: Table, dialect: Dialect) -> Prepared:
    """`INSERT`, or replace all columns but the key where the key is there already."""
    names = [column.name for column in table.columns]
    statement = insert_for(dialect, table).values({name: bindparam(name) for name in names})
    keys = [column.name for column in table.primary_key.columns]
    statement = statement.on_conflict_do_update(
        index_elements=keys,
        set_={name: statement.excluded[name] for name in names if name not in keys},
    )
    return Prepared(statement, dialect, names)


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
    module = postgresql if dialect.name == "postgresql" else sqlite
    return module.insert(table)
