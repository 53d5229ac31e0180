"""Any order of events against a model: polite, within budget, nothing twice, nothing lost."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from terrain.frontier import DropReason, Frontier, HostTerms, RequestKind
from tests.frontier.frontier_fakes import FakeGate, FakeStore, page

HOSTS = ["a.test", "b.test", "c.test", "own.test"]
TERMS = {"own.test": HostTerms(0.5, max_in_flight=3)}
DEFAULT_TERMS = HostTerms(1.0)
PLACES = 3
MAX_HOSTS = 2


class FrontierMachine(RuleBasedStateMachine):
    """The store and the adapter do whatever they may; the model keeps the books."""

    def __init__(self):
        super().__init__()
        self.now = 0.0
        self.gate = FakeGate(unknown={f"https://{host}" for host in HOSTS})
        self.store = FakeStore()
        self.frontier = Frontier(
            gate=self.gate,
            terms=lambda host: TERMS.get(host, DEFAULT_TERMS),
            places=PLACES,
            max_hosts=MAX_HOSTS,
            entries_per_host=3,
            token_block=3,
            park_after=5.0,
        )
        self.last_page = 0
        self.delays = {host: TERMS.get(host, DEFAULT_TERMS).delay for host in HOSTS}
        self.limits = {host: TERMS.get(host, DEFAULT_TERMS).max_in_flight for host in HOSTS}
        self.blocked = dict.fromkeys(HOSTS, 0.0)
        self.suspended = set()
        self.spent = set()  # hosts that the frontier closed
        self.running = {}  # lease id -> lease
        self.idle_since = defaultdict(list)  # host -> ends of exchanges, one a free place
        self.used = defaultdict(int)
        self.answering = {}  # leases whose exchange ended, to be committed or followed up
        self.unread_robots = {}  # host -> origin
        self.held = set()  # pages asked or denied, not committed
        self.first_asked = defaultdict(int)  # page -> first requests since it was last offered
        self.expected = {}  # page -> entry, not yet settled
        self.waiting_payloads = {}
        self.hosts_wanted = 0
        self.unanswered = []

    @initialize(budget=st.none() | st.integers(1, 12))
    def limit_one_host(self, budget):
        if budget is not None:
            self.store.budgets["b.test"] = budget

    # ---- the store ------------------------------------------------------------------------

    @rule(host=st.sampled_from(HOSTS), count=st.integers(1, 6), priority=st.integers(0, 3))
    def offer(self, host, count, priority):
        if host in self.suspended | self.spent:
            return  # the store settles such pages itself
        for _ in range(count):
            self.last_page += 1
            entry = page(self.last_page, host, priority=priority)
            self.expected[entry.page_id] = (host, entry)
            self.store.add(host, entry)
            if self.last_page % 5 == 0:
                self.gate.denied.add(entry.fetch_url)
        self.frontier.announce(host, self.now, priority=priority)

    @rule(limit=st.integers(1, 3))
    def ask_the_store(self, limit):
        for want in self.frontier.wants(limit):
            assert all(other.host != want.host for other in self.unanswered)
            self.unanswered.append(self.store.answer(want))

    @precondition(lambda self: self.unanswered)
    @rule(data=st.data())
    def the_store_answers(self, data):
        answer = self.unanswered.pop(data.draw(st.integers(0, len(self.unanswered) - 1)))
        self.frontier.top_up(answer, self.now)

    @rule()
    def bring_hosts_in(self):
        limit = self.frontier.wants_hosts(self.now)
        if limit:
            names, more = self.store.hosts_with_work(limit, without=self.frontier.hosts())
            self.frontier.hosts_arrived(names, self.now, more=more)

    # ---- the adapter ----------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.0, 0.125, 0.5, 1.0, 3.0, 10.0]))
    def time_passes(self, seconds):
        self.now += seconds

    @rule()
    def sleep_until_ready(self):
        ready_at = self.frontier.ready_at(self.now)
        if ready_at is not None:
            assert ready_at >= self.now
            self.now = ready_at

    @rule()
    def ask(self):
        self.take_what_was_dropped()
        lease = self.frontier.lease(self.now)
        if lease is not None:
            self.check_and_note(lease)
        self.take_what_was_dropped()

    def check_and_note(self, lease):
        host = lease.host
        assert len(self.running) < PLACES
        in_flight = sum(other.host == host for other in self.running.values())
        assert in_flight < self.limits[host]
        free = self.idle_since[host]
        if in_flight + len(free) >= self.limits[host]:  # no place that was never used
            assert self.now >= free.pop(0) + self.delays[host]
        assert self.now >= self.blocked[host]
        assert host not in self.suspended | self.spent
        self.used[host] += 1
        assert self.used[host] <= self.store.granted[host]
        if lease.kind is RequestKind.ROBOTS:
            assert host not in self.unread_robots
            self.unread_robots[host] = lease.url.removesuffix("/robots.txt")
        elif lease.kind is RequestKind.PAGE:
            assert lease.url not in self.gate.denied
            assert lease.entry.page_id not in self.held
            assert lease.url.split("/")[2] == host
            self.first_asked[lease.entry.page_id] += 1
            assert self.first_asked[lease.entry.page_id] == 1
            self.held.add(lease.entry.page_id)
        else:
            entry, not_before = self.waiting_payloads.pop(lease.payload)
            assert lease.entry == entry
            assert self.now >= not_before
        self.running[lease.id] = lease

    @precondition(lambda self: self.running)
    @rule(data=st.data(), twice=st.booleans())
    def an_exchange_ends(self, data, twice):
        lease = self.running.pop(data.draw(st.sampled_from(sorted(self.running))))
        self.frontier.exchange_ended(lease, self.now)
        if twice:
            self.frontier.exchange_ended(lease, self.now + 1.0)
        self.idle_since[lease.host].append(self.now)
        self.answering[lease.id] = lease

    @precondition(lambda self: self.answering)
    @rule(data=st.data(), wait=st.sampled_from([None, 0.0, 2.0]))
    def an_answer_is_dealt_with(self, data, wait):
        lease = self.answering.pop(data.draw(st.sampled_from(sorted(self.answering))))
        if wait is not None:
            self.waiting_payloads[lease.id] = (lease.entry, self.now + wait)
            self.frontier.follow_up(
                lease.host,
                lease.url,
                self.now,
                payload=lease.id,
                not_before=self.now + wait,
                entry=lease.entry,
            )
        elif lease.entry is None:
            self.robots_are_read(lease.host)
        else:
            self.commit(lease.host, lease.entry.page_id)
        self.take_what_was_dropped()

    @rule(host=st.sampled_from(HOSTS), seconds=st.sampled_from([1.0, 8.0]))
    def block(self, host, seconds):
        self.blocked[host] = max(self.blocked[host], self.now + seconds)
        self.frontier.block_until(host, self.now + seconds, self.now)

    @rule(seconds=st.sampled_from([0.25, 2.0]))
    def crawl_delay(self, seconds):
        if "c.test" in self.frontier.hosts():
            self.delays["c.test"] = max(self.delays["c.test"], seconds)
            self.store.delays["c.test"] = self.delays["c.test"]
            self.frontier.set_delay("c.test", seconds, self.now)

    @precondition(lambda self: not self.suspended)
    @rule()
    def suspend(self):
        self.frontier.suspend("a.test", self.now)
        self.suspended.add("a.test")
        self.take_what_was_dropped()
        self.close_in_store("a.test", DropReason.SUSPENDED)

    @precondition(lambda self: self.suspended)
    @rule()
    def release(self):
        self.frontier.release("a.test", self.now)

    # ---- the books ------------------------------------------------------------------------

    def robots_are_read(self, host):
        self.gate.unknown.discard(self.unread_robots.pop(host, None))
        self.frontier.robots_known(host, self.now)

    def commit(self, host, page_id):
        self.held.discard(page_id)
        self.expected.pop(page_id, None)
        self.store.remove(host, page_id)
        self.frontier.finish(host, page_id, self.now)

    def close_in_store(self, host, reason):
        """The store settles what waits for a closed host, but for pages that were asked."""
        self.store.closed[host] = reason
        for page_id in set(self.store.entries.get(host, {})) - self.held:
            self.store.remove(host, page_id)
            self.expected.pop(page_id, None)

    def take_what_was_dropped(self):
        for host, reason in self.frontier.take_closed():
            self.spent.add(host)
            self.close_in_store(host, reason)
        for dropped in self.frontier.take_dropped():
            if dropped.reason is DropReason.DENIED:
                assert dropped.entry.fetch_url in self.gate.denied
                self.commit(dropped.host, dropped.entry.page_id)
                continue
            assert dropped.host in self.suspended | self.spent
            if dropped.follow_up:
                del self.waiting_payloads[dropped.payload]
                if dropped.entry is None:
                    self.robots_are_read(dropped.host)
                else:
                    self.commit(dropped.host, dropped.entry.page_id)
        self.store.give_back(self.frontier.take_returned_tokens())

    @invariant()
    def counts_agree(self):
        counts = self.frontier.counts()
        assert counts.in_flight == len(self.running)
        assert counts.follow_ups == len(self.waiting_payloads)
        assert counts.leased >= len(self.held)
        assert counts.queued <= 3 * counts.hosts
        assert counts.ready + counts.waiting <= counts.hosts
        if self.expected or self.running:
            assert not self.frontier.idle

    def teardown(self):
        """Let everything come to its end: nothing may be left over, whatever happened."""
        for _ in range(10_000):
            self.take_what_was_dropped()
            if self.frontier.idle and not self.answering:
                break
            self.bring_hosts_in()
            self.unanswered += [self.store.answer(want) for want in self.frontier.wants(99)]
            while self.unanswered:
                self.frontier.top_up(self.unanswered.pop(), self.now)
            before = sum(self.used.values())
            self.ask()
            for lease in [*self.running.values()]:
                self.frontier.exchange_ended(lease, self.now)
                self.idle_since[lease.host].append(self.now)
                self.answering[lease.id] = self.running.pop(lease.id)
            for lease in [*self.answering.values()]:
                del self.answering[lease.id]
                if lease.entry is None:
                    self.robots_are_read(lease.host)
                else:
                    self.commit(lease.host, lease.entry.page_id)
            if sum(self.used.values()) == before:
                self.sleep_until_ready()
        assert self.frontier.idle
        assert self.expected == {}
        assert self.waiting_payloads == {}
        self.frontier.close(self.now)
        self.take_what_was_dropped()
        # Every reservation was used, or came back.
        assert {h: n for h, n in self.store.granted.items() if n} == {
            h: n for h, n in self.used.items() if n
        }


TestFrontierModel = FrontierMachine.TestCase
TestFrontierModel.settings = settings(
    max_examples=60,
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
