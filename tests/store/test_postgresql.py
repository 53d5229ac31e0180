"""The same store on PostgreSQL: schema, recording, depths, runs, supply, views."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from terrain.errors import DatabaseInUse, NotADatabase, StoreError
from terrain.rules.depth import MAX_HOPS
from terrain.rules.states import PageState
from terrain.store import Policy, RobotsRecord, Start, Store, faults, reach
from terrain.store.engine import database_url, make_engine
from terrain.store.schema import metadata
from tests.postgres import NEEDED, cluster, url_of
from tests.store.terrains import Terrain, ended, make_policy, processed, redirected
from tests.store.test_depths import crawl
from tests.store.test_public_names import PUBLIC
from tests.store.webs import SEED, chained_web, random_web

pytestmark = NEEDED

Make = Callable[[Policy], Terrain]

HOME = "https://a.test/"
ONE, TWO, BAD = "https://c.test/1", "https://c.test/2", "https://bad.test/"
POLICY = make_policy({"a.test": 2}, [HOME], blacklist=["bad.test"], max_subdomains=2, budget=5)


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    with cluster() as place:
        yield place


@pytest.fixture
def make_terrain(server: Path) -> Iterator[Make]:
    """Make terrains, each in a database of its own, not opened yet; check them afterwards."""
    made: list[Terrain] = []
    administration = create_engine(url_of(server, "postgres"), isolation_level="AUTOCOMMIT")

    def make(policy: Policy) -> Terrain:
        name = f"terrain_{next(NUMBERS)}"
        with administration.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        terrain = Terrain(url_of(server, name), policy)
        made.append(terrain)
        return terrain

    yield make
    for terrain in made:
        terrain.check()
    administration.dispose()


NUMBERS = itertools.count()


@pytest.fixture
def terrain(make_terrain: Make) -> Terrain:
    terrain = make_terrain(POLICY)
    terrain.open()
    return terrain


def test_the_migrations_make_the_schema_of_the_code(terrain: Terrain) -> None:
    engine = terrain.opened._engine
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    for name, columns in PUBLIC.items():
        found = [column["name"] for column in inspect(engine).get_columns(name)]
        assert set(columns.split()) <= set(found)


@pytest.mark.parametrize("seed", range(6))
def test_depths_equal_a_breadth_first_search(make_terrain: Make, seed: int) -> None:
    random = Random(seed)
    web = random_web(random)
    terrain = make_terrain(make_policy(web.quality, [SEED], blacklist=["bad.test"]))
    crawl(terrain, web, random, MAX_HOPS)


@pytest.mark.parametrize("seed", range(6))
def test_hop_limits_and_cycles(
    make_terrain: Make, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "MAX_HOPS", 2)
    monkeypatch.setattr(faults, "MAX_HOPS", 2)
    reasons = {key: reason.replace("10", "2") for key, reason in faults.REASONS.items()}
    monkeypatch.setattr(faults, "REASONS", reasons)
    random = Random(seed)
    web = chained_web(random)
    terrain = make_terrain(make_policy(web.quality, [SEED], blacklist=["bad.test"]))
    crawl(terrain, web, random, 2)


def test_more_origins_than_fit_into_a_mask(make_terrain: Make) -> None:
    names = {f"o{number}.test": 1 for number in range(70)}
    terrain = make_terrain(make_policy(names, [f"https://{name}/" for name in names]))
    terrain.open()
    terrain.record(*(processed(f"https://{name}/", ONE) for name in names))
    terrain.opened.close_run(completed=False)
    rows = terrain.rows(
        "SELECT count(*), min(depth), max(depth) FROM page_depths JOIN pages ON id = page_id"
        f" WHERE url = '{ONE}'"
    )
    assert rows == [(70, 1, 1)]


def test_a_page_with_many_links(terrain: Terrain) -> None:
    urls = {f"https://c.test/{number}" for number in range(777)}
    assert terrain.record(processed(HOME, *urls)).new_pages == 777
    assert terrain.waiting() == urls


def test_a_second_run_keeps_history(terrain: Terrain) -> None:
    terrain.record(processed(HOME, ONE, BAD))
    terrain.record(redirected(ONE, TWO))
    terrain.record(ended(TWO, PageState.DEAD_LINK, status_code=404))
    terrain.finish()
    terrain.open()
    terrain.record(processed(HOME, TWO))
    links = terrain.rows(
        """SELECT t.url, l.kind, l.discovered_run, l.last_run FROM links l
             JOIN pages t ON t.id = to_page_id ORDER BY l.from_page_id = l.to_page_id, t.url"""
    )
    assert set(links) == {
        (BAD, "anchor", 1, 1),
        (ONE, "anchor", 1, 1),
        (TWO, "redirect", 1, 1),
        (TWO, "anchor", 2, 2),
    }
    assert terrain.rows("SELECT url, reference_count FROM blacklisted_urls") == [(BAD, 0)]
    assert terrain.rows("SELECT count(*) FROM visits") == [(4,)]
    assert len(terrain.rows("SELECT * FROM nodes")) == 3
    assert len(terrain.rows("SELECT * FROM edges")) == 1


def test_supply_budget_robots_and_drain(terrain: Terrain) -> None:
    terrain.record(processed(HOME, ONE, TWO, *(f"https://s{n}.big.test/" for n in range(3))))
    assert terrain.states()["https://s2.big.test/"] == "subdomain_limit_hit"
    supply = terrain.supply("c.test", pages=1, tokens=9)
    assert (len(supply.pages), supply.more, supply.tokens, supply.spent) == (1, True, 5, True)
    terrain.opened.mark_fetching([supply.pages[0].page_id]).result()
    terrain.opened.give_back([("c.test", 3)]).result()
    record = RobotsRecord("https://c.test", 200, "User-agent: *", "2023", 2_000_000_000)
    terrain.opened.keep_robots("c.test", record).result()
    terrain.opened.close_host("c.test", PageState.RATE_LIMITED, retry_after=9e9).result()
    assert not terrain.opened.drain("c.test").result()
    rows = terrain.rows(
        "SELECT request_count, rate_limited, robots_txt FROM domain_states WHERE domain = 'c.test'"
    )
    assert rows == [(2, 1, "User-agent: *")]
    terrain.reopen(start=Start.FRESH)
    terrain.record(processed(HOME, ONE))
    assert terrain.states()[ONE] == "rate_limited"


def test_a_second_crawl_is_refused_with_the_pid_of_the_first(terrain: Terrain) -> None:
    with pytest.raises(DatabaseInUse, match=r"in use by another crawl \(.*pid \d+"):
        Store(terrain.location, POLICY)
    terrain.crash()
    Store(terrain.location, POLICY).close()


def test_a_server_that_is_not_there_is_said_in_one_line(server: Path) -> None:
    with pytest.raises(StoreError) as caught:
        Store(url_of(server / "elsewhere", "postgres"), POLICY)
    assert "\n" not in str(caught.value)


def test_a_database_of_another_program_is_refused(server: Path) -> None:
    url = url_of(server, "postgres")
    engine = make_engine(database_url(url))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE bookmarks (url TEXT)"))
    try:
        with pytest.raises(NotADatabase, match="another program"):
            Store(url, POLICY)
    finally:
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE bookmarks"))
        engine.dispose()
