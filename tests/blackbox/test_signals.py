"""SIGINT and SIGTERM: a polite stop, then a quick one; the run can be gone on with after both."""

import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from terrain.sampleweb.behaviours import Slow
from terrain.sampleweb.log import gaps
from terrain.sampleweb.pages import Hang, Html, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import CLOCK_SLACK, DELAY, Database, crawl, write_config
from tests.blackbox.random_webs import polite
from tests.blackbox.running import Requests, Running, asked_again, graph

Serve = Callable[[Web], ServedWeb]
SIGNALS = [signal.SIGINT, signal.SIGTERM]

AT_ONCE = 5.0
"""Seconds: under one where there is a core to run on; the answer waited for would take 30."""


def hanging_web() -> Web:
    """A page that is read, then one that never answers; the other host answers slowly."""
    pages = {"/": Html("Home", links=to("/hang", "https://b.test/"))}
    slow = {"/": Slow(1.5, Html("Slow", links=to("/next"))), "/next": Html("Next")}
    return Web({"a.test": Host({**pages, "/hang": Hang()}), "b.test": Host(slow)})


def hanging_config(tmp_path: Path, served: ServedWeb, **sections: object) -> Path:
    return write_config(
        tmp_path,
        served,
        [{"domain": "a.test", "seeds": ["https://a.test/"]}],
        crawler={"head-probe": "never"},
        robots={"mode": "ignore"},
        **sections,
    )


def fetching(config: Path) -> list[str]:
    """Pages that are being asked for, as a reader sees them while the crawl runs."""
    database = Database(config)
    if not database.path.exists() or not database.rows(
        "SELECT 1 FROM sqlite_master WHERE name = 'pages'"
    ):
        return []
    return [url for url, state in database.states().items() if state == "fetching"]


def test_a_stopped_run_is_interrupted_and_goes_on_to_the_same_end(
    serve: Serve, tmp_path: Path
) -> None:
    scene = polite(7)
    served, calm = serve(scene.web), serve(scene.web)
    (tmp_path / "calm").mkdir()
    undisturbed = write_config(tmp_path / "calm", calm, scene.quality, **scene.sections)
    crawl(undisturbed)
    config = write_config(tmp_path, served, scene.quality, **scene.sections)
    seen = Requests(served)
    for stop, number in zip((10, 25), SIGNALS, strict=True):
        with Running.terrain(config) as running:
            running.wait_until(lambda stop=stop: seen.count() >= stop)
            running.signal(number)
            running.wait(3)
        Database(config).check()
        assert Database(config).runs() == [(1, "interrupted")]
        assert "fetching" not in Database(config).states().values()
        finished = Database(config).rows("SELECT finished_at FROM runs")
        assert finished != [(None,)]
    crawl(config)
    assert Database(config).runs() == [(1, "completed")]
    assert graph(config) == graph(undisturbed)
    # What was in flight was finished, so nothing had to be asked twice.
    assert not asked_again(served.log())
    assert not [gap for gap in gaps(served.log()) if gap.seconds < DELAY - CLOCK_SLACK]


def test_what_is_in_flight_at_a_signal_is_finished_and_nothing_new_is_asked(
    serve: Serve, tmp_path: Path
) -> None:
    web = hanging_web()
    web.hosts["a.test"].pages["/hang"] = Html("Quick")
    served = serve(web)
    config = hanging_config(tmp_path, served)
    with Running.terrain(config) as running:
        running.wait_until(lambda: "https://b.test/" in fetching(config))
        running.signal(signal.SIGTERM)
        running.wait(3)
    states = Database(config).states()
    assert states["https://b.test/"] == "processed"
    assert states["https://b.test/next"] == "queued"
    assert "https://b.test/next" not in [each.url for each in served.log()]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_ends_it_at_once_and_loses_nothing_committed(
    serve: Serve, tmp_path: Path, number: signal.Signals
) -> None:
    served = serve(hanging_web())
    config = hanging_config(tmp_path, served)
    with Running.terrain(config) as running:
        running.wait_until(lambda: "https://a.test/hang" in fetching(config))
        running.signal(number)
        running.wait_until(lambda: "shutting down gracefully" in running.said)
        running.signal(number)
        begun = time.monotonic()
        running.wait(3)
        assert time.monotonic() - begun < AT_ONCE
    states = Database(config).states()
    assert states["https://a.test/"] == "processed"
    assert states["https://a.test/hang"] == "queued"
    assert Database(config).runs() == [(1, "interrupted")]

    web = hanging_web()
    web.hosts["a.test"].pages["/hang"] = Html("It answers now")
    served.update(web)
    crawl(config)
    assert set(Database(config).states().values()) == {"processed"}
    assert Database(config).runs() == [(1, "completed")]


def test_a_second_signal_ends_it_also_while_the_database_is_locked(
    serve: Serve, tmp_path: Path
) -> None:
    served = serve(hanging_web())
    config = hanging_config(tmp_path, served)
    with Running.terrain(config) as running:
        running.wait_until(lambda: "https://a.test/hang" in fetching(config))
        with closing(sqlite3.connect(Database(config).path, isolation_level=None)) as reader:
            reader.execute("BEGIN IMMEDIATE")
            running.signal(signal.SIGTERM)
            running.wait_until(lambda: "shutting down gracefully" in running.said)
            running.signal(signal.SIGTERM)
            begun = time.monotonic()
            running.wait(3)
            assert time.monotonic() - begun < AT_ONCE
    assert Database(config).states()["https://a.test/"] == "processed"


def test_a_signal_while_it_starts_leaves_a_database_that_can_be_gone_on_with(
    serve: Serve, tmp_path: Path
) -> None:
    # The page takes a moment, so that no run is over before its signal arrives.
    served = serve(Web({"a.test": Host({"/": Slow(0.5, Html("Home"))})}))
    config = hanging_config(tmp_path, served)
    database = Database(config).path
    moments: list[Callable[[], bool]] = [
        database.exists,
        lambda: database.with_name("terrain.db-wal").exists(),
        lambda: bool(Database(config).rows("SELECT 1 FROM sqlite_master WHERE name = 'runs'")),
    ]
    for moment, number in zip(moments, [*SIGNALS, *SIGNALS], strict=False):
        for path in tmp_path.glob("terrain.db*"):
            path.unlink()
        with Running.terrain(config) as running:
            running.wait_until(moment)
            running.signal(number)
            running.wait(3)
        crawl(config)
        assert Database(config).states() == {"https://a.test/": "processed"}
        assert {status for _, status in Database(config).runs()} <= {"completed"}


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_before_anything_is_open_ends_quietly(
    serve: Serve, tmp_path: Path, number: signal.Signals
) -> None:
    served = serve(Web({"a.test": Host({"/": Html("Home")})}))
    config = hanging_config(tmp_path, served)
    with Running.terrain(config) as running:
        # Python itself is up when the module of the command has been opened.
        maps = Path(f"/proc/{running.process.pid}/maps")
        running.wait_until(lambda: "_ssl" in maps.read_text() or "pydantic" in maps.read_text())
        running.signal(number)
        running.wait(3)
