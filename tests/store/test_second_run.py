"""A second run over the same database: nothing is wiped at the start, history stays (3.6)."""

from collections.abc import Callable

import pytest

from terrain.rules.links import LinkKind
from terrain.rules.states import PageState
from terrain.store import PageOutcome, Policy, Start
from tests.store.terrains import Terrain, address, ended, link, make_policy, processed, redirected

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
ONE, TWO, THREE = (f"https://c.test/{number}" for number in (1, 2, 3))


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    """A terrain at the start of its second run; in the first, HOME led to ONE, ONE to TWO."""
    terrain = make_terrain(make_policy({"a.test": 3}, [HOME]))
    terrain.record(processed(HOME, ONE, title="Home"))
    terrain.record(processed(ONE, TWO))
    terrain.record(ended(TWO, PageState.DEAD_LINK, status_code=404, error_message="HTTP 404"))
    terrain.finish()
    terrain.open()
    return terrain


def last_runs(terrain: Terrain) -> dict[str, list[int]]:
    """The first and the last run that saw each page."""
    rows = terrain.rows("SELECT url, discovered_run, last_run FROM pages")
    return {url: runs for url, *runs in rows}


def links(terrain: Terrain) -> set[tuple[object, ...]]:
    """(from, to, first run, last run) with the ends as URLs."""
    return set(
        terrain.rows(
            """SELECT s.url, t.url, l.discovered_run, l.last_run FROM links l
                 JOIN pages s ON s.id = from_page_id JOIN pages t ON t.id = to_page_id"""
        )
    )


def removed(terrain: Terrain) -> set[tuple[object, ...]]:
    """The links that are gone: their source was read again, in a later run, without them."""
    return set(
        terrain.rows(
            """SELECT s.url, t.url FROM links l
                 JOIN pages s ON s.id = from_page_id JOIN pages t ON t.id = to_page_id
                 JOIN (SELECT page_id, max(run_id) AS run FROM visits
                        WHERE state IN ('processed', 'redirected') GROUP BY page_id) v
                   ON v.page_id = from_page_id
                WHERE l.last_run < v.run"""
        )
    )


def depths(terrain: Terrain) -> dict[object, object]:
    return dict(terrain.rows("SELECT url, depth FROM page_depths JOIN pages ON pages.id = page_id"))


class TestTheStart:
    def test_nothing_is_wiped(self, terrain: Terrain) -> None:
        assert terrain.states() == {HOME: "queued", ONE: "processed", TWO: "dead_link"}
        assert terrain.rows("SELECT count(*) FROM visits") == [(3,)]
        assert links(terrain) == {(HOME, ONE, 1, 1), (ONE, TWO, 1, 1)}

    def test_only_the_seeds_have_been_seen(self, terrain: Terrain) -> None:
        assert last_runs(terrain) == {HOME: [1, 2], ONE: [1, 1], TWO: [1, 1]}
        assert terrain.waiting() == {HOME}

    def test_depths_are_those_of_the_first_run(self, terrain: Terrain) -> None:
        assert depths(terrain) == {HOME: 0, ONE: 1, TWO: 2}

    def test_a_crash_right_after_changes_nothing(self, terrain: Terrain) -> None:
        before = terrain.states(), last_runs(terrain), links(terrain)
        assert terrain.reopen().id == 2
        assert (terrain.states(), last_runs(terrain), links(terrain)) == before


class TestPages:
    def test_are_reached_one_by_one(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, ONE))
        assert terrain.states() == {HOME: "processed", ONE: "queued", TWO: "dead_link"}
        assert last_runs(terrain) == {HOME: [1, 2], ONE: [1, 2], TWO: [1, 1]}

    def test_each_visit_stays(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, ONE, title="New home"))
        terrain.record(ended(ONE, PageState.FAILED, status_code=500, error_message="HTTP 500"))
        visits = terrain.rows(
            "SELECT url, run_id, v.state, v.status_code, v.title, v.error_message"
            "  FROM visits v JOIN pages ON pages.id = page_id ORDER BY url, run_id"
        )
        assert visits == [
            (HOME, 1, "processed", 200, "Home", None),
            (HOME, 2, "processed", 200, "New home", None),
            (ONE, 1, "processed", 200, None, None),
            (ONE, 2, "failed", 500, None, "HTTP 500"),
            (TWO, 1, "dead_link", 404, None, "HTTP 404"),
        ]

    def test_an_outcome_of_an_earlier_run_is_no_outcome_of_this_one(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, ONE))
        terrain.record(processed(ONE, TWO))
        assert terrain.waiting() == {TWO}
        # A message of the first run would explain a state that the page no longer has.
        assert terrain.rows(f"SELECT error_message FROM pages WHERE url = '{TWO}'") == [(None,)]

    def test_one_that_is_too_deep_now_says_so(self, terrain: Terrain) -> None:
        terrain.reopen(make_policy({"a.test": 0}, [HOME], terrain_hash="shallow"))
        terrain.record(processed(HOME, TWO))
        assert terrain.states()[TWO] == "depth_exceeded"
        assert terrain.rows(f"SELECT error_message FROM pages WHERE url = '{TWO}'") == [(None,)]

    def test_a_page_not_reached_again_keeps_its_state_and_its_last_run(
        self, terrain: Terrain
    ) -> None:
        terrain.record(processed(HOME))
        terrain.finish()
        terrain.open()
        assert terrain.states()[ONE] == "processed"
        assert last_runs(terrain)[ONE] == [1, 1]


