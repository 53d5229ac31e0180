"""Addresses that grow end sooner than any budget, and the database says what was cut off.

The hosts are the user's own, so that the default limits are reached in a second.
"""

from pathlib import Path

import pytest

from terrain.sampleweb.behaviours import Behaviour
from terrain.sampleweb.pages import Endless, Html, Redirect, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import Database, crawl, write_config

LONG = "y" * 100


class Growth:
    """A site without an end, and where it should end."""

    def __init__(self, seed: str, trap: Behaviour, read: int, reason: str) -> None:
        self.seed = seed
        self.trap = trap
        self.read = read
        """Pages that are asked for."""
        self.reason = f"trap guard: {reason}"


GROWTHS = {
    "same": Growth(
        "/", Endless(("{path}/a",)), 1 + 4, "a segment more than 4 times in the path"
    ),
    "turns": Growth(
        "/", Endless(("{path}/a/b",)), 1 + 4, "a segment more than 4 times in the path"
    ),
    "sessions": Growth(
        "/", Endless(("{path}/s{next}",)), 1 + 32, "a path of more than 32 segments"
    ),
    "slug": Growth(
        "/z", Endless(("{path}" + LONG,)), 1 + (1024 - 2) // 100,
        "a path of more than 1024 characters",
    ),
    "calendar": Growth(
        "/calendar?month=0", Endless(("{target}&month={next}",)), 32,
        "a query of more than 32 parameters",
    ),
    "search": Growth(
        "/list?q=", Endless(("{target}" + LONG,)), 1 + (1024 - 2) // 100,
        "a query of more than 1024 characters",
    ),
}  # fmt: skip

TRAP_SHAPED = "/c/c/c/c/c/c"


def run(directory: Path, **sections: object) -> Path:
    hosts = {f"{name}.test": Host(otherwise=growth.trap) for name, growth in GROWTHS.items()}
    hosts["seed.test"] = Host(
        {
            TRAP_SHAPED: Redirect(f"{TRAP_SHAPED}/"),
            f"{TRAP_SHAPED}/": Html("Asked for", to("/c/c/c/c/c", "/c/c/c/c")),
            "/c/c/c/c": Html("Few enough"),
        }
    )
    seeds = {f"{name}.test": growth.seed for name, growth in GROWTHS.items()}
    seeds["seed.test"] = TRAP_SHAPED
    quality = [
        {"domain": host, "seeds": [f"https://{host}{seed}"], "own": True, "minimum-time-on-page": 0}
        for host, seed in seeds.items()
    ]
    with ServedWeb(Web(hosts), directory / "web") as served:
        config = write_config(directory, served, quality, **sections)
        crawl(config)
        asked = {(each.host, each.target) for each in served.log()}
    database = Database(config)
    database.check()
    known = database.rows("SELECT domain, url FROM pages WHERE state = 'discovered'")
    for host, url in known:
        assert (host, url.removeprefix(f"https://{host}")) not in asked
    return config


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One crawl under the default limits."""
    return run(tmp_path_factory.mktemp("guards"))


@pytest.mark.parametrize("name", GROWTHS)
def test_what_grows_ends_at_the_limit_with_the_reason(config: Path, name: str) -> None:
    growth, host = GROWTHS[name], f"{name}.test"
    rows = Database(config).rows(
        "SELECT state, error_message, count(*) FROM pages WHERE domain = ? GROUP BY 1, 2", host
    )
    assert sorted(rows) == [("discovered", growth.reason, 1), ("processed", None, growth.read)]


@pytest.mark.parametrize("name", GROWTHS)
def test_the_link_to_what_was_cut_off_is_kept(config: Path, name: str) -> None:
    links = """
        SELECT count(*) FROM links JOIN pages ON pages.id = to_page_id
        WHERE state = 'discovered' AND domain = ?"""
    assert Database(config).rows(links, f"{name}.test") == [(1,)]


def test_seeds_are_asked_for_whatever_they_look_like_and_redirects_within_them_followed(
    config: Path,
) -> None:
    pages = Database(config).pages()
    seed = pages[f"https://seed.test{TRAP_SHAPED}"]
    assert (seed.state, seed.fetch_url) == ("processed", f"https://seed.test{TRAP_SHAPED}/")
    assert pages["https://seed.test/c/c/c/c"].state == "processed"
    assert pages["https://seed.test/c/c/c/c/c"].state == "discovered"


def test_the_summary_counts_each_guard(config: Path) -> None:
    text = (config.parent / "crawl-summary.md").read_text()
    section = text.partition("## Not crawled")[2].partition("\n## ")[0]
    # "same" and "turns" have one limit in common, and the page beside the seed is of that kind.
    counts = dict.fromkeys((growth.reason for growth in GROWTHS.values()), "1")
    counts[GROWTHS["same"].reason] = "3"
    for reason, count in counts.items():
        row = next(line for line in section.splitlines() if f"`{reason}`" in line)
        assert row.split("|")[2].strip() == count


def test_limits_are_adjusted_in_the_file(tmp_path: Path) -> None:
    limits = {"max-repeated-segments": 2, "max-path-segments": 3, "max-query-parameters": 5}
    database = Database(run(tmp_path, traps=limits))
    read = dict(
        database.rows("SELECT domain, count(*) FROM pages WHERE state = 'processed' GROUP BY 1")
    )
    assert (read["same.test"], read["sessions.test"], read["calendar.test"]) == (1 + 2, 1 + 3, 5)


def test_without_guards_only_the_budget_ends_it(tmp_path: Path) -> None:
    crawler = {"max-domain-requests": 41, "head-probe": "never"}
    database = Database(run(tmp_path, traps={"enabled": False}, crawler=crawler))
    assert database.rows("SELECT count(*) FROM pages WHERE state = 'discovered'") == [(0,)]
    rows = database.rows(
        "SELECT domain, count(*) FROM pages WHERE state = 'processed' GROUP BY domain"
    )
    # robots.txt is the other request.
    assert {host: count for host, count in rows if host != "seed.test"} == {
        f"{name}.test": 40 for name in GROWTHS
    }
