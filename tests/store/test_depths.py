"""Depth, radius and redirect verdicts equal a plain search, whatever the order of arrival.

Hypothesis builds a small web with several origins, feeds its pages to the store in random order
and random batches, crashes between batches, and after every commit compares the whole picture with
a reference that starts from nothing: a breadth-first search over the links seen so far.
"""

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from terrain.rules.depth import MAX_HOPS
from terrain.store import faults, reach
from tests.store.terrains import Terrain, make_policy
from tests.store.webs import SEED, Reference, Web, chained_web, random_web

# Hypothesis chooses a seed rather than every link: its own choices lean to the smallest web, in
# which nothing arrives late.
SEEDS = st.integers(0, 2**32)
THOROUGH = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def crawl(terrain: Terrain, web: Web, random: Random, max_hops: int) -> None:
    """Read the web to its end, comparing after every commit."""
    terrain.open()
    read: set[str] = set()
    _compare(terrain, Reference(web, read, max_hops))
    while waiting := sorted(terrain.waiting()):
        prompt = [page for page in waiting if page not in web.late] or waiting
        # Now one by one, now all that wait: chains and cycles may come whole, in any order.
        most = random.choice([1, 3, len(prompt)])
        chosen = random.sample(prompt, random.randint(1, min(most, len(prompt))))
        terrain.record(*(web.outcome(url) for url in chosen))
        read |= set(chosen)
        if random.random() < 0.1:
            terrain.reopen()
        _compare(terrain, Reference(web, read, max_hops))
    assert terrain.opened.close_run(completed=True)
    stored = terrain.rows(
        "SELECT url, quality_origin, depth FROM page_depths JOIN pages ON page_id = pages.id"
    )
    assert set(stored) == Reference(web, read, max_hops).kept_depths()


def _compare(terrain: Terrain, reference: Reference) -> None:
    expected = {page: reference.state(page) for page in reference.reached}
    assert terrain.states() == expected
    assert terrain.waiting() == {page for page, state in expected.items() if state == "queued"}
    reasons = dict(terrain.rows("SELECT url, error_message FROM pages WHERE state = 'failed'"))
    assert reasons == {
        page: reference.reason(page) for page, state in expected.items() if state == "failed"
    }


def crawl_anywhere(web: Web, random: Random, max_hops: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        policy = make_policy(web.quality, [SEED], blacklist=["bad.test"])
        terrain = Terrain(Path(directory) / "terrain.db", policy)
        try:
            crawl(terrain, web, random, max_hops)
        finally:
            terrain.crash()
        terrain.check()


@THOROUGH
@given(seed=SEEDS)
def test_states_and_depths_equal_a_breadth_first_search(seed: int) -> None:
    random = Random(seed)
    crawl_anywhere(random_web(random), random, MAX_HOPS)


@THOROUGH
@given(seed=SEEDS)
def test_hop_limits_and_cycles_do_not_depend_on_the_order(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A limit of 2 hops, so that small webs run into it often.
    monkeypatch.setattr(reach, "MAX_HOPS", 2)
    monkeypatch.setattr(faults, "MAX_HOPS", 2)
    reasons = {key: text.replace("10", "2") for key, text in faults.REASONS.items()}
    monkeypatch.setattr(faults, "REASONS", reasons)
    random = Random(seed)
    crawl_anywhere(chained_web(random), random, 2)
