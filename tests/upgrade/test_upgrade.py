"""A database of every released schema is taken over: nothing lost, and the run goes on."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from terrain.rules.states import PageState
from terrain.store.migrate import alembic_config
from terrain.store.schema import metadata
from tests.store.terrains import Terrain, ended, processed
from tests.upgrade.make_terrain import BAD, HOME, NEWS, OLD, OUT, POLICY, STUB

SAVED = sorted((Path(__file__).parent / "data").glob("terrain-*.sqlite"))


@pytest.fixture(params=SAVED, ids=lambda path: path.stem)
def terrain(request: pytest.FixtureRequest, tmp_path: Path) -> Terrain:
    path = tmp_path / "terrain.db"
    path.write_bytes(request.param.read_bytes())
    return Terrain(path, POLICY)


def test_there_is_one_for_every_schema_but_perhaps_the_newest() -> None:
    script = ScriptDirectory.from_config(alembic_config())
    revisions = {revision.revision for revision in script.walk_revisions()}
    saved = {path.stem.removeprefix("terrain-") for path in SAVED}
    assert saved <= revisions
    assert revisions - saved <= {script.get_current_head()}
    assert "0001" in saved


def test_it_ends_with_the_schema_of_the_code(terrain: Terrain) -> None:
    # Fails when a migration that was released is changed instead of followed by another.
    terrain.open()
    terrain.opened.close_run(completed=False)
    with terrain.opened._engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    terrain.check()


def test_nothing_is_lost(terrain: Terrain) -> None:
    terrain.open()
    assert terrain.states() == {
        HOME: "processed",
        "https://b.test/": "queued",
        NEWS: "queued",
        OLD: "redirected",
        OUT: "rate_limited",
        BAD: "blacklisted",
        STUB: "stubbed",
    }
    visits = terrain.rows("SELECT run_id, count(*) FROM visits GROUP BY run_id ORDER BY run_id")
    assert visits == [(1, 5), (2, 1)]
    titles = terrain.rows("SELECT v.title FROM visits v JOIN pages p ON p.id = page_id"
                          f" WHERE url = '{HOME}' ORDER BY run_id")  # fmt: skip
    assert titles == [("Home",), ("New home",)]
    gone = terrain.rows("SELECT t.url FROM links JOIN pages t ON t.id = to_page_id"
                        " JOIN pages s ON s.id = from_page_id"
                        f" WHERE s.url = '{HOME}' AND links.last_run = 1")  # fmt: skip
    assert gone == [(OLD,)]
    depths = terrain.rows("SELECT url, quality_origin, depth FROM page_depths"
                          f" JOIN pages ON pages.id = page_id WHERE url = '{OUT}'")  # fmt: skip
    assert set(depths) == {(OUT, "a.test", 1)}
    assert terrain.rows("SELECT id, status FROM runs") == [(1, "completed"), (2, "running")]
    states = terrain.rows(
        "SELECT domain, request_count, rate_limited, retry_after, robots_txt FROM domain_states"
        " WHERE domain IN ('a.test', 'c.test') ORDER BY domain"
    )
    assert states[0] == ("a.test", 1, 0, None, None)
    assert states[1][:3] == ("c.test", 0, 1)
    assert states[1][4] == "User-agent: *"
    terrain.check()


def test_its_run_goes_on_to_the_end(terrain: Terrain) -> None:
    info = terrain.open(job="a-jobdir")
    assert (info.id, info.resumed) == (2, True)
    terrain.record(processed(NEWS, HOME), ended("https://b.test/", PageState.UNREACHABLE))
    terrain.finish()
    assert terrain.open().id == 3
    terrain.check()
