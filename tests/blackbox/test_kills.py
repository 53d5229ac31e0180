"""SIGKILL at any moment: nothing is lost, nothing is asked needlessly, nobody is pestered."""

import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from terrain.sampleweb.log import by_host, gaps
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Web
from tests.blackbox.crawls import CLOCK_SLACK, DELAY, Database, crawl, write_config
from tests.blackbox.random_webs import Scene, busy, polite, scarce
from tests.blackbox.running import Requests, Running, asked_again, graph

Serve = Callable[[Web], ServedWeb]

KILLS = 6
"""Per web; four webs make 24."""


def config_in(directory: Path, served: ServedWeb, scene: Scene) -> Path:
    directory.mkdir()
    return write_config(directory, served, scene.quality, **scene.sections)


def crawl_with_kills(
    config: Path, served: ServedWeb, requests: int, random: Random, most: int = KILLS
) -> int:
    """Crawl to the end, killed at random points of it; returns how many kills hit."""
    seen = Requests(served)
    begun = seen.count()
    # Where along the way, in requests; the first comes before anything is asked.
    moments = [0, *sorted(random.sample(range(1, requests), most - 1))]
    kills = 0
    for moment in moments:
        with Running.terrain(config) as running:
            if not moment:
                running.wait_until(Database(config).path.exists)
            elif not running.wait_until(
                lambda moment=moment: seen.count() >= begun + moment, or_end=True
            ):
                running.wait()
                return kills
            running.signal(signal.SIGKILL)
            running.wait(-signal.SIGKILL)
            kills += 1
        if moment:
            Database(config).check()
    crawl(config)
    return kills


def assert_polite_over_kills(served: ServedWeb, scene: Scene) -> None:
    """The gaps hold from one process to the next; a killed one's last request has no end here."""
    for gap in gaps(served.log()):
        delay = scene.delays.get(gap.key, DELAY)
        if gap.before.outcome == "left":
            # The client died while it waited: its clock began at the kill, which the server saw.
            assert gap.seconds >= DELAY - CLOCK_SLACK, gap
        elif gap.before.kind != "robots":
            # The delay that robots.txt asks for is known after it only.
            assert gap.seconds >= delay - CLOCK_SLACK, gap
        else:
            assert gap.seconds >= DELAY - CLOCK_SLACK, gap


@pytest.mark.parametrize(("make", "seed"), [(polite, 1), (polite, 2), (busy, 3), (busy, 4)])
def test_a_killed_crawl_ends_with_the_graph_of_an_undisturbed_one(
    serve: Serve, tmp_path: Path, make: Callable[[int], Scene], seed: int
) -> None:
    scene = make(seed)
    calm = serve(scene.web)
    undisturbed = config_in(tmp_path / "calm", calm, scene)
    crawl(undisturbed)
    requests = len(calm.log())

    served = serve(scene.web)
    config = config_in(tmp_path / "killed", served, scene)
    kills = crawl_with_kills(config, served, requests, Random(seed))

    assert kills >= 5
    assert graph(config) == graph(undisturbed)
    assert Database(config).runs() == [(1, "completed")]
    # What a kill costs is what was out or answered and not yet committed.
    again = asked_again(served.log())
    assert again.total() <= kills * scene.pages_open, again
    assert not asked_again(calm.log())
    if not scene.own:
        assert_polite_over_kills(served, scene)


def test_no_kill_makes_a_host_answer_more_than_its_budget(serve: Serve, tmp_path: Path) -> None:
    scene = scarce(5)
    served = serve(scene.web)
    config = config_in(tmp_path / "killed", served, scene)
    kills = crawl_with_kills(config, served, 50, Random(5), most=4)
    assert kills >= 3
    budget = scene.sections["crawler"]["max-domain-requests"]
    asked = {host: len(exchanges) for host, exchanges in by_host(served.log()).items()}
    assert max(asked.values()) <= budget
    # What a kill forfeits is the requests reserved ahead, not the budget.
    assert max(asked.values()) > budget / 3
    assert_polite_over_kills(served, scene)
    states = set(Database(config).states().values())
    assert "request_limit_hit" in states
    assert not states & {"queued", "fetching"}
    assert Database(config).runs() == [(1, "completed")]
