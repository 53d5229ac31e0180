"""A crawl as a process that things are done to: signals, a full disk, a held database, clocks."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.blackbox.crawls import command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Self

PATIENCE = 180.0
"""Seconds without any progress after which a crawl counts as stuck; generous, for busy machines."""

FAKETIME = tuple(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
"""Debian's libfaketime, if it is installed: `apt-get install faketime`."""

HOLDER = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
connection.execute(sys.argv[2])
connection.execute("SELECT count(*) FROM runs").fetchall()
print("held", flush=True)
time.sleep(float(sys.argv[3]))
"""
"""Another program that sits on the database: a writer's lock or a reader's snapshot."""


class Stuck(AssertionError):  # noqa: N818 - it says what the crawl is
    """The crawl did nothing for PATIENCE seconds, although it could."""


class Clock:
    """The wall clock of a crawl, moved from outside; its monotonic clock goes on as ever."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.jumps = 0
        self.set(0)
        self.jumps = 0

    def set(self, seconds: int) -> None:
        """Be so many seconds ahead of (or behind) the real time, from now on."""
        self._file.write_text(f"{seconds:+d}\n", encoding="ascii")
        self.jumps += 1

    @property
    def environment(self) -> dict[str, str]:
        """What makes a process read this clock."""
        if not FAKETIME:
            return {}
        return {
            "LD_PRELOAD": str(FAKETIME[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Read again at every call, so that a jump is a jump.
            "FAKETIME_NO_CACHE": "1",
        }


class Crawl:
    """One process of a crawl; does not outlive its `with` block."""

    def __init__(self, config: Path, *options: str, clock: Clock | None = None) -> None:
        self._config = config
        self._options = options or ("-q",)
        self._environment = {**os.environ, **({} if clock is None else clock.environment)}
        self._said: str | None = None

    def __enter__(self) -> Self:
        # A pipe and not a file: it must not fall under the limit that `fill` sets.
        self.process = subprocess.Popen(
            command(self._config, *self._options),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self._config.parent,
            env=self._environment,
            start_new_session=True,
            text=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        for leftover in Path("/dev/shm").glob(f"*faketime*_{self.process.pid}"):
            leftover.unlink(missing_ok=True)

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def stop_for(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT after a while."""
        self.signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.signal(signal.SIGCONT)

    def fill(self) -> None:
        """Let every file it writes be full from now on."""
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (4096, 4096))

    def wait(self) -> tuple[int, str]:
        """Wait for the end: the exit code and what it said."""
        if self._said is None:
            try:
                _, self._said = self.process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                _, self._said = self.process.communicate()
                raise Stuck(f"the crawl does not end; it said: {self._said}") from None
        return self.process.returncode, self._said

    def wait_for(self, count: Callable[[], int], target: int) -> bool:
        """Wait until the server has answered so many requests; False if the crawl ends first."""
        seen, since = count(), time.monotonic()
        while seen < target:
            if self.ended:
                return False
            time.sleep(0.005)
            now = count()
            if now > seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                raise Stuck(f"no request for {PATIENCE:.0f} s")
        return True


@contextmanager
def held(database: Path, begin: str, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Let another program hold the database, with `BEGIN` as a reader or `BEGIN IMMEDIATE`."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(database), begin, str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        # Nothing comes if the crawl has only just made the file: then there is nothing to hold.
        holder.stdout.readline()
        yield holder
    finally:
        holder.kill()
        holder.communicate()


@contextmanager
def full(directory: Path) -> Iterator[None]:
    """Let the file system of a directory have no room left: for small ones of our own only."""
    filler = directory / "filler"
    with filler.open("wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while file.write(bytes(65536)):
                pass
        with contextlib.suppress(OSError):
            while file.write(bytes(512)):
                pass
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def small_file_system(directory: Path, size: str = "48m") -> Iterator[bool]:
    """Mount a file system of its own there, if we may; tells whether it is one."""
    directory.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "terrain-chaos", str(directory)]
    mounted = (
        os.geteuid() == 0 and not subprocess.run(mount, check=False, capture_output=True).returncode
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(directory)], check=False, capture_output=True)


def committed(database: Path) -> dict[str, tuple[str, str | None]]:
    """Return the pages that are done for good, with state and content; empty if none can be yet."""
    done = "SELECT url, state, content_hash FROM pages WHERE state IN ({})"
    states = "'processed', 'dead_link', 'content_mismatch'"
    if not database.exists():
        return {}
    with contextlib.closing(sqlite3.connect(database, timeout=60)) as connection:
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise AssertionError(f"{database} is damaged")
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "pages" not in names:
            return {}
        return {url: (state, text) for url, state, text in connection.execute(done.format(states))}
