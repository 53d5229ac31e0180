"""The frontier's contract about the store's side: hosts, entries, tokens, closing, counts."""

from __future__ import annotations

from terrain.frontier import DropReason, TopUp
from tests.frontier.frontier_fakes import FakeStore, constant_terms, page


class BudgetContract:
    def test_nothing_leaves_without_a_token(self, rig):
        rig.store.add("a.test", page(1))
        rig.frontier.announce("a.test", rig.now)
        (want,) = rig.frontier.wants(10)
        assert want.tokens > 0
        assert rig.frontier.lease(rig.now) is None
        rig.frontier.top_up(TopUp("a.test", entries=[page(1)], tokens=1), rig.now)
        assert rig.frontier.lease(rig.now) is not None

    def test_every_kind_of_request_takes_a_token(self, rig):
        rig.store.budgets["a.test"] = 3
        rig.gate.unknown.add("https://a.test")
        rig.offer("a.test", page(1), page(2))
        rig.end(rig.must_lease())  # robots.txt
        rig.gate.unknown.clear()
        rig.frontier.robots_known("a.test", rig.now)
        rig.now += 1
        head = rig.must_lease()
        rig.end(head)
        rig.frontier.follow_up("a.test", head.url, rig.now, payload=0, entry=head.entry)
        rig.now += 1
        rig.complete(rig.must_lease())  # GET
        rig.now += 1
        assert rig.lease() is None
        (dropped,) = rig.dropped()
        assert (dropped.entry.page_id, dropped.reason) == (2, DropReason.BUDGET_SPENT)

    def test_a_spent_budget_closes_the_host_and_says_so(self, rig):
        rig.store.budgets["a.test"] = 1
        rig.offer("a.test", *(page(n) for n in range(1, 100)))
        last = rig.must_lease()
        assert rig.frontier.take_closed() == [("a.test", DropReason.BUDGET_SPENT)]
        assert rig.frontier.take_closed() == []
        waiting = rig.dropped()
        assert {d.reason for d in waiting} == {DropReason.BUDGET_SPENT}
        assert 1 not in {d.entry.page_id for d in waiting}
        rig.end(last)
        rig.frontier.follow_up("a.test", last.url, rig.now, payload="GET", entry=last.entry)
        (get,) = rig.dropped()
        assert (get.reason, get.payload, get.follow_up) == (DropReason.BUDGET_SPENT, "GET", True)
        rig.commit("a.test", 1)
        assert rig.frontier.idle

    def test_tokens_in_hand_are_used_up_before_the_host_closes(self, rig):
        rig.store.budgets["a.test"] = 2
        rig.offer("a.test", page(1), page(2))
        rig.complete(rig.must_lease())
        rig.now += 1
        assert rig.url() == "https://a.test/2"

    def test_unused_tokens_come_back_when_the_host_leaves(self, make_rig):
        rig = make_rig(token_block=16)
        rig.store.budgets["a.test"] = 100
        rig.offer("a.test", page(1))
        rig.complete(rig.must_lease())
        rig.now += 1
        rig.lease()
        rig.pump()
        assert rig.store.budgets["a.test"] == 99
        assert list(rig.frontier.hosts()) == []

    def test_tokens_of_a_late_answer_come_back(self, rig):
        rig.frontier.announce("a.test", rig.now)
        rig.frontier.wants(10)
        rig.frontier.suspend("a.test", rig.now)
        rig.frontier.top_up(TopUp("a.test", entries=[page(1)], tokens=5), rig.now)
        assert rig.frontier.take_returned_tokens() == [("a.test", 5)]
        assert rig.lease() is None

    def test_an_answer_to_a_host_that_has_gone_leaves_nothing_open(self, rig):
        rig.frontier.announce("a.test", rig.now)
        rig.frontier.wants(10)
        rig.frontier.suspend("a.test", rig.now)
        rig.frontier.release("a.test", rig.now)
        rig.now += 10
        assert rig.frontier.lease(rig.now) is None
        rig.frontier.top_up(TopUp("a.test", tokens=5), rig.now)
        assert rig.frontier.take_returned_tokens() == [("a.test", 5)]
        assert rig.frontier.idle


