"""A reader's hold on a terrain."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from sqlalchemy import URL, Connection, Engine, func, select

from terrain.errors import NotADatabase
from terrain.rules.states import PageState
from terrain.store.engine import database_url, errors_in_our_words, make_engine
from terrain.store.migrate import require_ours
from terrain.store.policy import Policy
from terrain.store.queries import domains, graph, hosts, listed, pages, visits
from terrain.store.queries.domains import EdgeQuery, NodeQuery
from terrain.store.queries.records import (
    ClosedHosts,
    DomainGraph,
    Edge,
    Failure,
    FetchTimes,
    LeftOut,
    LimitedHosts,
    ListedUrl,
    Node,
    RunRecord,
    Territory,
    Totals,
)
from terrain.store.runs import granularity
from terrain.store.schema import frontier_entry, host, link, page, runs

CACHE_KIB = 4 * 1024
"""SQLite sorts in pieces of this size: small ones stay in the processor's cache, a third faster."""

Result = TypeVar("Result")

_RUN = (
    runs.c.id, runs.c.status, runs.c.started_at, runs.c.finished_at, runs.c.terrain_hash,
    runs.c.metrics,
)  # fmt: skip


def open_terrain(location: str | Path | URL) -> "TerrainReader":
    """Open a terrain for reading; nothing in it is changed, and a crawl on it is not disturbed."""
    url = database_url(location)
    name = str(url.database)
    if url.get_backend_name() == "sqlite" and (trouble := _trouble(Path(name))):
        raise NotADatabase(f"{name}: {trouble}; run a crawl first, or check output.database-path")
    engine = make_engine(url, readonly=True)
    with ExitStack() as undo, errors_in_our_words(url):
        undo.callback(engine.dispose)
        connection = undo.enter_context(_snapshot(engine))
        reader = TerrainReader(connection, url)
        undo.pop_all()
        return reader


def _trouble(path: Path) -> str | None:
    """Return why there is no file to read, None if there is one."""
    try:
        if path.is_file():
            return None
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "is a directory" if path.is_dir() else "there is no such file"


class TerrainReader:
    """Answers questions about the newest run, all as of the moment of the first one.

    A page belongs to a run if the run reached it; what only earlier runs saw counts in `totals`.
    """

    def __init__(self, connection: Connection, url: URL) -> None:
        self._connection = connection
        self._url = url
        require_ours(connection, str(url.database))
        newest = self.history(1)
        if not newest:
            raise NotADatabase(f"{url.database}: holds no terrain yet; run a crawl first")
        self.run = newest[0]
        """The newest run, which all questions are about."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the snapshot and the file."""
        self._connection.close()
        self._connection.engine.dispose()

    def crawler_alive(self) -> bool | None:
        """Tell whether the process that last crawled this file exists; None if unknown.

        A run that is `running` without one was killed. The lock itself is not tried: that could
        turn away a crawl that starts at this moment.
        """
        if self._url.get_backend_name() != "sqlite":
            return None
        try:
            pid = int(Path(f"{self._url.database}.lock").read_text(encoding="ascii"))
            os.kill(pid, 0)
        except PermissionError:
            return True
        except (OSError, ValueError, OverflowError):
            return False
        return True

    def history(self, most: int) -> list[RunRecord]:
        """Return the runs, newest first."""
        query = select(*_RUN).order_by(runs.c.id.desc()).limit(most)
        return self._ask(lambda connection: [RunRecord(*row) for row in connection.execute(query)])

    def totals(self) -> Totals:
        """Count all that is known, whichever run found it."""

        def count(connection: Connection) -> Totals:
            tables = (page, host, link, frontier_entry)
            counts = [
                int(connection.scalar(select(func.count()).select_from(table)) or 0)
                for table in tables
            ]
            return Totals(*counts)

        return self._ask(count)

    def states(self) -> dict[PageState, int]:
        """Count the run's pages by state; states without pages are left out."""
        return self._ask(pages.states, self.run.id)

    def territory(self, policy: Policy, *, most_quality: int, most_others: int) -> Territory:
        """Count the run's pages by state, depth and domain, in one go."""
        return self._ask(pages.territory, self.run, policy, most_quality, most_others)

    def listed(self, most: int) -> dict[PageState, list[ListedUrl]]:
        """Return the most linked blacklisted and stubbed URLs."""
        return self._ask(listed.most_linked, self.run.id, most)

    def failures(self) -> Iterator[Failure]:
        """Stream the run's pages that failed, were unreachable or dead."""
        with errors_in_our_words(self._url):
            yield from visits.failures(self._connection, self.run.id)

    def limited_hosts(self, most: int) -> LimitedHosts:
        """Return the hosts that answered 429, or still wait for what they asked earlier."""
        return self._ask(hosts.limited, self.run.id, most)

    def closed_hosts(self, state: PageState, most: int) -> ClosedHosts:
        """Return the hosts whose waiting pages get this state without being asked."""
        return self._ask(hosts.closed, self.run.id, state, most)

    def left_out(self) -> list[LeftOut]:
        """Return how many pages each rule and trap guard keeps from being asked for."""
        return self._ask(pages.left_out, self.run.id)

    def fetch_times(self) -> FetchTimes:
        """Return how many pages the run asked for, and how long that took."""
        return self._ask(visits.fetch_times, self.run.id)

    def outcomes(self) -> dict[PageState, int]:
        """Count the pages that the run asked for by what became of them."""
        return self._ask(visits.outcomes, self.run.id)

    def by_domain(self) -> bool:
        """Tell whether a domain is one page, its home, in this terrain."""
        return self._ask(granularity) == "domain"

    def had_their_visits(self, policy: Policy) -> int:
        """Count the domains that were reached and, by domain, not asked again."""
        if policy.max_crawls is None:
            return 0
        return self._ask(hosts.had_their_visits, self.run.id, policy.max_crawls)

    def domains_met(self) -> int:
        """Count the domains that the run has come across."""
        return self._ask(hosts.met, self.run.id)

    def domains_visited(self) -> int:
        """Count the domains of which the run asked for at least one page."""
        return self._ask(visits.domains, self.run.id)

    def domain_edges(self) -> int:
        """Count the pairs of domains with a link from one to the other."""
        return self._ask(graph.edge_count)

    def domain_graph(self, policy: Policy, most: int) -> DomainGraph:
        """Return the graph of the quality domains and of the best connected others."""
        return self._ask(graph.domain_graph, policy, most)

    def nodes(self, wanted: NodeQuery) -> Iterator[Node]:
        """Stream the domains of the terrain, whichever run found them."""
        with errors_in_our_words(self._url):
            yield from domains.nodes(self._connection, wanted)

    def edges(self, wanted: EdgeQuery) -> Iterator[Edge]:
        """Stream the links between domains, present when their sources were last read."""
        with errors_in_our_words(self._url):
            yield from domains.edges(self._connection, wanted)

    def _ask(
        self,
        question: Callable[..., Result],
        *arguments: object,
    ) -> Result:
        with errors_in_our_words(self._url):
            return question(self._connection, *arguments)


def _snapshot(engine: Engine) -> Connection:
    """Return a connection whose queries all see the same moment."""
    if engine.dialect.name == "postgresql":
        return engine.connect().execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
    # SQLite's snapshot begins with the first read after BEGIN and ends with the transaction.
    connection = engine.connect()
    connection.exec_driver_sql(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection
