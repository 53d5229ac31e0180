"""Loads a large terrain at the speed of SQLite: most rows in the order of their keys, no journal.

The rest comes in no order, as all of it does in a crawl: it splits the full leaves that sorted rows
leave behind, which would otherwise make every page recorded afterwards dearer than it is.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from store_webs import (
    ANYWHERE,
    DESCRIPTION,
    HOMES,
    LINKS,
    NAVIGATION,
    PAGES_PER_HOST,
    Web,
    address_of,
    host_of,
    policy,
    popular_home,
    url_of,
)

from terrain.rules.urls import host_id
from terrain.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

ETAG = '"5f3a-61a2"'
NOW = "2024-06-01T10:00:00.000Z"
HOSTS_AT_ONCE = 64
SORTED = 0.7
RADIUS = 2
ROLL_UP = """
    INSERT INTO edge SELECT s.host_id, t.host_id, count(*) FROM link
      JOIN page s ON s.id = from_id JOIN page t ON t.id = to_id
     WHERE s.host_id <> t.host_id GROUP BY s.host_id, t.host_id"""
"""A crawl keeps it link by link; here the links come at once."""

Row = tuple[object, ...]


@dataclass(frozen=True)
class Loaded:
    """A terrain on disk."""

    path: Path
    web: Web
    near: list[int]
    """Waiting pages of a bounded number of hosts, as a crawl's window holds them."""
    far: list[int]
    """Waiting pages from everywhere: nearly each of another host than the one before."""
    bytes_per_page: float
    bytes_per_link: float


def load(path: Path, size: int, waiting: int, *, anywhere: bool = True) -> Loaded:
    """Make a terrain of `size` pages with their links; `waiting` of them are not read yet.

    These are of a few hosts, and with `anywhere` there are as many again of all the others.
    """
    web = Web(size)
    store = Store(path, policy(1))
    store.open_run()
    store.close()
    random = Random(1)
    hosts = range(1, size // PAGES_PER_HOST)
    window = random.sample(hosts, min(HOSTS_AT_ONCE, len(hosts)))
    near = random.sample([page for host in window for page in _pages_of(host)], waiting)
    taken = set(near)
    rest = [page for host in hosts for page in _pages_of(host) if page not in taken]
    far = random.sample(rest, waiting) if anywhere else []
    taken.update(far)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("DELETE FROM frontier_entry")
        for table in ("page", "page_address", "host"):
            connection.execute(f"DELETE FROM {table}")
        ids = [address_of(url_of(page)).page_id for page in range(size)]
        order = random.sample(range(size), size)
        sorted_part = int(size * SORTED)
        order[:sorted_part] = sorted(order[:sorted_part], key=ids.__getitem__)
        before = path.stat().st_size
        connection.execute("BEGIN")
        _insert_pages(connection, order, ids, taken)
        connection.execute("COMMIT")
        with_pages = path.stat().st_size
        connection.execute("BEGIN")
        links = _insert(connection, "link", 9, _links(order, ids, taken))
        connection.execute("COMMIT")
        with_links = path.stat().st_size
        connection.execute(ROLL_UP)
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
    return Loaded(
        path, web, near, far, (with_pages - before) / size, (with_links - with_pages) / links
    )


def _insert(connection: sqlite3.Connection, table: str, width: int, rows: Iterable[Row]) -> int:
    marks = ", ".join("?" * width)
    return connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows).rowcount


def _insert_pages(
    connection: sqlite3.Connection, order: list[int], ids: list[int], waiting: set[int]
) -> None:
    hosts = sorted({host_of(page) for page in order}, key=host_id)
    _insert(
        connection,
        "host",
        14,
        (
            (host_id(name), name, name, 0, NOW, 1, "open", 0, 1, None, None, None, None, 0)
            for name in hosts
        ),
    )

    def page_row(page: int) -> Row:
        address = address_of(url_of(page))
        state, read = ("queued", 0) if page in waiting else ("processed", 1)
        host = host_id(address.host)
        return (address.page_id, address.check, host, state, 1, read, RADIUS, 0, 0, 0, page)

    _insert(connection, "page", 11, map(page_row, order))
    _insert(
        connection, "page_address", 5, ((ids[page], url_of(page), None, 1, NOW) for page in order)
    )
    facts = (
        (ids[page], f"Article {page} of many", DESCRIPTION, 200, "text/html; charset=utf-8",
         "Sat, 01 Jun 2024 10:00:00 GMT", ETAG, f"{page:032x}", "en", None, None, 20_000, 120, NOW,
         None, 0)
        for page in order if page not in waiting
    )  # fmt: skip
    _insert(connection, "page_fact", 16, facts)
    visits = (
        (ids[page], 1, "processed", 200, f"Article {page} of many", f"{page:032x}", 20_000, 120,
         NOW, None)
        for page in order if page not in waiting
    )  # fmt: skip
    _insert(connection, "visits", 10, visits)
    entries = sorted(
        (host_id(host_of(page)), policy(1).depth.priority(RADIUS), page, ids[page], NOW)
        for page in waiting
    )
    _insert(connection, "frontier_entry", 5, entries)


def _links(order: list[int], ids: list[int], waiting: set[int]) -> Iterator[Row]:
    """Links as Web.outcome has them, drawn in a quicker way: fifty million take a minute."""
    random = Random(2)
    size = len(ids)
    anchors = [f"Something worth reading {number}" for number in range(2 * LINKS)]
    near = LINKS - NAVIGATION - HOMES - ANYWHERE
    patterns = [random.sample(range(NAVIGATION, PAGES_PER_HOST), near) for _ in range(500)]
    for page in order:
        if page in waiting:
            continue
        first = page - page % PAGES_PER_HOST
        targets = set(ids[first : first + NAVIGATION])
        targets.update([ids[popular_home(random, size)] for _ in range(HOMES)])
        targets.update([ids[int(random.random() * size)] for _ in range(ANYWHERE)])
        targets.update([ids[first + place] for place in patterns[page % 500]])
        source = ids[page]
        targets.discard(source)
        for target, anchor in zip(sorted(targets), anchors, strict=False):
            yield source, target, 1, 4, anchor, None, 1, None, 0


def _pages_of(host: int) -> range:
    """The numbers of a host's pages, without its home."""
    return range(host * PAGES_PER_HOST + 1, (host + 1) * PAGES_PER_HOST)


def rows_per_page(new: int) -> int:
    """Rows that recording a page writes: links, page, facts, visit, frontier; new pages thrice."""
    return LINKS + 4 + 3 * new
