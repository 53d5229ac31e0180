"""One crawl per database: a second one is refused with the pid of the first (design 3.6)."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from terrain.errors import DatabaseInUse
from terrain.store import Store
from tests.store.terrains import make_policy

POLICY = make_policy({"a.test": 2}, ["https://a.test/"])

HOLDER = """
import sys
from terrain.store import Store
from tests.store.terrains import make_policy
store = Store(sys.argv[1], make_policy({"a.test": 2}, ["https://a.test/"]))
store.open_run()
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that has the database open."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "terrain.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.kill()


def test_a_second_crawl_is_refused_with_the_pid_of_the_first(
    holder: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    path = tmp_path / "terrain.db"
    with pytest.raises(DatabaseInUse) as caught:
        Store(path, POLICY)
    assert str(caught.value) == (
        f"{path}: in use by another crawl (pid {holder.pid}); "
        "wait for it, stop it, or name another output.database-path"
    )


def test_by_whatever_name_it_is_called(holder: "subprocess.Popen[str]", tmp_path: Path) -> None:
    alias = tmp_path / "alias.db"
    alias.symlink_to(tmp_path / "terrain.db")
    with pytest.raises(DatabaseInUse, match=f"pid {holder.pid}"):
        Store(alias, POLICY)
    with pytest.raises(DatabaseInUse, match=f"pid {holder.pid}"):
        Store(os.path.relpath(tmp_path / "terrain.db"), POLICY)


def test_the_lock_goes_with_a_process_that_is_killed(
    holder: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait(30)
    store = Store(tmp_path / "terrain.db", POLICY)
    try:
        assert store.open_run().resumed
    finally:
        store.close()


def test_a_crawl_that_ended_leaves_the_database_to_the_next(tmp_path: Path) -> None:
    for _ in range(2):
        Store(tmp_path / "terrain.db", POLICY).close()


def test_a_second_store_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    store = Store(tmp_path / "terrain.db", POLICY)
    try:
        with pytest.raises(DatabaseInUse, match=f"pid {os.getpid()}"):
            Store(tmp_path / "terrain.db", POLICY)
    finally:
        store.close()
