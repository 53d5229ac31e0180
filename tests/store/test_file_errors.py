"""Files that cannot be a terrain, and disks that cannot hold one: a clear line, nothing damaged."""

import hashlib
import os
import resource
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import event, text

from terrain.errors import DatabaseUnwritable, DiskFull, NewerSchema, NotADatabase, StoreError
from terrain.store import Policy, Store
from tests.store.integrity import check_integrity
from tests.store.terrains import Terrain, make_policy, processed

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
POLICY = make_policy({"a.test": 2}, [HOME])
NOBODY = 65534


def refused(location: Path | str) -> StoreError:
    """Open it, which must fail with one line that names the file."""
    with pytest.raises(StoreError) as caught:
        Store(location, POLICY)
    message = str(caught.value)
    assert "\n" not in message
    assert str(location) in message
    return caught.value


def fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def untouched(path: Path) -> Iterator[None]:
    before = fingerprint(path)
    yield
    assert fingerprint(path) == before
    assert not list(path.parent.glob(f"{path.name}-*"))  # no log left beside it either


class TestNotATerrain:
    def test_random_bytes(self, tmp_path: Path) -> None:
        path = tmp_path / "picture.png"
        path.write_bytes(Random(1).randbytes(20_000))
        with untouched(path):
            error = refused(path)
        assert isinstance(error, NotADatabase)
        assert "is not a SQLite database or is damaged" in str(error)

    @pytest.mark.parametrize("mode", ["delete", "wal"])
    def test_a_database_of_another_program(self, tmp_path: Path, mode: str) -> None:
        path = tmp_path / "places.sqlite"
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
        connection.execute("INSERT INTO bookmarks VALUES ('https://example.com/')")
        connection.commit()
        connection.close()
        with untouched(path):
            error = refused(path)
        assert isinstance(error, NotADatabase)
        assert "another program (it has the tables bookmarks)" in str(error)

    def test_a_newer_schema(self, make_terrain: Make, tmp_path: Path) -> None:
        terrain = make_terrain(POLICY)
        terrain.crash()
        path = tmp_path / "newer.db"
        path.write_bytes((tmp_path / "terrain-0.db").read_bytes())
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.close()
        with untouched(path):
            error = refused(path)
        assert isinstance(error, NewerSchema)
        assert "was written by a newer terrain (schema 9999); upgrade terrain" in str(error)

    def test_a_damaged_terrain(self, make_terrain: Make, tmp_path: Path) -> None:
        terrain = make_terrain(POLICY)
        terrain.crash()
        path = tmp_path / "damaged.db"
        content = bytearray((tmp_path / "terrain-0.db").read_bytes())
        content[100:4096] = Random(2).randbytes(3996)
        path.write_bytes(content)
        with untouched(path):
            assert isinstance(refused(path), NotADatabase)

    def test_a_directory(self, tmp_path: Path) -> None:
        error = refused(tmp_path)
        assert isinstance(error, NotADatabase)
        assert "is a directory" in str(error)
        assert not Path(f"{tmp_path}.lock").exists()

    def test_an_empty_file_is_a_place_for_a_terrain(self, tmp_path: Path) -> None:
        path = tmp_path / "empty.db"
        path.touch()
        Store(path, POLICY).close()
        check_integrity(path)


class TestNotWritable:
    @pytest.fixture
    def place(self) -> Iterator[Path]:
        """A directory that a user without rights can reach, unlike pytest's own."""
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            place.chmod(0o777)
            yield place

    @pytest.fixture
    def unprivileged(self) -> Iterator[Callable[[], None]]:
        """Lets a test drop root's rights, for which no file is read-only."""
        user = os.geteuid()

        def drop() -> None:
            if user == 0:
                os.seteuid(NOBODY)

        yield drop
        os.seteuid(user)

    def test_a_missing_directory(self, tmp_path: Path) -> None:
        error = refused(tmp_path / "not" / "there.db")
        assert isinstance(error, DatabaseUnwritable)
        assert "No such file or directory" in str(error)
        assert not (tmp_path / "not").exists()

    def test_a_read_only_directory(self, place: Path, unprivileged: Callable[[], None]) -> None:
        place.chmod(0o555)
        unprivileged()
        error = refused(place / "terrain.db")
        assert isinstance(error, DatabaseUnwritable)
        assert "Permission denied" in str(error)

    def test_a_read_only_file(self, place: Path, unprivileged: Callable[[], None]) -> None:
        path = place / "terrain.db"
        Store(path, POLICY).close()
        path.chmod(0o444)
        unprivileged()
        error = refused(path)
        assert isinstance(error, DatabaseUnwritable)
        assert "cannot be written; check the permissions of the file" in str(error)

    def test_a_file_in_a_read_only_directory(
        self, place: Path, unprivileged: Callable[[], None]
    ) -> None:
        # The file may be written, but SQLite could not make its log beside it.
        path = place / "terrain.db"
        Store(path, POLICY).close()
        path.chmod(0o666)
        Path(f"{path}.lock").chmod(0o666)
        place.chmod(0o555)
        unprivileged()
        with untouched(path):
            assert isinstance(refused(path), DatabaseUnwritable)

    def test_a_file_of_the_system(self) -> None:
        assert isinstance(refused("/proc/version"), DatabaseUnwritable)


class TestDiskFull:
    """Committed pages stay, the page that did not fit can be recorded once there is room."""

    def links(self, count: int) -> list[str]:
        return [f"https://c.test/{'long' * 50}/{number}" for number in range(count)]

    def check_it_goes_on(self, terrain: Terrain) -> None:
        terrain.check()
        terrain.open()
        assert terrain.states() == {HOME: "queued"}
        terrain.record(processed(HOME, *self.links(2_000)))
        assert len(terrain.waiting()) == 2_000

    def test_no_more_pages_for_the_database(self, make_terrain: Make) -> None:
        terrain = make_terrain(POLICY)
        with terrain.opened._engine.connect() as connection:
            pages = connection.scalar(text("PRAGMA page_count"))

        def limit(connection: sqlite3.Connection, *_: object) -> None:
            connection.execute(f"PRAGMA max_page_count = {pages + 10}")

        terrain.opened._engine.dispose()
        event.listen(terrain.opened._engine, "connect", limit)
        with pytest.raises(DiskFull, match="everything committed is safe: make room"):
            terrain.record(processed(HOME, *self.links(2_000)))
        # What fits is still taken: the store has not given up.
        assert terrain.supply("a.test").tokens == 10
        self.check_it_goes_on(terrain)

    def test_no_more_bytes_for_a_file(self, make_terrain: Make) -> None:
        terrain = make_terrain(POLICY)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        # Python ignores SIGXFSZ, so a write past the limit fails as one to a full disk does.
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        try:
            with pytest.raises(DiskFull, match="the disk is full or failing"):
                terrain.record(processed(HOME, *self.links(2_000)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        self.check_it_goes_on(terrain)


def test_a_refused_database_leaves_no_lock_behind(tmp_path: Path) -> None:
    path = tmp_path / "terrain.db"
    path.write_bytes(b"not a database, but long enough to look like one" * 100)
    refused(path)
    path.unlink()
    Store(path, POLICY).close()


def test_a_path_with_signs_that_mean_something_in_addresses(tmp_path: Path) -> None:
    path = tmp_path / "50% of #1? yes.db"
    terrain = Terrain(path, POLICY)
    terrain.open()
    terrain.record(processed(HOME))
    terrain.finish()
    assert path.exists()
    check_integrity(path)


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"no driver.*install psycopg") as caught:
        Store("postgresql://me:secret@db.test/terrain", POLICY)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
