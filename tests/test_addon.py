"""The add-on in a project of someone else's, which wants everything otherwise."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import terrain
from terrain.addon import DOWNLOADER_MIDDLEWARES, EXTENSIONS, SPIDER_MIDDLEWARES
from terrain.errand import ErrandKind
from terrain.rules.states import PageState
from terrain.sampleweb.behaviours import Flaky
from terrain.sampleweb.pages import Html, NonHtml, Redirect, Status, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import Database, write_config

ROOT = Path(terrain.__file__).parents[1]

PLAIN = """
ADDONS = {"terrain.addon.TerrainAddon": 500}
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
EXTENSIONS = {"foreign.witness.Witness": 0}
"""

CONTRARY = (
    PLAIN
    + """
BOT_NAME = "foreign"
TELNETCONSOLE_ENABLED = REMOTE_CONTROL_ENABLED = True
REDIRECT_ENABLED = METAREFRESH_ENABLED = RETRY_ENABLED = ROBOTSTXT_OBEY = True
COOKIES_ENABLED = HTTPCACHE_ENABLED = AUTOTHROTTLE_ENABLED = True
DOWNLOAD_VERIFY_CERTIFICATES = False
DOWNLOAD_DELAY = 3
CONCURRENT_ITEMS = 100
SCHEDULER = "scrapy.core.scheduler.Scheduler"
DUPEFILTER_CLASS = "scrapy.dupefilters.RFPDupeFilter"
USER_AGENT = "Mozilla/5.0"
DOWNLOAD_HANDLERS = {"file": "scrapy.core.downloader.handlers.file.FileDownloadHandler"}
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": 600,
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": 580,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": 550,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": 100,
}
EXTENSIONS = {
    "foreign.witness.Witness": 0,
    "scrapy.extensions.telnet.TelnetConsole": 1,
    "scrapy.extensions.remote_control.RemoteControl": 2,
}
ITEM_PIPELINES = {"foreign.witness.Pipeline": 300}
"""
)

WITNESS = """
import json
from scrapy import signals


class Witness:
    '''Writes down what is really at work.'''

    @classmethod
    def from_crawler(cls, crawler):
        witness = cls()
        witness.crawler = crawler
        crawler.signals.connect(witness.opened, signals.spider_opened)
        crawler.signals.connect(witness.closed, signals.spider_closed)
        crawler.signals.connect(witness.scraped, signals.item_scraped)
        crawler.signals.connect(witness.received, signals.response_received)
        witness.heard = {"item_scraped_count": 0, "response_received_count": 0}
        return witness

    def scraped(self):
        self.heard["item_scraped_count"] += 1

    def received(self):
        self.heard["response_received_count"] += 1

    def opened(self):
        crawler, engine = self.crawler, self.crawler.engine
        handlers = engine.downloader.handlers
        name = lambda thing: f"{type(thing).__module__}.{type(thing).__qualname__}"
        self.found = {
            "middlewares": [name(m) for m in engine.downloader.middleware.middlewares],
            "extensions": [name(m) for m in crawler.extensions.middlewares],
            "spidermiddlewares": [name(m) for m in engine.scraper.spidermw.middlewares],
            "scheduler": name(engine.scheduler),
            "scraper": name(engine.scraper),
            "schemes": [
                scheme for scheme in ("http", "https", "file", "ftp", "s3", "data")
                if handlers._get_handler(scheme) is not None
            ],
            "settings": {
                key: crawler.settings.get(key)
                for key in %(names)r
            },
        }

    def closed(self):
        stats = self.crawler.stats.get_stats()
        self.found["stats"] = sorted(stats)
        self.found["heard"] = self.heard
        self.found["counted"] = {key: stats[key] for key in self.heard}
        with open(%(report)r, "w") as file:
            json.dump(self.found, file, default=str)


class Pipeline:
    def process_item(self, item):
        item.title = f"seen: {item.title}"
        return item
