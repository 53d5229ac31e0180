"""A PostgreSQL of one's own for the tests: made from nothing, gone afterwards, no network."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVICE = "postgres"


def binaries() -> Path | None:
    """Where `initdb` and `pg_ctl` are; Debian keeps them off the path."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


NEEDED = pytest.mark.skipif(
    binaries() is None, reason="PostgreSQL is not installed: scripts/install_test_tools.sh"
)


@contextmanager
def cluster() -> Iterator[Path]:
    """Run a server and yield the directory of its socket."""
    programs = binaries()
    assert programs is not None
    # A server refuses to run as root.
    user = _unprivileged_user() if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        if user is not None:
            shutil.chown(place, user)
        place.chmod(0o755)
        data = place / "data"
        made = [programs / "initdb", "-D", data, "-U", SERVICE, "-A", "trust", "--no-sync"]
        _run(made, user, place)
        options = f"-c listen_addresses= -c unix_socket_directories={place} -c fsync=off"
        control = [programs / "pg_ctl", "-D", data, "-l", place / "log", "-w"]
        _run([*control, "-o", options, "start"], user, place)
        try:
            yield place
        finally:
            _run([*control, "-m", "immediate", "stop"], user, place)


def _run(command: list[object], user: str | None, place: Path) -> None:
    subprocess.run(
        [str(part) for part in command],
        check=True,
        user=user,
        cwd=place,
        stdout=subprocess.DEVNULL,
    )


def _unprivileged_user() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return SERVICE if SERVICE in names else "nobody"


def url_of(place: Path, database: str) -> str:
    return f"postgresql://{SERVICE}@/{database}?host={place}"
