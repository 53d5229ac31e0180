"""Scrapy's feeds beside the store: the same pages, in a form that JSON can carry."""

import json
from collections.abc import Callable
from pathlib import Path

from terrain.sampleweb.pages import Html, Link, NonHtml, Redirect
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawled import FROM_START, START
from tests.blackbox.crawls import Database, scrapy_crawl, write_config


def test_a_feed_holds_what_the_store_holds(
    serve: Callable[[Web], ServedWeb], tmp_path: Path
) -> None:
    nav = Link("/b", "To b", {"rel": "nofollow"}, "nav")
    home = Html("Home", (nav, Link("/old"), Link("/file")), lang="en", canonical="/a")
    site = Host(
        {"/": home, "/b": Html("B"), "/old": Redirect("/b"), "/file": NonHtml(), "/a": Html("A")}
    )
    served = serve(Web({START: site}))
    config = write_config(tmp_path, served, FROM_START)
    feed = tmp_path / "pages.jsonl"
    scrapy_crawl(config, "-O", str(feed))

    items = [json.loads(line) for line in feed.read_text(encoding="utf-8").splitlines()]
    database = Database(config)
    columns = "url, state, title, status_code, fetch_url, content_hash, content_type, language"
    stored = {
        str(key): facts
        for key, *facts in database.rows(f"SELECT id, {columns} FROM pages WHERE visited_at <> ''")
    }
    assert {item["page_id"]: [item[c] for c in columns.split(", ")] for item in items} == stored
    assert len(items) == len(stored) == 5
    assert all(isinstance(item["page_id"], str) for item in items)

    links = {
        (str(source), str(target), kind, anchor or "", rel or "", position)
        for source, target, kind, anchor, rel, position in database.rows(
            "SELECT from_page_id, to_page_id, kind, anchor, rel, position FROM links"
        )
    }
    assert {
        (item["page_id"], *(link[c] for c in ("page_id", "kind", "anchor", "rel", "position")))
        for item in items
        for link in item["links"]
    } == links
    home_id = next(item["page_id"] for item in items if item["title"] == "Home")
    nav_link = (next(i["page_id"] for i in items if i["title"] == "B"), "anchor", "To b")
    assert (home_id, *nav_link, "nofollow", "nav") in links
