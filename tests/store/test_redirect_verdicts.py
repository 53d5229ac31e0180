"""Redirects that lead nowhere, case by case; test_depths.py does the same at random."""

from collections.abc import Callable

import pytest

from terrain.rules.states import PageState
from terrain.store import Fault, Policy
from tests.store.terrains import Terrain, ended, make_policy, processed, redirected

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"


def hop(number: int) -> str:
    return f"https://c.test/{number}"


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    return make_terrain(make_policy({"a.test": 5}, [HOME]))


def walk(terrain: Terrain, first: int, last: int) -> None:
    """Page n redirects to page n + 1, each hop committed on its own."""
    for number in range(first, last):
        terrain.record(redirected(hop(number), hop(number + 1)))


def errors(terrain: Terrain) -> dict[str, str]:
    return dict(terrain.rows("SELECT url, error_message FROM pages"))


def test_exactly_ten_hops_are_followed(terrain: Terrain) -> None:
    terrain.record(processed(HOME, hop(0)))
    walk(terrain, 0, 10)
    assert terrain.waiting() == {hop(10)}
    terrain.record(processed(hop(10)))
    states = terrain.states()
    assert [states[hop(n)] for n in range(11)] == ["redirected"] * 10 + ["processed"]


def test_eleven_hops_fail_with_everything_that_leads_there(terrain: Terrain) -> None:
    terrain.record(processed(HOME, hop(0)))
    walk(terrain, 0, 11)
    states = terrain.states()
    assert [states[hop(n)] for n in range(12)] == ["failed"] * 12
    assert terrain.waiting() == set()
    assert errors(terrain)[hop(11)] == "more than 10 redirect hops"
    assert errors(terrain)[hop(0)] == "leads to more than 10 redirect hops"
    visits = set(terrain.rows("SELECT state, error_message FROM visits WHERE state = 'failed'"))
    assert visits == {("failed", "leads to more than 10 redirect hops")}


def test_a_shorter_way_found_later_brings_the_whole_chain_back(terrain: Terrain) -> None:
    other = "https://a.test/other"
    terrain.record(processed(HOME, hop(0), other))
    walk(terrain, 0, 11)
    terrain.record(processed(other, hop(5)))
    states = terrain.states()
    assert [states[hop(n)] for n in range(12)] == ["redirected"] * 11 + ["queued"]
    assert terrain.waiting() == {hop(11)}
    assert set(errors(terrain).values()) == {None}
    assert terrain.rows("SELECT count(*) FROM visits WHERE state = 'failed'") == [(0,)]


def test_a_cycle_fails_and_so_does_what_leads_into_it(terrain: Terrain) -> None:
    terrain.record(processed(HOME, hop(0)))
    walk(terrain, 0, 3)
    terrain.record(redirected(hop(3), hop(1)))
    states = terrain.states()
    assert [states[hop(n)] for n in range(4)] == ["failed"] * 4
    assert {errors(terrain)[hop(n)] for n in range(4)} == {"redirect cycle"}


def test_a_redirect_into_a_known_cycle_fails(terrain: Terrain) -> None:
    late = "https://a.test/late"
    terrain.record(processed(HOME, hop(0), late))
    terrain.record(redirected(hop(0), hop(1)))
    terrain.record(redirected(hop(1), hop(0)))
    terrain.record(redirected(late, hop(1)))
    assert terrain.states()[late] == "failed"


def test_a_loop_on_one_identity_fails_the_pages_that_lead_to_it(terrain: Terrain) -> None:
    terrain.record(processed(HOME, hop(0)))
    walk(terrain, 0, 1)
    terrain.record(ended(hop(1), PageState.FAILED, fault=Fault.CYCLE, error_message="loops"))
    assert errors(terrain)[hop(1)] == "loops"
    assert terrain.states()[hop(0)] == "failed"


def test_hops_within_an_identity_count(terrain: Terrain) -> None:
    terrain.record(processed(HOME, hop(0)))
    outcome = redirected(hop(0), hop(1), own_hops=10)
    terrain.record(outcome)
    assert terrain.states()[hop(1)] == "failed"


def test_a_page_cut_off_in_its_own_hops_is_asked_again_by_a_shorter_way(terrain: Terrain) -> None:
    other = "https://a.test/other"
    terrain.record(processed(HOME, hop(0), other))
    walk(terrain, 0, 9)
    terrain.record(ended(hop(9), PageState.FAILED, fault=Fault.TOO_FAR, error_message="too far"))
    assert terrain.states()[hop(8)] == "failed"
    terrain.record(processed(other, hop(9)))
    assert terrain.waiting() == {hop(9)}
    assert terrain.states()[hop(8)] == "redirected"
