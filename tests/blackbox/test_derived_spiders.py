"""A spider made from terrain's works, and no page is lost by what it does."""

from pathlib import Path

import pytest

from terrain.sampleweb.pages import Html
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host
from tests.blackbox.crawled import FROM_START, Crawled, look_at, web_of
from tests.blackbox.crawls import PROJECT, scrapy_crawl, write_config

HOSTS = ("broken.test", "nothing.test", "fine.test")


def crawled_by(spider: str, directory: Path) -> Crawled:
    settings = directory / "their_settings.py"
    settings.write_text(
        "from settings.base import *\nSPIDER_MODULES = ['tests.blackbox.derived_spiders']\n",
        encoding="utf-8",
    )
    hosts = {name: Host({"/": Html("A page")}) for name in HOSTS}
    with ServedWeb(web_of(hosts), directory / "web") as served:
        config = write_config(directory, served, FROM_START)
        scrapy_crawl(
            config,
            spider=spider,
            PYTHONPATH=f"{directory}:{PROJECT}",
            SCRAPY_SETTINGS_MODULE=settings.stem,
        )
        return look_at(config, served)


@pytest.mark.parametrize(
    ("spider", "title", "of_nothing"),
    [
        ("reading", "A page, read by another", "error: a component swallowed the page's item"),
        ("breaking", "A page", None),
    ],
)
def test_every_page_ends_in_an_outcome(
    tmp_path: Path, spider: str, title: str, of_nothing: str | None
) -> None:
    crawled = crawled_by(spider, tmp_path)
    assert crawled.database.runs() == [(1, "completed")]
    assert crawled.page("fine.test/").title == title
    assert crawled.state("broken.test/") == "failed"
    assert crawled.reason("broken.test/") == "error: broken while reading"
    assert crawled.page("nothing.test/").error_message == of_nothing
