"""Running the command against a served web, and looking only at database, exit code and log."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terrain.sampleweb.log import by_host, gaps, max_in_flight
from terrain.sampleweb.process import ServedWeb
from tests.rollup import check_rollup

Toml = Mapping[str, Any]

PROJECT = Path(__file__).parents[2]
"""The checkout."""

DELAY = 0.1
"""Seconds between two requests to a host, unless a test says otherwise: the least allowed."""

CLOCK_SLACK = 0.002
"""What the two processes' readings of one clock may differ by."""


CONFIGURED: set[Path] = set()
"""Every configuration that was written: what was crawled with them is checked after each test."""


def write_config(
    directory: Path, served: ServedWeb, quality: Sequence[Toml], **sections: Any
) -> Path:
    """Write `config.toml` for the served web; `sections` are tables or lists of tables."""
    crawler = {"minimum-time-on-page": int(DELAY * 1000), **sections.pop("crawler", {})}
    network = {
        "ca-file": str(served.ca_file),
        "resolve": served.resolve,
        **sections.pop("network", {}),
    }
    # Failures are retried soon, so that a test of them takes a second and not a minute.
    retry = {"delay": 100, **sections.pop("retry", {})}
    elsewhere = "database-url" in sections.get("output", {})
    output = {
        **({} if elsewhere else {"database-path": str(directory / "terrain.db")}),
        "summary-path": str(directory / "crawl-summary.md"),
        "metrics-path": str(directory / "metrics.json"),
        **sections.pop("output", {}),
    }
    tables = {"crawler": crawler, "network": network, "retry": retry, "output": output, **sections}
    lines: list[str] = []
    for name, table in tables.items():
        for entry in [table] if isinstance(table, Mapping) else table:
            header = f"[{name}]" if isinstance(table, Mapping) else f"[[{name}]]"
            lines += [header, *_keys(entry), ""]
    for entry in quality:
        lines += ["[[quality]]", *_keys(entry), ""]
    path = directory / "config.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    CONFIGURED.add(path)
    return path


def _keys(table: Toml) -> list[str]:
    return [f"{key} = {_toml(value)}" for key, value in table.items()]


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


def command(config: Path, *options: str) -> list[str]:
    """Return the command line of a crawl."""
    return [sys.executable, "-m", "terrain", "crawl", str(config), *options]


def crawl(config: Path, *options: str, expect: int | None = 0, timeout: float = 120) -> str:
    """Run a crawl to its end; returns what it said on stderr."""
    options = options or ("-q",)
    done = subprocess.run(
        command(config, *options),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=config.parent,
    )
    assert expect is None or done.returncode == expect, f"{done.returncode}: {done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def scrapy_crawl(
    config: Path,
    *options: str,
    spider: str = "terrain",
    timeout: float = 120,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run `scrapy crawl terrain` in the checkout, as its scrapy.cfg has it, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", spider, "-a", f"config={config}", *options],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
        cwd=PROJECT,
        env={**os.environ, **environment},
    )


@dataclass(frozen=True)
class Page:
    """A row of `pages`, the columns that most tests look at."""

    state: str
    status_code: int | None
    error_message: str | None
    fetch_url: str
    title: str | None
    retry_count: int
    last_run: int


class Database:
    """What a crawl left behind, read by its public names."""

    def __init__(self, config: Path) -> None:
        self.path = config.parent / "terrain.db"

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(sql, parameters).fetchall()

    def pages(self) -> dict[str, Page]:
        rows = self.rows(
            "SELECT url, state, status_code, error_message, fetch_url, title, retry_count, last_run"
            " FROM pages"
        )
        return {url: Page(*facts) for url, *facts in rows}

    def states(self) -> dict[str, str]:
        return dict(self.rows("SELECT url, state FROM pages"))

    def links(self, run: int | None = None) -> set[tuple[str, str, str]]:
        """(from, to, kind) of the links that the newest reading of their source shows."""
        condition = "" if run is None else f" AND l.last_run = {run}"
        return set(
            self.rows(
                "SELECT s.url, t.url, l.kind FROM links l"
                " JOIN pages s ON s.id = l.from_page_id JOIN pages t ON t.id = l.to_page_id"
                f" WHERE TRUE{condition}"
            )
        )

    def depths(self) -> set[tuple[str, str, int]]:
        """(url, origin, depth)."""
        return set(
            self.rows(
                "SELECT url, quality_origin, depth FROM page_depths JOIN pages ON id = page_id"
            )
        )

    def runs(self) -> list[tuple[int, str]]:
        return self.rows("SELECT id, status FROM runs ORDER BY id")

    def check(self) -> None:
        """What must hold after every crawl."""
        assert self.rows("PRAGMA integrity_check") == [("ok",)]
        self.check_content()

    def check_content(self) -> None:
        """The same for what is in it, whatever it is kept in."""
        for column in ("from_page_id", "to_page_id"):
            orphans = f"SELECT count(*) FROM links WHERE {column} NOT IN (SELECT id FROM pages)"
            assert self.rows(orphans) == [(0,)]
        assert self.rows("SELECT count(*) FROM links WHERE from_page_id = to_page_id") == [(0,)]
        waiting = (
            "SELECT id FROM pages WHERE state IN ('queued', 'fetching')"
            " AND last_run = (SELECT max(id) FROM runs)"
        )
        assert set(self.rows(waiting)) == set(self.rows("SELECT page_id FROM frontier"))
        check_rollup(self.rows)


def assert_polite(served: ServedWeb, delay: float = DELAY, budget: int | None = None) -> None:
    """No host was asked faster or more often than allowed, whatever the kind of request."""
    log = served.log()
    # When the client gives up, the server notices only later: its clock says nothing then.
    told = [gap for gap in gaps(log) if gap.before.outcome != "left"]
    short = [gap for gap in told if gap.seconds < delay - CLOCK_SLACK]
    assert not short, short[:3]
    for host, exchanges in by_host(log).items():
        assert max_in_flight(exchanges) <= 1, host
        if budget is not None:
            assert len(exchanges) <= budget, host
