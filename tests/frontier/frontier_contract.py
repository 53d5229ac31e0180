"""The frontier's contract about requests, as a suite that any backend can be run against.

Subclass the classes in a test file beside a `make_frontier` fixture that builds the backend (see
`conftest.py` and `test_frontier_contract.py`). What concerns the store's side is in
`frontier_contract_window.py`.
"""

from __future__ import annotations

import pytest

from terrain.frontier import DropReason, RequestKind
from tests.frontier.frontier_fakes import constant_terms, page


class PolitenessContract:
    def test_the_first_request_to_a_host_need_not_wait(self, rig):
        rig.offer("a.test", page(1))
        assert rig.url() == "https://a.test/1"

    def test_the_delay_runs_from_the_end_of_an_exchange(self, rig):
        rig.offer("a.test", page(1), page(2))
        rig.complete(rig.must_lease(), after=5.0)
        assert rig.lease() is None
        rig.now += 0.99
        assert rig.lease() is None
        rig.now += 0.01
        assert rig.url() == "https://a.test/2"

    def test_one_request_in_flight_per_host(self, rig):
        rig.offer("a.test", page(1), page(2))
        rig.must_lease()
        rig.now += 100
        assert rig.lease() is None

    def test_the_clock_does_not_wait_for_the_commit(self, rig):
        rig.offer("a.test", page(1), page(2))
        rig.end(rig.must_lease())
        rig.now += 1
        assert rig.url() == "https://a.test/2"

    def test_an_exchange_ends_once(self, rig):
        rig.offer("a.test", page(1), page(2), page(3))
        first = rig.must_lease()
        rig.end(first)
        rig.now += 0.9
        rig.end(first)  # must not wind the clock up again
        rig.now += 0.1
        second = rig.must_lease()
        rig.end(first)  # must not free the place of the second
        rig.now += 10
        assert rig.frontier.counts().in_flight == 1
        assert rig.lease() is None
        rig.end(second)

    @pytest.mark.parametrize("kind", ["robots", "page", "page_follow_up", "robots_follow_up"])
    def test_every_kind_of_request_winds_the_same_clock(self, rig, kind):
        if kind == "robots":
            rig.gate.unknown.add("https://a.test")
        rig.offer("a.test", page(1), page(2))
        first = rig.must_lease()
        if kind == "robots":
            rig.gate.unknown.clear()
            rig.frontier.robots_known("a.test", rig.now)
        elif kind != "page":
            rig.end(first)
            entry = first.entry if kind == "page_follow_up" else None
            rig.frontier.follow_up("a.test", "https://a.test/x", rig.now, payload=0, entry=entry)
            rig.now += 1
            first = rig.must_lease()
            assert first.kind is RequestKind.FOLLOW_UP
        rig.end(first)
        rig.now += 0.5
        assert rig.lease() is None
        rig.now += 0.5
        assert rig.must_lease().kind is RequestKind.PAGE

    def test_an_own_host_has_several_places_each_with_its_own_clock(self, make_rig):
        rig = make_rig(terms=constant_terms(1.0, places=2))
        rig.offer("a.test", *(page(n) for n in range(1, 6)))
        first, second = rig.must_lease(), rig.must_lease()
        assert rig.lease() is None
        rig.end(first, after=0.5)
        assert rig.lease() is None
        rig.end(second, after=0.5)
        rig.now += 0.5  # one delay after the first, half a delay after the second
        assert rig.lease() is not None
        assert rig.lease() is None
        rig.now += 0.5
        assert rig.lease() is not None

    def test_places_bound_the_requests_over_all_hosts(self, make_rig):
        rig = make_rig(places=2)
        for name in ("a.test", "b.test", "c.test"):
            rig.offer(name, page(ord(name[0]), name))
        first, _ = rig.must_lease(), rig.must_lease()
        assert rig.lease() is None
        rig.end(first)
        assert rig.url() == "https://c.test/99"

    def test_a_crawl_delay_raises_the_delay_also_after_the_exchange(self, rig):
        rig.offer("a.test", page(1), page(2))
        rig.end(rig.must_lease())
        rig.frontier.set_delay("a.test", 5.0, rig.now)
        rig.now += 4.9
        assert rig.lease() is None
        rig.now += 0.1
        assert rig.lease() is not None

    def test_a_crawl_delay_never_lowers_the_delay(self, rig):
        rig.offer("a.test", page(1), page(2))
        rig.end(rig.must_lease())
        rig.frontier.set_delay("a.test", 0.1, rig.now)
        rig.now += 0.9
        assert rig.lease() is None

    def test_the_store_may_know_a_crawl_delay(self, rig):
        rig.store.delays["a.test"] = 3.0
        rig.offer("a.test", page(1), page(2))
        rig.end(rig.must_lease())
        rig.now += 2.9
        assert rig.lease() is None

    def test_a_host_that_had_requests_out_before_a_restart_waits_first(self, rig):
        rig.store.not_before["a.test"] = rig.now + 1
        rig.offer("a.test", page(1))
        assert rig.lease() is None
        rig.now += 1
        assert rig.lease() is not None

    def test_a_blocked_host_is_not_asked_and_others_are(self, rig):
        rig.offer("a.test", page(1))
        rig.offer("b.test", page(2, "b.test"))
        rig.frontier.block_until("a.test", rig.now + 60, rig.now)
        assert rig.url() == "https://b.test/2"
        rig.now += 59.9
        assert rig.lease() is None
        rig.now += 0.1
        assert rig.url() == "https://a.test/1"

    def test_a_block_is_never_shortened(self, rig):
        rig.offer("a.test", page(1))
        rig.frontier.block_until("a.test", rig.now + 60, rig.now)
        rig.frontier.block_until("a.test", rig.now + 10, rig.now)
        rig.now += 59
        assert rig.lease() is None

    def test_a_block_holds_for_follow_ups_too(self, rig):
        rig.frontier.block_until("a.test", rig.now + 60, rig.now)
        rig.frontier.follow_up("a.test", "https://a.test/x", rig.now, payload=1)
        rig.now += 59
        assert rig.lease() is None
        rig.now += 1
        assert rig.url() == "https://a.test/x"

    def test_a_block_of_a_host_outside_is_kept(self, rig):
        rig.frontier.block_until("a.test", rig.now + 60, rig.now)
        rig.pump()
        rig.now += 30
        rig.offer("a.test", page(1))
        assert rig.lease() is None

    def test_leaving_the_window_does_not_shorten_the_delay(self, rig):
        rig.offer("a.test", page(1))
        rig.complete(rig.must_lease())
        rig.now += 0.5
        assert rig.lease() is None
        rig.offer("a.test", page(2))
        assert rig.lease() is None
        rig.now += 0.5
        assert rig.url() == "https://a.test/2"


