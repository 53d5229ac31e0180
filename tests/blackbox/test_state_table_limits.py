"""The rows of design 3.3 where a host, or the configuration, sets a limit."""

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from terrain.sampleweb.behaviours import Behaviour, ByMethod, Flaky
from terrain.sampleweb.log import Exchange
from terrain.sampleweb.pages import Html, Status, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Limit
from tests.blackbox.crawled import FROM_START, Crawled, crawl_web, look_at, web_of
from tests.blackbox.crawls import assert_polite, crawl, write_config

PAGE = Html("A page")
PATHS = [f"/{n}" for n in range(5)]
HUB = Html("Hub", to(*PATHS))


def too_many(retry_after: str | None = None, status: int = 429) -> Status:
    return Status(status, headers=() if retry_after is None else (("Retry-After", retry_after),))


def hub(**behaviours: Behaviour) -> Host:
    """A home page with links to five pages; `p0` to `p4` do something else."""
    pages = {path: behaviours.get(f"p{path[1:]}", PAGE) for path in PATHS}
    return Host({"/": HUB, **pages})


SUSPENDED = {
    "429.test": hub(p1=too_many()),
    "429-hour.test": hub(p1=too_many("3600")),
    "429-second.test": hub(p1=too_many("1")),
    "429-head.test": hub(p1=ByMethod(too_many("3600"), PAGE)),
    "429-after-six.test": Host({"/": HUB}, otherwise=PAGE, limit=Limit(6)),
    "503-long.test": hub(p1=too_many("400", 503)),
    "503-long-head.test": hub(p1=ByMethod(too_many("400", 503), PAGE)),
}
"""Hosts that ask for a pause when `/1` is asked, or after so many requests."""

HOSTS = {
    **SUSPENDED,
    "429-robots.test": Host({"/": HUB}, robots=too_many("3600")),
    "429-robots-once.test": Host({"/": PAGE}, robots=Flaky((too_many(), Status(404)))),
    "503.test": hub(p1=ByMethod(PAGE, Flaky((too_many("2", 503), PAGE)))),
    "503-head.test": hub(p1=ByMethod(too_many("2", 503), PAGE)),
    "503-robots.test": Host({"/": PAGE}, robots=too_many("2", 503)),
    "503-always.test": hub(p1=ByMethod(PAGE, too_many("0", 503))),
}


@dataclass(frozen=True)
class TwoRuns:
    first: Crawled
    second: Crawled

    def asked_in_second(self, host: str) -> list[Exchange]:
        """What the second run asked of a host."""
        return self.second.exchanges(host)[len(self.first.exchanges(host)) :]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> TwoRuns:
    directory = tmp_path_factory.mktemp("limits")
    with ServedWeb(web_of(HOSTS), directory / "web") as served:
        config = write_config(
            directory, served, FROM_START, crawler={"max-concurrent-pages-open": 50}
        )
        crawl(config)
        first = look_at(config, served)
        crawl(config)
        assert_polite(served)
        return TwoRuns(first, look_at(config, served))


def states(crawled: Crawled, host: str) -> set[str]:
    return {p.state for url, p in crawled.pages.items() if url.startswith(f"https://{host}/")}


@pytest.mark.parametrize("host", SUSPENDED)
def test_429_suspends_the_host_for_the_run(runs: TwoRuns, host: str) -> None:
    assert runs.first.state(f"{host}/1") == "rate_limited"
    assert states(runs.first, host) == {"processed", "rate_limited"}
    # The pages are asked in their order, so what comes after the refusal was not asked at all.
    for path in PATHS[2:]:
        assert runs.first.state(f"{host}{path}") == "rate_limited"
        assert runs.first.reason(f"{host}{path}")
        assert not runs.first.exchanges(host, path) or host == "429-after-six.test"
    refused = [e for e in runs.first.exchanges(host) if e.status in {429, 503}]
    assert len(refused) == 1
    assert runs.first.exchanges(host)[-1] == refused[0]


def test_429_to_robots_txt_suspends_the_host_too(runs: TwoRuns) -> None:
    assert states(runs.first, "429-robots.test") == {"rate_limited"}
    assert runs.first.asked("429-robots.test") == ["robots"]


def test_it_says_which_hosts_are_suspended_and_until_when(runs: TwoRuns) -> None:
    rows = runs.first.database.rows("SELECT domain, rate_limited, retry_after FROM domain_states")
    hosts = {domain: (limited, until) for domain, limited, until in rows}
    in_an_hour = time.strftime("%Y-%m-%dT%H", time.gmtime(time.time() + 3600 - 300))
    for host in ("429-hour.test", "429-head.test", "429-robots.test", "429-after-six.test"):
        limited, until = hosts[host]
        assert limited == 1
        assert until > in_an_hour
    assert hosts["503.test"] == (0, None)


