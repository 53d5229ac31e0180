"""Sites without an end: the crawl ends all the same, and the database says what it left out.

All limits are the defaults but one: a host may be asked 21 times instead of 500, because at the
least delay that is allowed 500 requests take a minute, and show nothing that 21 do not.
"""

from pathlib import Path

import pytest

from terrain.sampleweb.behaviours import Behaviour
from terrain.sampleweb.pages import Endless, Html, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import Database, assert_polite, crawl, write_config

BUDGET = 21
READ_WITHIN_BUDGET = 10
"""Pages: robots.txt is one request, and each page two, HEAD and GET."""

TRAPS: dict[str, Behaviour] = {
    "calendar": Endless(("/calendar?month={next}",)),
    "facets": Endless(("/list?page={next}", "/list?page={next}&sort=name", "/list?sort=date")),
    "sessions": Endless(("/s{next}/home", "/s{next}/about")),
    "growth": Endless(("{path}/a",)),
    "soft-404": Html("Sorry", to("a/", "b/"), text=("We could not find that page.",)),
}
"""What every address of a host answers, robots.txt included."""

FOUND = {
    # depth 1 is the home page; what depth 3 links to is recorded and not asked
    "calendar": {"processed": 3, "depth_exceeded": 1},
    "facets": {"processed": 1 + 3 + 2, "depth_exceeded": 2},
    "sessions": {"processed": 1 + 2 + 2, "depth_exceeded": 2},
    "growth": {"processed": 3, "depth_exceeded": 1},
    "soft-404": {"processed": 1 + 2 + 4, "depth_exceeded": 8},
}
"""Pages by state of a trap on a host that was found on the way: max-depth ends it."""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One crawl of every trap, on a trusted host and on a found one."""
    directory = tmp_path_factory.mktemp("traps")
    hosts = {
        f"{name}.{kind}.test": Host(otherwise=trap)
        for name, trap in TRAPS.items()
        for kind in ("trusted", "found")
    }
    hosts["wild.test"] = Host(otherwise=Endless(("https://h{next}.wild.test/{next}",)))
    hosts |= {f"h{number}.wild.test": hosts["wild.test"] for number in range(1, 10)}
    hosts["start.test"] = Host(
        {
            "/": Html(
                "Start",
                to("https://wild.test/", *(f"https://{name}.found.test/" for name in TRAPS)),
            )
        }
    )
    quality = [
        {"domain": name, "seeds": [f"https://{name}/"]}
        for name in ("start.test", *(f"{name}.trusted.test" for name in TRAPS))
    ]
    with ServedWeb(Web(hosts), directory / "web") as served:
        config = write_config(directory, served, quality, crawler={"max-domain-requests": BUDGET})
        crawl(config)
        assert_polite(served, budget=BUDGET)
    Database(config).check()
    return config


def states_of(config: Path, domain: str) -> dict[str, int]:
    return dict(
        Database(config).rows(
            "SELECT state, count(*) FROM pages WHERE domain = ? GROUP BY state", domain
        )
    )


def test_the_crawl_comes_to_its_end(config: Path) -> None:
    assert Database(config).runs() == [(1, "completed")]
    assert Database(config).rows("SELECT count(*) FROM frontier") == [(0,)]


@pytest.mark.parametrize("name", TRAPS)
def test_on_a_found_host_the_depth_ends_it(config: Path, name: str) -> None:
    assert states_of(config, f"{name}.found.test") == FOUND[name]


@pytest.mark.parametrize("name", TRAPS)
def test_on_a_trusted_host_the_budget_ends_it_unless_a_guard_does(config: Path, name: str) -> None:
    states = states_of(config, f"{name}.trusted.test")
    if name == "growth":
        # Ended sooner: no segment may stand in a path more than four times.
        assert states == {"processed": 1 + 4, "discovered": 1}
        return
    assert states.pop("processed") == READ_WITHIN_BUDGET
    assert list(states) == ["request_limit_hit"]
    assert states["request_limit_hit"] >= 1


@pytest.mark.parametrize("name", TRAPS)
def test_what_was_left_out_is_there_with_the_page_that_links_to_it(config: Path, name: str) -> None:
    orphans = """
        SELECT count(*) FROM pages WHERE state IN ('depth_exceeded', 'request_limit_hit')
        AND domain LIKE ? AND visited_at IS NULL
        AND id NOT IN (SELECT to_page_id FROM links)"""
    assert Database(config).rows(orphans, f"{name}.%") == [(0,)]
    asked = """
        SELECT count(*) FROM pages WHERE state IN ('depth_exceeded', 'request_limit_hit')
        AND domain LIKE ? AND status_code IS NOT NULL"""
    assert Database(config).rows(asked, f"{name}.%") == [(0,)]


def test_hosts_made_up_on_the_spot_end_by_depth(config: Path) -> None:
    pages = Database(config).states()
    wild = {url: state for url, state in pages.items() if "wild.test" in url}
    assert wild == {
        "https://wild.test/": "processed",
        "https://h1.wild.test/1": "processed",
        "https://h2.wild.test/2": "processed",
        "https://h3.wild.test/3": "depth_exceeded",
    }


def test_the_terrain_stays_as_small_as_its_limits(config: Path) -> None:
    trusted = len(TRAPS) * READ_WITHIN_BUDGET
    ((known,),) = Database(config).rows("SELECT count(*) FROM pages")
    most_links = max(len(trap.hrefs) for trap in TRAPS.values() if isinstance(trap, Endless))
    found = sum(sum(states.values()) for states in FOUND.values())
    start_and_wild = 1 + 4
    assert known <= start_and_wild + found + trusted * (1 + most_links)
