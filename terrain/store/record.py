"""Recording a batch of outcomes: everything that follows from them, in the caller's transaction."""

import logging
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Dialect, bindparam, case, null

from terrain.errors import IdentityCollision, StoreError
from terrain.rules.links import LinkKind, OutLink
from terrain.rules.states import WAITING, PageState
from terrain.rules.urls import Address
from terrain.store.faults import Faults
from terrain.store.hosts import Hosts
from terrain.store.linkage import Linkage, LinkRow
from terrain.store.outcomes import PageOutcome, Recorded
from terrain.store.pages import PageRow, Pages
from terrain.store.policy import Policy
from terrain.store.reach import Reach, passed_on
from terrain.store.revisits import Revisits
from terrain.store.rollup import Rollup
from terrain.store.schema import page_address, page_fact, visits
from terrain.store.statements import Prepared, Values, insert_for, update_by_key, upsert_into

logger = logging.getLogger(__name__)

_READ = frozenset({PageState.PROCESSED, PageState.REDIRECTED})
"""Outcomes that say which links the page has."""


class Recorder:
    """Turns outcomes into rows. One per open run, used by the writer thread only."""

    def __init__(
        self, policy: Policy, dialect: Dialect, run: int, *, first_seq: int, strict: bool
    ) -> None:
        self._run = run
        self._policy = policy
        self._pages = Pages(dialect, run, policy.depth.widest, strict=strict)
        self.hosts = Hosts(policy, dialect, run)
        self._rollup = Rollup(self.hosts, dialect, run)
        self._linkage = Linkage(dialect, run, self._rollup)
        self._faults = Faults(run, self._pages, self._linkage)
        self._revisits = Revisits(policy, dialect)
        self._reach = Reach(
            run, self._pages, self.hosts, self._linkage, self._faults, self._revisits, first_seq
        )
        self._facts = upsert_into(page_fact, dialect)
        self._visits = upsert_into(visits, dialect)
        self._visit_state = update_by_key(visits, dialect, ["state", "error_message"])
        message = insert_for(dialect, page_fact).values(
            id=bindparam("id"), error_message=bindparam("error_message")
        )
        message = message.on_conflict_do_update(
            index_elements=["id"], set_={"error_message": message.excluded.error_message}
        )
        self._message = Prepared(message, dialect, ["id", "error_message"])
        moved = case((page_address.c.url == bindparam("same"), null()), else_=bindparam("found"))
        self._moved = Prepared(
            page_address.update()
            .where(page_address.c.id == bindparam("key"))
            .values(fetch_url=moved),
            dialect,
            ["same", "found", "key"],
        )

    def forget(self) -> None:
        """Drop all that is cached across batches: a transaction was rolled back."""
        self.hosts.forget()
        self._reach.forget()

    def seed(self, connection: Connection, now: str) -> Recorded:
        """Reach the seeds of every origin and, by domain, the nodes to be visited again."""
        recorded = Recorded()
        self._start()
        addresses = [address for address, _ in self._policy.seeds]
        refused = self._load(connection, addresses, now, recorded)
        for address, origin in self._policy.seeds:
            if address.host not in refused:
                radius = self._policy.depth.seed_radius(origin)
                self._reach.arrive(connection, address, radius, 0, now, recorded)
        if recorded.collisions:
            # A link that must be refused is one page's problem; a terrain without its seed is none.
            raise IdentityCollision(
                f"the seed {recorded.collisions[0]} has the id of another page or host; "
                "name another seed"
            )
        self._finish(connection, [], now, recorded)
        for batch in self._revisits.begin(connection):
            self._start()
            self._load(connection, [node.address for node in batch], now, recorded)
            for node in batch:
                self._reach.arrive(connection, node.address, node.radius, 0, now, recorded)
            self._finish(connection, [], now, recorded)
        return recorded

    def record(self, connection: Connection, outcomes: Sequence[PageOutcome], now: str) -> Recorded:
        """Write outcomes with all that follows: links, radii, states, frontier entries."""
        recorded = Recorded()
        self._start()
        self._pages.load(connection, {outcome.page_id for outcome in outcomes})
        read_before: dict[int, int] = {}
        taken = [outcome for outcome in outcomes if self._take(outcome, read_before)]
        arrivals = self._arrivals(connection, taken)
        refused = self._load(connection, [link.address for _, link in arrivals], now, recorded)
        for source, link in arrivals:
            if link.address.host not in refused:
                radius, hops = passed_on(source, redirect=link.kind is LinkKind.REDIRECT)
                self._reach.arrive(connection, link.address, radius, hops, now, recorded)
        listed: dict[str, int] = {}
        for outcome in taken:
            if outcome.page_id in read_before:
                links, hosts = self._links(outcome, recorded.collisions, listed)
                recorded.links += len(links)
                page = (outcome.page_id, self._host_of(outcome))
                before = read_before[outcome.page_id]
                self._linkage.replace(connection, page, before, links, hosts)
        self._linkage.write(connection)
        self._rollup.write(connection)
        self._finish(connection, taken, now, recorded)
        return recorded

    def _start(self) -> None:
        self._pages.start()
        self._linkage.start()
        self._rollup.start()
        self._faults.start()

    def _take(self, outcome: PageOutcome, read_before: dict[int, int]) -> bool:
        """Move the page to its outcome's state; False if that must be refused.

        A page that was read is marked so before any link arrives: a gain that reaches it later in
        the same batch must be passed on.
        """
        row = self._pages.get(outcome.page_id)
        if row is None or row.run != self._run:
            raise StoreError(f"outcome for page {outcome.page_id}, which this run has not reached")
        if row.state not in WAITING:
            logger.error("refused a second outcome for page %d, now %s", row.id, row.state)
            return False
        if outcome.visited:
            # The note that it was being asked for may still be on its way.
            row.state = PageState.FETCHING
        if not self._pages.set_state(row, outcome.state):
            return False
        row.own_hops = outcome.own_hops
        row.fault = outcome.fault
        self._pages.changed(row)
        if outcome.fault:
            self._faults.found(row, outcome.error_message)
        if outcome.state in _READ:
            read_before[row.id] = row.read_run
            row.read_run = self._run
        if outcome.state is PageState.REDIRECTED:
            self._faults.redirected(row)
        return True

    def _arrivals(
        self, connection: Connection, outcomes: Iterable[PageOutcome]
    ) -> list[tuple[PageRow, OutLink]]:
        """Return the links that tell the run something it does not know yet."""
        arrivals: list[tuple[PageRow, OutLink, int]] = []
        for outcome in outcomes:
            if outcome.state not in _READ:
                continue
            source = self._pages.get(outcome.page_id)
            assert source is not None
            radius, _ = passed_on(source, redirect=False)
            news = self._reach.news(outcome.links, radius)
            arrivals += [(source, link, radius) for link in news]
        self._pages.load(connection, {link.address.page_id for _, link, _ in arrivals})
        return [
            (source, link)
            for source, link, radius in arrivals
            if not self._reach.leads_nowhere_new(link, radius)
        ]

    def _load(
        self, connection: Connection, addresses: Sequence[Address], now: str, recorded: Recorded
    ) -> set[str]:
        """Bring the pages and hosts of these addresses in; return hosts that must be refused."""
        self._pages.load(connection, {address.page_id for address in addresses})
        refused = self.hosts.load(connection, {address.host for address in addresses}, now)
        recorded.collisions += [a.identity for a in addresses if a.host in refused]
        return refused

    def _links(
        self, outcome: PageOutcome, refused: Sequence[str], listed: dict[str, int]
    ) -> tuple[list[LinkRow], list[str]]:
        """Return the outcome's links as rows, and beside them the hosts they lead to.

        `refused` are identities; `listed` remembers for this batch which hosts are on a list.
        """
        source, links = outcome.page_id, outcome.links
        targets = {link[0][3] for link in links}
        if refused or source in targets or len(targets) < len(links):
            links = _one_for_each(links, source, refused)
        hosts = [link[0][2] for link in links]
        for host in {*hosts} - listed.keys():
            listed[host] = int(self._policy.listed(host) is not None)
        # By position, as this is done for every link: address[2] is its host, address[3] its id.
        # Nothing is stored as NULL. `+`: the driver wants plain numbers, and that is quickest.
        rows = [
            (source, address[3], +kind, +position, anchor or None, rel or None, listed[address[2]])
            for address, kind, anchor, rel, position in links
        ]
        return rows, hosts

    def _finish(
        self, connection: Connection, outcomes: Sequence[PageOutcome], now: str, recorded: Recorded
    ) -> None:
        self._reach.spread(connection, now, recorded)
        self._faults.resolve(connection)
        self._pages.flush(connection, now)
        self._write_facts(connection, outcomes, now)
        self._write_messages(connection)
        self.hosts.flush(connection)
        for identity in recorded.collisions:
            logger.error("two identities have one page id; refused the second: %s", identity)

    def _write_facts(
        self, connection: Connection, outcomes: Iterable[PageOutcome], now: str
    ) -> None:
        facts: list[Values] = []
        seen: list[Values] = []
        unasked: list[Values] = []
        moved: list[Values] = []
        visited: dict[int, int] = {}
        for o in outcomes:
            if not o.visited:
                unasked.append((o.page_id, o.error_message))
                continue
            visited[o.page_id] = self._host_of(o)
            at = o.visited_at or now
            facts.append(
                (o.page_id, o.title, o.description, o.status_code, o.content_type, o.last_modified,
                 o.etag, o.content_hash, o.language, o.canonical_url, o.meta_robots, o.bytes,
                 o.fetch_ms, at, o.error_message, o.retry_count)
            )  # fmt: skip
            seen.append(
                (o.page_id, self._run, o.state.value, o.status_code, o.title, o.content_hash,
                 o.bytes, o.fetch_ms, at, o.error_message)
            )  # fmt: skip
            if o.own_hops and o.fetch_url is not None:
                moved.append((o.fetch_url, o.fetch_url, o.page_id))
        self._facts.many(connection, facts)
        self._rollup.visited(connection, visited, now)
        self._visits.many(connection, seen)
        self._message.many(connection, unasked)
        self._moved.many(connection, moved)

    def _host_of(self, outcome: PageOutcome) -> int:
        row = self._pages.get(outcome.page_id)
        assert row is not None
        return row.host_id

    def _write_messages(self, connection: Connection) -> None:
        """Say on pages that were not asked, or fail or recover by what is elsewhere, why."""
        messages = self._pages.messages
        self._message.many(connection, list(messages.items()))
        verdicts: list[Values] = []
        for key, message in messages.items():
            row = self._pages.get(key)
            assert row is not None
            if row.state in {PageState.FAILED, PageState.REDIRECTED}:
                verdicts.append((row.state, message, key, self._run))
        self._visit_state.many(connection, verdicts)


def _one_for_each(links: Sequence[OutLink], source: int, refused: Sequence[str]) -> list[OutLink]:
    """Return one link for each target, of the kind that goes first; no self-links, no collisions.

    What the extraction finds is like that already; other components may have had a say.
    """
    kept: dict[int, OutLink] = {}
    for link in links:
        target = link.address.page_id
        if target == source or link.address.identity in refused:
            continue
        before = kept.get(target)
        if before is None or link.kind < before.kind:
            kept[target] = link
    return list(kept.values())
