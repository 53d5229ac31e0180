"""Bringing a database to this program's schema, at start-up and in code.

The migrations lie in `migrations/` at the top of the repository and in `terrain/migrations/` of an
installed package. An older database goes through them; a new one is made as they would leave it
(a test compares), without Alembic, which takes longer to load than a small crawl to start.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table, inspect, select, text

import terrain
from terrain.errors import NewerSchema, NotADatabase
from terrain.store.engine import APPLICATION_ID, use_wal
from terrain.store.schema import metadata, say_conditions
from terrain.store.views import refresh_views

if TYPE_CHECKING:
    from alembic.config import Config as AlembicConfig
    from sqlalchemy import Connection, Engine

_PACKAGE = Path(terrain.__file__).parent

_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Alembic's own table: which revision the schema is at."""


def migrations_directory() -> Path:
    """Return where the migrations are, installed or in a checkout."""
    installed = _PACKAGE / "migrations"
    return installed if installed.is_dir() else _PACKAGE.parent / "migrations"


def revisions() -> list[str]:
    """Return the revisions from the first to the newest: their files' names begin with them."""
    files = (migrations_directory() / "versions").glob("[0-9]*.py")
    return sorted(path.name.partition("_")[0] for path in files)


def alembic_config() -> AlembicConfig:
    """Return Alembic's configuration; there is no alembic.ini to keep in step."""
    from alembic.config import Config as AlembicConfig

    config = AlembicConfig()
    config.set_main_option("script_location", str(migrations_directory()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def upgrade(engine: Engine, name: str) -> None:
    """Bring the database to the newest schema, in one transaction, or refuse it untouched."""
    known = revisions()
    with engine.begin() as connection:
        _refuse_strangers(connection, name)
        current = _revision(connection)
        if current is not None and current not in known:
            raise NewerSchema(
                f"{name}: was written by a newer terrain (schema {current}); "
                "upgrade terrain, or name another output.database-path"
            )
    use_wal(engine)
    with engine.begin() as connection:
        if current is None:
            _create(connection, known[-1])
        elif current != known[-1]:
            migrate(connection)
        refresh_views(connection)
        if connection.dialect.name == "sqlite":
            _sign(connection)


def migrate(connection: Connection) -> None:
    """Run the migrations that the database has not seen yet."""
    from alembic import command

    # Alembic tells of every step; that is for a developer, not for a crawl's log.
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _create(connection: Connection, revision: str) -> None:
    """Make an empty database what all migrations together would make of it."""
    say_conditions(connection.dialect)
    metadata.create_all(connection, checkfirst=False)
    # Emptied by a downgrade, or left by a program that stopped in between, it may be there.
    _VERSION.create(connection, checkfirst=True)
    connection.execute(_VERSION.insert().values(version_num=revision))


def _revision(connection: Connection) -> str | None:
    """Return the revision of a database, None for an empty one."""
    if not inspect(connection).has_table(_VERSION.name):
        return None
    return connection.scalar(select(_VERSION.c.version_num))


def _sign(connection: Connection) -> None:
    """Write into the file whose it is, unless it says so already."""
    if connection.scalar(text("PRAGMA application_id")) != APPLICATION_ID:
        connection.execute(text(f"PRAGMA application_id = {APPLICATION_ID}"))


def _refuse_strangers(connection: Connection, name: str) -> None:
    """Refuse a database that another program made: adding tables to it would be rude."""
    tables = set(inspect(connection).get_table_names())
    ours = {"alembic_version", "runs", "page"} <= tables
    if tables and not ours:
        some = ", ".join(sorted(tables)[:3])
        raise NotADatabase(
            f"{name}: is a database of another program (it has the tables {some}); "
            "name another output.database-path"
        )


def require_ours(connection: Connection, name: str) -> None:
    """Refuse to read a database that is not a terrain of this schema."""
    _refuse_strangers(connection, name)
    known = revisions()
    current = _revision(connection)
    if current == known[-1]:
        return
    if current is None:
        raise NotADatabase(f"{name}: holds no terrain yet; run a crawl first")
    if current in known:
        raise NewerSchema(
            f"{name}: has an older schema ({current}); the next crawl brings it up to date"
        )
    raise NewerSchema(
        f"{name}: was written by a newer terrain (schema {current}); upgrade terrain to read it"
    )
