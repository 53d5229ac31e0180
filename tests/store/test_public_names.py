"""The names and columns of design 4.3 are there, as tables or views, and filters reach an index."""

import itertools
from collections.abc import Callable

import pytest
from sqlalchemy import inspect

from terrain.store import Policy
from tests.store.terrains import Terrain, address, make_policy, processed

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"

PUBLIC = {
    "runs": "id started_at finished_at config_hash status",
    "pages": "id url fetch_url domain state title description status_code content_type "
    "last_modified etag content_hash language canonical_url meta_robots bytes fetch_ms visited_at "
    "discovered_at discovered_run last_run error_message retry_count",
    "page_depths": "page_id quality_origin depth",
    "visits": "page_id run_id state status_code title content_hash bytes fetch_ms visited_at "
    "error_message",
    "links": "from_page_id to_page_id kind anchor rel position discovered_run last_run",
    "blacklisted_urls": "id url domain reference_count first_seen_run",
    "blacklisted_referrers": "blacklisted_url_id referrer_page_id discovered_run",
    "stubbed_urls": "id url domain reference_count first_seen_run",
    "stubbed_referrers": "stubbed_url_id referrer_page_id discovered_run",
    "domain_states": "domain root request_count rate_limited retry_after robots_txt "
    "robots_fetched_at",
    "frontier": "page_id priority added_at",
    "nodes": "node_id domain_name description crawl_count created_at",
    "edges": "from_node_id to_node_id weight",
}
"""Copied from the design, not from the code."""


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    terrain = make_terrain(make_policy({"a.test": 2}, [HOME]))
    terrain.record(processed(HOME, "https://c.test/"))
    return terrain


@pytest.mark.parametrize("name", PUBLIC)
def test_the_columns_are_those_of_the_design(terrain: Terrain, name: str) -> None:
    columns = [column["name"] for column in inspect(terrain.opened._engine).get_columns(name)]
    wanted = PUBLIC[name].split()
    # The tables among them may have more columns behind the scenes; the views have exactly these.
    if name == "runs":
        assert set(wanted) <= set(columns)
    else:
        assert columns == wanted


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_can_be_read(terrain: Terrain, name: str) -> None:
    assert terrain.rows(f"SELECT count(*) FROM {name}")[0][0] is not None


def plan(terrain: Terrain, sql: str) -> list[str]:
    return [str(row[3]) for row in terrain.rows(f"EXPLAIN QUERY PLAN {sql}")]


KEY = address(HOME).page_id


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT * FROM pages WHERE id = {KEY}",
        f"SELECT * FROM pages WHERE id IN ({KEY}, 5)",
        f"SELECT * FROM links WHERE from_page_id = {KEY}",
        f"SELECT * FROM visits WHERE page_id = {KEY}",
        f"SELECT * FROM page_depths WHERE page_id = {KEY}",
    ],
)
def test_a_filter_by_page_reads_no_table_from_end_to_end(terrain: Terrain, sql: str) -> None:
    # `origin` has one row per quality entry: reading all of it is no cost.
    scans = [step for step in plan(terrain, sql) if step.startswith("SCAN") and step != "SCAN o"]
    assert scans == []


def test_pages_joined_to_their_links_are_found_by_key(terrain: Terrain) -> None:
    sql = f"""SELECT t.url FROM links l JOIN pages t ON t.id = l.to_page_id
               WHERE l.from_page_id = {KEY}"""
    assert [step for step in plan(terrain, sql) if step.startswith("SCAN")] == []


def test_listed_links_are_found_by_their_small_index(terrain: Terrain) -> None:
    for name in ("blacklisted_urls", "stubbed_referrers"):
        steps = plan(terrain, f"SELECT * FROM {name}")
        assert any("ix_link_listed" in step for step in steps)
        assert not any(step.startswith("SCAN l ") and "INDEX" not in step for step in steps)


def test_who_links_here_is_found_by_an_index_once_the_run_is_complete(terrain: Terrain) -> None:
    sql = f"SELECT from_page_id FROM links WHERE to_page_id = {KEY}"
    assert not any("ix_link_to" in step for step in plan(terrain, sql))
    terrain.record(processed("https://c.test/", HOME))
    assert terrain.opened.close_run(completed=True)
    assert any("ix_link_to" in step for step in plan(terrain, sql))
    # Writing would be twice as slow with it, so the next run goes without.
    terrain.reopen()
    assert not any("ix_link_to" in step for step in plan(terrain, sql))


def test_times_are_iso_8601_in_utc(terrain: Terrain) -> None:
    times = itertools.chain.from_iterable(
        terrain.rows("SELECT started_at FROM runs")
        + terrain.rows("SELECT discovered_at FROM pages")
        + terrain.rows("SELECT visited_at FROM visits")
        + terrain.rows("SELECT added_at FROM frontier")
        + terrain.rows("SELECT created_at FROM nodes")
    )
    for time in times:
        assert str(time).startswith("2023-11-14T22:13:")
        assert str(time).endswith("Z")