"""

WANTED: dict[str, Any] = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "COOKIES_ENABLED": False,
    "HTTPCACHE_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_VERIFY_CERTIFICATES": True,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_MAXSIZE": 10 * 1024 * 1024,
    "CONCURRENT_ITEMS": 1,
    "CONCURRENT_REQUESTS": 10,
    "SCHEDULER": "terrain.scheduler.TerrainScheduler",
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
}
"""What must hold in every project."""


def sample() -> Web:
    pages = {
        "/": Html("Home", links=to("/old", "/gone", "/file", "/flaky", "https://b.test/")),
        "/old": Redirect("/new"),
        "/new": Html("New", head='<meta http-equiv="refresh" content="0; url=/elsewhere">'),
        "/gone": Status(404),
        "/file": NonHtml(),
        "/flaky": Flaky((Status(500), Html("At last"))),
    }
    return Web({"a.test": Host(pages), "b.test": Host(otherwise=Status(429))})


PAGES = {
    "https://a.test/": "processed",
    "https://a.test/old": "redirected",
    "https://a.test/new": "processed",
    "https://a.test/gone": "dead_link",
    "https://a.test/file": "content_mismatch",
    "https://a.test/flaky": "processed",
    "https://b.test/": "rate_limited",
}
"""What the sample comes to. Of b.test only robots.txt is asked, so its page has no item."""

Project = Callable[..., dict[str, Any]]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Make a Scrapy project, crawl the sample web in it, return what its witness saw."""

    def run(settings: str, *options: str) -> dict[str, Any]:
        package = tmp_path / "foreign"
        package.mkdir()
        report = tmp_path / "report.json"
        (package / "__init__.py").touch()
        (package / "settings.py").write_text(settings)
        witness = WITNESS % {"names": sorted(WANTED), "report": str(report)}
        (package / "witness.py").write_text(witness)
        (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = foreign.settings\n")
        with ServedWeb(sample(), tmp_path / "web") as served:
            config = write_config(
                tmp_path, served, [{"domain": "a.test", "seeds": ["https://a.test/"]}]
            )
            done = subprocess.run(
                [sys.executable, "-m", "scrapy", "crawl", "terrain", "-a", f"config={config}"]
                + [part for option in options for part in ("-s", option)],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            agents = {each.user_agent for each in served.log()}
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return {**json.loads(report.read_text()), "agents": agents, "log": done.stderr}

    return run


def assert_wired(seen: dict[str, Any]) -> None:
    assert seen["settings"] == WANTED
    assert seen["scheduler"] == "terrain.scheduler.TerrainScheduler"
    assert seen["scraper"] == "terrain.scraper.TerrainScraper"
    # Scrapy's own figures are those of its signals, though nobody listens to these.
    assert seen["counted"] == seen["heard"]
    assert seen["counted"]["item_scraped_count"] == sum("a.test" in url for url in PAGES)
    assert seen["schemes"] == ["http", "https"]
    for kind, wanted in (
        ("middlewares", DOWNLOADER_MIDDLEWARES),
        ("spidermiddlewares", SPIDER_MIDDLEWARES),
        ("extensions", EXTENSIONS),
    ):
        of_scrapy = {name for name in seen[kind] if name.startswith("scrapy.")}
        assert of_scrapy <= set(wanted), kind
    assert all(agent.startswith("Terrain/") for agent in seen["agents"])


def assert_crawled(tmp_path: Path) -> None:
    assert Database(tmp_path / "config.toml").states() == PAGES


def test_one_line_of_a_foreign_project_switches_terrain_on(
    project: Project, tmp_path: Path
) -> None:
    seen = project(PLAIN)
    assert_wired(seen)
    assert_crawled(tmp_path)
    # Scrapy itself vouches for the keys: all that a real crawl sets is documented.
    ours = {key for key in seen["stats"] if key.startswith("terrain/")}
    assert ours
    assert ours <= documented_stats()


def test_a_project_that_wants_the_opposite_does_not_get_it(
    project: Project, tmp_path: Path
) -> None:
    seen = project(CONTRARY, "TELNETCONSOLE_ENABLED=1", "REMOTE_CONTROL_ENABLED=1")
    assert_wired(seen)
    assert_crawled(tmp_path)
    # What a project adds of its own is left in place.
    database = Database(tmp_path / "config.toml")
    titles = database.rows("SELECT title FROM pages WHERE state = 'processed'")
    assert sorted(titles) == [("seen: At last",), ("seen: Home",), ("seen: New",)]


def documented_stats() -> set[str]:
    text = (ROOT / "docs" / "stats.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `(terrain/[^`]+)`", text, re.MULTILINE))


VALUES: dict[str, set[str]] = {
    "errand.kind": {kind.value for kind in ErrandKind},
    # The states that an answer, or the lack of one, can give a page.
    "outcome.state": {
        PageState.PROCESSED,
        PageState.REDIRECTED,
        PageState.CONTENT_MISMATCH,
        PageState.DEAD_LINK,
        PageState.UNREACHABLE,
        PageState.RATE_LIMITED,
        PageState.FAILED,
    },
}
"""What the placeholders in the keys stand for."""


def stats_in_the_source() -> set[str]:
    keys: set[str] = set()
    call = re.compile(r"\b(?:(?:inc|set|max|min)_value|_count)\(\s*f?[\"'](terrain/[^\"']+)[\"']")
    for file in (ROOT / "terrain").rglob("*.py"):
        for key in call.findall(file.read_text(encoding="utf-8")):
            head, brace, rest = key.partition("{")
            name = rest.partition("}")[0]
            keys |= {head + value for value in VALUES[name]} if brace else {key}
    return keys


def test_every_stats_key_is_documented_and_every_documented_one_exists() -> None:
    assert stats_in_the_source() == documented_stats()
