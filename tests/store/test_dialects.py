"""Everything the store says can be said to both databases; test_postgresql.py says it."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Dialect, create_engine, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from terrain.store.record import Recorder
from terrain.store.schema import metadata, origin, say_conditions
from terrain.store.statements import (
    BULK,
    CHUNK,
    SIZES,
    Bulk,
    ByKeys,
    Prepared,
    insert_into,
    upsert_into,
)
from terrain.store.supply import Supply
from tests.store.terrains import make_policy

POLICY = make_policy({"a.test": 1}, ["https://a.test/"])
DIALECTS = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}  # type: ignore[no-untyped-call]


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return DIALECTS[request.param]


def statements(holder: object, seen: set[int]) -> Iterator[Prepared]:
    """Every statement that the parts of a recorder keep ready, however deep."""
    if id(holder) in seen:
        return
    seen.add(id(holder))
    if isinstance(holder, Prepared):
        yield holder
    elif isinstance(holder, ByKeys):
        yield from (holder.statement(size) for size in SIZES)
    elif isinstance(holder, Bulk):
        yield holder._single
    elif type(holder).__module__.startswith("terrain.store") and hasattr(holder, "__dict__"):
        for part in vars(holder).values():
            yield from statements(part, seen)


def test_every_statement_compiles_and_takes_its_parameters(dialect: Dialect) -> None:
    recorder = Recorder(POLICY, dialect, 1, first_seq=0, strict=True)
    supply = Supply(recorder.hosts, dialect, "session")
    seen: set[int] = set()
    found = [*statements(recorder, seen), *statements(supply, seen)]
    assert len(found) > 30
    for prepared in found:
        text = prepared.text
        row = tuple(range(len(text.names)))
        parameters = text.parameters(row)
        # Each value that is given arrives, once per place it is used in.
        given = parameters if isinstance(parameters, tuple) else tuple(parameters.values())
        assert set(row) <= set(given)


def test_the_schema_can_be_made(dialect: Dialect) -> None:
    say_conditions(dialect)
    for table in metadata.sorted_tables:
        assert str(CreateTable(table).compile(dialect=dialect))
        for index in table.indexes:
            made = str(CreateIndex(index).compile(dialect=dialect))
            # A partial index that lost its condition would hold every link there is.
            assert index.name is not None
            assert ("WHERE" in made) == index.name.startswith(("ix_link_", "ix_page_"))


def test_a_lookup_has_a_statement_for_every_number_of_keys() -> None:
    assert max(SIZES) == CHUNK
    assert list(SIZES) == sorted(SIZES)


@pytest.mark.parametrize(
    "count", [0, 1, 2, 13, max(BULK) - 1, max(BULK), max(BULK) + 1, 3 * max(BULK) + 7]
)
def test_any_number_of_rows_is_written_and_written_over(count: int) -> None:
    engine = create_engine("sqlite://")
    rows: list[tuple[object, ...]] = [(number, f"origin {number}") for number in range(count)]
    over: list[tuple[object, ...]] = [(key, f"{name}, again") for key, name in rows]
    with engine.begin() as connection:
        origin.create(connection)
        insert_into(origin, engine.dialect).many(connection, rows)
        assert connection.execute(select(origin).order_by(origin.c.id)).all() == rows
        upsert_into(origin, engine.dialect).many(connection, over)
        assert connection.execute(select(origin).order_by(origin.c.id)).all() == over
    engine.dispose()


def test_drivers_with_positions_get_many_rows_in_one_statement(dialect: Dialect) -> None:
    bulk = upsert_into(origin, dialect)
    if bulk._single.text.plain:
        one, three = bulk._sql(1), bulk._sql(3)
        assert one == bulk._single.text.sql
        assert three.count(bulk._row) == 3
        assert three.replace(f"{bulk._row}, {bulk._row}, {bulk._row}", bulk._row) == one
