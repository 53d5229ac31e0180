"""Writes the terrain that every later schema must be able to take over.

    python -m tests.upgrade.make_terrain

Run it once per released schema, before the schema changes: it writes
`data/terrain-<revision>.sqlite` with the schema of the code at hand, and never touches those of
earlier schemas.
"""

import sqlite3
import sys
from pathlib import Path

from terrain.rules.states import PageState
from terrain.store import RobotsRecord, Store
from tests.store.terrains import ended, make_policy, processed, redirected

DATA = Path(__file__).parent / "data"
HOME, NEWS, OLD = "https://a.test/", "https://a.test/news", "https://a.test/old"
OUT, BAD, STUB = "https://c.test/out", "https://bad.test/", "https://stub.test/"
POLICY = make_policy(
    {"a.test": 2, "b.test": 1},
    [HOME, "https://b.test/"],
    blacklist=["bad.test"],
    stub=["stub.test"],
    budget=10,
)


class Clock:
    """Time that is the same whenever the script runs."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def make(path: Path) -> None:
    """A complete run, then one that is interrupted with pages waiting."""
    clock = Clock()
    store = Store(path, POLICY, now=clock, strict=True)
    store.open_run()
    for outcome in (
        processed(HOME, NEWS, OLD, OUT, BAD, title="Home", description="The start"),
        processed("https://b.test/", OUT, STUB),
        processed(NEWS, HOME),
        redirected(OLD, NEWS),
        ended(OUT, PageState.DEAD_LINK, status_code=404, error_message="HTTP 404"),
    ):
        store.record(outcome).result()
    assert store.close_run(completed=True, metrics='{"pages_fetched": 5}')
    store.close()
    store = Store(path, POLICY, now=clock, strict=True)
    store.open_run(job="a-jobdir")
    supply = store.supply("a.test", held=(), pages=5, tokens=4).result()
    assert [page.fetch_url for page in supply.pages] == [HOME]
    # OLD is no longer linked, OUT is.
    store.record(processed(HOME, NEWS, OUT, BAD, title="New home")).result()
    robots = RobotsRecord("https://c.test", 200, "User-agent: *", "2023-11-14", 1_800_000_000)
    store.keep_robots("c.test", robots).result()
    store.close_host("c.test", PageState.RATE_LIMITED, retry_after=clock.now + 3600).result()
    store.give_back([("a.test", 3)]).result()
    store.close_run(completed=False)
    store.close()


def revision(path: Path) -> str:
    connection = sqlite3.connect(path)
    try:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    finally:
        connection.close()


def main() -> None:
    draft = DATA / "draft.db"
    make(draft)
    target = DATA / f"terrain-{revision(draft)}.sqlite"
    if target.exists():
        draft.unlink()
        sys.exit(f"{target}: is there already; a released schema does not change")
    connection = sqlite3.connect(draft)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("VACUUM")
    connection.close()
    draft.rename(target)
    Path(f"{draft}.lock").unlink()
    print(f"{target}: {target.stat().st_size:,} bytes")  # noqa: T201 - a script that prints


if __name__ == "__main__":
    main()
