"""The terrain as text: one line per fact, sorted, for comparing crawls byte for byte."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PAGES = (
    "SELECT url, domain, state, title, description, status_code, content_type, content_hash,"
    " language, canonical_url, meta_robots, bytes, error_message FROM pages"
)
"""Without times, runs, durations and tries, which no two crawls share; and without the fetch URL,
which is whichever address of a page was found first."""

LINKS = (
    "SELECT s.url, t.url, l.kind, l.anchor, l.rel, l.position FROM links l"
    " JOIN pages s ON s.id = l.from_page_id JOIN pages t ON t.id = l.to_page_id"
)

DEPTHS = "SELECT url, quality_origin, depth FROM page_depths JOIN pages ON id = page_id"


def everywhere(_host: str) -> bool:
    """The whole terrain."""
    return True


def dump(database: Path, of: Callable[[str], bool] = everywhere) -> list[str]:
    """Return what the database says about the pages whose host is wanted, one fact per line.

    A link belongs to the page it leaves from.
    """
    with closing(sqlite3.connect(database)) as connection:
        lines = [
            json.dumps([name, *row], ensure_ascii=False)
            for name, query in (("page", PAGES), ("link", LINKS), ("depth", DEPTHS))
            for row in connection.execute(query)
            if of(_host(row))
        ]
    return sorted(lines)


def _host(row: tuple[Any, ...]) -> str:
    """Every row begins with the identity it is about."""
    return urlsplit(row[0]).hostname or ""
