"""Terrain against what a user would pick instead, in one run, interleaved and repeated.

    python benchmarks/bench_crawl.py [--pages 3000] [--repeat 3] [--site synthetic|real|small]

Every crawler walks the same site over the same 32 connections. Terrain stores the whole graph in
SQLite, transactionally; the others write JSON lines. Reported: pages per second, CPU per page,
peak memory (what its processes share counted once; and as RSS), coverage, and Terrain's ratios to
the others (medians of the repetitions).
"""

import argparse
import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import processes
import sites

HERE = Path(__file__).parent
HOST = "site.test"


@dataclass
class Sample:
    seconds: float
    cpu: float
    peak_mb: float
    rss_mb: float
    pages: int


def measure(command: list[str], count: Callable[[], int]) -> Sample:
    ended = processes.run(command, stdout=subprocess.DEVNULL)
    if ended.code:
        raise SystemExit(f"{command[1]} ended with {ended.code}")
    return Sample(ended.seconds, ended.cpu, ended.peak_mb, ended.rss_mb, count())


def lines(path: Path) -> int:
    with path.open(encoding="utf-8") as feed:
        return len({json.loads(line)["url"] for line in feed})


def terrain_command(home: str, port: int, directory: Path) -> list[str]:
    """Write the configuration of the crawl and return its command."""
    config = directory / "config.toml"
    config.write_text(
        f"""
[crawler]
max-depth = 0
max-concurrent-pages-open = 32
max-domain-requests = 1000000
head-probe = "never"
[robots]
mode = "ignore"
[network]
allow-http = true
resolve = {{ "{HOST}" = "127.0.0.1:{port}" }}
[output]
database-path = "{directory}/terrain.db"
summary-path = "{directory}/summary.md"
metrics-path = "{directory}/metrics.json"
[[quality]]
domain = "{HOST}"
seeds = ["http://{HOST}{home}"]
own = true
minimum-time-on-page = 0
max-concurrent = 32
""",
        encoding="utf-8",
    )
    return [sys.executable, "-m", "terrain", "crawl", str(config), "-q"]


def run_terrain(home: str, port: int, directory: Path) -> Sample:
    def count() -> int:
        with closing(sqlite3.connect(directory / "terrain.db")) as connection:
            query = "SELECT count(*) FROM pages WHERE state = 'processed'"
            return int(connection.execute(query).fetchone()[0])

    return measure(terrain_command(home, port, directory), count)


def bare_command(home: str, port: int, directory: Path) -> list[str]:
    arguments = [f"http://{HOST}{home}", HOST, f"127.0.0.1:{port}", str(directory / "pages.jsonl")]
    return [sys.executable, str(HERE / "peers" / "bare_loop.py"), *arguments]


def run_bare(home: str, port: int, directory: Path) -> Sample:
    return measure(bare_command(home, port, directory), lambda: lines(directory / "pages.jsonl"))


def run_scrapy(kind: str, home: str, port: int, directory: Path) -> Sample:
    output = directory / "pages.jsonl"
    arguments = [kind, f"http://{HOST}{home}", HOST, str(port), str(output), str(directory / "job")]
    return measure(
        [sys.executable, str(HERE / "peers" / "scrapy_spiders.py"), *arguments],
        lambda: lines(output),
    )


CRAWLERS = {
    "terrain": run_terrain,
    "bare loop": run_bare,
    "Scrapy, tuned, JOBDIR": lambda *a: run_scrapy("tuned", *a),
    "Scrapy CrawlSpider": lambda *a: run_scrapy("plain", *a),
}


def bench(name: str, root: Path, home: str, repeat: int, work: Path) -> None:
    samples: dict[str, list[Sample]] = {crawler: [] for crawler in CRAWLERS}
    with sites.nginx(root, work / "nginx") as port:
        for _ in range(repeat):
            for crawler, run in CRAWLERS.items():
                directory = work / "run"
                shutil.rmtree(directory, ignore_errors=True)
                directory.mkdir()
                samples[crawler].append(run(home, port, directory))
    report(name, samples)


def report(name: str, samples: dict[str, list[Sample]]) -> None:
    def median(crawler: str, value: str) -> float:
        return statistics.median(getattr(sample, value) for sample in samples[crawler])

    rates = {c: median(c, "pages") / median(c, "seconds") for c in samples}
    most = max(median(c, "pages") for c in samples)
    print(f"\n### {name}: {most:.0f} pages, median of {len(samples['terrain'])}\n")
    print("| crawler | pages/s | CPU ms/page | peak MB | RSS MB | coverage | terrain is |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for crawler in samples:
        pages = median(crawler, "pages")
        print(
            f"| {crawler} | {rates[crawler]:.0f} | {1000 * median(crawler, 'cpu') / pages:.2f} "
            f"| {median(crawler, 'peak_mb'):.0f} | {median(crawler, 'rss_mb'):.0f} "
            f"| {pages / most:.1%} | {rates['terrain'] / rates[crawler]:.2f} x |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--site", choices=["synthetic", "real", "small", "all"], default="all")
    options = parser.parse_args()
    if shutil.which("nginx") is None:
        raise SystemExit("nginx is missing: run scripts/install_bench_tools.sh")
    with tempfile.TemporaryDirectory(prefix="terrain-bench-") as place:
        work = Path(place)
        # nginx's worker runs as another user and must be able to read the site.
        work.chmod(0o755)
        if options.site in {"synthetic", "all"}:
            home = sites.synthetic(work / "synthetic", options.pages)
            bench("synthetic site", work / "synthetic", home, options.repeat, work)
        for wanted, name, documentation in (
            ("real", "real documentation", sites.DOCUMENTATION),
            ("small", "real documentation, small pages", sites.SMALL_PAGES),
        ):
            if options.site not in {wanted, "all"}:
                continue
            found = sites.real(work / wanted, documentation)
            if found is None:
                print(f"\n{name}: no packages here; run scripts/install_bench_tools.sh")
            else:
                bench(name, work / wanted, found, options.repeat, work)


if __name__ == "__main__":
    main()