class SupplyContract:
    def test_a_want_is_listed_once_until_it_is_answered(self, rig):
        rig.frontier.announce("a.test", rig.now)
        assert [want.host for want in rig.frontier.wants(10)] == ["a.test"]
        rig.frontier.announce("a.test", rig.now)
        assert rig.frontier.wants(10) == []

    def test_a_satisfied_want_is_not_repeated(self, rig):
        rig.frontier.announce("a.test", rig.now)
        rig.frontier.announce("a.test", rig.now)
        (want,) = rig.frontier.wants(10)
        rig.frontier.top_up(TopUp("a.test", entries=[page(1)], tokens=want.tokens), rig.now)
        assert rig.frontier.wants(10) == []

    def test_wants_are_limited_and_none_is_forgotten(self, rig):
        for name in ("a.test", "b.test", "c.test"):
            rig.frontier.announce(name, rig.now)
        listed = [want.host for _ in range(3) for want in rig.frontier.wants(1)]
        assert listed == ["a.test", "b.test", "c.test"]

    def test_more_is_wanted_before_the_queue_runs_dry(self, make_rig):
        rig = make_rig(entries_per_host=8, terms=constant_terms(0.0))
        rig.offer("a.test", *(page(n) for n in range(1, 20)))
        while not (wants := rig.frontier.wants(10)):
            rig.complete(rig.frontier.lease(rig.now))
        assert rig.frontier.counts().queued > 0
        assert wants[0].entries + rig.frontier.counts().queued == 8

    def test_a_want_names_what_is_held(self, make_rig):
        rig = make_rig(entries_per_host=2, terms=constant_terms(0.0, places=2))
        rig.offer("a.test", page(1), page(2), page(3))
        rig.frontier.lease(rig.now)
        (want,) = rig.frontier.wants(10)
        assert set(want.held) == {1, 2}

    def test_held_names_what_waits_or_is_not_committed(self, rig):
        assert rig.frontier.held("a.test") == ()
        rig.offer("a.test", page(1), page(2))
        lease = rig.must_lease()
        assert set(rig.frontier.held("a.test")) == {1, 2}
        rig.complete(lease)
        assert rig.frontier.held("a.test") == (2,)

    def test_the_window_holds_no_more_than_its_size(self, make_rig):
        rig = make_rig(entries_per_host=4)
        rig.offer("a.test", *(page(n) for n in range(1, 100)))
        for n in range(100, 200):
            rig.offer("a.test", page(n, priority=-n), priority=-n)
            assert rig.frontier.counts().queued <= 4

    def test_an_announcement_that_crosses_an_answer_is_not_lost(self, rig):
        rig.frontier.announce("a.test", rig.now)
        (want,) = rig.frontier.wants(10)
        answer = rig.store.answer(want)  # worked out before the commit below
        rig.store.add("a.test", page(1))
        rig.frontier.announce("a.test", rig.now)
        rig.frontier.top_up(answer, rig.now)
        assert rig.url() == "https://a.test/1"

    def test_a_host_denied_page_by_page_does_not_pile_up(self, make_rig):
        rig = make_rig(entries_per_host=4)
        pages = [page(n) for n in range(1, 500)]
        rig.gate.denied.update(entry.fetch_url for entry in pages)
        rig.offer("a.test", *pages)
        for _ in range(500):
            assert rig.lease() is None
        assert rig.frontier.counts().leased <= 16
        seen = 0
        while dropped := rig.dropped():
            seen += len(dropped)
            for denied in dropped:
                rig.commit("a.test", denied.entry.page_id)
            rig.lease()
        assert seen == 499


