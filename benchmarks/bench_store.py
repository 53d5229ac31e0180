"""Recording pages of fifty links: as the terrain grows, and as origins are added.

    python benchmarks/bench_store.py            # make bench-store: 1,000,000 pages, minutes, 4 GB
    python benchmarks/bench_store.py --quick    # seconds, the same steps

Everything goes through the public store and is committed. Variants that are compared take turns,
round by round, and the medians are compared: the machine's mood hits both alike.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

from bench_extract import ordinary_page, read
from growth_plot import growth_plot
from store_load import load, rows_per_page
from store_webs import LINKS, NEW, PAGES_PER_HOST, Web, address_of, policy, url_of

from terrain.rules.urls import UrlRules
from terrain.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store_load import Loaded

    from terrain.store import PageOutcome

IN_FLIGHT = 16
"""Outcomes that are handed over before the first of them is waited for."""

MAX_DEPTH = 3
GROWTH_ALLOWED = "allowed 1.5"
ORIGINS_ALLOWED = "allowed 1.33"


@dataclass
class Times:
    """Microseconds per page, one figure per round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, pages: int, wall: float, cpu: float) -> None:
        self.wall.append(wall / pages * 1e6)
        self.cpu.append(cpu / pages * 1e6)

    def __str__(self) -> str:
        wall, cpu = statistics.median(self.wall), statistics.median(self.cpu)
        return f"{wall:6.0f} µs per page (CPU {cpu:.0f}), {1e6 / wall:6,.0f} pages/s"


def ratio(one: Times, other: Times, allowed: str) -> str:
    wall = statistics.median(other.wall) / statistics.median(one.wall)
    mean = statistics.mean(other.wall) / statistics.mean(one.wall)
    cpu = statistics.median(other.cpu) / statistics.median(one.cpu)
    cpu_mean = statistics.mean(other.cpu) / statistics.mean(one.cpu)
    return (
        f"  grows {wall:.2f} times, in CPU {cpu:.2f} ({allowed}); "
        f"in the mean {mean:.2f}, in CPU {cpu_mean:.2f}"
    )


def record(store: Store, outcomes: Sequence[PageOutcome]) -> tuple[float, float]:
    """Record pages as a crawl hands them over; return seconds of wall and CPU time."""
    wall, cpu = perf_counter(), process_time()
    for start in range(0, len(outcomes), IN_FLIGHT):
        batch = [store.record(outcome) for outcome in outcomes[start : start + IN_FLIGHT]]
        for future in batch:
            future.result()
    return perf_counter() - wall, process_time() - cpu


def bench_growth(
    directory: Path,
    sizes: Sequence[int],
    warm_up: int,
    rounds: int,
    pages: int,
    plot: Path | None,
) -> None:
    """Cost per page at small and large terrains, by turns."""
    curves: dict[str, list[float]] = {}
    loaded = []
    for size in sizes:
        began = perf_counter()
        terrain = load(directory / f"terrain-{size}.db", size, waiting=(warm_up + rounds) * pages)
        loaded.append(terrain)
        print(
            f"{size:,} pages loaded in {perf_counter() - began:.0f} s: "
            f"{terrain.path.stat().st_size / 1e6:,.0f} MB, "
            f"{terrain.bytes_per_page:.0f} bytes per page, {terrain.bytes_per_link:.0f} per link"
        )
    os.sync()  # Gigabytes on their way to the disk would hold up the first commits.
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(opened(terrain)) for terrain in loaded]
        for name, places, allowed in (
            ("pages of 64 hosts, as in a crawl", [t.near for t in loaded], GROWTH_ALLOWED),
            ("pages from anywhere, the worst case", [t.far for t in loaded], "no limit"),
        ):
            times = [Times() for _ in sizes]
            for turn in range(warm_up + rounds):
                for terrain, store, waiting, each in zip(
                    loaded, stores, places, times, strict=True
                ):
                    chosen = waiting[turn * pages : (turn + 1) * pages]
                    took = record(store, [terrain.web.outcome(page) for page in chosen])
                    if turn >= warm_up:  # a crawl has its caches full
                        each.add(pages, *took)
            print(f"\nrecording, {name}:")
            for size, each in zip(sizes, times, strict=True):
                rows = rows_per_page(NEW) * 1e6 / statistics.median(each.wall)
                print(f"  {size:>9,} pages stored: {each}, {rows:9,.0f} rows/s")
            print(ratio(times[0], times[-1], allowed))
            curves[name] = [statistics.median(each.cpu) for each in times]
    for terrain in loaded:
        terrain.path.unlink()
    if plot is not None:
        plot.write_text(growth_plot(sizes, curves), encoding="utf-8")


