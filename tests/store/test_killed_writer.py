"""A writer that is killed at any instant: every page is wholly there or not at all."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import text

from terrain.rules.depth import MAX_HOPS
from terrain.store.engine import database_url, make_engine
from tests.store.integrity import check_integrity
from tests.store.webs import Reference, Web, heavy_web

WEBS = 3
KILLS_PER_WEB = 6


class Recorder:
    """A process that records the web; each `start` is a new child, which goes on where it was."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._child = 0
        self.committed = 0
        """Pages whose commit the children have told of."""
        self._steps = 0
        self.opening = 0
        """Steps before the first page was committed: tables are made, the run is opened."""

    def start(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        self._child = int(self._next().removeprefix("pid "))

    def _next(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, "the recorder ended"
        self._steps += 1
        if line.startswith("committed "):
            self.opening = self.opening or self._steps
            self.committed += int(line.removeprefix("committed "))
        return line

    def run(self, steps: int) -> None:
        """Let it take some steps."""
        for _ in range(steps):
            assert self._next() != "done", "it was done before it could be killed"

    def finish(self) -> int:
        """Let it come to its end; return the steps it took."""
        steps = 0
        while self._next() != "gone":
            steps += 1
        return steps

    def kill(self) -> None:
        os.kill(self._child, signal.SIGKILL)
        self.finish()


@contextmanager
def recorder(path: Path, seed: int) -> Iterator[Recorder]:
    command = [sys.executable, "-m", "tests.store.kill_me", str(path), str(seed)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Recorder(process)
        assert process.stdin is not None
        process.stdin.close()


def query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    engine = make_engine(database_url(path))
    try:
        with engine.begin() as connection:
            return [tuple(row) for row in connection.execute(text(sql))]
    finally:
        engine.dispose()


LINKS = """
    SELECT s.url, t.url, kind FROM links
      JOIN pages s ON s.id = from_page_id JOIN pages t ON t.id = to_page_id"""


def check_pages_are_whole(path: Path, web: Web) -> int:
    """Compare every page with the web it comes from; return how many have been read."""
    states = dict(query(path, "SELECT url, state FROM pages"))
    found: dict[object, set[object]] = {}
    for source, target, _ in query(path, LINKS):
        found.setdefault(source, set()).add(target)
    visited = {url for (url,) in query(path, "SELECT url FROM visits JOIN pages ON id = page_id")}
    for url, state in states.items():
        page = str(url)
        if page not in visited:
            assert page not in found
            assert state not in {"processed", "redirected"}
        elif page in web.redirects:
            assert found[page] == {web.redirects[page]}
        else:
            assert found.get(page, set()) == set(web.links[page])
    return len(visited)


def dump(path: Path) -> list[list[tuple[object, ...]]]:
    """All of the terrain that does not speak of the order in which it was found."""
    return [
        sorted(query(path, sql), key=repr)
        for sql in (
            "SELECT id, url, fetch_url, domain, state, status_code, error_message FROM pages",
            LINKS,
            "SELECT * FROM page_depths",
            "SELECT page_id, run_id, state, status_code, error_message FROM visits",
            "SELECT id, status FROM runs",
            "SELECT * FROM edges",
        )
    ]


def check_the_end(path: Path, web: Web) -> None:
    """Compare with a search that starts from nothing."""
    visited = query(path, "SELECT url FROM visits JOIN pages ON id = page_id")
    reference = Reference(web, {str(url) for (url,) in visited}, MAX_HOPS)
    states = dict(query(path, "SELECT url, state FROM pages"))
    assert states == {page: reference.state(page) for page in reference.reached}
    assert "queued" not in states.values()


@pytest.mark.parametrize("seed", range(WEBS))
def test_it_can_be_killed_at_any_instant(tmp_path: Path, seed: int) -> None:
    web = heavy_web(Random(seed))
    quiet, killed = tmp_path / "quiet.db", tmp_path / "killed.db"
    with recorder(quiet, seed) as undisturbed:
        undisturbed.start()
        steps = undisturbed.finish()
    check_the_end(quiet, web)
    random = Random()
    with recorder(killed, seed) as disturbed:
        disturbed.start()
        disturbed.run(random.randint(1, undisturbed.opening))
        disturbed.kill()
        for _ in range(KILLS_PER_WEB - 1):
            disturbed.start()
            disturbed.run(random.randint(undisturbed.opening, steps // KILLS_PER_WEB))
            disturbed.kill()
            check_integrity(killed)
            assert check_pages_are_whole(killed, web) >= disturbed.committed
        disturbed.start()
        disturbed.finish()
    check_integrity(killed)
    assert dump(killed) == dump(quiet)
