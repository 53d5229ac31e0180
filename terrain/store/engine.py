"""Opening the database: engines, SQLite's settings, and the driver's errors in our words."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from terrain.errors import DatabaseUnwritable, DiskFull, NotADatabase, StoreError

CACHE_KIB = 24 * 1024
"""SQLite's page cache: part of the bounded memory, whatever the size of the terrain."""

BUSY_TIMEOUT_MS = 60_000
"""How long a writer waits for a reader's checkpoint or a backup that holds the file."""

READER_CACHE_KIB = 8 * 1024
"""Page cache of a reader: reports read most things once, and sort in pieces of this size."""

WAL_BYTES = 128 * 1024 * 1024
"""How long the write-ahead log grows before it is copied back into the database."""

APPLICATION_ID = 0x54455252
"""'TERR' in SQLite's header: whose file this is."""


def database_url(location: str | Path | URL) -> URL:
    """Return the SQLAlchemy URL for a file path or a URL."""
    if isinstance(location, Path) or "://" not in str(location):
        return URL.create("sqlite", database=str(location))
    url = make_url(location)
    # Without a name SQLAlchemy means psycopg2, the driver before the present one.
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def make_engine(url: URL, *, readonly: bool = False) -> Engine:
    """Return an engine whose transactions take the write lock at once (`BEGIN IMMEDIATE`).

    Starting as a reader and becoming a writer later is how SQLite gets into `database is locked`.
    """
    if url.get_backend_name() != "sqlite":
        try:
            return create_engine(url, pool_pre_ping=True)
        except (ModuleNotFoundError, NoSuchModuleError) as error:
            raise StoreError(
                f"{url.render_as_string()}: no driver for it here ({error}); "
                "install psycopg, or use output.database-path for SQLite"
            ) from error
    path = url.database or ":memory:"
    arguments: dict[str, Any] = {
        "check_same_thread": False,
        "timeout": BUSY_TIMEOUT_MS / 1000,
        # One for every number of rows that a bulk statement may have (store/statements.py).
        "cached_statements": 256,
    }
    if readonly:
        # Not mode=ro: a reader of a WAL database must be able to make the shared memory file.
        arguments["uri"] = True
        url = url.set(database=f"file:{_quoted(path)}?mode=rw", query={"uri": "true"})
    engine = create_engine(url, connect_args=arguments)

    @event.listens_for(engine, "connect")
    def _connected(connection: sqlite3.Connection, _record: object) -> None:
        # The driver's own idea of when to begin a transaction stays out of the way.
        connection.isolation_level = None
        settings = {
            # Safe against a kill at any instant; a power cut may lose the last commits, no more.
            "synchronous": "NORMAL",
            "cache_size": -CACHE_KIB,
            "foreign_keys": "ON",
            "temp_store": "FILE",
            # Ids are hashes, so every page touches other leaves: in a long log the same leaf is
            # copied back once for many changes. A fifth of the cost of a page, for 128 MB of disk.
            "wal_autocheckpoint": WAL_BYTES // 4096,
            # A reader that holds up checkpoints must not leave a huge log behind for ever.
            "journal_size_limit": WAL_BYTES,
        }
        if readonly:
            settings = {"query_only": "ON", "cache_size": -READER_CACHE_KIB}
        for name, value in settings.items():
            connection.execute(f"PRAGMA {name} = {value}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN" if readonly else "BEGIN IMMEDIATE")

    return engine


def require_writable(url: URL) -> None:
    """Refuse a file that can be no database, or not be written, before anything is made beside it.

    SQLite opens a read-only file without a word, and fails at the first page that is recorded.
    """
    if url.get_backend_name() != "sqlite" or url.database in {None, "", ":memory:"}:
        return
    path = Path(str(url.database))
    if path.is_dir():
        raise NotADatabase(f"{path}: is a directory; name a file in it as output.database-path")
    if path.exists() and not os.access(path, os.W_OK, effective_ids=True):
        raise DatabaseUnwritable(f"{path}: cannot be written; check the permissions of the file")


def use_wal(engine: Engine) -> None:
    """Let readers and the writer work side by side. It is written into the file, so do it once.

    Not at every connection: the file may turn out to be another program's, and then stays as it is.
    """
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            driver = connection.connection.dbapi_connection
            assert driver is not None
            driver.execute("PRAGMA journal_mode = WAL")


def _quoted(path: str) -> str:
    """Quote the characters that mean something in a `file:` URI."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


@contextmanager
def errors_in_our_words(url: URL) -> Iterator[None]:
    """Turn what the driver says about the file into one sentence with a remedy."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        translated = _translated(error.orig if isinstance(error, DBAPIError) else error, url)
        if translated is None:
            raise
        raise translated from error


def _translated(error: BaseException | None, url: URL) -> StoreError | None:
    name = url.render_as_string(hide_password=True) if url.host else str(url.database)
    if url.get_backend_name() != "sqlite":
        words = " ".join(str(error).split())[:300]
        return StoreError(f"{name}: the database server refused or did not answer ({words})")
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if primary in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return NotADatabase(
            f"{name}: is not a SQLite database or is damaged ({error}); "
            "name another output.database-path or restore the file from a copy"
        )
    if primary in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
        return DatabaseUnwritable(
            f"{name}: cannot be written ({error}); "
            "check the permissions of the file and of its directory"
        )
    if primary in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return DiskFull(
            f"{name}: the disk is full or failing ({error}); everything committed is safe: "
            "make room and start again to go on"
        )
    if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreError(
            f"{name}: is held by another program for more than {BUSY_TIMEOUT_MS // 1000} s "
            f"({error}); close it and start again to go on"
        )
    return None
