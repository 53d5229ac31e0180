"""What the database knows of its runs, read and written beside a crawl or after it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import URL, Connection, select, update

from terrain.errors import StoreError
from terrain.store.engine import database_url, errors_in_our_words, make_engine
from terrain.store.migrate import require_ours
from terrain.store.runs import COMPLETED, event, granularity
from terrain.store.schema import run_events, runs

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run as its row tells it."""

    id: int
    status: str
    """`running` also after a kill: nobody was left to write more."""
    started_at: str
    config_hash: str
    terrain_hash: str
    seconds: float | None
    """From start to end, if one process walked it to its end in one go; else None."""
    granularity: str = "page"
    """What the terrain is made of, `page` or `domain`; the same for all runs of a database."""


def newest_runs(location: str | Path | URL, most: int = 10) -> list[PastRun]:
    """Return the newest runs, newest first; none if there is no database yet."""
    url = database_url(location)
    if not _exists(url):
        return []
    with _reading(url) as connection:
        resumed = set(
            connection.scalars(select(run_events.c.run_id).where(run_events.c.kind == "resumed"))
        )
        kind = granularity(connection) or "page"
        rows = connection.execute(select(runs).order_by(runs.c.id.desc()).limit(most)).all()
        return [
            PastRun(
                row.id,
                row.status,
                row.started_at,
                row.config_hash,
                row.terrain_hash,
                None if row.status != COMPLETED or row.id in resumed else _seconds(row),
                kind,
            )
            for row in rows
        ]


def would_resume(newest: PastRun | None, terrain_hash: str) -> bool:
    """Tell whether a start without options goes on with this run, the newest."""
    return newest is not None and newest.status != COMPLETED and newest.terrain_hash == terrain_hash


def keep_metrics(location: str | Path | URL, run: int, metrics: str) -> None:
    """Keep a process's figures: the newest with the run, all of them as events, in one go."""
    url = database_url(location)
    engine = make_engine(url)
    try:
        with errors_in_our_words(url), engine.begin() as connection:
            connection.execute(update(runs).where(runs.c.id == run).values(metrics=metrics))
            event(connection, run, "metrics", metrics, time.time())
    finally:
        engine.dispose()


def metrics_history(location: str | Path | URL) -> list[tuple[int, str]]:
    """Return (run, metrics as JSON) of every process that ended in order, oldest first."""
    url = database_url(location)
    with _reading(url) as connection:
        kept = select(run_events.c.run_id, run_events.c.detail).where(
            run_events.c.kind == "metrics"
        )
        return [(row.run_id, row.detail) for row in connection.execute(kept.order_by("id"))]


@contextmanager
def _reading(url: URL) -> Iterator[Connection]:
    engine = make_engine(url, readonly=True)
    try:
        with errors_in_our_words(url), engine.begin() as connection:
            require_ours(connection, str(url.database))
            yield connection
    finally:
        engine.dispose()


def _exists(url: URL) -> bool:
    if url.get_backend_name() != "sqlite":
        return True
    path = Path(url.database or "")
    try:
        # An empty file is what SQLite leaves before the first table.
        return path.is_file() and path.stat().st_size > 0
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})") from error


def _seconds(row: object) -> float:
    started, finished = (
        datetime.fromisoformat(getattr(row, name)) for name in ("started_at", "finished_at")
    )
    return (finished - started).total_seconds()
