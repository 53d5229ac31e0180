"""Random webs: what the crawl finds equals what a plain program works out."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from terrain.sampleweb.process import ServedWeb
from tests.blackbox.crawled import Crawled, look_at
from tests.blackbox.crawls import assert_polite, crawl, write_config
from tests.blackbox.generated import LISTED, Generated, generate
from tests.blackbox.reference import Walk, identity, walk

SEEDS = range(int(os.environ.get("TERRAIN_RANDOM_WEBS", "6")))
"""More of them: `TERRAIN_RANDOM_WEBS=100 pytest tests/blackbox/test_random_webs.py`."""

AT_ONCE = 6
"""Crawls side by side: each spends most of its time waiting for its hosts' clocks."""


@dataclass(frozen=True)
class Outcome:
    generated: Generated
    expected: Walk
    crawled: Crawled


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Outcome]:
    def run(seed: int) -> Outcome:
        directory = tmp_path_factory.mktemp(f"seed-{seed}-")
        generated = generate(seed)
        with ServedWeb(generated.web, directory / "web") as served:
            config = write_config(directory, served, generated.quality, **generated.sections)
            crawl(config)
            assert_polite(served)
            return Outcome(generated, walk(generated.terrain), look_at(config, served))

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return dict(zip(SEEDS, threads.map(run, SEEDS), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_states_equal_the_reference(outcomes: dict[int, Outcome], seed: int) -> None:
    outcome = outcomes[seed]
    assert outcome.crawled.database.states() == outcome.expected.states


@pytest.mark.parametrize("seed", SEEDS)
def test_links_equal_the_reference(outcomes: dict[int, Outcome], seed: int) -> None:
    outcome = outcomes[seed]
    assert outcome.crawled.database.links() == outcome.expected.links


@pytest.mark.parametrize("seed", SEEDS)
def test_depths_equal_the_reference(outcomes: dict[int, Outcome], seed: int) -> None:
    outcome = outcomes[seed]
    assert outcome.crawled.database.depths() == outcome.expected.depths


@pytest.mark.parametrize("seed", SEEDS)
def test_no_page_is_asked_twice_at_one_address(outcomes: dict[int, Outcome], seed: int) -> None:
    outcome = outcomes[seed]
    log = [each for each in outcome.crawled.log if each.kind != "robots"]
    assert max(Counter((each.method, each.url) for each in log).values()) == 1
    # Further addresses of one page come from redirects within it, and from nothing else.
    last = [each for each in log if each.kind == "get" and not 300 <= (each.status or 0) < 400]
    assert max(Counter(identity(each.url) for each in last).values()) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_only_what_may_be_asked_is_asked(outcomes: dict[int, Outcome], seed: int) -> None:
    outcome = outcomes[seed]
    asked = {identity(each.url) for each in outcome.crawled.log if each.kind != "robots"}
    reachable = {
        url
        for url in outcome.expected.asked
        if url.split("/")[2] not in outcome.generated.terrain.refusing
    }
    assert asked == reachable


@pytest.mark.parametrize("seed", SEEDS)
def test_listed_hosts_see_no_request_and_no_hello(outcomes: dict[int, Outcome], seed: int) -> None:
    crawled = outcomes[seed].crawled
    for host in LISTED:
        assert not crawled.contacted(host)
        assert not crawled.contacted(f"www.{host}")


def test_the_webs_have_something_of_everything(outcomes: dict[int, Outcome]) -> None:
    """Else the tests above show less than they say."""
    states = {state for outcome in outcomes.values() for state in outcome.expected.states.values()}
    kinds = {kind for outcome in outcomes.values() for *_, kind in outcome.expected.links}
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
    assert kinds == {"redirect", "anchor", "canonical"}
    assert sum(len(outcome.expected.asked) for outcome in outcomes.values()) > 30 * len(outcomes)
