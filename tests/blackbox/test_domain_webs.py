"""By domain, over three runs of a web that changes: the map equals what a plain program draws."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from terrain.sampleweb.log import Exchange
from terrain.sampleweb.process import ServedWeb
from tests.blackbox.crawls import Database, assert_polite, crawl, write_config
from tests.blackbox.domain_reference import Map, Sites, walk_on
from tests.blackbox.domain_webs import LISTED, change, generate, quality, sections, served
from tests.blackbox.test_kills import crawl_with_kills

SEEDS = range(int(os.environ.get("TERRAIN_RANDOM_WEBS", "4")))
RUNS = 3
KILLED = (0, 1)
"""Seeds of the webs that are also crawled under kills."""


@dataclass(frozen=True)
class Drawn:
    """What the database says of the domains."""

    nodes: dict[str, tuple[str | None, int]]
    weights: dict[tuple[str, str], int]
    states: dict[str, tuple[str, int]]
    """State and last run."""
    visits: dict[tuple[str, int], str]
    depths: dict[tuple[str, str], int]


def drawn(config: Path) -> Drawn:
    database = Database(config)
    nodes = database.rows("SELECT domain_name, description, crawl_count FROM nodes")
    edges = database.rows(
        "SELECT s.domain_name, t.domain_name, weight FROM edges"
        " JOIN nodes s ON s.node_id = from_node_id JOIN nodes t ON t.node_id = to_node_id"
    )
    pages = database.rows("SELECT url, state, last_run FROM pages")
    visits = database.rows(
        "SELECT domain, run_id, v.state FROM visits v JOIN pages ON id = page_id"
    )
    return Drawn(
        {name: (description, count) for name, description, count in nodes},
        {(source, target): weight for source, target, weight in edges},
        {url.removeprefix("https://").rstrip("/"): (state, run) for url, state, run in pages},
        {(name, run): state for name, run, state in visits},
        {(url.split("/")[2], origin): depth for url, origin, depth in database.depths()},
    )


def expected(found: Map) -> Drawn:
    return Drawn(
        found.nodes,
        dict(found.weights),
        {host: (state, found.last_run[host]) for host, state in found.states.items()},
        found.visits,
        {(host, o): depth for host, all_of in found.depths.items() for o, depth in all_of.items()},
    )


@dataclass
class Outcome:
    """Three runs: what there was, what should be known after each, what is, who was asked."""

    sites: list[Sites]
    maps: list[Map]
    drawn: list[Drawn]
    asked: list[list[Exchange]]


def crawl_three_times(seed: int, directory: Path, *, kills: int = 0) -> Outcome:
    outcome = Outcome([generate(seed)], [], [], [])
    for run in range(1, RUNS):
        outcome.sites.append(change(outcome.sites[-1], 1000 * run + seed))
    with ServedWeb(served(outcome.sites[0], seed), directory / "web") as web:
        before, seen = Map(), 0
        for sites in outcome.sites:
            web.update(served(sites, seed))
            config = write_config(directory, web, quality(sites), **sections(sites))
            before = walk_on(sites, before)
            outcome.maps.append(before)
            if kills:
                asked = sum(run == before.runs for _, run in before.visits)
                crawl_with_kills(config, web, asked, Random(seed), most=kills)
            else:
                crawl(config)
                assert_polite(web)
            outcome.drawn.append(drawn(config))
            log = web.log()
            outcome.asked.append(list(log[seen:]))
            seen = len(log)
        runs = [(run, "completed") for run in range(1, RUNS + 1)]
        assert Database(config).runs() == runs
    return outcome


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Outcome]:
    with ThreadPoolExecutor(4) as threads:
        running = {
            seed: threads.submit(
                crawl_three_times, seed, tmp_path_factory.mktemp(f"by-domain-{seed}-")
            )
            for seed in SEEDS
        }
        return {seed: future.result() for seed, future in running.items()}


@pytest.mark.parametrize("run", range(RUNS))
@pytest.mark.parametrize("seed", SEEDS)
class TestAfterEachRun:
    def both(self, outcomes: dict[int, Outcome], seed: int, run: int) -> tuple[Drawn, Drawn]:
        outcome = outcomes[seed]
        return outcome.drawn[run], expected(outcome.maps[run])

    def test_nodes_with_descriptions_and_visits(
        self, outcomes: dict[int, Outcome], seed: int, run: int
    ) -> None:
        found, reference = self.both(outcomes, seed, run)
        assert found.nodes == reference.nodes

    def test_edges_with_weights(self, outcomes: dict[int, Outcome], seed: int, run: int) -> None:
        found, reference = self.both(outcomes, seed, run)
        assert found.weights == reference.weights

    def test_states(self, outcomes: dict[int, Outcome], seed: int, run: int) -> None:
        found, reference = self.both(outcomes, seed, run)
        assert found.states == reference.states

    def test_history(self, outcomes: dict[int, Outcome], seed: int, run: int) -> None:
        found, reference = self.both(outcomes, seed, run)
        assert found.visits == reference.visits

    def test_depths(self, outcomes: dict[int, Outcome], seed: int, run: int) -> None:
        found, reference = self.both(outcomes, seed, run)
        assert found.depths == reference.depths

    def test_only_what_may_be_visited_is_asked_and_once(
        self, outcomes: dict[int, Outcome], seed: int, run: int
    ) -> None:
        outcome = outcomes[seed]
        pages = [each for each in outcome.asked[run] if each.kind != "robots"]
        refusing = outcome.sites[run].refusing
        reference = outcome.maps[run]
        may = {host for host, at in reference.visits if at == run + 1} - refusing
        assert {each.host.removeprefix("www.") for each in pages} == may
        assert max(Counter((each.method, each.url) for each in pages).values()) == 1
        # Nothing but home pages, wherever they really are.
        assert {each.target for each in pages} <= {"/", "/en/"}


@pytest.mark.parametrize("seed", KILLED)
def test_kills_change_nothing(tmp_path: Path, seed: int) -> None:
    outcome = crawl_three_times(seed, tmp_path, kills=4)
    for found, reference in zip(outcome.drawn, map(expected, outcome.maps), strict=True):
        assert found == reference


def test_listed_hosts_see_no_request(outcomes: dict[int, Outcome]) -> None:
    for outcome in outcomes.values():
        hosts = {each.host for run in outcome.asked for each in run}
        assert not hosts & {*LISTED, *(f"www.{host}" for host in LISTED)}


def test_the_webs_have_something_of_everything(outcomes: dict[int, Outcome]) -> None:
    """Else the tests above show less than they say."""
    maps = [found for outcome in outcomes.values() for found in outcome.maps]
    states = {state for found in maps for state in found.states.values()}
    assert states == {
        "processed",
        "redirected",
        "failed",
        "dead_link",
        "content_mismatch",
        "unreachable",
        "blacklisted",
        "stubbed",
        "depth_exceeded",
    }
    for outcome in outcomes.values():
        first, *_, last = outcome.maps
        assert len(last.counts) > len(first.counts) > 3, "later runs come further"
        assert max(last.counts.values()) == outcome.sites[0].most_visits
        assert max(last.weights.values()) > 1
        # Links went away, and their edges stayed as they were.
        assert any(first.weights[pair] == last.weights[pair] for pair in first.weights)
    # Some host had had its visits, was reached all the same, and kept its state.
    assert any(
        found.last_run[host] == RUNS and (host, RUNS) not in found.visits and count > 1
        for found in maps
        for host, count in found.counts.items()
    )
