"""What the public names hold, on a small terrain that can be checked by hand."""

from collections.abc import Callable

import pytest

from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.states import PageState
from terrain.rules.urls import host_id
from terrain.store import PageOutcome, Policy, RobotsRecord
from tests.store.terrains import (
    Terrain,
    address,
    ended,
    link,
    make_policy,
    processed,
    redirected,
)

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
SUB = "https://a.test/sub"
OUT = "https://c.test/out"
BAD, STUB = "https://bad.test/x", "https://stub.test/y"


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    """HOME leads to SUB, OUT, BAD and STUB; SUB to BAD and OUT; OUT redirects to STUB."""
    terrain = make_terrain(
        make_policy({"a.test": 2}, [HOME], blacklist=["bad.test"], stub=["stub.test"])
    )
    terrain.record(processed(HOME, SUB, OUT, BAD, STUB, title="Home", description="The start"))
    terrain.record(processed(SUB, BAD, OUT))
    terrain.record(redirected(OUT, STUB))
    return terrain


def test_a_page_has_all_its_facts(make_terrain: Make) -> None:
    terrain = make_terrain(make_policy({"a.test": 2}, [HOME]))
    facts = {
        "title": "Title",
        "description": "What it is about",
        "status_code": 203,
        "content_type": "text/html; charset=utf-8",
        "last_modified": "Sat, 01 Jun 2024 10:00:00 GMT",
        "etag": '"abc"',
        "content_hash": "00ff",
        "language": "en",
        "canonical_url": "https://a.test/canonical",
        "meta_robots": "noindex",
        "bytes": 5_000_000_000,
        "fetch_ms": 120,
        "visited_at": "2024-06-01T10:00:00.000Z",
        "error_message": "cut at 10 links",
        "retry_count": 2,
    }
    terrain.record(processed(HOME, **facts))
    columns = ", ".join(facts)
    assert terrain.rows(f"SELECT {columns} FROM pages") == [tuple(facts.values())]
    del facts["description"], facts["content_type"], facts["last_modified"], facts["etag"]
    del facts["language"], facts["canonical_url"], facts["meta_robots"], facts["retry_count"]
    columns = ", ".join(facts)
    assert terrain.rows(f"SELECT {columns} FROM visits") == [tuple(facts.values())]


def test_a_redirect_within_the_identity_replaces_the_fetch_url(make_terrain: Make) -> None:
    terrain = make_terrain(make_policy({"a.test": 2}, ["https://a.test/docs"]))
    terrain.record(
        processed("https://a.test/docs", fetch_url="https://www.a.test/docs/", own_hops=2)
    )
    rows = terrain.rows("SELECT url, fetch_url FROM pages")
    assert rows == [("https://a.test/docs", "https://www.a.test/docs/")]


def test_a_redirect_back_to_the_plain_address_is_kept_as_such(make_terrain: Make) -> None:
    terrain = make_terrain(make_policy({"a.test": 2}, ["https://www.a.test/docs/"]))
    terrain.record(processed("https://a.test/docs", fetch_url="https://a.test/docs", own_hops=1))
    assert terrain.rows("SELECT fetch_url FROM pages") == [("https://a.test/docs",)]


def test_the_first_address_found_is_kept(make_terrain: Make) -> None:
    terrain = make_terrain(make_policy({"a.test": 2}, [HOME]))
    terrain.record(processed(HOME, "https://www.c.test/docs/?utm_source=x", SUB))
    terrain.record(processed(SUB, "https://c.test/docs"))
    rows = terrain.rows("SELECT url, fetch_url, domain FROM pages WHERE domain = 'c.test'")
    assert rows == [("https://c.test/docs", "https://www.c.test/docs/?utm_source=x", "c.test")]


class TestLinks:
    def facts(self, terrain: Terrain, *links: OutLink) -> list[tuple[object, ...]]:
        page = address(HOME).page_id
        terrain.record(PageOutcome(page, PageState.PROCESSED, links=links))
        return terrain.rows(
            "SELECT kind, position, anchor, rel FROM links JOIN pages ON pages.id = to_page_id"
            f" WHERE from_page_id = {page} ORDER BY url"
        )

    @pytest.fixture
    def empty(self, make_terrain: Make) -> Terrain:
        return make_terrain(make_policy({"a.test": 2}, [HOME]))

    def test_kind_and_position_are_words(self, empty: Terrain) -> None:
        links = [
            OutLink(address(f"https://c.test/{position}"), LinkKind.ANCHOR, "text", "me", position)
            for position in Position
        ]
        words = ["nav", "header", "footer", "aside", "main", "body"]
        assert self.facts(empty, *links) == [("anchor", word, "text", "me") for word in words]

    def test_what_a_link_does_not_say_is_null(self, empty: Terrain) -> None:
        assert self.facts(empty, link(OUT)) == [("anchor", "body", None, None)]

    def test_of_several_with_one_target_the_kind_decides_then_the_order(
        self, empty: Terrain
    ) -> None:
        links = [
            link(OUT, LinkKind.CANONICAL, anchor="canonical"),
            link(OUT, anchor="first"),
            link(OUT, anchor="second"),
        ]
        assert self.facts(empty, *links) == [("anchor", "body", "first", None)]

    def test_there_is_none_from_a_page_to_itself(self, empty: Terrain) -> None:
        assert self.facts(empty, link("https://www.a.test/#top"), link(HOME)) == []


