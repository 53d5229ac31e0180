"""Politeness, from the server's log: every kind of request passes one clock (design 3.5)."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from terrain.sampleweb.behaviours import Behaviour, Flaky
from terrain.sampleweb.log import Exchange, by_host, gaps, max_in_flight
from terrain.sampleweb.pages import Html, NonHtml, Redirect, Status, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Latency, Web
from tests.blackbox.crawled import FROM_START, START, Crawled, look_at, web_of
from tests.blackbox.crawls import CLOCK_SLACK, DELAY, crawl, write_config

BUDGET = 16
"""Enough for the host of mixed pages, too little for the hosts of many."""

PAGES = 12
OWN = "own.test"


def many(host: str = "") -> dict[str, Behaviour]:
    """A home page with links to more pages than the budget allows."""
    links = to(*(f"{host}/{n}" for n in range(PAGES)))
    return {"/": Html("Home", links), **{f"/{n}": Html(f"{n}") for n in range(PAGES)}}


def crawl_delay(seconds: float) -> str:
    return f"User-agent: *\nCrawl-delay: {seconds}\n"


MIXED: dict[str, Behaviour] = {
    "/": Html("Home", to("/hop", "/away", "/flaky", "/file", "/gone")),
    "/hop": Redirect("/hop/"),
    "/hop/": Html("Hopped"),
    "/away": Redirect("/there"),
    "/there": Html("There"),
    "/flaky": Flaky((Status(500), Html("Better"))),
    "/file": NonHtml(),
}

HOSTS = {
    "many.test": Host(many()),
    "mixed.test": Host(MIXED, robots="User-agent: *\nAllow: /\n"),
    "slow-wanted.test": Host(many(), robots=crawl_delay(0.25)),
    "quick-wanted.test": Host(many(), robots=crawl_delay(0.02)),
    "patient.test": Host(many()),
    "both.test": Host(many("https://www.both.test")),
    "www.both.test": Host(many()),
    "moved-rules.test": Host(many(), robots=Redirect("https://many.test/rules")),
    OWN: Host(many(), latency=Latency(0.15, sigma=0.0)),
}
DELAYS = {"slow-wanted.test": 0.25, "patient.test": 0.2, OWN: 0.0}
"""Seconds between two requests to a host, where they are not the usual ones."""

QUALITY = [
    *FROM_START,
    {"domain": "patient.test", "seeds": ["https://patient.test/"], "minimum-time-on-page": 200},
    {
        "domain": OWN,
        "seeds": [f"https://{OWN}/"],
        "own": True,
        "minimum-time-on-page": 0,
        "max-concurrent": 3,
    },
]


@dataclass(frozen=True)
class TwoRuns:
    first: Crawled
    second: Crawled

    @property
    def log_of_second(self) -> list[Exchange]:
        return list(self.second.log[len(self.first.log) :])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> TwoRuns:
    directory = tmp_path_factory.mktemp("politeness")
    with ServedWeb(web_of(HOSTS), directory / "web") as served:
        config = write_config(
            directory, served, QUALITY, crawler={"max-domain-requests": BUDGET, "max-depth": 3}
        )
        crawl(config)
        first = look_at(config, served)
        crawl(config)
        return TwoRuns(first, look_at(config, served))


def test_the_gap_between_two_requests_to_a_host_is_never_shorter_than_its_delay(
    runs: TwoRuns,
) -> None:
    seen = gaps(runs.second.log)
    assert len(seen) > 150
    short = [g for g in seen if g.seconds < DELAYS.get(g.key, DELAY) - CLOCK_SLACK]
    assert not [gap for gap in short if gap.key != OWN]


def test_requests_of_every_kind_keep_it(runs: TwoRuns) -> None:
    """So the test above was about all of them, hops and retries too."""
    assert Counter((each.kind, each.target) for each in runs.first.exchanges("mixed.test")) == {
        ("robots", "/robots.txt"): 1,
        **{("head", path): 1 for path in ("/", "/hop", "/away", "/there", "/flaky", "/file")},
        **{("get", path): 1 for path in ("/", "/hop", "/hop/", "/away", "/there")},
        ("get", "/flaky"): 2,
        ("head", "/gone"): 1,
        ("get", "/gone"): 1,
    }


def test_crawl_delay_counts_if_it_is_the_larger_one(runs: TwoRuns) -> None:
    shortest: dict[str, float] = {}
    for gap in gaps(runs.first.log):
        shortest[gap.key] = min(gap.seconds, shortest.get(gap.key, gap.seconds))
    assert shortest["slow-wanted.test"] >= 0.25 - CLOCK_SLACK
    assert shortest["patient.test"] >= 0.2 - CLOCK_SLACK
    assert DELAY - CLOCK_SLACK <= shortest["quick-wanted.test"] < 0.2


def test_one_request_at_a_time_is_in_flight(runs: TwoRuns) -> None:
    for host, exchanges in by_host(runs.second.log).items():
        assert host == OWN or max_in_flight(exchanges) == 1, host


def test_an_own_host_may_be_asked_several_times_at_once(runs: TwoRuns) -> None:
    assert max_in_flight(by_host(runs.first.log)[OWN]) == 3


def test_a_host_and_its_www_form_share_clock_and_budget(runs: TwoRuns) -> None:
    """Clock and number in flight: the tests above look at both as one host."""
    both = by_host(runs.first.log)["both.test"]
    assert {each.host for each in both} == {"both.test", "www.both.test"}
    assert len(both) == BUDGET


@pytest.mark.parametrize(
    "host", ["many.test", "slow-wanted.test", "quick-wanted.test", "patient.test", OWN]
)
def test_the_budget_is_used_up_and_never_exceeded_by_one(runs: TwoRuns, host: str) -> None:
    assert len(by_host(runs.first.log)[host]) == BUDGET
    assert len(by_host(runs.log_of_second)[host]) == BUDGET


def test_no_host_gets_more_than_its_budget(runs: TwoRuns) -> None:
    for log in (runs.first.log, runs.log_of_second):
        assert max(len(exchanges) for exchanges in by_host(log).values()) == BUDGET


def test_robots_txt_is_asked_for_once_a_day_and_address(runs: TwoRuns) -> None:
    asked = Counter(each.host for each in runs.second.log if each.kind == "robots")
    assert set(asked.values()) == {1}
    assert set(asked) == {START, *HOSTS}


LONG = 3000
"""Milliseconds: longer than a second run needs to start."""


def test_a_second_run_right_after_the_first_waits_for_the_hosts_clock(tmp_path: Path) -> None:
    with ServedWeb(Web({START: Host({"/": Html("Start")})}), tmp_path / "web") as served:
        config = write_config(
            tmp_path,
            served,
            FROM_START,
            crawler={"minimum-time-on-page": LONG, "head-probe": "never"},
            robots={"mode": "ignore"},
        )
        crawl(config)
        crawl(config)
        (gap,) = gaps(served.log())
    assert gap.seconds >= LONG / 1000 - CLOCK_SLACK
