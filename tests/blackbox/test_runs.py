"""Which run a start goes on with, what it says about it, and what it refuses; design 3.6."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from terrain.sampleweb.behaviours import Slow
from terrain.sampleweb.pages import Hang, Html, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import Database, crawl, write_config
from tests.blackbox.running import Requests, Running

Serve = Callable[[Web], ServedWeb]

PAGES = 4


def chain() -> Web:
    """Pages that lead from one to the next, so that a crawl is under way for a while."""
    pages = {f"/{n}": Html(f"Page {n}", links=to(f"/{n + 1}")) for n in range(PAGES)}
    pages[f"/{PAGES}"] = Html("The end", links=to("https://b.test/"))
    return Web({"a.test": Host(pages), "b.test": Host({"/": Slow(0.1, Html("B"))})})


def configure(directory: Path, served: ServedWeb, **crawler: Any) -> Path:
    return write_config(
        directory,
        served,
        [{"domain": "a.test", "seeds": ["https://a.test/0"]}],
        crawler={"max-depth": 3, "head-probe": "never", **crawler},
        robots={"mode": "ignore"},
    )


def interrupt(config: Path, served: ServedWeb, after: int = 1) -> None:
    """Run a crawl and stop it half way."""
    requests = Requests(served)
    begun = requests.count()
    with Running.terrain(config) as running:
        running.wait_until(lambda: requests.count() >= begun + after)
        running.signal(signal.SIGTERM)
        running.wait(3)


def one_line(said: str) -> str:
    """What a user reads: one line, no traceback."""
    lines = said.strip().splitlines()
    assert len(lines) == 1, said
    return lines[0]


@pytest.fixture
def served(serve: Serve) -> ServedWeb:
    return serve(chain())


@pytest.mark.parametrize("option", ["-v", "--resume"])
def test_an_unfinished_run_is_gone_on_with(served: ServedWeb, tmp_path: Path, option: str) -> None:
    config = configure(tmp_path, served)
    interrupt(config, served)
    said = crawl(config, option)
    assert "going on with run 1" in said
    assert Database(config).runs() == [(1, "completed")]
    assert len(served.log()) == PAGES + 2  # each page once


def test_after_a_finished_run_a_new_one_starts_and_none_can_be_resumed(
    served: ServedWeb, tmp_path: Path
) -> None:
    config = configure(tmp_path, served)
    assert "no unfinished run" in one_line(crawl(config, "--resume", "-q", expect=1))
    crawl(config)
    assert "no unfinished run" in one_line(crawl(config, "--resume", "-q", expect=1))
    assert Database(config).runs() == [(1, "completed")]
    crawl(config)
    assert Database(config).runs() == [(1, "completed"), (2, "completed")]
    assert len(served.log()) == 2 * (PAGES + 2)


def test_fresh_starts_anew_over_an_unfinished_run(served: ServedWeb, tmp_path: Path) -> None:
    config = configure(tmp_path, served)
    interrupt(config, served)
    before = len(served.log())
    crawl(config, "--fresh", "-q")
    assert Database(config).runs() == [(1, "interrupted"), (2, "completed")]
    assert len(served.log()) - before == PAGES + 2


def test_a_second_crawl_is_refused_with_the_pid_of_the_first(
    served: ServedWeb, tmp_path: Path
) -> None:
    web = chain()
    # The first waits for an answer for as long as the second is there.
    web.hosts["a.test"].pages["/1"] = Hang()
    served.update(web)
    config = configure(tmp_path, served)
    requests = Requests(served)
    with Running.terrain(config) as first:
        first.wait_until(lambda: requests.count() >= 1)
        said = one_line(crawl(config, "-q", expect=1))
        assert f"pid {first.process.pid}" in said
        assert str(tmp_path / "terrain.db") in said
        assert first.process.poll() is None
        first.signal(signal.SIGTERM)
        first.wait_until(lambda: "shutting down gracefully" in first.said)
        first.signal(signal.SIGTERM)
        first.wait(3)
    served.update(chain())
    crawl(config)
    assert Database(config).runs() == [(1, "completed")]
    assert set(Database(config).states().values()) == {"processed"}


def test_a_changed_configuration_is_said_recorded_and_gone_on_under(
    served: ServedWeb, tmp_path: Path
) -> None:
    config = configure(tmp_path, served)
    interrupt(config, served)
    [(before,)] = Database(config).rows("SELECT config_hash FROM runs")
    with config.open("a") as file:
        file.write('[[blacklist]]\ndomain = "b.test"\n')
    said = crawl(config, "-v")
    assert "the configuration differs" in said
    assert Database(config).runs() == [(1, "completed")]
    [(after,)] = Database(config).rows("SELECT config_hash FROM runs")
    assert after != before
    assert Database(config).states()["https://b.test/"] == "blacklisted"
    assert not [each for each in served.log() if each.host == "b.test"]


@pytest.mark.parametrize("change", ["depth", "quality"])
def test_a_change_of_quality_or_depth_starts_a_new_run_and_says_so(
    served: ServedWeb, tmp_path: Path, change: str
) -> None:
    config = configure(tmp_path, served)
    interrupt(config, served)
    if change == "depth":
        configure(tmp_path, served, **{"max-depth": 0})
    else:
        with config.open("a") as file:
            file.write('[[quality]]\ndomain = "b.test"\nseeds = ["https://b.test/"]\n')
    said = crawl(config, "-v")
    assert "a new run starts" in said
    assert Database(config).runs() == [(1, "interrupted"), (2, "completed")]
    state = Database(config).states()["https://b.test/"]
    assert state == ("depth_exceeded" if change == "depth" else "processed")


def test_a_missing_configuration_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.toml"
    assert str(missing) in one_line(crawl(missing, expect=2))


def test_every_problem_of_a_configuration_is_a_line(served: ServedWeb, tmp_path: Path) -> None:
    config = configure(tmp_path, served, **{"max-depth": -1, "head-prob": "never"})
    lines = crawl(config, expect=2).strip().splitlines()
    assert len(lines) == 2
    assert "max-depth" in lines[0] + lines[1]
    assert "head-probe" in lines[0] + lines[1]
    assert not (tmp_path / "terrain.db").exists()


def test_a_database_that_cannot_be_written_is_one_line(served: ServedWeb, tmp_path: Path) -> None:
    config = configure(tmp_path, served)
    text = config.read_text().replace(str(tmp_path / "terrain.db"), "/proc/terrain.db")
    config.write_text(text)
    line = one_line(crawl(config, "-q", expect=1))
    assert "/proc/terrain.db" in line
    assert not served.log()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_is_one_line(served: ServedWeb, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    config = configure(tmp_path, served)
    config.write_text(config.read_text().replace(str(tmp_path / "terrain.db"), f"{closed}/t.db"))
    assert str(closed) in one_line(crawl(config, "-q", expect=1))


def test_a_file_that_is_not_a_database_is_left_alone(served: ServedWeb, tmp_path: Path) -> None:
    config = configure(tmp_path, served)
    notes = tmp_path / "notes.txt"
    notes.write_text("These are my notes, and they are dear to me.\n" * 100)
    before = notes.read_bytes()
    config.write_text(config.read_text().replace(str(tmp_path / "terrain.db"), str(notes)))
    assert str(notes) in one_line(crawl(config, "-q", expect=1))
    assert notes.read_bytes() == before