@pytest.mark.parametrize(
    "host",
    [
        "429-hour.test",
        "429-head.test",
        "429-after-six.test",
        "429-robots.test",
        "503-long.test",
        "503-long-head.test",
    ],
)
def test_a_later_run_before_that_time_does_not_ask(runs: TwoRuns, host: str) -> None:
    assert runs.asked_in_second(host) == []
    assert runs.second.state(f"{host}/") == "rate_limited"


@pytest.mark.parametrize("host", ["429.test", "429-second.test", "429-robots-once.test"])
def test_a_later_run_after_that_time_asks_again(runs: TwoRuns, host: str) -> None:
    assert runs.asked_in_second(host)
    assert runs.second.state(f"{host}/") == "processed"


def test_a_robots_txt_that_was_refused_is_asked_for_again(runs: TwoRuns) -> None:
    host = "429-robots-once.test"
    assert runs.first.state(f"{host}/") == "rate_limited"
    assert [each.kind for each in runs.asked_in_second(host)] == ["robots", "head", "get"]


@pytest.mark.parametrize(
    ("host", "path"), [("503.test", "/1"), ("503-head.test", "/1"), ("503-robots.test", None)]
)
def test_503_with_a_short_retry_after_makes_the_next_try_wait(
    runs: TwoRuns, host: str, path: str | None
) -> None:
    assert states(runs.first, host) == {"processed"}
    exchanges = runs.first.exchanges(host, path)
    refused = next(n for n, each in enumerate(exchanges) if each.status == 503)
    before, after = exchanges[refused : refused + 2]
    assert after.start - before.end >= 1.99


def test_503_with_a_short_retry_after_is_not_tried_for_ever(runs: TwoRuns) -> None:
    page = runs.first.page("503-always.test/1")
    assert (page.state, page.error_message, page.retry_count) == ("failed", "HTTP 503", 3)
    assert runs.first.asked("503-always.test", "/1").count("get") == 4


BUDGET = 6
"""robots.txt, two pages with HEAD and GET each, and the HEAD of a third."""

NARROW = {
    "chatty.test": hub(),
    "deep.test": Host({"/": Html("1", to("/2")), "/2": Html("2", to("/3")), "/3": PAGE}),
    "a.wide.test": Host({"/": PAGE}),
    "b.wide.test": Host({"/": PAGE}),
    "c.wide.test": Host({"/": PAGE}),
    "wide.test": Host({"/": PAGE}),
}


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    crawler = {"max-depth": 2, "max-domain-requests": BUDGET, "max-subdomains-per-root": 2}
    return crawl_web(web_of(NARROW), tmp_path_factory.mktemp("narrow"), crawler=crawler)


def test_a_host_whose_budget_is_spent_is_not_asked_any_more(narrow: Crawled) -> None:
    assert narrow.asked("chatty.test") == ["robots", *["head", "get"] * 2, "head"]
    assert [narrow.state(f"chatty.test{path}") for path in PATHS] == [
        "processed",
        *["request_limit_hit"] * 4,
    ]
    assert "budget" in narrow.reason("chatty.test/4")


def test_a_page_too_deep_is_recorded_and_not_asked(narrow: Crawled) -> None:
    assert narrow.state("deep.test/2") == "processed"
    assert narrow.state("deep.test/3") == "depth_exceeded"
    assert narrow.asked("deep.test", "/3") == []
    links = narrow.database.links()
    assert ("https://deep.test/2", "https://deep.test/3", "anchor") in links
    depths = {url: depth for url, _, depth in narrow.database.depths()}
    assert depths["https://deep.test/3"] == 3


def test_a_root_with_its_number_of_subdomains_gets_no_further_ones(narrow: Crawled) -> None:
    hosts = ["a.wide.test", "b.wide.test", "c.wide.test"]
    found = {host: narrow.state(f"{host}/") for host in hosts}
    assert sorted(found.values()) == ["processed", "processed", "subdomain_limit_hit"]
    (left_out,) = [host for host, state in found.items() if state == "subdomain_limit_hit"]
    assert not narrow.contacted(left_out)
    assert narrow.state("wide.test/") == "processed"


def test_a_budget_of_one_request_is_spent_on_robots_txt(tmp_path: Path) -> None:
    crawled = crawl_web(
        web_of({"a.test": hub()}), tmp_path, crawler={"max-domain-requests": 1, "max-depth": 1}
    )
    assert crawled.asked("start.test") == ["robots"]
    assert crawled.state("start.test/") == "request_limit_hit"
