"""What a crawl leaves behind when it ends: written once, whatever else goes wrong."""

import json
import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from terrain.config import Config, parse_config
from terrain.errors import DiskFull
from terrain.extensions import reporting as module
from terrain.extensions.reporting import Reporting, peak_memory, picture_path
from terrain.rules.states import PageState
from terrain.store import PageOutcome, Policy, Start, Store
from terrain.store.history import metrics_history

CONFIG = """
[output]
database-path = "{here}/terrain.db"
summary-path = "{here}/crawl-summary.md"
metrics-path = "{here}/metrics.json"
prometheus-path = "{here}/terrain.prom"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
"""

Make = Callable[..., Reporting]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return parse_config(CONFIG.format(here=tmp_path), {})


@pytest.fixture
def make(config: Config, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Walk a terrain of one page in this process, and return what reports of it."""

    def walk(*, error: Exception | None = None, run: bool = True) -> Reporting:
        policy = Policy.from_config(config)
        assert config.output.database_path is not None
        store = Store(config.output.database_path, policy)
        info = store.open_run(Start.FRESH)
        (address, _), *_ = policy.seeds
        store.record(PageOutcome(address.page_id, PageState.PROCESSED, visited=True)).result()
        store.close_run(completed=True)
        store.close()
        stats = {"terrain/requests/get": 2, "terrain/requests/robots": 1, "terrain/bytes": 512}
        crawler: Any = SimpleNamespace(stats=SimpleNamespace(get_stats=lambda: stats))
        conductor = SimpleNamespace(run=info if run else None, policy=policy)
        scheduler = SimpleNamespace(
            config=config, conductor=conductor, completed=error is None, error=error
        )
        monkeypatch.setattr(module, "scheduler_of", lambda _: scheduler)
        reporting = Reporting(crawler)
        reporting.spider_opened()
        return reporting

    return walk


def written(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir() if not path.name.startswith("terrain.db")}


def test_a_finished_crawl_leaves_summary_picture_metrics_and_prometheus(make: Make, tmp_path: Path):
    make().spider_closed("finished")
    assert written(tmp_path) == {
        "crawl-summary.md",
        "crawl-summary.svg",
        "metrics.json",
        "terrain.prom",
    }
    assert "crawl-summary.svg" in (tmp_path / "crawl-summary.md").read_text()


def test_the_metrics_hold_what_only_the_process_knows(make: Make, tmp_path: Path):
    make().spider_closed("finished")
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["requests_by_kind"] == {"get": 2, "robots": 1}
    assert metrics["bytes_received"] == 512
    assert metrics["termination_reason"] == "finished"
    assert metrics["status"] == "completed"
    assert metrics["peak_memory_bytes"] > 10_000_000


def test_a_signal_is_called_by_its_name(make: Make, tmp_path: Path):
    make().spider_closed("shutdown")
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["termination_reason"] == "signal"


def test_the_database_keeps_the_metrics_of_every_process(
    make: Make, config: Config, tmp_path: Path
):
    make().spider_closed("finished")
    first = (tmp_path / "metrics.json").read_text()
    make().spider_closed("finished")
    second = (tmp_path / "metrics.json").read_text()
    assert config.output.database_path is not None
    assert metrics_history(config.output.database_path) == [(1, first), (2, second)]
    with closing(sqlite3.connect(config.output.database_path)) as database:
        kept = database.execute("SELECT id, metrics FROM runs ORDER BY id").fetchall()
    assert kept == [(1, first), (2, second)]


def test_it_is_written_once_however_often_the_end_is_told(make: Make, tmp_path: Path):
    reporting = make()
    reporting.spider_closed("finished")
    (tmp_path / "metrics.json").unlink()
    reporting.write("second signal", quick=True)
    assert not (tmp_path / "metrics.json").exists()


def test_a_stop_that_cannot_wait_leaves_the_metrics_without_what_takes_counting(
    make: Make, tmp_path: Path
):
    make().write("second signal", quick=True)
    assert written(tmp_path) == {"metrics.json", "terrain.prom"}
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["pages_discovered"] is None
    assert metrics["requests_by_kind"] == {"get": 2, "robots": 1}


def test_a_crawl_that_never_had_a_run_leaves_nothing(make: Make, tmp_path: Path):
    make(run=False).spider_closed("finished")
    assert written(tmp_path) == set()


def test_one_report_that_cannot_be_written_is_told_and_does_not_cost_the_others(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    reporting = make()
    (tmp_path / "metrics.json").mkdir()
    (tmp_path / "crawl-summary.svg").mkdir()
    with caplog.at_level(logging.ERROR):
        reporting.spider_closed("finished")
    assert reporting.failed
    assert len(caplog.records) == 2
    assert all("cannot be written" in record.getMessage() for record in caplog.records)
    summary = (tmp_path / "crawl-summary.md").read_text()
    assert "crawl-summary.svg" not in summary, "no picture is shown that is not there"
    assert (tmp_path / "terrain.prom").exists()


def test_a_database_that_failed_is_not_written_to_again(make: Make, config: Config, tmp_path: Path):
    make(error=DiskFull("full")).spider_closed("store_error")
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["status"] == "interrupted"
    assert config.output.database_path is not None
    assert metrics_history(config.output.database_path) == []


def test_the_picture_stands_beside_the_summary():
    assert picture_path(Path("out/river.md")) == Path("out/river.svg")


def test_peak_memory_is_in_bytes():
    before = peak_memory()
    ballast = bytearray(before + 50_000_000)
    assert 50_000_000 <= peak_memory() - before <= before + 500_000_000
    del ballast
