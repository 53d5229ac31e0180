"""The agenda: times in a heap, turns in a queue, nothing searched, nothing piling up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.frontier import Frontier, HostTerms, Tempo
from terrain.frontier.agenda import Agenda
from terrain.frontier.host import Host, Place

TERMS = HostTerms(delay=1.0)


def make_host(name, tempo=Tempo.QUICK):
    host = Host(name, TERMS, 16)
    host.tempo = tempo
    return host


def put(agenda, host, when, now=0.0):
    agenda.put(host, when, now, Place.WAITING)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50))
def test_hosts_are_taken_by_their_time(times):
    agenda = Agenda(park_after=1000)
    for n, when in enumerate(times):
        put(agenda, make_host(str(n)), when)
    agenda.ripen(100)
    taken = [agenda.take(Tempo.SLOW).when for _ in times]
    assert taken == sorted(times)
    assert agenda.take(Tempo.SLOW) is None


def test_a_new_time_replaces_the_old_one():
    agenda = Agenda(park_after=1000)
    host = make_host("a")
    put(agenda, host, 5.0)
    put(agenda, host, 9.0)
    assert agenda.next_time() == 9.0
    agenda.ripen(8.0)
    assert agenda.take(Tempo.SLOW) is None
    agenda.ripen(9.0)
    assert agenda.take(Tempo.SLOW) is host


def test_slow_hosts_can_be_left_out_and_keep_their_turn():
    agenda = Agenda(park_after=1000)
    slow, quick, later = make_host("s", Tempo.SLOW), make_host("q"), make_host("l")
    for when, host in enumerate((slow, quick, later)):
        put(agenda, host, float(when))
    agenda.ripen(10.0)
    assert agenda.take(Tempo.QUICK) is quick
    assert agenda.take(Tempo.SLOW) is slow
    assert agenda.take(Tempo.QUICK) is later


def test_stale_items_are_swept_out():
    agenda = Agenda(park_after=1000)
    hosts = [make_host(str(n)) for n in range(10)]
    for round_ in range(1000):
        for host in hosts:
            put(agenda, host, 100.0 + round_)
    assert len(agenda._heap) < 200
    assert agenda.waiting == 10


def test_stale_turns_are_swept_out_even_if_nobody_is_served():
    agenda = Agenda(park_after=1000)
    hosts = [make_host(str(n)) for n in range(10)]
    for round_ in range(1000):
        for host in hosts:
            put(agenda, host, float(round_))
        agenda.ripen(float(round_))
    assert sum(len(line) for line in agenda._ready) < 200
    assert agenda.ready == 10


def test_far_off_hosts_are_counted_as_parked():
    agenda = Agenda(park_after=30)
    host = make_host("a")
    put(agenda, host, 100.0, now=50.0)
    assert agenda.parked == 1
    put(agenda, host, 60.0, now=50.0)
    assert agenda.parked == 0


@pytest.mark.parametrize("size", ["places", "max_hosts", "entries_per_host", "token_block"])
def test_a_window_of_no_size_is_refused(size):
    sizes = {"places": 1} | {size: 0}
    with pytest.raises(ValueError, match=f"{size} must be at least 1, not 0"):
        Frontier(gate=None, terms=lambda _host: TERMS, **sizes)
