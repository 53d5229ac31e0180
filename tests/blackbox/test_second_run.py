"""A second run after the web has changed: the newest view, the history, and what is gone."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from terrain.sampleweb.behaviours import Behaviour
from terrain.sampleweb.pages import Html, Redirect, Status, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import Database, assert_polite, crawl, write_config
from tests.blackbox.generated import Generated, change, generate
from tests.blackbox.reference import Origin, Terrain, Walk, walk

Pages = dict[str, Behaviour]

BEFORE: Pages = {
    "q.test/": Html("Home", to("/a", "/b", "/old", "https://d.test/1", "https://w.test/")),
    "q.test/a": Html("A", to("/a1", "/moved")),
    "q.test/a1": Html("A1"),
    "q.test/moved": Html("Not moved yet"),
    "q.test/b": Html("B", to("https://e.test/")),
    "q.test/old": Html("Old", to("https://e.test/from-old")),
    "d.test/1": Html("1", to("/2")),
    "d.test/2": Html("2", to("/3")),
    "d.test/3": Html("3", to("/4")),
    "d.test/4": Html("4"),
    "w.test/": Html("W", to("/x")),
    "w.test/x": Html("X"),
    "e.test/": Html("E"),
    "e.test/from-old": Html("E"),
}
AFTER: Pages = {
    **BEFORE,
    # A link less to /b and /old, one more to /new, a shorter way to d.test/3.
    "q.test/": Html("Home", to("/a", "/new", "https://d.test/3", "https://w.test/")),
    "q.test/a1": Status(404),
    "q.test/moved": Redirect("/new"),
    "q.test/new": Html("New", to("https://d.test/1")),
}


def by_hand(pages: Pages, *refusing: str) -> Generated:
    """A web of these pages, at one address each."""
    hosts: dict[str, Host] = {}
    for address, page in pages.items():
        name, _, path = address.partition("/")
        hosts.setdefault(name, Host()).pages[f"/{path}"] = page
    for name in refusing:
        hosts[name].listener = "refuse"
    terrain = Terrain(
        {f"https://{address}": page for address, page in pages.items()},
        [Origin("q.test", ("https://q.test/",), 3)],
        refusing=set(refusing),
    )
    return Generated(Web(hosts), terrain, {})


@dataclass(frozen=True)
class Change:
    """Two runs over one database, and what they should have found."""

    config: Path
    before: Walk
    after: Walk

    @property
    def database(self) -> Database:
        return Database(self.config)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.database.rows(sql)


def crawl_both(before: Generated, after: Generated, directory: Path) -> Change:
    with ServedWeb(before.web, directory / "web") as served:
        write_config(directory, served, before.quality, **before.sections)
        config = directory / "config.toml"
        crawl(config)
        served.update(after.web)
        write_config(directory, served, after.quality, **after.sections)
        crawl(config)
        assert_polite(served)
    database = Database(config)
    assert database.runs() == [(1, "completed"), (2, "completed")]
    return Change(config, walk(before.terrain), walk(after.terrain))


SEEDS = (2, 3)


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Change]:
    webs = {"by hand": (by_hand(BEFORE), by_hand(AFTER, "w.test"))}
    for seed in SEEDS:
        before = generate(seed)
        webs[f"seed {seed}"] = (before, change(before, seed + 1000))
    with ThreadPoolExecutor(len(webs)) as threads:
        running = {
            name: threads.submit(crawl_both, *pair, tmp_path_factory.mktemp("change"))
            for name, pair in webs.items()
        }
        return {name: future.result() for name, future in running.items()}


NAMES = ["by hand", *(f"seed {seed}" for seed in SEEDS)]
READ = "('processed', 'redirected')"


@pytest.mark.parametrize("name", NAMES)
def test_the_newest_runs_pages_equal_the_reference_of_the_changed_web(
    changes: dict[str, Change], name: str
) -> None:
    made = changes[name]
    assert dict(made.rows("SELECT url, state FROM pages WHERE last_run = 2")) == made.after.states


@pytest.mark.parametrize("name", NAMES)
def test_the_newest_runs_links_equal_it(changes: dict[str, Change], name: str) -> None:
    made = changes[name]
    assert made.database.links(run=2) == made.after.links


@pytest.mark.parametrize("name", NAMES)
def test_the_newest_runs_depths_equal_it(changes: dict[str, Change], name: str) -> None:
    made = changes[name]
    newest = made.rows(
        "SELECT url, quality_origin, depth FROM page_depths JOIN pages ON id = page_id"
        " WHERE last_run = 2"
    )
    assert set(newest) == made.after.depths


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("run", [1, 2])
def test_history_keeps_what_each_run_saw(changes: dict[str, Change], name: str, run: int) -> None:
    made = changes[name]
    expected = made.before if run == 1 else made.after
    visits = made.rows(
        f"SELECT url, v.state FROM visits v JOIN pages ON id = page_id WHERE run_id = {run}"
    )
    assert dict(visits) == {url: expected.states[url] for url in expected.asked}
    assert len(visits) == len(expected.asked)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_not_reached_any_more_keeps_what_was_known(
    changes: dict[str, Change], name: str
) -> None:
    made = changes[name]
    left = {url: state for url, state in made.before.states.items() if url not in made.after.states}
    assert dict(made.rows("SELECT url, state FROM pages WHERE last_run = 1")) == left


@pytest.mark.parametrize("name", NAMES)
def test_first_and_last_run_of_pages_and_links(changes: dict[str, Change], name: str) -> None:
    made = changes[name]
    new_pages = set(made.after.states) - set(made.before.states)
    found = made.rows("SELECT url FROM pages WHERE discovered_run = 2")
    assert {url for (url,) in found} == new_pages
    new_links = {link[:2] for link in made.after.links} - {link[:2] for link in made.before.links}
    found = made.rows(
        "SELECT s.url, t.url FROM links l JOIN pages s ON s.id = from_page_id"
        " JOIN pages t ON t.id = to_page_id WHERE l.discovered_run = 2"
    )
    assert set(found) == new_links


@pytest.mark.parametrize("name", NAMES)
def test_a_link_that_is_gone_is_told_from_one_not_looked_at(
    changes: dict[str, Change], name: str
) -> None:
    made = changes[name]
    rows = made.rows(
        "SELECT s.url, t.url, EXISTS (SELECT 1 FROM visits v WHERE v.page_id = l.from_page_id"
        f" AND v.run_id = 2 AND v.state IN {READ}) FROM links l"
        " JOIN pages s ON s.id = from_page_id JOIN pages t ON t.id = to_page_id"
        " WHERE l.last_run = 1"
    )
    left = {link[:2] for link in made.before.links} - {link[:2] for link in made.after.links}
    gone = {link for link in left if made.after.states.get(link[0]) in {"processed", "redirected"}}
    assert {(source, target) for source, target, _ in rows} == left
    assert {(source, target) for source, target, read in rows if read} == gone


def test_what_became_of_each_kind_of_change(changes: dict[str, Change]) -> None:
    """The cases of the web made by hand, by name."""
    made = changes["by hand"]
    states = {url.removeprefix("https://"): state for url, state in made.after.states.items()}
    assert states["q.test/a1"] == "dead_link"
    assert states["q.test/moved"] == "redirected"
    assert states["q.test/new"] == "processed"
    assert states["w.test/"] == "unreachable"
    assert not {"q.test/old", "q.test/b", "w.test/x", "e.test/"} & set(states)
    assert made.before.states["https://d.test/4"] == "depth_exceeded"
    assert states["d.test/4"] == "processed"
    assert ("https://d.test/4", "q.test", 2) in made.after.depths


def test_the_changes_of_random_webs_are_worth_looking_at(changes: dict[str, Change]) -> None:
    for made in changes.values():
        assert set(made.before.links) - set(made.after.links)
        assert set(made.after.links) - set(made.before.links)
        assert made.before.states != made.after.states
