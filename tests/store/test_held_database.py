"""A database that somebody else sits on: waited for, then given up once and for all."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from terrain.errors import StoreError
from terrain.store import engine
from terrain.store.engine import database_url, make_engine
from terrain.store.writer import Writer

PATIENCE_MS = 400
OPERATIONS = 20


def count(connection: Connection) -> int:
    return int(connection.scalar(text("SELECT count(*) FROM t")) or 0)


def test_waiting_operations_fail_together_and_not_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_MS", PATIENCE_MS)
    url = database_url(tmp_path / "t.db")
    with closing(sqlite3.connect(tmp_path / "t.db", isolation_level=None)) as holder:
        holder.execute("CREATE TABLE t (x)")
        holder.execute("BEGIN IMMEDIATE")
        made = make_engine(url)
        rolled_back: list[bool] = []
        writer = Writer(made, url, lambda: rolled_back.append(True))
        begun = time.monotonic()
        futures = [writer.submit(count) for _ in range(OPERATIONS)]
        for future in futures:
            with pytest.raises(StoreError, match="held by another program"):
                future.result()
        # One batch may have begun before the others were there, so two waits at most.
        assert len(rolled_back) <= 2
        assert time.monotonic() - begun >= PATIENCE_MS / 1000
        holder.execute("ROLLBACK")
        assert writer.submit(count).result() == 0
        writer.close()
        made.dispose()
