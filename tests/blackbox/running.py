"""A crawl that runs beside the test: watched by its traces, stopped by signals."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from terrain.sampleweb.log import Exchange
from terrain.sampleweb.process import ServedWeb
from tests.blackbox.crawls import Database, command

PATIENCE = 60.0
"""Seconds until a crawl that shows no progress fails the test; generous, for busy machines."""

LOOK_AGAIN = 0.002
"""Seconds between two looks at traces that nobody announces."""

ROOT = Path(__file__).parents[2]


class Running:
    """A crawl as a process of its own, which does not outlive the block."""

    def __init__(self, arguments: Sequence[str], directory: Path, **environment: str) -> None:
        self._arguments = arguments
        self._directory = directory
        self._environment = {**os.environ, **environment}
        self._said = directory / "said.txt"

    @classmethod
    def terrain(cls, config: Path, *options: str) -> Self:
        """`terrain crawl`."""
        return cls(command(config, *options or ("-v",)), config.parent)

    @classmethod
    def scrapy(cls, config: Path, *options: str) -> Self:
        """`scrapy crawl terrain`, in the checkout, as its scrapy.cfg has it."""
        arguments = [sys.executable, "-m", "scrapy", "crawl", "terrain", "-a", f"config={config}"]
        return cls([*arguments, *options], config.parent, PYTHONPATH=str(ROOT))

    def __enter__(self) -> Self:
        in_project = "scrapy" in self._arguments
        with self._said.open("w") as said:
            self.process = subprocess.Popen(
                self._arguments,
                stdout=said,
                stderr=subprocess.STDOUT,
                cwd=ROOT if in_project else self._directory,
                env=self._environment,
                start_new_session=True,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def said(self) -> str:
        """What it printed so far."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    def wait_until(self, reached: Callable[[], bool], *, or_end: bool = False) -> bool:
        """Wait for a trace; False if the crawl ended first, which is an error unless `or_end`."""
        deadline = time.monotonic() + PATIENCE
        while not reached():
            # Traces are in files of other processes, which tell nobody; the end does.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LOOK_AGAIN)
                assert or_end, f"ended with {self.process.returncode}: {self.said}"
                return False
            assert time.monotonic() < deadline, self.said
        return True

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self, expect: int | None = 0, within: float = PATIENCE) -> str:
        """Wait for the end; returns what it said."""
        code = self.process.wait(within)
        assert expect is None or code == expect, f"{code}: {self.said}"
        assert "Traceback" not in self.said, self.said
        return self.said


class Requests:
    """Counts what the server has answered, at the cost of reading what is new in its log."""

    def __init__(self, served: ServedWeb) -> None:
        self._path = served.log_file
        self._offset = 0
        self._count = 0

    def count(self) -> int:
        """Exchanges that have ended so far."""
        if self._path.exists():
            with self._path.open("rb") as log:
                log.seek(self._offset)
                new = log.read()
            self._offset += len(new)
            self._count += new.count(b'"event": "exchange"')
        return self._count


def graph(config: Path) -> list[tuple[object, ...]]:
    """The terrain as a sorted dump: pages with states, links, depths."""
    return graph_in(Database(config))


def graph_in(database: Database) -> list[tuple[object, ...]]:
    """The same, wherever the database is."""
    pages = database.rows("SELECT 'page', url, state, status_code, title, content_hash FROM pages")
    links = database.rows(
        "SELECT 'link', s.url, t.url, l.kind, l.anchor, l.rel, l.position FROM links l"
        " JOIN pages s ON s.id = l.from_page_id JOIN pages t ON t.id = l.to_page_id"
    )
    depths = [("depth", *row) for row in database.depths()]
    return sorted([*pages, *links, *depths], key=repr)


def asked_again(log: Sequence[Exchange], method: str = "GET") -> Counter[str]:
    """How many times more than once each address was asked; robots.txt is not a page."""
    pages = (each for each in log if each.method == method and each.kind != "robots")
    asked = Counter(each.url for each in pages)
    return Counter({url: times - 1 for url, times in asked.items() if times > 1})
