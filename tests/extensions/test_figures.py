from types import SimpleNamespace
from typing import Any

import pytest

from terrain.config import Config, parse_config
from terrain.extensions.figures import Figures, Meter, in_words, one_line
from terrain.frontier import Counts
from terrain.store.gauge import HostQueue, Reading

NOBODY = Counts(
    hosts=0, ready=0, waiting=0, suspended=0, in_flight=0, queued=0, follow_ups=0, leased=0
)

STATS = {"terrain/pages/processed": 10, "terrain/requests/get": 10, "terrain/requests/head": 10}


class Gate:
    """Crawl delays by origin."""

    def __init__(self, **delays: float) -> None:
        self.delays = delays

    def delay(self, origin: str) -> float:
        return self.delays.get(origin.removeprefix("https://").partition(".")[0], 0.0)


def config(**crawler: Any) -> Config:
    keys = {"minimum-time-on-page": 1000, "max-domain-requests": 100, **crawler}
    lines = "\n".join(f"{key} = {value!r}" for key, value in keys.items())
    text = f"""
[crawler]
{lines}
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
[[quality]]
domain = "own.test"
seeds = ["https://own.test/"]
own = true
minimum-time-on-page = 100
max-concurrent = 4
"""
    return parse_config(text, {})


def reading(*queues: HostQueue, **states: int) -> Reading:
    return Reading(states, sum(queue.pages for queue in queues), len(queues), queues, took=0.001)


def meter(gate: Gate | None = None, **crawler: Any) -> Meter:
    return Meter(config(**crawler), gate or Gate(), run=1, now=0.0)  # type: ignore[arg-type]


def test_pages_done_are_all_that_got_an_outcome_whatever_it_is():
    stats = {"terrain/pages/processed": 7, "terrain/pages/failed": 2, "log_count/INFO": 9}
    assert meter().look(stats, NOBODY, None, 1.0).done == 9


def test_the_rate_looks_back_ten_seconds_and_not_to_the_start():
    watch = meter()
    for second in range(1, 101):
        figures = watch.look({"terrain/pages/processed": second}, NOBODY, None, float(second))
    assert figures.per_second == pytest.approx(1.0)
    for second in range(101, 121):
        figures = watch.look({"terrain/pages/processed": 100}, NOBODY, None, float(second))
    assert figures.per_second == 0.0


def test_states_come_from_the_database_once_it_has_been_looked_at():
    watch = meter()
    stats = {"terrain/pages/processed": 1}
    assert watch.look(stats, NOBODY, None, 1.0).states == {"processed": 1}
    later = watch.look(stats, NOBODY, reading(processed=40, blacklisted=3), 2.0)
    assert later.states == {"processed": 40, "blacklisted": 3}


def test_pages_that_are_out_do_not_count_as_waiting():
    counts = Counts(
        hosts=1, ready=0, waiting=1, suspended=0, in_flight=1, queued=5, follow_ups=0, leased=2
    )
    figures = meter().look({}, counts, reading(HostQueue("a.test", 10, 0)), 1.0)
    assert figures.queued == 8


class TestTimeLeft:
    """One request a second, 100 requests a host, two requests a page."""

    def left(self, *queues: HostQueue, gate: Gate | None = None) -> tuple[float | None, str | None]:
        figures = meter(gate).look(STATS, NOBODY, reading(*queues), 1.0)
        return figures.seconds_left, figures.slowest

    def test_the_longest_queue_decides_because_hosts_are_asked_side_by_side(self):
        assert self.left(HostQueue("a.test", 20, 0), HostQueue("b.test", 8, 0)) == (40, "a.test")

    def test_a_crawl_delay_can_make_a_shorter_queue_the_slowest(self):
        queues = HostQueue("a.test", 20, 0), HostQueue("b.test", 8, 0)
        assert self.left(*queues, gate=Gate(b=10.0)) == (160, "b.test")

    def test_a_budget_that_is_nearly_spent_shortens_the_wait(self):
        assert self.left(HostQueue("a.test", 1000, 94)) == (6, "a.test")

    def test_an_own_host_is_asked_in_several_places_at_once(self):
        assert self.left(HostQueue("own.test", 20, 0)) == (1, "own.test")

    def test_nothing_waiting_is_nothing_to_tell(self):
        assert self.left() == (None, None)

    def test_without_a_page_done_two_requests_a_page_are_supposed_if_each_is_probed(self):
        waiting = reading(HostQueue("a.test", 20, 0))
        assert meter().look({}, NOBODY, waiting, 1.0).seconds_left == 40
        never = meter(**{"head-probe": "never"})
        assert never.look({}, NOBODY, waiting, 1.0).seconds_left == 20

    def test_more_hosts_than_places_are_bound_by_the_best_rate_so_far(self):
        watch = meter()
        for second in range(11):
            watch.look({"terrain/pages/processed": second * 5}, NOBODY, None, float(second))
        many = [HostQueue(f"h{n}.test", 2, 0) for n in range(500)]
        figures = watch.look({"terrain/pages/processed": 50}, NOBODY, reading(*many), 10.0)
        assert figures.seconds_left == pytest.approx(1000 / 5, rel=0.05)
        assert figures.slowest is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.4, "0 s"),
        (59, "59 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (86400, "1 d"),
        (273600, "3 d 4 h"),
    ],
)
def test_time_in_words(seconds: float, words: str):
    assert in_words(seconds) == words


def test_a_line_says_what_the_view_says():
    counts = SimpleNamespace(
        ready=3, waiting=4, suspended=1, in_flight=5, queued=20, follow_ups=0, leased=6
    )
    figures = Figures(
        run=2,
        elapsed=75,
        done=137,
        per_second=12.44,
        requests=300,
        counts=counts,  # type: ignore[arg-type]
        waiting=56,
        waiting_hosts=7,
        states={"processed": 120, "failed": 6, "dead_link": 2},
        seconds_left=7,
        slowest="a.test",
    )
    assert one_line(figures) == (
        "run 2, 1 min 15 s: 137 pages; 12.4/s; 50 waiting, 5 in flight; "
        "hosts 3 ready 4 waiting 1 suspended; 6 failed, 2 dead_link; at least 7 s left"
    )
