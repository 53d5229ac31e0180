"""`scrapy crawl terrain`: JOBDIR, CLOSESPIDER_* and -s as Scrapy's documentation has them."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from terrain.sampleweb.behaviours import Slow
from terrain.sampleweb.log import max_in_flight
from terrain.sampleweb.pages import Html, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import Database, write_config
from tests.blackbox.running import Requests, Running, asked_again

HOSTS = 8


def star() -> Web:
    """A page that links to a page on each of several other hosts, and each of those to one more."""
    others = [f"h{number}.test" for number in range(HOSTS)]
    hosts = {"a.test": Host({"/": Html("Home", links=to(*(f"https://{n}/" for n in others)))})}
    for name in others:
        hosts[name] = Host({"/": Slow(0.2, Html(name, links=to("/next"))), "/next": Html("Next")})
    return Web(hosts)


PAGES = 1 + 2 * HOSTS


@pytest.fixture
def served(serve: Callable[[Web], ServedWeb]) -> ServedWeb:
    return serve(star())


@pytest.fixture
def config(served: ServedWeb, tmp_path: Path) -> Path:
    return write_config(
        tmp_path,
        served,
        [{"domain": "a.test", "seeds": ["https://a.test/"]}],
        crawler={"head-probe": "never"},
        robots={"mode": "ignore"},
    )


def scrapy(config: Path, *settings: str) -> str:
    """Run `scrapy crawl terrain` to its end; returns its log."""
    options = [part for setting in settings for part in ("-s", setting)]
    with Running.scrapy(config, *options) as running:
        return running.wait()


def states(config: Path) -> list[str]:
    return sorted(Database(config).states().values())


def test_a_stopped_job_goes_on_with_the_same_directory(
    served: ServedWeb, config: Path, tmp_path: Path
) -> None:
    job = f"JOBDIR={tmp_path / 'job'}"
    requests = Requests(served)
    with Running.scrapy(config, "-s", job) as running:
        running.wait_until(lambda: requests.count() >= 3)
        running.signal(signal.SIGINT)
        running.wait()
    assert Database(config).runs() == [(1, "interrupted")]

    assert "going on with run 1" in scrapy(config, job)
    assert Database(config).runs() == [(1, "completed")]
    assert states(config) == ["processed"] * PAGES
    assert not asked_again(served.log())

    # Nothing is left to do for it, and it says so.
    assert "nothing to do" in scrapy(config, job)
    assert Database(config).runs() == [(1, "completed")]
    assert len(served.log()) == PAGES


def test_a_new_directory_is_a_new_run_and_the_older_one_is_refused(
    served: ServedWeb, config: Path, tmp_path: Path
) -> None:
    one, two = (f"JOBDIR={tmp_path / name}" for name in ("one", "two"))
    scrapy(config, one, "CLOSESPIDER_ITEMCOUNT=1")
    assert Database(config).runs() == [(1, "interrupted")]
    scrapy(config, two)
    assert Database(config).runs() == [(1, "interrupted"), (2, "completed")]
    before = len(served.log())
    said = scrapy(config, one)
    assert "the JOBDIR names run 1, but run 2 has walked this terrain since" in said
    assert Database(config).runs() == [(1, "interrupted"), (2, "completed")]
    assert len(served.log()) == before


def test_a_job_that_is_killed_goes_on_too(served: ServedWeb, config: Path, tmp_path: Path) -> None:
    job = f"JOBDIR={tmp_path / 'job'}"
    requests = Requests(served)
    with Running.scrapy(config, "-s", job) as running:
        running.wait_until(lambda: requests.count() >= 3)
        running.signal(signal.SIGKILL)
        running.wait(-signal.SIGKILL)
    scrapy(config, job)
    assert Database(config).runs() == [(1, "completed")]
    assert states(config) == ["processed"] * PAGES


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("CLOSESPIDER_ITEMCOUNT=4", "closespider_itemcount"),
        ("CLOSESPIDER_PAGECOUNT=4", "closespider_pagecount"),
    ],
)
def test_scrapys_own_limits_stop_a_run_that_can_be_gone_on_with(
    config: Path, limit: str, reason: str
) -> None:
    said = scrapy(config, limit, "CONCURRENT_REQUESTS=2")
    assert f"Spider closed ({reason})" in said
    assert Database(config).runs() == [(1, "interrupted")]
    done = states(config).count("processed")
    # What is in flight at the limit is finished, and what was answered is committed.
    assert 4 <= done <= 4 + 2 + 2
    scrapy(config)
    assert Database(config).runs() == [(1, "completed")]
    assert states(config) == ["processed"] * PAGES


def test_a_setting_on_the_command_line_wins_over_the_configuration(
    served: ServedWeb, config: Path
) -> None:
    said = scrapy(config, "CONCURRENT_REQUESTS=1", "LOG_LEVEL=WARNING")
    assert max_in_flight(served.log()) == 1
    assert not said  # nothing to warn of
    assert Database(config).runs() == [(1, "completed")]


def test_without_it_the_configuration_decides(served: ServedWeb, config: Path) -> None:
    config.write_text(
        config.read_text().replace("[crawler]", "[crawler]\nmax-concurrent-pages-open = 3")
    )
    scrapy(config)
    assert max_in_flight(served.log()) == 3


def test_a_wrong_configuration_is_one_line_here_too(tmp_path: Path) -> None:
    with Running.scrapy(tmp_path / "nowhere.toml", "-s", "LOG_LEVEL=ERROR") as running:
        said = running.wait(2)
    assert len(said.strip().splitlines()) == 1
    assert "nowhere.toml" in said
