"""How far the terrain reaches: radius and hops of pages, spread along links as they are found.

While a run is on, a page needs one number: its radius, the largest (limit - depth) over all
origins. A link takes one, a redirect nothing; a page may be crawled while it is not negative. A
page whose radius grows after it was read passes the gain on, in the same transaction, so that the
set of crawlable pages is exact after every commit, whatever the order of arrival.
"""

from collections.abc import Iterable

from sqlalchemy import Connection

from terrain.rules.depth import MAX_HOPS, after_link, after_redirect, crawlable
from terrain.rules.hosts import HostKind
from terrain.rules.links import LinkKind, OutLink
from terrain.rules.states import PageState
from terrain.rules.urls import Address
from terrain.store.faults import Faults
from terrain.store.hosts import CLOSED_BECAUSE, HostRow, Hosts
from terrain.store.known import KnownPages
from terrain.store.linkage import Linkage
from terrain.store.outcomes import Fault, Recorded
from terrain.store.pages import PageRow, Pages
from terrain.store.revisits import Revisits

_LISTED = {
    HostKind.BLACKLISTED: PageState.BLACKLISTED,
    HostKind.STUBBED: PageState.STUBBED,
}


class Reach:
    """Spreads radius and hops over the pages of a batch and, where needed, beyond it."""

    def __init__(
        self,
        run: int,
        pages: Pages,
        hosts: Hosts,
        linkage: Linkage,
        faults: Faults,
        revisits: Revisits,
        first_seq: int,
    ) -> None:
        self._run = run
        self._revisits = revisits
        self._pages = pages
        self._hosts = hosts
        self._linkage = linkage
        self._faults = faults
        self._seq = first_seq
        self._growing: dict[int, PageRow] = {}
        self._known = KnownPages()

    def forget(self) -> None:
        """Drop what was remembered: the transaction it belonged to was rolled back."""
        self._growing = {}
        self._known.forget()

    def news(self, links: Iterable[OutLink], radius: int) -> list[OutLink]:
        """Return the links that may change something, told from memory alone."""
        return self._known.news(links, radius)

    def leads_nowhere_new(self, link: OutLink, radius: int) -> bool:
        """Tell that a link changes nothing, now that its target is looked up."""
        address = link.address
        values = self._pages.untouched(address.page_id)
        if values is None or link.kind is LinkKind.REDIRECT:
            return False
        # By position, as schema.page has its columns: this is done for nearly every link.
        _, check, _, _, run, _, known, hops, *_ = values
        if run != self._run or check != address.check or known < radius or hops:
            return False
        self._known.remember(address.page_id, check, known)
        return True

    def arrive(
        self,
        connection: Connection,
        address: Address,
        radius: int,
        hops: int,
        now: str,
        recorded: Recorded,
    ) -> PageRow | None:
        """A seed, a link or a redirect leads to this address. Its host is loaded.

        Returns the page's row, or None if the identity had to be refused.
        """
        host = self._hosts.named(address.host)
        own = self._hosts.policy.depth.own_radius(address.host)
        if own is not None and own > radius:
            radius = own
        row = self._pages.get(address.page_id)
        if row is None:
            self._seq += 1
            row = PageRow(
                address.page_id, address.check, host.id, PageState.DISCOVERED, self._run, 0,
                radius, hops, 0, Fault.NONE, self._seq,
            )  # fmt: skip
            fetch_url = None if address.fetch_url == address.identity else address.fetch_url
            self._pages.add(row, (row.id, address.identity, fetch_url, self._run, now))
            recorded.new_pages += 1
            self._first_place(connection, row, host, address, recorded)
        elif row.check != address.check:
            recorded.collisions.append(address.identity)
            return None
        elif row.run != self._run:
            self._seq += 1
            row.run, row.radius, row.hops, row.own_hops = self._run, radius, hops, 0
            row.fault, row.seq = Fault.NONE, self._seq
            self._pages.changed(row)
            self._first_place(connection, row, host, address, recorded)
        else:
            self._improve(connection, row, radius, hops, now, recorded)
        self._remember(row)
        return row

    def spread(self, connection: Connection, now: str, recorded: Recorded) -> None:
        """Carry every gain on through pages already read, until nothing grows any more."""
        while self._growing:
            growing, self._growing = self._growing, {}
            edges = self._linkage.out_of(connection, growing)
            self._pages.load(connection, {edge.target for edge in edges})
            for edge in edges:
                source, target = growing[edge.source], self._pages.get(edge.target)
                assert target is not None
                radius, hops = passed_on(source, redirect=edge.redirect)
                self._improve(connection, target, radius, hops, now, recorded)

    def _improve(
        self,
        connection: Connection,
        row: PageRow,
        radius: int,
        hops: int,
        now: str,
        recorded: Recorded,
    ) -> None:
        """Take a better radius or hop count, and what follows from it."""
        wider, nearer = radius > row.radius, hops < row.hops
        if not wider and not nearer:
            return
        row.radius = max(row.radius, radius)
        row.hops = min(row.hops, hops)
        self._pages.changed(row)
        near_enough = nearer and row.fault == Fault.TOO_FAR and row.hops <= MAX_HOPS
        if near_enough or (wider and row.state == PageState.DEPTH_EXCEEDED):
            if near_enough:
                self._faults.lift(row)
            host = self._hosts.get(connection, row.host_id, now)
            self._place(connection, row, host, recorded, new_run=False)
        if row.read_run == self._run:
            self._growing[row.id] = row

    def _first_place(
        self,
        connection: Connection,
        row: PageRow,
        host: HostRow,
        address: Address,
        recorded: Recorded,
    ) -> None:
        """Give a page the state that it has when the run first reaches it.

        What a rule or a guard keeps from being asked for stays so however short a way is found,
        so this is decided here and whatever the depth; as for listed hosts, which come first.
        """
        policy = self._hosts.policy
        if policy.listed(host.name) is None:
            reason = policy.refusal(row.id, address.identity)
            if reason is not None:
                self._pages.set_state(row, PageState.DISCOVERED, new_run=True)
                self._pages.messages[row.id] = reason
                return
        self._place(connection, row, host, recorded, new_run=True)

    def _place(
        self,
        connection: Connection,
        row: PageRow,
        host: HostRow,
        recorded: Recorded,
        *,
        new_run: bool,
    ) -> None:
        """Give a page that was reached the state that follows from host, radius and hops."""
        listed = self._hosts.policy.listed(host.name)
        if new_run and listed is None and self._revisits.spent(host.crawl_count):
            # By domain: it is not asked again, and what its last visit found still holds.
            row.state, message = self._revisits.last_visit(connection, row.id)
            self._pages.messages[row.id] = message
            return
        state = _LISTED[listed] if listed is not None else self._state(connection, row, host)
        if not self._pages.set_state(row, state, new_run=new_run):
            return
        if state is PageState.QUEUED:
            recorded.queued += 1
            recorded.hosts.add(host.name)
        elif state is PageState.FAILED:
            self._faults.found(row)
        elif state in CLOSED_BECAUSE:
            self._pages.messages[row.id] = CLOSED_BECAUSE[state]

    def _state(self, connection: Connection, row: PageRow, host: HostRow) -> PageState:
        if not crawlable(row.radius):
            return PageState.DEPTH_EXCEEDED
        if row.hops > MAX_HOPS:
            row.fault = Fault.TOO_FAR
            return PageState.FAILED
        return self._hosts.admit(connection, host) or PageState.QUEUED

    def _remember(self, row: PageRow) -> None:
        if row.hops == 0:
            self._known.remember(row.id, row.check, row.radius)


def passed_on(source: PageRow, *, redirect: bool) -> tuple[int, int]:
    """Return radius and hops that a link hands to its target."""
    if redirect:
        return after_redirect(source.radius), source.hops + source.own_hops + 1
    return after_link(source.radius), 0
