"""Slow hosts do not hold up quick ones, and places do not stay empty for nothing."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import pairwise

import pytest

from terrain.frontier import Frontier
from tests.frontier.frontier_fakes import FakeGate, FakeStore, Rig, constant_terms, page, simulate

DELAY = 1.0
PAGES = 20


def crawl(hosts, takes, *, places=16, blocked=(), **sizes):
    """Crawl PAGES pages of each host on a virtual clock; give the log of each host."""
    store = FakeStore()
    for h, host in enumerate(hosts):
        store.add(host, *(page(h * PAGES + n, host) for n in range(PAGES)))
    frontier = Frontier(gate=FakeGate(), terms=constant_terms(DELAY), places=places, **sizes)
    rig = Rig(frontier, store, FakeGate(), now=0.0)
    rig.pump()
    for host in blocked:
        frontier.block_until(host, 300.0, 0.0)
    logs = defaultdict(list)
    for exchange in simulate(rig, takes):
        logs[exchange.host].append(exchange)
    assert frontier.idle
    assert all(len(log) == PAGES for log in logs.values())
    assert len(logs) == len(hosts)
    return logs


@pytest.mark.parametrize("slow_come", ["first", "last", "mixed"])
def test_slow_hosts_do_not_hold_up_the_others(slow_come):
    """200 hosts of 20 pages, 20 of them slow: the quick ones need at most 1.2 times the bound."""
    rng = random.Random(4)
    slow = [f"slow{n}.test" for n in range(20)]
    quick = [f"quick{n}.test" for n in range(180)]
    hosts = {"first": slow + quick, "last": quick + slow, "mixed": slow + quick}[slow_come]
    if slow_come == "mixed":
        rng.shuffle(hosts)

    def takes(lease):
        return 2.0 if lease.host.startswith("slow") else rng.uniform(0.010, 0.020)

    logs = crawl(hosts, takes)

    quick_done = max(logs[host][-1].end for host in quick)
    assert quick_done <= 1.2 * PAGES * DELAY
    for log in logs.values():
        for before, after in pairwise(log):
            assert after.start >= before.end + DELAY
    # The slow ones are not starved either: with 16 places for 400 answers of 2 s they need 50 s
    # at the very least, and 20 * (2 + 1) s = 60 s by their own clocks.
    assert max(logs[host][-1].end for host in slow) <= 1.2 * 60 + quick_done / 2


def test_many_quick_hosts_get_half_of_the_places():
    """350 hosts that answer in 20 ms keep 7 places busy: more than a quarter, less than half."""
    quick = [f"quick{n}.test" for n in range(350)]
    slow = [f"slow{n}.test" for n in range(30)]

    def takes(lease):
        return 2.0 if lease.host.startswith("slow") else 0.02

    logs = crawl([*slow, *quick], takes)
    assert max(logs[host][-1].end for host in quick) <= 1.3 * PAGES * DELAY


def test_quick_hosts_that_are_blocked_keep_no_places_free():
    quick = [f"quick{n}.test" for n in range(8)]
    slow = [f"slow{n}.test" for n in range(40)]

    def takes(lease):
        return 2.0 if lease.host.startswith("slow") else 0.01

    logs = crawl([*slow, *quick], takes, places=8, blocked=quick)
    assert max(logs[host][-1].end for host in slow) <= 1.05 * (40 * PAGES * 2.0 / 8)
    assert min(logs[host][0].start for host in quick) >= 300.0


def test_slow_hosts_use_every_place_when_nobody_else_can():
    hosts = [f"slow{n}.test" for n in range(40)]
    logs = crawl(hosts, lambda _lease: 2.0, places=8)
    end = max(log[-1].end for log in logs.values())
    assert end <= 1.05 * (40 * PAGES * 2.0 / 8)


def test_one_quick_host_does_not_keep_half_of_the_places_empty():
    slow = [f"slow{n}.test" for n in range(30)]

    def takes(lease):
        return 2.0 if lease.host.startswith("slow") else 0.01

    logs = crawl([*slow, "quick.test"], takes, places=8)
    quick = logs["quick.test"]
    assert quick[-1].end - quick[0].start <= 1.2 * PAGES * DELAY
    # Seven of the eight places at least are the slow ones' own.
    assert max(logs[host][-1].end for host in slow) <= 1.05 * (30 * PAGES * 2.0 / 7)


def test_a_stream_of_hosts_that_do_not_answer_does_not_hold_up_the_others():
    quick = [f"quick{n}.test" for n in range(8)]
    dead = [f"dead{n}.test" for n in range(40)]

    def takes(lease):
        return 10.0 if lease.host.startswith("dead") else 0.01

    logs = crawl([*quick, *dead], takes, places=8)
    assert max(logs[host][-1].end for host in quick) <= 1.2 * PAGES * DELAY


def test_a_host_that_recovers_counts_as_quick_again():
    hosts = ["recovered.test", *(f"slow{n}.test" for n in range(16))]
    seen = defaultdict(int)

    def takes(lease):
        seen[lease.host] += 1
        slow = lease.host != "recovered.test" or seen[lease.host] == 1
        return 30.0 if slow else 0.01

    logs = crawl(hosts, takes, places=4)
    later = logs["recovered.test"][8:]
    gaps = [b.start - a.end for a, b in pairwise(later)]
    assert max(gaps) <= DELAY + 0.01


def test_a_host_that_turns_slow_while_it_is_ready_keeps_its_pages():
    frontier = Frontier(gate=FakeGate(), terms=constant_terms(0.0, places=3), places=2)
    rig = Rig(frontier, FakeStore(), FakeGate(), now=0.0)
    rig.pump()
    rig.offer("own.test", *(page(n, "own.test") for n in range(4)))
    first, second = rig.must_lease(), rig.must_lease()
    assert rig.lease() is None  # ready, but no place is free
    rig.complete(first, after=5.0)
    rig.complete(second)
    assert {rig.must_lease().entry.page_id, rig.must_lease().entry.page_id} == {2, 3}


def test_a_small_window_does_the_same_work():
    hosts = [f"h{n}.test" for n in range(60)]
    logs = crawl(hosts, lambda _lease: 0.01, max_hosts=7, entries_per_host=3, token_block=2)
    for log in logs.values():
        assert all(b.start >= a.end + DELAY for a, b in pairwise(log))