class TestListedUrls:
    def test_blacklisted_ones_with_their_referrers(self, terrain: Terrain) -> None:
        key = address(BAD).page_id
        rows = terrain.rows("SELECT * FROM blacklisted_urls")
        assert rows == [(key, BAD, "bad.test", 2, 1)]
        referrers = terrain.rows("SELECT * FROM blacklisted_referrers")
        assert set(referrers) == {(key, address(HOME).page_id, 1), (key, address(SUB).page_id, 1)}

    def test_stubbed_ones_count_redirects_too(self, terrain: Terrain) -> None:
        key = address(STUB).page_id
        assert terrain.rows("SELECT * FROM stubbed_urls") == [(key, STUB, "stub.test", 2, 1)]
        referrers = terrain.rows("SELECT * FROM stubbed_referrers")
        assert set(referrers) == {(key, address(HOME).page_id, 1), (key, address(OUT).page_id, 1)}

    def test_a_link_that_is_gone_no_longer_counts(self, terrain: Terrain) -> None:
        terrain.finish()
        terrain.open()
        terrain.record(processed(HOME, SUB))
        rows = terrain.rows("SELECT reference_count, first_seen_run FROM blacklisted_urls")
        assert rows == [(1, 1)]

    def test_they_are_never_in_the_frontier(self, terrain: Terrain) -> None:
        assert terrain.waiting() == set()


class TestByDomain:
    def test_nodes(self, terrain: Terrain) -> None:
        rows = terrain.rows("SELECT node_id, domain_name, description, crawl_count FROM nodes")
        assert set(rows) == {
            (host_id("a.test"), "a.test", "The start", 2),
            (host_id("c.test"), "c.test", None, 1),
            (host_id("bad.test"), "bad.test", None, 0),
            (host_id("stub.test"), "stub.test", None, 0),
        }

    def test_a_node_without_a_description_has_its_title(self, make_terrain: Make) -> None:
        terrain = make_terrain(make_policy({"a.test": 2}, [HOME]))
        terrain.record(processed(HOME, title="Home", description=""))
        assert terrain.rows("SELECT description FROM nodes") == [("Home",)]

    def test_edges_weigh_as_many_links_as_are_there(self, terrain: Terrain) -> None:
        rows = terrain.rows(
            """SELECT s.domain_name, t.domain_name, weight FROM edges
                 JOIN nodes s ON s.node_id = from_node_id JOIN nodes t ON t.node_id = to_node_id"""
        )
        assert set(rows) == {
            ("a.test", "c.test", 2),
            ("a.test", "bad.test", 2),
            ("a.test", "stub.test", 1),
            ("c.test", "stub.test", 1),
        }

    def test_domain_states(self, terrain: Terrain) -> None:
        terrain.supply("c.test", tokens=4)
        terrain.opened.give_back([("c.test", 1)]).result()
        record = RobotsRecord("https://c.test", 200, "User-agent: *", "2024-06-01", 2**31)
        terrain.opened.keep_robots("c.test", record).result()
        terrain.opened.close_host("c.test", PageState.RATE_LIMITED).result()
        rows = terrain.rows("SELECT * FROM domain_states WHERE domain IN ('a.test', 'c.test')")
        assert set(rows) == {
            ("a.test", "a.test", 0, 0, None, None, None),
            ("c.test", "c.test", 3, 1, None, "User-agent: *", "2024-06-01"),
        }


def test_the_frontier_is_ordered_by_priority(make_terrain: Make) -> None:
    terrain = make_terrain(make_policy({"a.test": 2, "b.test": 1}, [HOME, "https://b.test/"]))
    terrain.record(processed(HOME, OUT))
    rows = terrain.rows("SELECT url, priority FROM frontier JOIN pages ON pages.id = page_id")
    # The widest limit is 2: OUT has one more link to go, like the seed of b.test.
    assert set(rows) == {(OUT, 1), ("https://b.test/", 1)}


def test_a_page_not_asked_for_has_no_visit(make_terrain: Make) -> None:
    terrain = make_terrain(make_policy({"a.test": 2}, [HOME]))
    terrain.record(ended(HOME, PageState.FAILED, visited=False, error_message="robots denied"))
    assert terrain.rows("SELECT state, error_message, visited_at FROM pages") == [
        ("failed", "robots denied", None)
    ]
    assert terrain.rows("SELECT * FROM visits") == []