class OrderContract:
    def test_pages_leave_by_priority_then_age(self, make_rig):
        rig = make_rig(terms=constant_terms(0.0))
        pages = [page(4, priority=1), page(3, priority=0), page(1, priority=2), page(2)]
        rig.offer("a.test", *pages)
        order = []
        while (lease := rig.lease()) is not None:
            order.append(lease.entry.page_id)
            rig.complete(lease)
        assert order == [2, 3, 4, 1]

    @pytest.mark.parametrize("waiting", [2, 5], ids=["just full", "more in the store"])
    def test_a_better_entry_overtakes_a_full_window(self, make_rig, waiting):
        rig = make_rig(terms=constant_terms(0.0), entries_per_host=2)
        numbers = range(1, waiting + 1)
        rig.offer("a.test", *(page(n, priority=5) for n in numbers))
        rig.offer("a.test", page(9, priority=1), priority=1)
        order = []
        while (lease := rig.lease()) is not None:
            order.append(lease.entry.page_id)
            rig.complete(lease)
        assert order == [9, *numbers]  # what had to make room is not lost

    def test_hosts_are_served_in_the_order_they_became_ready(self, make_rig):
        rig = make_rig(places=3)
        for name in ("a.test", "b.test", "c.test"):
            rig.offer(name, page(ord(name[0]), name), page(ord(name[0]) + 100, name))
        a, b, c = rig.must_lease(), rig.must_lease(), rig.must_lease()
        assert [a.host, b.host, c.host] == ["a.test", "b.test", "c.test"]
        rig.end(c, after=0.1)
        rig.end(a, after=0.1)
        rig.end(b, after=0.1)
        rig.now += 10
        assert [rig.must_lease().host for _ in "cab"] == ["c.test", "a.test", "b.test"]

    def test_a_host_that_gets_work_late_does_not_overtake_those_that_were_ready(self, rig):
        rig.offer("a.test", page(1), page(2))
        rig.complete(rig.must_lease())
        rig.now += 5  # a.test has been ready for 4 s
        rig.offer("b.test", page(3, "b.test"))
        assert rig.must_lease().host == "a.test"

    def test_news_about_a_host_does_not_cost_it_its_turn(self, rig):
        rig.offer("a.test", page(1))
        rig.now += 1
        rig.offer("b.test", page(2, "b.test"))
        rig.now += 1
        rig.offer("a.test", page(3))
        assert rig.must_lease().host == "a.test"

    def test_a_follow_up_goes_before_pages(self, rig):
        rig.offer("a.test", page(1), page(2))
        head = rig.must_lease()
        rig.end(head)
        request = object()
        rig.frontier.follow_up("a.test", head.url, rig.now, payload=request, entry=head.entry)
        rig.now += 1
        get = rig.must_lease()
        assert get.kind is RequestKind.FOLLOW_UP
        assert get.payload is request
        assert get.entry == head.entry

    def test_a_retry_waits_for_its_time_and_pages_go_on(self, rig):
        rig.offer("a.test", page(1), page(2))
        failed = rig.must_lease()
        rig.end(failed)
        rig.frontier.follow_up(
            "a.test", failed.url, rig.now, payload=0, not_before=rig.now + 5, entry=failed.entry
        )
        rig.now += 1
        rig.complete(rig.must_lease())  # page 2
        rig.now += 3.9
        assert rig.lease() is None
        rig.now += 0.1
        assert rig.must_lease().url == "https://a.test/1"

    def test_a_follow_up_for_a_host_outside_brings_it_in_over_the_cap(self, make_rig):
        rig = make_rig(max_hosts=1)
        rig.offer("a.test", page(1))
        rig.frontier.follow_up("b.test", "https://b.test/robots.txt", rig.now, payload="hop")
        assert rig.frontier.lease(rig.now).host == "a.test"  # b has no token yet
        assert rig.frontier.lease(rig.now) is None
        assert rig.must_lease().payload == "hop"

    def test_no_page_is_given_out_twice_before_its_commit(self, make_rig):
        rig = make_rig(terms=constant_terms(0.0, places=4))
        rig.offer("a.test", page(1))
        first = rig.must_lease()
        rig.offer("a.test", page(2))  # the store still has page 1, and would send it again
        assert rig.must_lease().entry.page_id == 2
        assert rig.lease() is None
        rig.complete(first)
        assert rig.lease() is None

    def test_an_answer_that_repeats_what_is_held_changes_nothing(self, make_rig):
        rig = make_rig(terms=constant_terms(0.0, places=4))
        rig.store.add("a.test", page(1), page(2))
        rig.frontier.announce("a.test", rig.now)
        (want,) = rig.frontier.wants(10)
        answer = rig.store.answer(want)
        rig.frontier.top_up(answer, rig.now)
        lease = rig.frontier.lease(rig.now)
        rig.frontier.top_up(answer, rig.now)
        other = rig.frontier.lease(rig.now)
        assert {lease.entry.page_id, other.entry.page_id} == {1, 2}
        assert rig.frontier.lease(rig.now) is None

    def test_finishing_twice_or_for_nothing_is_harmless(self, rig):
        rig.frontier.finish("nobody.test", 7, rig.now)
        rig.offer("a.test", page(1))
        rig.complete(rig.must_lease())
        rig.frontier.finish("a.test", 1, rig.now)
        assert rig.frontier.counts().leased == 0


