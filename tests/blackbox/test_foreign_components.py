"""Every request that leaves the frontier ends in an outcome, whatever other components do to it."""

from collections.abc import Iterator

import pytest

from terrain.sampleweb.pages import Html
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host
from tests.blackbox.crawled import FROM_START, Crawled, look_at, web_of
from tests.blackbox.crawls import PROJECT, assert_polite, scrapy_crawl, write_config
from tests.blackbox.meddlers import SETTINGS

FAILED = {
    "ignored-request": "request ignored: not today",
    "ignored-answer": "request ignored: seen enough",
    "broken-request": "error: broken on the way out",
    "replaced-request": "request ignored: a component answered with another request",
    "replaced-answer": "request ignored: a component answered with another request",
    "sent-elsewhere": "request ignored: a component sent the request elsewhere",
    "never-scheduled": "request ignored: kept from the scheduler",
    "broken-twice": "error: broken by a failure",
    "broken-input": "error: broken on the way in",
    "broken-output": "error: broken on the way back",
    "swallowed": "error: a component swallowed the page's item",
    "converted": "request ignored: item replaced by dict",
    "dropped-item": "request ignored: item dropped: not wanted",
    "broken-item": "request ignored: item pipeline: RuntimeError('broken in the pipeline')",
    "replaced-item": "request ignored: item replaced by dict",
}
PROCESSED = ["answered-from-memory", "asked-again", "dropped-late", "left-alone"]
ROBOTS = ["ignored-robots", "replaced-robots"]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    directory = tmp_path_factory.mktemp("foreign")
    hosts = {f"{name}.test": Host({"/": Html("A page")}) for name in [*FAILED, *PROCESSED, *ROBOTS]}
    hosts["broken-twice.test"] = Host(listener="reset")
    settings = directory / "their_settings.py"
    their_own = "\n".join(f"{name} = {value!r}" for name, value in SETTINGS.items())
    settings.write_text(f"from settings.base import *\n{their_own}\n", encoding="utf-8")
    with ServedWeb(web_of(hosts), directory / "web") as served:
        config = write_config(directory, served, FROM_START)
        scrapy_crawl(
            config,
            PYTHONPATH=f"{directory}:{PROJECT}",
            SCRAPY_SETTINGS_MODULE=settings.stem,
        )
        assert_polite(served)
        yield look_at(config, served)


def test_the_crawl_comes_to_its_end(crawled: Crawled) -> None:
    assert crawled.database.runs() == [(1, "completed")]
    assert crawled.database.rows("SELECT count(*) FROM frontier") == [(0,)]


@pytest.mark.parametrize("name", FAILED)
def test_a_page_that_was_interfered_with_fails_with_the_reason(crawled: Crawled, name: str) -> None:
    assert crawled.state(f"{name}.test/") == "failed"
    assert crawled.reason(f"{name}.test/").startswith(FAILED[name])


@pytest.mark.parametrize("name", PROCESSED)
def test_a_page_that_came_through_is_processed(crawled: Crawled, name: str) -> None:
    assert crawled.state(f"{name}.test/") == "processed"


def test_a_request_sent_again_waits_for_the_hosts_clock(crawled: Crawled) -> None:
    """That it waits, `assert_polite` has seen."""
    assert crawled.asked("asked-again.test", "/") == ["head", "get", "get"]


def test_an_answer_from_memory_costs_the_host_nothing(crawled: Crawled) -> None:
    assert crawled.asked("answered-from-memory.test") == []
    assert crawled.page("answered-from-memory.test/").title == "Remembered"


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robots_txt_that_gets_lost_counts_as_unreachable(crawled: Crawled, name: str) -> None:
    assert crawled.state(f"{name}.test/") == "processed"


def test_a_request_to_somewhere_else_is_not_made(crawled: Crawled) -> None:
    assert not crawled.contacted("elsewhere.test")


def test_a_page_that_was_never_sent_is_not_asked(crawled: Crawled) -> None:
    for name in ("ignored-request", "broken-request", "replaced-request"):
        assert crawled.asked(f"{name}.test") == []


def test_a_page_is_visited_once_in_the_history(crawled: Crawled) -> None:
    visits = crawled.database.rows(
        "SELECT url, count(*) FROM visits JOIN pages ON id = page_id GROUP BY url"
    )
    assert {count for _, count in visits} == {1}
    assert len(visits) == len([*FAILED, *PROCESSED, *ROBOTS]) + 1
