"""One crawl per database: locks that the system itself lets go of when a process dies."""

import fcntl
import os
import socket
from pathlib import Path
from typing import IO

from sqlalchemy import URL, Connection, text

from terrain.errors import DatabaseInUse, DatabaseUnwritable
from terrain.store.engine import APPLICATION_ID, make_engine


class CrawlLock:
    """What keeps a second crawl away from a database; made free, to be acquired."""

    def __init__(self, url: URL) -> None:
        self._lock: FileLock | ServerLock
        if url.get_backend_name() == "sqlite":
            self._lock = FileLock(url.database or ":memory:")
        else:
            self._lock = ServerLock(url)

    def acquire(self) -> None:
        """Take the lock, or raise `DatabaseInUse` with the pid of its holder."""
        self._lock.acquire()

    def release(self) -> None:
        """Let go."""
        self._lock.release()


class FileLock:
    """An exclusive lock on `<database>.lock`, which holds the pid of the crawl that has it.

    A lock on a file beside the database rather than on the database: readers stay free, and
    SQLite's own locks (which POSIX drops when *any* handle is closed) are left alone. Nothing has
    to be cleaned up after a crash; a stale file without a lock means nothing.
    """

    def __init__(self, database: str) -> None:
        self._database = database
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Take the lock, or raise `DatabaseInUse` with the pid of its holder."""
        if self._database == ":memory:":
            return
        # Resolved: a database has one lock, by whatever name it is called.
        path = Path(f"{Path(self._database).resolve()}.lock")
        try:
            file = path.open("a+", encoding="ascii")
        except OSError as error:
            raise DatabaseUnwritable(
                f"{self._database}: cannot be written ({error.strerror}: {path}); "
                "check that the directory exists and its permissions"
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            pid = file.read().strip() or "unknown"
            file.close()
            raise _in_use(self._database, f"pid {pid}") from error
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file = file

    def release(self) -> None:
        """Let go; the file stays, because removing it would race with the next holder."""
        if self._file is not None:
            self._file.close()
            self._file = None


class ServerLock:
    """An advisory lock in PostgreSQL, held by a connection that does nothing else.

    The server lets go of it when the connection ends, however it ends. The connection's name says
    who holds it.
    """

    def __init__(self, url: URL) -> None:
        self._engine = make_engine(url)
        self._connection: Connection | None = None

    def acquire(self) -> None:
        """Take the lock, or raise `DatabaseInUse` with the pid of its holder."""
        try:
            # Outside any transaction: an idle one would hold up the server's housekeeping.
            self._take(self._engine.connect().execution_options(isolation_level="AUTOCOMMIT"))
        except BaseException:
            self.release()
            raise

    def _take(self, connection: Connection) -> None:
        self._connection = connection
        name = f"terrain crawl, pid {os.getpid()} on {socket.gethostname()}"
        naming = text("SELECT set_config('application_name', :name, false)")
        connection.execute(naming, {"name": name[:63]})
        taking = text("SELECT pg_try_advisory_lock(:key)")
        if not connection.scalar(taking, {"key": APPLICATION_ID}):
            raise _in_use(self._engine.url.render_as_string(), self._holder(connection))

    def _holder(self, connection: Connection) -> str:
        name = connection.scalar(
            text(
                """SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
                    WHERE l.locktype = 'advisory' AND l.granted AND l.objid = :key
                      AND a.datname = current_database()"""
            ),
            {"key": APPLICATION_ID},
        )
        return str(name or "pid unknown")

    def release(self) -> None:
        """Let go by leaving."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._engine.dispose()


def _in_use(database: str, holder: str) -> DatabaseInUse:
    return DatabaseInUse(
        f"{database}: in use by another crawl ({holder}); "
        "wait for it, stop it, or name another output.database-path"
    )
