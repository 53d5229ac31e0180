"""One crawl per database: a lock that the system itself lets go of when a process dies."""

import fcntl
import os
from pathlib import Path
from typing import IO

from sqlalchemy import URL

from terrain.errors import DatabaseInUse, DatabaseUnwritable


class CrawlLock:
    """An exclusive lock on `<database>.lock`, which holds the pid of the crawl that has it.

    A lock on a file beside the database rather than on the database: readers stay free, and
    SQLite's own locks (which POSIX drops when *any* handle is closed) are left alone. Nothing has
    to be cleaned up after a crash; a stale file without a lock means nothing.
    """

    def __init__(self, url: URL) -> None:
        self._database = url.database or ""
        self._file: IO[str] | None = None
        self._path: Path | None = None
        if url.get_backend_name() == "sqlite" and self._database not in {"", ":memory:"}:
            # Resolved: a database has one lock, by whatever name it is called.
            self._path = Path(f"{Path(self._database).resolve()}.lock")

    def acquire(self) -> None:
        """Take the lock, or raise `DatabaseInUse` with the pid of its holder."""
        if self._path is None:
            return
        try:
            file = self._path.open("a+", encoding="ascii")
        except OSError as error:
            raise DatabaseUnwritable(
                f"{self._database}: cannot be written ({error.strerror}: {self._path}); "
                "check that the directory exists and its permissions"
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            pid = file.read().strip() or "unknown"
            file.close()
            raise DatabaseInUse(
                f"{self._database}: in use by another crawl (pid {pid}); "
                "wait for it, stop it, or name another output.database-path"
            ) from error
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
