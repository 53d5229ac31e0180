"""What keeping `nodes` and `edges` costs, as a share of a crawl's work for a page.

    python benchmarks/bench_rollup.py            # make bench-rollup
    python benchmarks/bench_rollup.py --quick    # seconds, the same steps

Two copies of one terrain record the same pages of fifty links, one as it is and one with the rollup
left out, taking turns round by round; medians of CPU time are compared. The store is a part of the
crawl, so a share of the recording is an upper bound; with extraction and addresses, which come
before it, it is nearer to the truth, and the rest of the crawl (requests, TLS, Scrapy) is not
counted at all.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from unittest import mock

from bench_extract import ordinary_page, read
from bench_store import Times, record
from store_load import load
from store_webs import LINKS, policy

from terrain.store import Store
from terrain.store.rollup import Rollup

ALLOWED = 0.10
"""Share of the crawl (issue 5 of 5)."""


class Nothing(Rollup):
    """A rollup that keeps nothing."""

    def read(self, *_: object, **__: object) -> None:
        pass

    read_again = visited = write = read


@contextlib.contextmanager
def opened(path: Path, *, rollup: bool):  # type: ignore[no-untyped-def]
    with mock.patch("terrain.store.record.Rollup", Rollup if rollup else Nothing):
        store = Store(path, policy(1))
        store.open_run()
    try:
        yield store
    finally:
        store.close()


def reading(pages: int) -> float:
    """CPU microseconds for extracting one page, its addresses included."""
    body = ordinary_page()
    times = []
    for _ in range(5):
        began = process_time()
        for _ in range(pages):
            read(body)
        times.append((process_time() - began) / pages * 1e6)
    return statistics.median(times)


def compare(directory: Path, size: int, warm_up: int, rounds: int, pages: int) -> bool:
    terrain = load(directory / "with.db", size, waiting=(warm_up + rounds) * pages)
    shutil.copyfile(terrain.path, directory / "without.db")
    extraction = reading(pages)
    print(f"{size:,} pages stored; extraction of one page: {extraction:.0f} µs\n")
    print("| pages | with | without | rollup | of recording | of recording and extraction |")
    print("|---|--:|--:|--:|--:|--:|")
    passed = True
    with (
        opened(directory / "with.db", rollup=True) as with_it,
        opened(directory / "without.db", rollup=False) as without_it,
    ):
        for name, waiting in (("of 64 hosts", terrain.near), ("from anywhere", terrain.far)):
            times = {True: Times(), False: Times()}
            stores = {True: with_it, False: without_it}
            for turn in range(warm_up + rounds):
                chosen = waiting[turn * pages : (turn + 1) * pages]
                outcomes = [terrain.web.outcome(page) for page in chosen]
                # Who goes first changes: the second finds the outcomes in the processor's cache.
                for kind in (True, False) if turn % 2 else (False, True):
                    took = record(stores[kind], outcomes)
                    if turn >= warm_up:
                        times[kind].add(pages, *took)
            kept, left_out = (statistics.median(times[kind].cpu) for kind in (True, False))
            # Round by round, so that the machine's mood is in both.
            pairs = zip(times[True].cpu, times[False].cpu, strict=True)
            cost = statistics.median([one - other for one, other in pairs])
            share = cost / (kept + extraction)
            passed = passed and share < ALLOWED
            print(
                f"| {name} | {kept:.0f} µs | {left_out:.0f} µs | {cost:.0f} µs"
                f" | {cost / kept:.1%} | {share:.1%} |"
            )
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a smoke test of a few seconds")
    parser.add_argument("--pages", type=int, default=100_000, help="pages stored beforehand")
    options = parser.parse_args()
    size = 6_000 if options.quick else options.pages
    warm_up, rounds, pages = (1, 3, 50) if options.quick else (4, 20, 100)
    began = perf_counter()
    with tempfile.TemporaryDirectory() as name:
        passed = compare(Path(name), size, warm_up, rounds, pages)
    print(
        f"\n{'ok' if passed else 'FAILED'}: less than {ALLOWED:.0%} allowed; {LINKS} links a page,"
        f" CPU time, medians of {rounds} rounds, {perf_counter() - began:.0f} s"
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