class RobotsContract:
    def test_an_unknown_origin_is_asked_for_robots_first(self, rig):
        rig.gate.unknown.add("https://a.test")
        rig.offer("a.test", page(1))
        robots = rig.must_lease()
        assert (robots.kind, robots.url) == (RequestKind.ROBOTS, "https://a.test/robots.txt")
        rig.end(robots)
        rig.now += 10
        assert rig.lease() is None  # the answer is still being read
        rig.gate.unknown.clear()
        rig.frontier.robots_known("a.test", rig.now)
        assert rig.url() == "https://a.test/1"

    def test_a_robots_hop_leaves_while_the_pages_wait(self, rig):
        rig.gate.unknown.add("https://a.test")
        rig.offer("a.test", page(1))
        rig.end(rig.must_lease())
        hop = "https://www.a.test/robots.txt"
        rig.frontier.follow_up("a.test", hop, rig.now, payload="hop")
        rig.now += 1
        assert rig.must_lease().url == hop

    def test_denied_pages_cost_neither_clock_nor_token(self, rig):
        rig.store.budgets["a.test"] = 1
        rig.gate.denied.update({"https://a.test/1", "https://a.test/2"})
        rig.offer("a.test", page(1), page(2), page(3))
        assert rig.url() == "https://a.test/3"
        dropped = rig.dropped()
        assert [(d.entry.page_id, d.reason) for d in dropped] == [
            (1, DropReason.DENIED),
            (2, DropReason.DENIED),
        ]
        assert not any(d.follow_up for d in dropped)
        assert rig.dropped() == []

    def test_a_denied_page_is_held_until_its_commit(self, rig):
        rig.gate.denied.add("https://a.test/1")
        rig.offer("a.test", page(1))
        assert rig.lease() is None
        rig.dropped()
        rig.frontier.announce("a.test", rig.now)
        assert rig.lease() is None
        assert rig.dropped() == []
        assert not rig.frontier.idle
        rig.commit("a.test", 1)
        assert rig.frontier.idle

    def test_a_hop_to_another_origin_of_the_host_asks_its_robots(self, rig):
        rig.offer("a.test", page(1))
        bare = rig.must_lease()
        rig.end(bare)
        rig.gate.unknown.add("https://www.a.test")
        target = "https://www.a.test/1"
        rig.frontier.follow_up("a.test", target, rig.now, payload="hop", entry=bare.entry)
        rig.now += 1
        robots = rig.must_lease()
        assert robots.url == "https://www.a.test/robots.txt"
        rig.end(robots)
        rig.now += 1
        assert rig.lease() is None  # the answer is still being read
        rig.gate.unknown.clear()
        rig.gate.denied.add(target)
        rig.frontier.robots_known("a.test", rig.now)
        assert rig.lease() is None
        (dropped,) = rig.dropped()
        assert (dropped.reason, dropped.payload) == (DropReason.DENIED, "hop")
        assert dropped.follow_up
