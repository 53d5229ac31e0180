"""The terrain rolled up by host, kept in step: the weights of `edges`, the visits of `nodes`.

Recomputing them would mean a pass over all links. Instead each batch says what it changed, summed
up first: one statement for each pair of hosts that its pages connect, in the transaction that
writes the links themselves, so that both are there or neither.

By page, a weight is the number of links that are there: one that is gone from a page subtracts.
By domain, it is the number of visits that saw the link, and never shrinks.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, Dialect, bindparam, literal_column

from terrain.store.hosts import Hosts
from terrain.store.schema import edge, page, visits
from terrain.store.statements import Lookup, Prepared, insert_for


class Rollup:
    """Gathers what a batch changes and writes it. Used by the writer thread only."""

    def __init__(self, hosts: Hosts, dialect: Dialect, run: int) -> None:
        self._hosts = hosts
        self._by_domain = hosts.policy.by_domain
        self._changes: Counter[tuple[int, int]] = Counter()
        add = insert_for(dialect, edge).values(
            {column.name: bindparam(column.name) for column in edge.columns}
        )
        add = add.on_conflict_do_update(
            index_elements=["from_host", "to_host"],
            set_={"weight": edge.c.weight + add.excluded.weight},
        )
        self._add = Prepared(add, dialect, ["from_host", "to_host", "weight"])
        nothing: ColumnElement[int] = literal_column("0")
        empty = edge.delete().where(
            edge.c.from_host == bindparam("source"),
            edge.c.to_host == bindparam("target"),
            edge.c.weight == nothing,
        )
        self._delete_empty = Prepared(empty, dialect, ["source", "target"])
        self._hosts_of = Lookup([page.c.id, page.c.host_id], page.c.id, dialect)
        this_run: ColumnElement[int] = literal_column(str(run))
        self._visited = Lookup(
            [visits.c.page_id], visits.c.page_id, dialect, visits.c.run_id == this_run
        )

    def start(self) -> None:
        """Begin a batch."""
        self._changes.clear()

    def read(self, host: int, targets: Iterable[str]) -> None:
        """A page of this host shows links to these hosts that it did not show before."""
        for name, number in Counter(targets).items():
            target = self._hosts.id_of(name)
            if target != host:
                self._changes[host, target] += number

    def read_again(
        self,
        connection: Connection,
        host: int,
        targets: Iterable[str],
        *,
        appeared: Iterable[str],
        gone: Sequence[int],
    ) -> None:
        """A page of this host was read again and shows links to the hosts `targets`.

        Those to `appeared` were not there the last time; `gone` are the ids of pages it does not
        name any more. Only of these few are the hosts looked up.
        """
        if self._by_domain:
            self.read(host, targets)
            return
        self.read(host, appeared)
        if gone:
            # By id: a lookup may give a row more than once.
            hosts: dict[int, int] = dict(self._hosts_of.rows(connection, gone))
            for target in hosts.values():
                if target != host:
                    self._changes[host, target] -= 1

    def visited(self, connection: Connection, pages: Mapping[int, int], now: str) -> None:
        """These pages, by id with their hosts, were visited; called before `visits` is written.

        A page that is asked twice in one run (redirects made it too far away, and a shorter way
        was found) has one visit.
        """
        again = {row[0] for row in self._visited.rows(connection, pages)}
        fresh = Counter(host for key, host in pages.items() if key not in again)
        for host, count in fresh.items():
            row = self._hosts.get(connection, host, now)
            row.crawl_count += count
            self._hosts.changed(row)

    def write(self, connection: Connection) -> None:
        """Write what was gathered, in the order of the keys: they lie side by side."""
        changes = [(*pair, change) for pair, change in sorted(self._changes.items()) if change]
        self._add.many(connection, changes)
        shrunk = [(source, target) for source, target, change in changes if change < 0]
        self._delete_empty.many(connection, shrunk)