@contextlib.contextmanager
def opened(terrain: Loaded):  # type: ignore[no-untyped-def]
    store = Store(terrain.path, policy(1))
    try:
        store.open_run()
        yield store
    finally:
        store.close()


def bench_origins(directory: Path, size: int, rounds: int, counts: Sequence[int]) -> None:
    """Cost per page of whole crawls, the settling of depths at their end included."""
    web = Web(size)
    outcomes = {outcome.page_id: outcome for outcome in map(web.outcome, range(size))}
    closing = {count: Times() for count in counts}
    total = {count: Times() for count in counts}
    pages = dict.fromkeys(counts, 0)
    for turn in range(rounds + 1):
        for count in counts:
            path = directory / f"origins-{count}-{turn}.db"
            crawled, took, closed = crawl_whole(path, count, outcomes)
            path.unlink()
            pages[count] = crawled
            if turn:
                closing[count].add(crawled, *closed)
                total[count].add(crawled, took[0] + closed[0], took[1] + closed[1])
    print("\na whole crawl, settled and closed:")
    for count in counts:
        print(
            f"  {count:>3} origins, {pages[count]:,} pages: {total[count]}, "
            f"of which {statistics.median(closing[count].wall):.0f} µs for closing"
        )
    print(ratio(total[counts[0]], total[counts[-1]], ORIGINS_ALLOWED))


def crawl_whole(
    path: Path, origins: int, outcomes: dict[int, PageOutcome]
) -> tuple[int, tuple[float, float], tuple[float, float]]:
    """Read all that is near enough, in the order it is found; return pages and both times."""
    homes = [url_of(number * PAGES_PER_HOST) for number in range(origins)]
    level = [address_of(home).page_id for home in homes]
    seen = set(level)
    store = Store(path, policy(origins, max_depth=MAX_DEPTH))
    store.open_run()
    wall = cpu = 0.0
    for _ in range(MAX_DEPTH + 1):
        batch = [outcomes[page] for page in level]
        took = record(store, batch)
        wall, cpu = wall + took[0], cpu + took[1]
        linked = (link.address.page_id for outcome in batch for link in outcome.links)
        level = [page for page in dict.fromkeys(linked) if page in outcomes and page not in seen]
        seen.update(level)
    crawled = len(seen) - len(level)
    began, cpu_began = perf_counter(), process_time()
    store.close_run(completed=False)
    closed = perf_counter() - began, process_time() - cpu_began
    store.close()
    return crawled, (wall, cpu), closed


def bench_reading(pages: int) -> None:
    """What comes before the store: extraction and normalisation."""
    body = ordinary_page()
    urls = [f"/section/page-{number}?utm_source=x&b=2&a={number}#top" for number in range(20_000)]
    extracting, addressing = Times(), Times()
    for _ in range(5):
        began, cpu = perf_counter(), process_time()
        for _ in range(pages):
            read(body)
        extracting.add(pages, perf_counter() - began, process_time() - cpu)
        rules = UrlRules()  # without the last round's cache
        began, cpu = perf_counter(), process_time()
        for url in urls:
            rules.address(url, "https://www.example.com/docs/")
        addressing.add(len(urls), perf_counter() - began, process_time() - cpu)
    page, link = statistics.median(extracting.wall), statistics.median(addressing.wall)
    print("\nbefore the store:")
    print(f"  extraction of {len(body):,} bytes, {LINKS} links: {page:.0f} µs per page")
    print(f"  normalisation of an address not seen before: {link:.1f} µs per link")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test of a few seconds")
    parser.add_argument("--large", type=int, default=1_000_000, help="pages of the large terrain")
    parser.add_argument("--directory", type=Path, help="where to put the databases, 4 GB")
    parser.add_argument("--plot", type=Path, help="where to draw the growth as SVG")
    options = parser.parse_args()
    large = 6_000 if options.quick else options.large
    small = 2_000 if options.quick else 10_000
    with tempfile.TemporaryDirectory(dir=options.directory) as name:
        directory = Path(name)
        needed, free = large * 5_000, shutil.disk_usage(directory).free
        if free < needed:
            sys.exit(f"{directory}: {needed / 1e9:.0f} GB needed, {free / 1e9:.0f} GB free")
        warm_up, rounds, pages = (1, 3, 50) if options.quick else (6, 18, 100)
        sizes = [small, large] if options.quick else [small, large // 10, large]
        bench_growth(directory, sizes, warm_up, rounds, pages, options.plot)
        size, turns = (2_000, 1) if options.quick else (20_000, 4)
        bench_origins(directory, size, turns, [1, size // PAGES_PER_HOST])
    bench_reading(20 if options.quick else 300)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory, the generated outcomes included: {peak:.0f} MB")


if __name__ == "__main__":
    main()
