"""Bringing a database to this program's schema, at start-up and in code.

The migrations lie in `migrations/` at the top of the repository and in `terrain/migrations/` of an
installed package.
"""

import logging
from pathlib import Path

from alembic import command
from alembic.config import Config as AlembicConfig
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, inspect, text

import terrain
from terrain.errors import NewerSchema, NotADatabase
from terrain.store.engine import APPLICATION_ID, use_wal
from terrain.store.views import refresh_views

_PACKAGE = Path(terrain.__file__).parent


def migrations_directory() -> Path:
    """Return where the migrations are, installed or in a checkout."""
    installed = _PACKAGE / "migrations"
    return installed if installed.is_dir() else _PACKAGE.parent / "migrations"


def alembic_config() -> AlembicConfig:
    """Return Alembic's configuration; there is no alembic.ini to keep in step."""
    config = AlembicConfig()
    config.set_main_option("script_location", str(migrations_directory()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def upgrade(engine: Engine, name: str) -> None:
    """Bring the database to the newest schema, in one transaction, or refuse it untouched."""
    config = alembic_config()
    script = ScriptDirectory.from_config(config)
    with engine.begin() as connection:
        _refuse_strangers(connection, name)
        current = MigrationContext.configure(connection).get_current_revision()
        if current is not None:
            try:
                script.get_revision(current)
            except CommandError as error:
                raise NewerSchema(
                    f"{name}: was written by a newer terrain (schema {current}); "
                    "upgrade terrain, or name another output.database-path"
                ) from error
    use_wal(engine)
    with engine.begin() as connection:
        if current != script.get_current_head():
            # Alembic tells of every step; that is for a developer, not for a crawl's log.
            logging.getLogger("alembic").setLevel(logging.WARNING)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        refresh_views(connection)
        if connection.dialect.name == "sqlite":
            _sign(connection)


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
    script = ScriptDirectory.from_config(alembic_config())
    current = MigrationContext.configure(connection).get_current_revision()
    head = script.get_current_head()
    if current == head:
        return
    if current is None:
        raise NotADatabase(f"{name}: holds no terrain yet; run a crawl first")
    known = {revision.revision for revision in script.walk_revisions()}
    if current in known:
        raise NewerSchema(
            f"{name}: has an older schema ({current}); the next crawl brings it up to date"
        )
    raise NewerSchema(
        f"{name}: was written by a newer terrain (schema {current}); upgrade terrain to read it"
    )