class HostsContract:
    def test_a_new_frontier_asks_for_hosts_once(self, make_frontier, rig):
        frontier = make_frontier(gate=rig.gate, terms=constant_terms(), places=1, max_hosts=5)
        assert not frontier.idle
        assert frontier.wants_hosts(0.0) == 5
        assert frontier.wants_hosts(0.0) == 0
        frontier.hosts_arrived([], 0.0, more=False)
        assert frontier.wants_hosts(0.0) == 0
        assert frontier.idle

    def test_hosts_beyond_the_window_wait_outside_and_come_in_turn(self, make_rig):
        rig = make_rig(max_hosts=2)
        names = [f"h{n}.test" for n in range(6)]
        for n, name in enumerate(names):
            rig.offer(name, page(n, name))
        asked = []
        while not rig.frontier.idle:
            assert len(rig.frontier.hosts()) <= 2
            lease = rig.lease()
            if lease is None:
                rig.now = rig.frontier.ready_at(rig.now)
            else:
                asked.append(lease.host)
                rig.complete(lease)
        assert asked == names

    def test_a_newcomer_does_not_overtake_those_outside(self, make_rig):
        rig = make_rig(max_hosts=1)
        rig.offer("a.test", page(1))
        rig.offer("b.test", page(2, "b.test"))
        rig.complete(rig.must_lease())
        rig.now += 1
        rig.frontier.lease(rig.now)  # a.test leaves
        rig.frontier.announce("c.test", rig.now)
        assert list(rig.frontier.hosts()) == []
        rig.store.add("c.test", page(3, "c.test"))
        assert rig.url() == "https://b.test/2"

    def test_an_announcement_that_crosses_the_answer_about_hosts_is_not_lost(self, make_rig):
        rig = make_rig(max_hosts=1)
        rig.offer("a.test", page(1))
        rig.frontier.announce("b.test", rig.now)
        rig.complete(rig.must_lease())
        rig.now += 1
        assert rig.frontier.wants_hosts(rig.now) == 1
        rig.store.add("c.test", page(3, "c.test"))
        rig.frontier.announce("c.test", rig.now)
        rig.frontier.hosts_arrived([], rig.now, more=False)
        assert rig.url() == "https://c.test/3"

    def test_hosts_blocked_for_long_do_not_keep_others_outside(self, make_rig):
        rig = make_rig(max_hosts=2)
        for n, name in enumerate(("a.test", "b.test")):
            rig.offer(name, page(n, name))
            rig.frontier.block_until(name, rig.now + 300, rig.now)
        rig.offer("c.test", page(3, "c.test"))
        assert rig.url() == "https://c.test/3"

    def test_memory_does_not_know_how_many_wait_outside(self, make_rig):
        rig = make_rig(max_hosts=2)
        for n in range(1000):
            rig.frontier.announce(f"h{n}.test", rig.now)
        assert len(rig.frontier.hosts()) == 2

    def test_a_host_the_store_has_closed_is_not_asked(self, make_rig):
        store = FakeStore(closed={"a.test": DropReason.SUBDOMAIN_LIMIT})
        rig = make_rig(store=store)
        rig.offer("a.test", page(1))
        rig.frontier.follow_up("a.test", "https://a.test/x", rig.now, payload="hop")
        assert rig.lease() is None
        (dropped,) = rig.dropped()
        assert (dropped.reason, dropped.payload) == (DropReason.SUBDOMAIN_LIMIT, "hop")
        assert rig.frontier.idle


class SuspensionContract:
    def test_a_suspended_host_drops_what_waits_and_asks_no_more(self, make_rig):
        rig = make_rig(terms=constant_terms(0.0))
        rig.offer("a.test", page(1), page(2), page(3))
        retried = rig.must_lease()
        rig.end(retried)
        rig.frontier.follow_up(
            "a.test", retried.url, rig.now, payload=9, not_before=rig.now + 5, entry=retried.entry
        )
        limited = rig.must_lease()
        rig.end(limited)
        rig.frontier.suspend("a.test", rig.now)
        dropped = rig.dropped()
        assert {d.reason for d in dropped} == {DropReason.SUSPENDED}
        assert [(d.entry.page_id, d.payload, d.follow_up) for d in dropped] == [
            (3, None, False),
            (1, 9, True),
        ]
        rig.frontier.announce("a.test", rig.now)
        rig.now += 1000
        assert rig.lease() is None
        counts = rig.frontier.counts()
        assert (counts.suspended, counts.queued, counts.follow_ups, counts.leased) == (1, 0, 0, 2)

    def test_a_suspended_host_stays_until_the_store_knows(self, rig):
        rig.offer("a.test", page(1), page(2))
        limited = rig.must_lease()
        rig.end(limited)
        rig.frontier.suspend("a.test", rig.now)
        rig.commit("a.test", 1)
        rig.now += 1000
        assert rig.lease() is None
        rig.offer("a.test", page(3))  # announced by a commit that knew nothing of the 429
        assert rig.lease() is None
        rig.store.closed["a.test"] = DropReason.SUSPENDED
        rig.frontier.release("a.test", rig.now)
        rig.lease()
        assert list(rig.frontier.hosts()) == []
        rig.offer("a.test", page(4))
        assert rig.lease() is None

    def test_follow_ups_of_a_suspended_host_come_back(self, rig):
        rig.frontier.suspend("a.test", rig.now)
        rig.frontier.follow_up("a.test", "https://a.test/x", rig.now, payload="late")
        (dropped,) = rig.dropped()
        assert (dropped.payload, dropped.reason) == ("late", DropReason.SUSPENDED)

    def test_other_hosts_go_on(self, rig):
        rig.offer("a.test", page(1))
        rig.offer("b.test", page(2, "b.test"))
        rig.frontier.suspend("a.test", rig.now)
        assert rig.url() == "https://b.test/2"


