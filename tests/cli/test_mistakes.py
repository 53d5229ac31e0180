"""Every mistake gets its one line and its exit code, and no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from terrain.cli import run
from tests.cli.mistakes import (
    COMMAND_LINE,
    CRAWLS,
    DATABASES,
    FILES,
    INIT_AND_DEMO,
    KEYS,
    VALID,
    Mistake,
)
from tests.cli.terminals import TERRAIN, piped

IN_PROCESS = [*COMMAND_LINE, *FILES, *KEYS, *INIT_AND_DEMO, *DATABASES]


def named(mistake: Mistake) -> str:
    return mistake.what.replace(" ", "-")


def test_there_are_thirty_ways_and_more():
    assert len({mistake.what for mistake in [*IN_PROCESS, *CRAWLS]}) >= 30


@pytest.mark.parametrize("mistake", IN_PROCESS, ids=named)
def test_a_mistake_is_told_in_one_line(
    mistake: Mistake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    for name, value in mistake.env.items():
        monkeypatch.setenv(name, value)
    mistake.prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert run(mistake.arguments.split()) == mistake.code
    told = capsys.readouterr()
    assert mistake.says in told.err
    assert len(told.err.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before, "a mistake leaves nothing behind"


@pytest.mark.parametrize("mistake", CRAWLS, ids=named)
def test_a_crawl_that_cannot_start_is_told_in_one_line(mistake: Mistake, tmp_path: Path):
    mistake.prepare(tmp_path)
    done = piped(*mistake.arguments.split(), cwd=tmp_path)
    assert done.returncode == mistake.code
    assert mistake.says in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stdout == ""
    assert not list(tmp_path.glob("*.md")), "no summary of a crawl that was not"


def test_every_problem_of_a_configuration_is_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "c.toml"
    file.write_text(VALID.replace("100", "5").replace("https://a.test/", "https://b.test/"))
    assert run(["check", str(file)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "c.toml"
    file.write_text(VALID)
    file.chmod(0)
    assert run(["check", str(file)]) == 2
    assert "cannot be read: Permission denied" in capsys.readouterr().err


def test_a_database_in_use_is_refused_with_the_pid_of_the_other(tmp_path: Path):
    holder = (
        "import sys; from sqlalchemy import make_url; from terrain.store.lock import CrawlLock;"
        "lock = CrawlLock(make_url('sqlite:///terrain.db')); lock.acquire();"
        "print('held', flush=True);"
        "sys.stdin.read()"
    )
    (tmp_path / "c.toml").write_text(VALID)
    with subprocess.Popen(
        [sys.executable, "-c", holder],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        done = piped("crawl", "c.toml", cwd=tmp_path)
        other.communicate()
    assert done.returncode == 1
    assert f"terrain.db: in use by another crawl (pid {other.pid})" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_reader_that_leaves_early_gets_no_traceback():
    with subprocess.Popen(
        [*TERRAIN, "completion", "bash"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        done.stdout.close()
        assert done.stderr.read() == b""
