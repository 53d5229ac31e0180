"""The frontier alone, at any size: a virtual clock, an implicit store, no network.

Hosts and pages exist by formula, so the simulated world costs no memory and what is measured is
the frontier. Every request is checked against the politeness rules as it leaves. Run it without
arguments for the whole table, or with `--hosts N` for one size.

    python benchmarks/bench_frontier.py [--hosts N] [--pages 10] [--places 64] [--window 4000]
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from terrain.frontier import Entry, Frontier, HostTerms, Lease, TopUp, Verdict, Want

SIZES = (1_000, 10_000, 100_000, 1_000_000)
DELAY = 1.0
CRAWL_DELAY = 2.0
MOST_RATIO = 1.5
TERMS = HostTerms(delay=DELAY)
ALLOWED = Verdict.ALLOWED


class OpenGate:
    """robots.txt of every host is known and allows everything."""

    def check(self, fetch_url: str) -> Verdict:  # noqa: ARG002 - the protocol's signature
        return ALLOWED

    def robots_url(self, fetch_url: str) -> str:
        raise AssertionError(fetch_url)


class ImplicitStore:
    """`hosts` hosts of `pages` pages each, by formula. Remembers one cursor and what is out."""

    def __init__(self, hosts: int, pages: int) -> None:
        self._hosts = hosts
        self._pages = pages
        self._next_host = 0
        self._sent: dict[str, int] = {}  # of the hosts in the window only

    def hosts(self, limit: int) -> tuple[list[str], bool]:
        first = self._next_host
        self._next_host = last = min(first + limit, self._hosts)
        return [f"h{number}.test" for number in range(first, last)], last < self._hosts

    def answer(self, want: Want) -> TopUp:
        host = want.host
        sent = self._sent.get(host, 0)
        upto = min(sent + want.entries, self._pages)
        base = int(host[1:-5]) * self._pages
        entries = [
            Entry(base + n, f"https://{host}/{n}", n % 3, base + n) for n in range(sent, upto)
        ]
        if upto == self._pages:
            self._sent.pop(host, None)
        else:
            self._sent[host] = upto
        delay = CRAWL_DELAY if base % 7 == 0 else 0.0
        return TopUp(host, entries, upto < self._pages, want.tokens, delay=delay)


@dataclass
class Books:
    """What an observer at the hosts' doors would write down, for the hosts in the window."""

    ended: dict[str, float]
    in_flight: set[str]
    requests: int = 0
    violations: int = 0

    def started(self, lease: Lease, now: float) -> None:
        host = lease.host
        self.requests += 1
        delay = CRAWL_DELAY if int(host[1:-5]) % 7 == 0 else DELAY
        # The delay runs from the end of one exchange to the start of the next.
        if host in self.in_flight or now < self.ended.get(host, -delay) + delay:
            self.violations += 1
        self.in_flight.add(host)

    def done(self, lease: Lease, now: float) -> None:
        self.in_flight.remove(lease.host)
        self.ended[lease.host] = now
        if len(self.ended) > 20_000:  # an end longer ago than any delay no longer matters
            recent = now - CRAWL_DELAY
            self.ended = {host: end for host, end in self.ended.items() if end > recent}


def takes(lease: Lease) -> float:
    """Seconds of an exchange: 10 to 60 ms, one host in fifty 1.5 s."""
    number = int(lease.host[1:-5])
    return 1.5 if number % 50 == 0 else 0.010 + (lease.id * 7919 % 50) / 1000


def supply(frontier: Frontier, store: ImplicitStore, now: float) -> None:
    room = frontier.wants_hosts(now)
    if room:
        hosts, more = store.hosts(room)
        frontier.hosts_arrived(hosts, now, more=more)
    while wants := frontier.wants(100):
        for want in wants:
            frontier.top_up(store.answer(want), now)
    frontier.take_returned_tokens()


def crawl(hosts: int, pages: int, places: int, window: int) -> tuple[Books, float, float]:
    """Ask for every page of every host; give the books, CPU seconds and virtual seconds."""
    store = ImplicitStore(hosts, pages)
    frontier = Frontier(gate=OpenGate(), terms=lambda _host: TERMS, places=places, max_hosts=window)
    books = Books({}, set())
    running: list[tuple[float, int, Lease]] = []
    now = 0.0
    begin = time.process_time()
    while True:
        supply(frontier, store, now)
        while (lease := frontier.lease(now)) is not None:
            books.started(lease, now)
            heappush(running, (now + takes(lease), lease.id, lease))
        ready_at = frontier.ready_at(now)
        if running and (ready_at is None or running[0][0] <= ready_at):
            now, _, lease = heappop(running)
            books.done(lease, now)
            frontier.exchange_ended(lease, now)
            assert lease.entry is not None
            frontier.finish(lease.host, lease.entry.page_id, now)
        elif ready_at is not None:
            now = ready_at
        else:
            break
    spent = time.process_time() - begin
    assert frontier.idle, frontier.counts()
    return books, spent, now


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(options: argparse.Namespace) -> None:
    """Run one size in this process and print it as one line of numbers."""
    before = peak_mb()
    gc.freeze()
    books, spent, virtual = crawl(options.hosts, options.pages, options.places, options.window)
    if books.requests != options.hosts * options.pages or books.violations:
        raise SystemExit(f"{books.requests} requests, {books.violations} violations")
    per_request = spent / books.requests * 1e6
    print(options.hosts, books.requests, per_request, peak_mb(), before, virtual, books.violations)


def table(options: argparse.Namespace) -> None:
    """Run every size in a process of its own, so that peak memory is each one's own."""
    print(f"window {options.window} hosts, {options.places} places, delay {DELAY} s")
    print(f"{'hosts':>10} {'requests':>11} {'µs/request':>11} {'ratio':>6} {'peak MB':>8}", end="")
    print(f" {'virtual s':>10} {'violations':>11}")
    base = None
    worst = 0.0
    for hosts in SIZES:
        command = [sys.executable, __file__, "--hosts", str(hosts), "--raw"]
        for name in ("pages", "places", "window"):
            command += [f"--{name}", str(getattr(options, name))]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        size, requests, cost, peak, _, virtual, violations = map(float, run.stdout.split())
        base = base or cost
        worst = max(worst, cost / base)
        print(f"{size:10,.0f} {requests:11,.0f} {cost:11.2f} {cost / base:6.2f}", end="")
        print(f" {peak:8.1f} {virtual:10,.0f} {violations:11.0f}", flush=True)
    if worst >= MOST_RATIO:
        raise SystemExit(f"cost per request grew {worst:.2f} times, {MOST_RATIO} is the limit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, help="one size only")
    parser.add_argument("--pages", type=int, default=10, help="pages of each host")
    parser.add_argument("--places", type=int, default=64, help="requests in flight")
    parser.add_argument("--window", type=int, default=4000, help="hosts in memory")
    parser.add_argument("--raw", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.hosts is None:
        table(options)
    else:
        if not options.raw:
            print("hosts requests µs/request peak-MB start-MB virtual-s violations")
        measure(options)


if __name__ == "__main__":
    main()