class TestLinks:
    def test_one_still_there_has_the_new_last_run(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, ONE))
        assert (HOME, ONE, 1, 2) in links(terrain)

    def test_one_removed_is_told_from_one_not_looked_at(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME))
        assert links(terrain) == {(HOME, ONE, 1, 1), (ONE, TWO, 1, 1)}
        assert removed(terrain) == {(HOME, ONE)}

    def test_those_of_a_page_that_could_not_be_read_are_not_removed(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, ONE))
        terrain.record(ended(ONE, PageState.UNREACHABLE))
        assert removed(terrain) == set()

    def test_a_new_one_belongs_to_this_run(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, ONE, THREE))
        assert (HOME, THREE, 2, 2) in links(terrain)
        assert last_runs(terrain)[THREE] == [2, 2]

    def test_one_that_comes_back_keeps_its_first_run(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME))
        terrain.finish()
        terrain.open()
        terrain.record(processed(HOME, ONE))
        assert (HOME, ONE, 1, 3) in links(terrain)
        assert removed(terrain) == set()

    def test_one_removed_stays_last_seen_where_it_was_seen(self, terrain: Terrain) -> None:
        for _ in range(2):
            terrain.record(processed(HOME))
            terrain.finish()
            terrain.open()
        assert (HOME, ONE, 1, 1) in links(terrain)

    def test_changed_facts_of_a_link_are_the_newest(self, terrain: Terrain) -> None:
        changed = link(ONE, LinkKind.CANONICAL, anchor="new", rel="nofollow")
        page = address(HOME).page_id
        terrain.record(PageOutcome(page, PageState.PROCESSED, links=(changed,)))
        facts = terrain.rows(f"SELECT kind, anchor, rel FROM links WHERE from_page_id = {page}")
        assert facts == [("canonical", "new", "nofollow")]

    def test_a_page_that_redirects_now_has_only_the_redirect(self, terrain: Terrain) -> None:
        terrain.record(redirected(HOME, THREE))
        assert removed(terrain) == {(HOME, ONE)}
        assert (HOME, THREE, 2, 2) in links(terrain)

    def test_gone_links_are_no_way_to_a_page(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, THREE))
        terrain.record(processed(THREE, ONE))
        # In this run ONE is two links away; its old link to TWO is not known to be there.
        terrain.record(processed(ONE))
        terrain.finish()
        terrain.open()
        assert depths(terrain) == {HOME: 0, THREE: 1, ONE: 2, TWO: 2}


class TestDepths:
    def test_are_replaced_where_the_run_came_and_kept_elsewhere(self, terrain: Terrain) -> None:
        terrain.record(processed(HOME, THREE))
        terrain.record(processed(THREE, TWO))
        terrain.record(ended(TWO, PageState.FAILED))
        terrain.finish()
        terrain.open()
        assert depths(terrain) == {HOME: 0, THREE: 1, TWO: 2, ONE: 1}

    def test_a_longer_way_than_in_the_first_run_is_the_truth_of_the_second(
        self, terrain: Terrain
    ) -> None:
        terrain.record(processed(HOME, THREE))
        terrain.record(processed(THREE, ONE))
        terrain.record(processed(ONE, TWO))
        terrain.record(ended(TWO, PageState.FAILED))
        terrain.finish()
        terrain.open()
        assert depths(terrain) == {HOME: 0, THREE: 1, ONE: 2, TWO: 3}


def test_a_run_given_up_leaves_its_pages_as_they_were(terrain: Terrain) -> None:
    terrain.record(processed(HOME, THREE))
    terrain.reopen(start=Start.FRESH)
    # THREE still says what run 2 knew of it; it is not in the frontier of run 3.
    assert terrain.states()[THREE] == "queued"
    assert last_runs(terrain)[THREE] == [2, 2]
    assert terrain.waiting() == {HOME}
