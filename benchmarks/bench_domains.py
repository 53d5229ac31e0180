"""Ten thousand domains on this machine in one crawl by domain, 100 ms between requests to a host.

    python benchmarks/bench_domains.py [--domains 10000] [--places 100] [--latency 100]

Every host is asked for robots.txt, HEAD and GET of its home page over TLS and links to ten others;
`--latency` are the milliseconds that each answer takes. Reported: domains per second, peak memory
of the crawl's process (ru_maxrss), its CPU time, how many of the places for requests in flight were
taken on average, and the share of time in which nearly all (95 of 100) were. The places are looked
at from inside the crawl, every 50 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from formula_server import Domains, serving

LOOK_EVERY = 0.05
NEARLY_ALL = 0.95


def crawl_watched(config: str, samples: str) -> int:
    """In the crawl's own process: crawl, and note how many requests are out."""
    from terrain.config import load_config
    from terrain.process import run_crawl
    from terrain.scheduler import TerrainScheduler

    taken: list[int] = []
    really_open = TerrainScheduler.open

    def open_and_watch(self: TerrainScheduler, spider: object) -> None:
        really_open(self, spider)  # type: ignore[arg-type]
        loop = asyncio.get_running_loop()

        def look() -> None:
            taken.append(self.conductor.frontier.counts().in_flight)
            loop.call_later(LOOK_EVERY, look)

        look()

    TerrainScheduler.open = open_and_watch  # type: ignore[method-assign]
    code = run_crawl(load_config(config), start="auto", log_level="ERROR")
    Path(samples).write_text(json.dumps(taken), encoding="utf-8")
    return code


def configure(directory: Path, web: Domains, port: int, ca_file: Path, places: int) -> Path:
    config = directory / "config.toml"
    config.write_text(
        f"""
[crawler]
granularity = "domain"
max-concurrent-pages-open = {places}
minimum-time-on-page = 100
max-subdomains-per-root = {web.count}
[network]
ca-file = "{ca_file}"
resolve = {{ "*" = "127.0.0.1:{port}" }}
[output]
database-path = "{directory / "terrain.db"}"
summary-path = "{directory / "summary.md"}"
metrics-path = "{directory / "metrics.json"}"
[[quality]]
domain = "{web.name(0)}"
seeds = ["https://{web.name(0)}/"]
""",
        encoding="utf-8",
    )
    return config


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--domains", type=int, default=10_000)
    parser.add_argument("--places", type=int, default=100)
    parser.add_argument("--latency", type=int, default=100, help="milliseconds")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return crawl_watched(*options.child)
    web = Domains(options.domains)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with serving(web, directory, latency=options.latency / 1000) as (port, ca_file):
            config = configure(directory, web, port, ca_file, options.places)
            samples = directory / "samples.json"
            begun = time.monotonic()
            process = subprocess.Popen([sys.executable, __file__, "--child", config, samples])
            _, status, usage = os.wait4(process.pid, 0)
            took = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"the crawl ended with {process.returncode}")
        taken = json.loads(samples.read_text(encoding="utf-8"))
        with closing(sqlite3.connect(directory / "terrain.db")) as database:
            states = dict(database.execute("SELECT state, count(*) FROM pages GROUP BY state"))
            [(visits,)] = database.execute("SELECT sum(crawl_count) FROM nodes")
            [(edges, weight)] = database.execute("SELECT count(*), sum(weight) FROM edges")
            [(requests,)] = database.execute("SELECT sum(request_count) FROM domain_states")
    cpu = usage.ru_utime + usage.ru_stime
    busy = sum(number >= NEARLY_ALL * options.places for number in taken) / len(taken)
    mean = statistics.mean(taken) / options.places
    print("| domains | edges | requests | time | domains/s | CPU per domain | peak memory "
          "| places taken | nearly all taken |")  # fmt: skip
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    print(
        f"| {visits:,} | {edges:,} | {requests:,} | {took:.0f} s | {visits / took:.0f}"
        f" | {cpu / visits * 1000:.2f} ms | {usage.ru_maxrss / 1024:.0f} MB"
        f" | {mean:.0%} | {busy:.0%} of the time |"
    )
    complete = states == {"processed": options.domains} and visits == options.domains
    expected_edges = edges == weight  # each link was seen by one visit
    print(f"\n{'ok' if complete and expected_edges else f'FAILED: {states}'}")
    return 0 if complete and expected_edges else 1


if __name__ == "__main__":
    sys.exit(main())
