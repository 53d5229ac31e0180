"""Memory does not grow with what is discovered.

    python benchmarks/bench_memory.py [--fetch 20000] [--few 50000] [--many 1000000]

Two crawls fetch the same number of pages with as many links each; one discovers few addresses, the
other very many, half of them waiting in the frontier, half on hosts too far away to be asked.
Reported: the peak memory of the crawl with its reading process, and the ratio of the two.
"""

import argparse
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import processes
from formula_server import LINKS, Grid, serving

HOSTS = 10
LIMIT_MB = 300
LIMIT_RATIO = 1.2


def configure(directory: Path, port: int, ca_file: Path, budget: int) -> Path:
    quality = "".join(
        f'[[quality]]\ndomain = "s{number}.test"\nseeds = ["https://s{number}.test/"]\n'
        "own = true\nminimum-time-on-page = 0\nmax-concurrent = 8\n"
        for number in range(HOSTS)
    )
    config = directory / "config.toml"
    config.write_text(
        f"""
[crawler]
max-depth = 0
max-concurrent-pages-open = 32
max-domain-requests = {budget}
head-probe = "never"
[robots]
mode = "ignore"
[network]
ca-file = "{ca_file}"
resolve = {{ "*" = "127.0.0.1:{port}" }}
[output]
database-path = "{directory / "terrain.db"}"
summary-path = "{directory / "summary.md"}"
metrics-path = "{directory / "metrics.json"}"
{quality}""",
        encoding="utf-8",
    )
    return config


def crawl(discovered: int, fetch: int) -> float:
    """Crawl, print a line, return the peak in MB."""
    # Where every link is to lead to an address never seen before there must be room for others:
    # which of the pages that wait are fetched before the budget is spent is a matter of timing.
    space = discovered if discovered < fetch * LINKS else 2 * discovered
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with serving(Grid(HOSTS, space), directory) as (port, ca_file):
            config = configure(directory, port, ca_file, fetch // HOSTS)
            ended = processes.run([sys.executable, "-m", "terrain", "crawl", str(config), "-q"])
        if ended.code:
            raise SystemExit(f"the crawl ended with {ended.code}")
        with closing(sqlite3.connect(directory / "terrain.db")) as database:
            [(known,)] = database.execute("SELECT count(*) FROM pages")
            states = dict(database.execute("SELECT state, count(*) FROM pages GROUP BY state"))
        done = states.get("processed", 0)
        size = (directory / "terrain.db").stat().st_size / 1e6
    peak, took = ended.peak_mb, ended.seconds
    print(
        f"| {known:,} | {done:,} | {peak:.0f} MB | {took:.0f} s | {done / took:.0f}"
        f" | {ended.cpu / done * 1000:.2f} ms | {size:.0f} MB |",
        flush=True,
    )
    # Not exactly: two pages that are fetched may lead to the same addresses, as timing has it.
    if known < 0.95 * discovered or done != fetch:
        raise SystemExit(f"expected {discovered} discovered and {fetch} processed: {states}")
    return peak


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fetch", type=int, default=20_000)
    parser.add_argument("--few", type=int, default=50_000)
    parser.add_argument("--many", type=int, default=1_000_000)
    options = parser.parse_args()
    print("| discovered | fetched | peak memory | time | pages/s | CPU per page | database |")
    print("|---|---|---|---|---|---|---|")
    few = crawl(options.few, options.fetch)
    many = crawl(options.many, options.fetch)
    passed = many < LIMIT_MB and many < LIMIT_RATIO * few
    print(
        f"\n{'ok' if passed else 'FAILED'}: {many:.0f} MB (at most {LIMIT_MB}),"
        f" {many / few:.2f} times the smaller one (at most {LIMIT_RATIO})"
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
