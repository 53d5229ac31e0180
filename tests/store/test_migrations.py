"""The migrations make the schema that the code speaks of, from nothing, and ship in the wheel."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect, text

from terrain.errors import NewerSchema, NotADatabase
from terrain.store import Store
from terrain.store.engine import APPLICATION_ID, database_url, make_engine
from terrain.store.migrate import alembic_config, migrate, require_ours, revisions, upgrade
from terrain.store.schema import metadata
from terrain.store.views import VIEWS, refresh_views
from tests.store.terrains import make_policy

ROOT = Path(__file__).parents[2]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = make_engine(database_url(tmp_path / "terrain.db"))
    yield engine
    engine.dispose()


def tables(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


def test_there_is_one_line_of_migrations_without_gaps() -> None:
    script = ScriptDirectory.from_config(alembic_config())
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert len(script.get_heads()) == 1
    assert sorted(revisions) == [f"{number:04d}" for number in range(1, len(revisions) + 1)]


def test_their_files_are_named_after_their_revisions() -> None:
    script = ScriptDirectory.from_config(alembic_config())
    assert revisions() == sorted(revision.revision for revision in script.walk_revisions())
    assert revisions()[-1] == script.get_current_head()


def schema_of(engine: Engine) -> set[tuple[str, str, str]]:
    """Everything the file says about itself; the order of columns counts, that of words not."""
    with engine.connect() as connection:
        query = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'view'"
        return {
            (row.type, row.name, " ".join(sorted(row.sql.replace(",", " ").split())))
            for row in connection.execute(text(query))
        }


def test_a_new_database_is_what_they_would_make_of_it(engine: Engine, tmp_path: Path) -> None:
    upgrade(engine, "terrain.db")
    migrated = make_engine(database_url(tmp_path / "migrated.db"))
    with migrated.begin() as connection:
        migrate(connection)
    with engine.connect() as one, migrated.connect() as other:
        for table in (*metadata.tables, "alembic_version"):
            columns = [inspect(each).get_columns(table) for each in (one, other)]
            assert list(map(str, columns[0])) == list(map(str, columns[1])), table
        version = text("SELECT version_num FROM alembic_version")
        assert one.scalar(version) == other.scalar(version)
    assert schema_of(engine) == schema_of(migrated)
    migrated.dispose()


def test_they_make_exactly_the_schema_of_the_code(engine: Engine) -> None:
    with engine.begin() as connection:
        migrate(connection)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_a_new_database_has_all_tables_and_views_and_says_whose_it_is(engine: Engine) -> None:
    upgrade(engine, "terrain.db")
    with engine.connect() as connection:
        assert tables(connection) == {*metadata.tables, "alembic_version"}
        assert set(inspect(connection).get_view_names()) == set(VIEWS)
        assert connection.scalar(text("PRAGMA application_id")) == APPLICATION_ID
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"


def test_upgrading_twice_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    upgrade(engine, "terrain.db")
    engine.dispose()
    before = (tmp_path / "terrain.db").read_bytes()
    upgrade(engine, "terrain.db")
    engine.dispose()
    assert (tmp_path / "terrain.db").read_bytes() == before


def test_they_can_be_taken_back(engine: Engine) -> None:
    upgrade(engine, "terrain.db")
    config = alembic_config()
    with engine.begin() as connection:
        for name in VIEWS:
            connection.execute(text(f"DROP VIEW {name}"))
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        assert tables(connection) == {"alembic_version"}


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Connection) -> None:
        raise RuntimeError("at the last step")

    with monkeypatch.context() as broken:
        broken.setattr("terrain.store.migrate.refresh_views", fail)
        with pytest.raises(RuntimeError, match="at the last step"):
            upgrade(engine, "terrain.db")
    with engine.connect() as connection:
        assert tables(connection) == set()
    upgrade(engine, "terrain.db")


def test_views_are_made_anew_when_their_text_has_changed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(engine, "terrain.db")
    monkeypatch.setitem(VIEWS, "frontier", "SELECT page_id, 7 AS priority FROM frontier_entry")
    with engine.begin() as connection:
        refresh_views(connection)
        columns = [column["name"] for column in inspect(connection).get_columns("frontier")]
    assert columns == ["page_id", "priority"]


class TestReading:
    """Readers change nothing, so they refuse what they cannot read as it is."""

    def test_no_terrain_yet(self, engine: Engine) -> None:
        with (
            engine.connect() as connection,
            pytest.raises(NotADatabase, match=r"^x\.db: holds no terrain yet; run a crawl first$"),
        ):
            require_ours(connection, "x.db")

    def test_a_schema_that_is_newer(self, engine: Engine) -> None:
        upgrade(engine, "x.db")
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
            with pytest.raises(NewerSchema, match="upgrade terrain to read it"):
                require_ours(connection, "x.db")

    def test_the_schema_of_now(self, engine: Engine) -> None:
        upgrade(engine, "x.db")
        with engine.connect() as connection:
            require_ours(connection, "x.db")


SCRIPT = """
import sys
from pathlib import Path
import terrain
from terrain.store.migrate import migrations_directory, upgrade
from terrain.store.engine import database_url, make_engine
assert Path(terrain.__file__).is_relative_to(sys.argv[1]), terrain.__file__
assert migrations_directory() == Path(sys.argv[1]) / "terrain" / "migrations"
engine = make_engine(database_url(Path(sys.argv[2])))
upgrade(engine, "terrain.db")
engine.dispose()
"""


def test_they_ship_in_the_wheel_and_work_from_there(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(unpacked)
    ours = {path.name for path in (ROOT / "migrations" / "versions").glob("*.py")}
    assert {f"terrain/migrations/versions/{name}" for name in ours} <= names
    assert {"terrain/migrations/env.py", "terrain/py.typed"} <= names
    assert not any(name.startswith(("tests/", "migrations/")) for name in names)
    subprocess.run(
        [sys.executable, "-c", SCRIPT, str(unpacked), str(tmp_path / "terrain.db")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        check=True,
    )
    # What the wheel's code made, the code here takes for its own.
    Store(tmp_path / "terrain.db", make_policy({"a.test": 1}, ["https://a.test/"])).close()
