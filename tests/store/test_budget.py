"""Requests per host and run: reserved on disk before they are made, never exceeded (design 3.5)."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terrain.rules.states import PageState
from terrain.store import Policy, Start
from tests.store.terrains import Terrain, make_policy

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
BUDGET = 10


def policy(budget: int = BUDGET) -> Policy:
    return make_policy({"a.test": 1}, [HOME], budget=budget)


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    return make_terrain(policy())


def counted(terrain: Terrain) -> object:
    return terrain.rows("SELECT request_count FROM domain_states WHERE domain = 'a.test'")[0][0]


def give_back(terrain: Terrain, tokens: int) -> None:
    terrain.opened.give_back([("a.test", tokens)]).result()


def test_tokens_are_granted_until_the_budget_is_spent(terrain: Terrain) -> None:
    granted = [terrain.supply("a.test", tokens=4) for _ in range(4)]
    assert [supply.tokens for supply in granted] == [4, 4, 2, 0]
    assert [supply.spent for supply in granted] == [False, False, True, True]


def test_what_is_granted_is_on_disk(terrain: Terrain) -> None:
    terrain.supply("a.test", tokens=4)
    assert counted(terrain) == 4
    terrain.reopen()
    assert counted(terrain) == 4


def test_giving_back_makes_the_count_exact(terrain: Terrain) -> None:
    terrain.supply("a.test", tokens=8)
    give_back(terrain, 5)
    assert counted(terrain) == 3
    assert terrain.supply("a.test", tokens=20).tokens == 7


def test_asking_for_no_token_takes_none(terrain: Terrain) -> None:
    supply = terrain.supply("a.test", tokens=0)
    assert (supply.tokens, supply.spent, counted(terrain)) == (0, False, 0)


def test_a_crash_forfeits_what_was_reserved(terrain: Terrain) -> None:
    terrain.supply("a.test", tokens=6)
    terrain.reopen()
    assert terrain.supply("a.test", tokens=20).tokens == 4


def test_a_new_run_has_a_new_budget(terrain: Terrain) -> None:
    terrain.supply("a.test", tokens=BUDGET)
    terrain.reopen(start=Start.FRESH)
    assert terrain.supply("a.test", tokens=20).tokens == BUDGET


def test_each_host_has_its_own(terrain: Terrain) -> None:
    terrain.supply("a.test", tokens=BUDGET)
    assert terrain.supply("b.test", tokens=3).tokens == 3


def test_the_number_of_the_request_that_met_a_429_is_kept(terrain: Terrain) -> None:
    terrain.supply("a.test", tokens=8)
    terrain.opened.close_host("a.test", PageState.RATE_LIMITED).result()
    give_back(terrain, 5)
    assert terrain.rows("SELECT limited_at_request FROM host") == [(3,)]


class TestTheLastProcess:
    """A host that may have been asked a moment ago first waits one delay."""

    def test_left_in_good_order(self, terrain: Terrain) -> None:
        terrain.supply("a.test")
        give_back(terrain, 4)
        given_back_at = terrain.time
        terrain.reopen()
        supply = terrain.supply("a.test")
        assert not supply.crashed
        assert supply.not_before == given_back_at

    def test_crashed(self, terrain: Terrain) -> None:
        terrain.supply("a.test", tokens=2)
        terrain.reopen()
        assert terrain.supply("a.test", tokens=2).crashed
        # From now on the reservation is this process's own.
        assert not terrain.supply("a.test", tokens=2).crashed

    def test_crashed_in_an_earlier_run(self, terrain: Terrain) -> None:
        terrain.supply("a.test")
        terrain.reopen(start=Start.FRESH)
        assert terrain.supply("a.test").crashed

    def test_never_asked_the_host(self, terrain: Terrain) -> None:
        terrain.reopen()
        supply = terrain.supply("a.test")
        assert (supply.crashed, supply.not_before) == (False, None)

    def test_crashed_and_so_did_the_next_before_it_asked(self, terrain: Terrain) -> None:
        terrain.supply("a.test")
        terrain.reopen()
        assert terrain.supply("a.test", tokens=0).crashed
        terrain.reopen()
        assert terrain.supply("a.test").crashed


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), st.integers(0, 5)),
        st.tuples(st.just("ask"), st.integers(1, 4)),
        st.sampled_from([("give back", 0), ("crash", 0), ("leave", 0)]),
    ),
    max_size=15,
)


@settings(max_examples=25, deadline=None)
@given(budget=st.integers(1, 12), actions=ACTIONS)
def test_requests_never_exceed_the_budget(budget: int, actions: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        terrain = Terrain(Path(directory) / "terrain.db", policy(budget))
        terrain.open()
        try:
            _play(terrain, budget, actions)
        finally:
            terrain.crash()


def _play(terrain: Terrain, budget: int, actions: list[tuple[str, int]]) -> None:
    asked = tokens = forfeited = 0
    for action, number in actions:
        if action == "reserve":
            supply = terrain.supply("a.test", tokens=number)
            tokens += supply.tokens
            # Nothing is withheld either: only what was used or forfeited is missing.
            assert supply.tokens == min(number, budget - asked - forfeited - tokens + supply.tokens)
            assert supply.spent == (asked + forfeited + tokens == budget)
        elif action == "ask":
            used = min(number, tokens)
            asked, tokens = asked + used, tokens - used
        elif action == "crash":
            forfeited, tokens = forfeited + tokens, 0
            terrain.reopen()
        else:
            give_back(terrain, tokens)
            tokens = 0
            if action == "leave":
                terrain.opened.close_run(completed=False)
                terrain.reopen()
        assert asked + tokens <= budget
        assert counted(terrain) == asked + forfeited + tokens
