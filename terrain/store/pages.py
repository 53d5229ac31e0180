"""Page rows of one batch: loaded together, changed in memory, written back together."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Dialect

from terrain.rules.states import WAITING, PageState, check_transition
from terrain.store.schema import frontier_entry, page, page_address
from terrain.store.statements import (
    Lookup,
    Values,
    delete_by_key,
    insert_into,
    upsert_into,
)


@dataclass(slots=True)
class PageRow:
    """The narrow row of a page (schema.page), and where its frontier entry is on disk."""

    id: int
    check: int
    host_id: int
    state: str
    run: int
    read_run: int
    radius: int
    hops: int
    own_hops: int
    fault: int
    seq: int
    entry: tuple[int, int, int] | None = None
    """The key of its frontier entry as it is on disk, None if there is none."""


class Pages:
    """The identity map of a batch: every page is one object, however many links lead to it."""

    def __init__(self, dialect: Dialect, run: int, widest: int, *, strict: bool) -> None:
        self._run = run
        self._widest = widest
        self._strict = strict
        self._rows: dict[int, PageRow] = {}
        self._loaded: dict[int, Values] = {}
        self._dirty: dict[int, PageRow] = {}
        self._addresses: list[Values] = []
        self.messages: dict[int, str | None] = {}
        """Pages whose state was decided without asking, with the reason for their error message."""
        self._lookup = Lookup(list(page.columns), page.c.id, dialect)
        self._write = upsert_into(page, dialect)
        self._insert_address = insert_into(page_address, dialect)
        self._insert_entry = insert_into(frontier_entry, dialect)
        self._delete_entry = delete_by_key(frontier_entry, dialect)

    def load(self, connection: Connection, ids: Iterable[int]) -> None:
        """Read the rows of those ids that are in the database and not loaded yet."""
        rows, loaded = self._rows, self._loaded
        missing = [key for key in ids if key not in rows and key not in loaded]
        for values in self._lookup.rows(connection, missing):
            loaded[values[0]] = values

    def get(self, key: int) -> PageRow | None:
        """Return a loaded or new row."""
        row = self._rows.get(key)
        if row is None and (values := self._loaded.get(key)) is not None:
            # Made only now: most pages that are looked up turn out not to change.
            row = self._rows[key] = PageRow(*values)
            if row.run == self._run and row.state in WAITING:
                row.entry = self._entry_key(row)
        return row

    def untouched(self, key: int) -> Values | None:
        """Return a loaded row as it is in the database, None if it may have been changed."""
        return None if key in self._rows else self._loaded.get(key)

    def add(self, row: PageRow, address: Values) -> None:
        """Take in a page that the database does not know yet."""
        self._rows[row.id] = row
        self._dirty[row.id] = row
        self._addresses.append(address)

    def changed(self, row: PageRow) -> None:
        """Note that the row must be written."""
        self._dirty[row.id] = row

    def set_state(self, row: PageRow, state: PageState, *, new_run: bool = False) -> bool:
        """Move the page to a state if that is legal; an illegal move is refused and logged."""
        if row.state == state:
            return True
        if not check_transition(PageState(row.state), state, new_run=new_run, strict=self._strict):
            return False
        row.state = state
        self._dirty[row.id] = row
        return True

    def flush(self, connection: Connection, now: str) -> None:
        """Write all changes, the frontier entries that follow from them included."""
        pages: list[Values] = []
        gone: list[Values] = []
        entries: list[Values] = []
        for row in self._dirty.values():
            pages.append(
                (row.id, row.check, row.host_id, row.state, row.run, row.read_run, row.radius,
                 row.hops, row.own_hops, row.fault, row.seq)
            )  # fmt: skip
            # A page waits if and only if it has an entry: both are derived here from one row.
            wanted = self._entry_key(row) if row.state in WAITING else None
            if wanted != row.entry:
                if row.entry is not None:
                    gone.append(row.entry)
                if wanted is not None:
                    entries.append((*wanted, row.id, now))
                row.entry = wanted
        self._write.many(connection, pages)
        self._insert_address.many(connection, self._addresses)
        self._delete_entry.many(connection, gone)
        self._insert_entry.many(connection, entries)

    def start(self) -> None:
        """Begin a batch with nothing loaded."""
        self._rows, self._loaded, self._dirty = {}, {}, {}
        self._addresses, self.messages = [], {}

    def _entry_key(self, row: PageRow) -> tuple[int, int, int]:
        return row.host_id, self._widest - row.radius, row.seq
