"""Redirects that lead nowhere: cycles, and more hops than a browser would follow.

Each page redirects to at most one other, so redirects form chains that end in an ordinary page, in
a cycle, or at a page too many hops away to be asked. In the last two cases every page that leads
there is `failed`, with the reason. The verdict depends only on the links, not on the order in
which they were found: it is worked out again whenever a link closes a cycle, a page turns out to
be too far, or a shorter way brings such a page back.
"""

from sqlalchemy import Connection

from terrain.rules.depth import MAX_HOPS
from terrain.rules.states import PageState
from terrain.store.linkage import Linkage
from terrain.store.outcomes import Fault
from terrain.store.pages import PageRow, Pages

REASONS = {
    Fault.CYCLE: "redirect cycle",
    Fault.TOO_FAR: f"more than {MAX_HOPS} redirect hops",
    Fault.LEADS_TOO_FAR: f"leads to more than {MAX_HOPS} redirect hops",
}


class Faults:
    """Keeps the states of redirecting pages in step with where their redirects end."""

    def __init__(self, run: int, pages: Pages, linkage: Linkage) -> None:
        self._run = run
        self._pages = pages
        self._linkage = linkage
        self._found: dict[int, PageRow] = {}
        self._lifted: dict[int, PageRow] = {}
        self._redirected: dict[int, PageRow] = {}

    def start(self) -> None:
        """Begin a batch."""
        self._found, self._lifted, self._redirected = {}, {}, {}

    def redirected(self, row: PageRow) -> None:
        """This page was just read and redirects; its link is written."""
        self._redirected[row.id] = row

    def found(self, row: PageRow, message: str | None = None) -> None:
        """This page is itself at fault."""
        self._found[row.id] = row
        self._lifted.pop(row.id, None)
        self._pages.messages[row.id] = message or REASONS[Fault(row.fault)]

    def lift(self, row: PageRow) -> None:
        """A shorter way makes this page good again."""
        row.fault = Fault.NONE
        self._pages.changed(row)
        self._found.pop(row.id, None)
        self._lifted[row.id] = row
        self._pages.messages[row.id] = None

    def resolve(self, connection: Connection) -> None:
        """Work out the verdicts of all pages whose redirects lead to what changed."""
        for row in self._lifted.values():
            for source in self._leading_to(connection, row):
                if source.fault == Fault.LEADS_TOO_FAR:
                    self._blame(source, Fault.NONE)
        for row in list(self._found.values()):
            self._blame_all_leading_to(connection, row)
        for row in self._redirected.values():
            self._judge(connection, row)

    def _judge(self, connection: Connection, row: PageRow) -> None:
        """Follow a new redirect to its end."""
        on_the_way = {row.id: row}
        current = row
        while (following := self._next(connection, current)) is not None:
            if following.id in on_the_way:
                for member in on_the_way.values():
                    self._blame(member, Fault.CYCLE)
                self._blame_all_leading_to(connection, row)
                return
            if following.fault:
                fault = Fault.CYCLE if following.fault == Fault.CYCLE else Fault.LEADS_TOO_FAR
                for member in on_the_way.values():
                    self._blame(member, fault)
                self._blame_all_leading_to(connection, row)
                return
            on_the_way[following.id] = following
            current = following

    def _next(self, connection: Connection, row: PageRow) -> PageRow | None:
        """Return where a page redirects to in this run."""
        if row.read_run != self._run:
            return None
        edges = self._linkage.redirects_out_of(connection, [row.id])
        if not edges:
            return None
        self._pages.load(connection, [edges[0].target])
        return self._pages.get(edges[0].target)

    def _blame_all_leading_to(self, connection: Connection, row: PageRow) -> None:
        fault = Fault.CYCLE if row.fault == Fault.CYCLE else Fault.LEADS_TOO_FAR
        for source in self._leading_to(connection, row):
            if not source.fault:
                self._blame(source, fault)

    def _leading_to(self, connection: Connection, row: PageRow) -> list[PageRow]:
        """Return all pages that this run saw redirecting to the row, by any number of hops."""
        reached = {row.id}
        wave = [row.id]
        sources: list[PageRow] = []
        while wave:
            edges = self._linkage.redirects_into(connection, wave)
            self._pages.load(connection, [edge.source for edge in edges])
            wave = []
            for edge in edges:
                source = self._pages.get(edge.source)
                assert source is not None
                if source.id not in reached and source.read_run == self._run:
                    reached.add(source.id)
                    wave.append(source.id)
                    sources.append(source)
        return sources

    def _blame(self, row: PageRow, fault: Fault) -> None:
        state = PageState.FAILED if fault else PageState.REDIRECTED
        if row.fault == fault or not self._pages.set_state(row, state):
            return
        row.fault = fault
        self._pages.changed(row)
        self._pages.messages[row.id] = REASONS.get(fault)