class ClosingContract:
    def test_a_closed_frontier_gives_and_wants_nothing(self, rig):
        rig.offer("a.test", page(1), page(2))
        rig.offer("b.test", page(3, "b.test"))
        out = rig.must_lease()
        rig.frontier.close(rig.now)
        rig.now += 10
        rig.frontier.announce("c.test", rig.now)
        assert rig.frontier.lease(rig.now) is None
        assert rig.frontier.wants(10) == []
        assert rig.frontier.wants_hosts(rig.now) == 0
        assert not rig.frontier.idle
        rig.end(out)
        rig.frontier.follow_up("a.test", out.url, rig.now, payload="GET", entry=out.entry)
        (dropped,) = rig.dropped()
        assert (dropped.payload, dropped.reason) == ("GET", DropReason.CLOSED)
        rig.frontier.finish("a.test", 1, rig.now)
        assert rig.frontier.idle

    def test_closing_returns_every_unused_token(self, rig):
        rig.store.budgets.update({"a.test": 100, "b.test": 100})
        rig.offer("a.test", page(1), page(2))
        rig.offer("b.test", page(3, "b.test"))
        rig.must_lease()
        rig.frontier.close(rig.now)
        rig.store.give_back(rig.frontier.take_returned_tokens())
        assert sum(rig.store.budgets.values()) == 199


class ProgressContract:
    def test_ready_at_names_the_moment_of_the_next_request(self, rig):
        assert rig.frontier.ready_at(rig.now) is None
        rig.offer("a.test", page(1), page(2))
        assert rig.frontier.ready_at(rig.now) == rig.now
        first = rig.must_lease()
        assert rig.frontier.ready_at(rig.now) is None
        rig.end(first, after=0.25)
        assert rig.frontier.ready_at(rig.now) == rig.now + 1

    def test_ready_at_is_silent_while_no_place_is_free(self, make_rig):
        rig = make_rig(places=1)
        rig.offer("a.test", page(1))
        rig.offer("b.test", page(2, "b.test"))
        first = rig.must_lease()
        assert rig.frontier.ready_at(rig.now) is None
        rig.end(first)
        assert rig.frontier.ready_at(rig.now) == rig.now

    def test_counts_say_where_everything_is(self, rig):
        rig.offer("a.test", page(1), page(2))
        rig.offer("b.test", page(3, "b.test"))
        first = rig.must_lease()
        counts = rig.frontier.counts()
        assert (counts.hosts, counts.in_flight, counts.queued, counts.leased) == (2, 1, 2, 1)
        assert counts.ready == 1
        rig.end(first)
        rig.frontier.follow_up("a.test", first.url, rig.now, payload=0, entry=first.entry)
        counts = rig.frontier.counts()
        assert (counts.in_flight, counts.waiting, counts.follow_ups, counts.leased) == (0, 1, 1, 1)

    def test_idle_only_when_everything_is_committed(self, rig):
        assert rig.frontier.idle
        rig.frontier.announce("a.test", rig.now)
        assert not rig.frontier.idle
        rig.offer("a.test", page(1))
        assert not rig.frontier.idle
        lease = rig.must_lease()
        rig.end(lease)
        assert not rig.frontier.idle
        rig.commit("a.test", 1)
        assert rig.frontier.idle
