"""Nodes and edges follow the links, batch by batch; what they add up to is checked after each test.

(`make_terrain` compares them with a GROUP BY over everything: tests/rollup.py.)
"""

import itertools
from collections.abc import Callable
from random import Random

import pytest
from sqlalchemy import Connection

from terrain.rules.depth import MAX_HOPS
from terrain.rules.states import PageState
from terrain.store import Fault, Policy, Start
from terrain.store.statements import Prepared, Values
from tests.store.terrains import Terrain, ended, make_policy, processed, redirected

Make = Callable[[Policy], Terrain]

HOME, SUB = "https://a.test/", "https://a.test/sub"
C1, C2, D = "https://c.test/1", "https://c.test/2", "https://d.test/"


def edges(terrain: Terrain) -> dict[tuple[str, str], int]:
    rows = terrain.rows(
        """SELECT s.domain_name, t.domain_name, weight FROM edges
             JOIN nodes s ON s.node_id = from_node_id JOIN nodes t ON t.node_id = to_node_id"""
    )
    return {(source, target): weight for source, target, weight in rows}


def visits(terrain: Terrain) -> dict[str, int]:
    return dict(terrain.rows("SELECT domain_name, crawl_count FROM nodes"))


def again(terrain: Terrain) -> None:
    terrain.reopen(start=Start.FRESH)


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    return make_terrain(make_policy({"a.test": 3}, [HOME]))


def test_links_of_a_batch_are_added_up(terrain: Terrain) -> None:
    terrain.record(processed(HOME, SUB, C1, C2, D))
    terrain.record(processed(SUB, C1), processed(C1, HOME, C2), processed(C2, HOME))
    assert edges(terrain) == {("a.test", "c.test"): 3, ("a.test", "d.test"): 1,
                              ("c.test", "a.test"): 2}  # fmt: skip


def test_links_within_a_host_are_no_edge(terrain: Terrain) -> None:
    terrain.record(processed(HOME, SUB))
    assert edges(terrain) == {}


def test_a_link_that_is_gone_subtracts_and_one_that_comes_back_adds(terrain: Terrain) -> None:
    terrain.record(processed(HOME, C1, C2))
    again(terrain)
    terrain.record(processed(HOME, C1))
    assert edges(terrain) == {("a.test", "c.test"): 1}
    again(terrain)
    terrain.record(processed(HOME, C1, C2))
    assert edges(terrain) == {("a.test", "c.test"): 2}


def test_an_edge_without_a_link_is_no_edge(terrain: Terrain) -> None:
    terrain.record(processed(HOME, C1))
    again(terrain)
    terrain.record(processed(HOME))
    assert terrain.rows("SELECT * FROM edge") == []


def test_a_page_that_could_not_be_read_keeps_its_edges(terrain: Terrain) -> None:
    terrain.record(processed(HOME, C1))
    again(terrain)
    terrain.record(ended(HOME, PageState.UNREACHABLE))
    assert edges(terrain) == {("a.test", "c.test"): 1}


def test_a_page_that_redirects_now_has_one_edge(terrain: Terrain) -> None:
    terrain.record(processed(HOME, C1, C2, D))
    again(terrain)
    terrain.record(redirected(HOME, D))
    assert edges(terrain) == {("a.test", "d.test"): 1}


def test_visits_are_counted_over_runs(terrain: Terrain) -> None:
    terrain.record(processed(HOME, C1, D))
    terrain.record(processed(C1), ended(D, PageState.FAILED, visited=False))
    again(terrain)
    terrain.record(processed(HOME, C1, C2))
    terrain.record(ended(C1, PageState.DEAD_LINK), processed(C2))
    assert visits(terrain) == {"a.test": 2, "c.test": 3, "d.test": 0}


def test_a_page_asked_twice_in_a_run_has_one_visit(terrain: Terrain) -> None:
    """Its own hops made it too far away; then a shorter way to it was found."""
    chain = [f"https://c.test/{number}" for number in range(MAX_HOPS)]
    terrain.record(processed(HOME, chain[0], SUB))
    for one, following in itertools.pairwise(chain):
        terrain.record(redirected(one, following))
    last = ended(chain[-1], PageState.FAILED, fault=Fault.TOO_FAR, own_hops=2)
    terrain.record(last)
    before = visits(terrain)["c.test"]
    terrain.record(processed(SUB, chain[-1]))
    assert chain[-1] in terrain.waiting()
    terrain.record(processed(chain[-1]))
    assert visits(terrain)["c.test"] == before == len(chain)


def test_a_batch_writes_a_pair_of_hosts_once(
    terrain: Terrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each link: that is what makes it cheap."""
    pages = [f"https://a.test/{number}" for number in range(20)]
    terrain.record(processed(HOME, *pages))
    rows: list[int] = []
    many = Prepared.many

    def note(prepared: Prepared, connection: Connection, given: list[Values]) -> None:
        if "INSERT INTO edge" in prepared.text.sql:
            rows.append(len(given))
        many(prepared, connection, given)

    monkeypatch.setattr(Prepared, "many", note)
    terrain.record(*(processed(page, C1, C2, D) for page in pages))
    assert rows == [2]


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_read_in_whatever_batches(make_terrain: Make, seed: int) -> None:
    """Links come and go over five runs; the sums are compared when the test is over."""
    random = Random(seed)
    pages = [f"https://{host}.test/{n}" for host in "abcd" for n in range(4)]
    policy = make_policy({"*.test": 3}, pages)
    terrain = make_terrain(policy)
    for run in range(5):
        if run:
            terrain.reopen(start=Start.FRESH)
        outcomes = []
        for page in random.sample(pages, random.randint(4, len(pages))):
            others = [other for other in pages if other != page]
            kind = random.random()
            if kind < 0.6:
                outcomes.append(processed(page, *random.sample(others, random.randint(0, 6))))
            elif kind < 0.8:
                outcomes.append(redirected(page, random.choice(others)))
            else:
                outcomes.append(ended(page, PageState.UNREACHABLE))
        size = random.randint(1, 5)
        for start in range(0, len(outcomes), size):
            terrain.record(*outcomes[start : start + size])
    assert sum(visits(terrain).values()) > len(pages)
    assert edges(terrain)


def test_a_batch_that_fails_leaves_no_trace(terrain: Terrain) -> None:
    outcome = processed(HOME, C1)
    unknown = processed("https://nobody.test/", D)
    with pytest.raises(Exception, match="has not reached"):
        terrain.record(outcome, unknown)
    assert edges(terrain) == {}
    terrain.record(outcome)
    assert (edges(terrain), visits(terrain)["a.test"]) == ({("a.test", "c.test"): 1}, 1)
