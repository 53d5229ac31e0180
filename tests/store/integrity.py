"""What is true of every terrain at rest, whatever happened to it: checked after the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, text

from terrain.rules.states import PageState
from terrain.store.engine import database_url, make_engine
from tests.rollup import check_rollup

if TYPE_CHECKING:
    from pathlib import Path

STATES = ", ".join(f"'{state.value}'" for state in PageState)

# Each finds rows that must not be. There are no foreign keys on the hot tables, so this is instead.
FORBIDDEN = {
    "a link from a page that is missing": """
        SELECT * FROM link LEFT JOIN page ON id = from_id WHERE id IS NULL""",
    "a link to a page that is missing": """
        SELECT * FROM link LEFT JOIN page ON id = to_id WHERE id IS NULL""",
    "a link of a page that was never read": """
        SELECT * FROM link JOIN page ON id = from_id WHERE read_run = 0""",
    "a link to itself": "SELECT * FROM links WHERE from_page_id = to_page_id",
    "a pair with two links": """
        SELECT from_page_id, to_page_id FROM links
         GROUP BY from_page_id, to_page_id HAVING count(*) > 1""",
    "a link last seen before it was first seen": """
        SELECT * FROM links WHERE last_run < discovered_run""",
    "a link to a listed page that the index of listed links does not have": """
        SELECT * FROM link JOIN page ON id = to_id
         WHERE state IN ('blacklisted', 'stubbed') AND listed = 0""",
    "a page that redirects to two others": """
        SELECT from_id FROM link WHERE kind = 0 AND last_run IS NULL
         GROUP BY from_id HAVING count(*) > 1""",
    "a page without an address": """
        SELECT * FROM page p LEFT JOIN page_address a ON a.id = p.id WHERE a.id IS NULL""",
    "an address without a page": """
        SELECT * FROM page_address a LEFT JOIN page p ON p.id = a.id WHERE p.id IS NULL""",
    "a page without a host": """
        SELECT * FROM page p LEFT JOIN host h ON h.id = host_id WHERE h.id IS NULL""",
    "facts without a page": """
        SELECT * FROM page_fact f LEFT JOIN page p ON p.id = f.id WHERE p.id IS NULL""",
    "a visit without a page or run": """
        SELECT * FROM visits LEFT JOIN page p ON p.id = page_id LEFT JOIN runs r ON r.id = run_id
         WHERE p.id IS NULL OR r.id IS NULL""",
    "a depth without a page": """
        SELECT * FROM page_depth LEFT JOIN page ON id = page_id WHERE id IS NULL""",
    "two depths of a page from one origin": """
        SELECT page_id, quality_origin FROM page_depths
         GROUP BY page_id, quality_origin HAVING count(*) > 1""",
    "a state that is not one of the design's words": f"""
        SELECT * FROM page WHERE state NOT IN ({STATES})""",
    "a page of a run that is not there": """
        SELECT * FROM page WHERE run > (SELECT max(id) FROM runs) OR read_run > run""",
    "a waiting page of the newest run without its frontier entry": """
        SELECT p.id FROM page p LEFT JOIN frontier_entry e
               ON e.page_id = p.id AND e.host_id = p.host_id AND e.seq = p.seq
         WHERE p.state IN ('queued', 'fetching') AND p.run = (SELECT max(id) FROM runs)
           AND e.page_id IS NULL""",
    "a frontier entry whose page does not wait": """
        SELECT e.page_id FROM frontier_entry e LEFT JOIN page p ON p.id = e.page_id
         WHERE p.id IS NULL OR p.state NOT IN ('queued', 'fetching')
            OR p.run < (SELECT max(id) FROM runs)""",
    "a page twice in the frontier": """
        SELECT page_id FROM frontier_entry GROUP BY page_id HAVING count(*) > 1""",
    "a crawlable page out of reach, or the reverse": """
        SELECT * FROM page WHERE state = 'depth_exceeded' AND radius >= 0
            OR state IN ('queued', 'fetching') AND radius < 0""",
    "a complete run with waiting pages": """
        SELECT * FROM frontier_entry
         WHERE (SELECT status FROM runs ORDER BY id DESC LIMIT 1) = 'completed'""",
}


def check_integrity(location: str | Path) -> None:
    """Fail with the rows that must not be."""
    engine = make_engine(database_url(location), readonly=False)
    try:
        with engine.begin() as connection:
            _check(connection)
    finally:
        engine.dispose()


def _check(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        assert connection.scalars(text("PRAGMA integrity_check")).all() == ["ok"]
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
    found = {
        what: rows
        for what, query in FORBIDDEN.items()
        if (rows := connection.execute(text(query)).all())
    }
    assert found == {}
    check_rollup(lambda query: connection.execute(text(query)))
