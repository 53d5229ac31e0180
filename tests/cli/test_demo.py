"""`terrain demo`, as a newcomer sees it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from terrain.config import load_config
from terrain.rules.states import PageState
from terrain.sampleweb.demo import demo_web
from terrain.sampleweb.log import by_host, gaps, max_in_flight, read
from tests.cli.demo_run import DURING, DemoRun

CLOCK_SLACK = 0.002
"""What the two processes' readings of one clock may differ by."""


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


def test_it_finishes_well_in_time(demo: DemoRun):
    assert demo.code == 0, demo.text
    assert demo.seconds < 30


def test_it_leaves_nothing_running(demo: DemoRun):
    assert demo.left_running == []


def test_it_prints_the_summary_and_says_where_everything_is(demo: DemoRun):
    assert "riverlibrary.example" in demo.text
    for name in ("terrain.db", "crawl-summary.md", "crawl-summary.svg", "metrics.json"):
        file = demo.directory / name
        assert str(file) in demo.text.replace("\n", "")
        assert file.stat().st_size > 0


ENDINGS = set(PageState) - {PageState.DISCOVERED, PageState.QUEUED, PageState.FETCHING}


@pytest.mark.parametrize("state", sorted(ENDINGS))
def test_there_is_a_page_of_every_kind(demo: DemoRun, state: PageState):
    found = rows(demo.database, f"SELECT count(*) FROM pages WHERE state = '{state}'")
    assert found[0][0] > 0


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("parish-maps.example", "robots denied"),
        ("deepwinter-papers.example", "redirect cycle"),
        ("tide-tables.example", "timeout"),
        ("flood-gauge.example", "HTTP 500"),
        ("sunken-village.example", "connection refused"),
        ("old-ferry.example", "certificate has expired"),
    ],
)
def test_every_trouble_is_told_by_its_reason(demo: DemoRun, host: str, reason: str):
    sql = f"SELECT error_message FROM pages WHERE domain = '{host}' AND error_message IS NOT NULL"
    assert any(reason in message for (message,) in rows(demo.database, sql))


def test_www_and_slash_redirects_end_at_pages_that_were_read(demo: DemoRun):
    sql = "SELECT url, fetch_url, state FROM pages WHERE domain = 'wetland-atlas.example'"
    found = {url: (fetch_url, state) for url, fetch_url, state in rows(demo.database, sql)}
    home = ("https://www.wetland-atlas.example/", "processed")
    assert found["https://wetland-atlas.example/"] == home
    fen = ("https://www.wetland-atlas.example/plates/fen/", "processed")
    assert found["https://wetland-atlas.example/plates/fen"] == fen


def test_listed_hosts_see_no_request_and_no_host_is_hurried(demo: DemoRun):
    log = read(demo.directory / "web" / "requests.jsonl")
    config = load_config(demo.config, {})
    asked = by_host(log)
    rules = config.host_rules()
    assert not [host for host in asked if rules.classify(host).value in {"blacklisted", "stubbed"}]
    for gap in gaps(log):
        terms = config.host_terms(gap.key)
        if terms.max_in_flight == 1:
            assert gap.seconds >= terms.delay - CLOCK_SLACK
    budget = config.crawler.max_domain_requests
    for host, exchanges in asked.items():
        assert max_in_flight(exchanges) <= config.host_terms(host).max_in_flight
        assert len(exchanges) <= budget
    assert len(asked["tidemill-archive.example"]) == budget


def test_the_crawl_delay_of_night_herons_is_kept(demo: DemoRun):
    log = read(demo.directory / "web" / "requests.jsonl")
    night = [gap.seconds for gap in gaps(log) if gap.key == "night-herons.example"]
    # The first gap is the one after robots.txt, which had not been read before.
    assert min(night) >= 1.0 - CLOCK_SLACK


def test_the_web_is_the_same_every_time_and_has_a_few_dozen_hosts():
    assert demo_web().to_json() == demo_web().to_json()
    assert 36 <= len(demo_web().hosts) <= 60


def test_every_page_of_the_demo_reads_like_one():
    pages = [
        (host, path, page)
        for host, site in demo_web().hosts.items()
        for path, page in site.pages.items()
        if page.kind == "html"
    ]
    assert len(pages) > 100
    for host, path, page in pages:
        assert page.title, f"{host}{path}"
        assert page.description, f"{host}{path}"
    titles = [page.title for _, _, page in pages]
    assert len(set(titles)) == len(titles), "no two pages have the same title"


def test_the_metrics_say_what_the_database_says(demo: DemoRun):
    metrics = json.loads((demo.directory / "metrics.json").read_text())
    kept = rows(demo.database, "SELECT metrics FROM runs")[0][0]
    assert json.loads(kept) == metrics
    events = "SELECT detail FROM run_events WHERE kind = 'metrics'"
    assert rows(demo.database, events) == [(kept,)]


def test_all_that_reads_works_during_the_crawl(demo: DemoRun):
    for command in DURING:
        told = demo.during[command]
        assert told.returncode == 0, told.stderr
        assert told.stderr == ""
    for command in ("stats", "summary"):
        assert "running" in demo.during[command].stdout
    assert "quality" in demo.during["nodes"].stdout
    assert rows(demo.database, "SELECT id, status FROM runs") == [(1, "completed")]
