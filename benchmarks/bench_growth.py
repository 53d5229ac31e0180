"""What a page costs a crawl, with few and with very many pages stored.

    python benchmarks/bench_growth.py            # make bench-growth: minutes, 8 GB of disk
    python benchmarks/bench_growth.py --quick    # seconds, the same steps

`bench_store.py` measures recording alone; here `terrain crawl` goes on with a loaded terrain, asks
a server on this machine over TLS and is killed after some pages, the sizes by turns. Reported: CPU
per page of the crawl with its reading process, in the mean, so with checkpoints and all.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import processes
from formula_server import serving
from store_load import RADIUS, load
from store_webs import LINKS, NEW, PAGES_PER_HOST, Web, url_of

from terrain.config import load_config

ALLOWED = 1.5
PATIENCE = 300.0
WORDS = "river archive library paper history forest museum letter field note map garden stone " * 4


@dataclass(frozen=True)
class StoredWeb:
    """Answers with the pages of a loaded terrain: 20 kB and fifty links, three of them new."""

    size: int

    def __call__(self, host: str, path: str) -> tuple[int, str, bytes]:
        site = int(host[len("site-") : host.index(".")])
        name = path.rpartition("/articles/2024/")[2][:4]
        page = site * PAGES_PER_HOST + int(name if name.isdigit() else 0)
        links = [url_of(target) for target in Web(self.size).targets(page, known=LINKS - NEW)]
        links += [f"{path.rstrip('/')}/new-{number}" for number in range(NEW)]
        paragraphs = "".join(f'<p>{WORDS}<a href="{link}">{link[-12:]}</a></p>' for link in links)
        text = f"<!doctype html><title>{host}{path}</title><main>{paragraphs}</main>"
        return 200, "Content-Type: text/html; charset=utf-8", text.encode()


@dataclass
class Terrain:
    """A loaded terrain, and what its pages have cost so far."""

    size: int
    config: Path
    database: Path
    pages: int = 0
    cpu: float = 0.0
    wall: float = 0.0
    rounds: list[float] = field(default_factory=list)

    def visited(self) -> int:
        with closing(sqlite3.connect(self.database, timeout=60)) as connection:
            return int(connection.execute("SELECT sum(crawl_count) FROM host").fetchone()[0])

    def crawl(self, warm_up: int, pages: int) -> None:
        """Go on with the crawl for that many pages, and kill it."""
        command = [sys.executable, "-m", "terrain", "crawl", str(self.config), "-q", "--resume"]
        before = self.visited()
        crawler = subprocess.Popen(command)
        try:
            at, cpu, done = self._reached(crawler, before + warm_up)
            end, cpu_end, done_end = self._reached(crawler, done + pages)
        finally:
            crawler.kill()
            crawler.wait()
        self.pages += done_end - done
        self.cpu += cpu_end - cpu
        self.wall += end - at
        self.rounds.append((cpu_end - cpu) / (done_end - done) * 1000)

    def _reached(self, crawler: subprocess.Popen[bytes], count: int) -> tuple[float, float, int]:
        """Wait until that many pages are committed; return the time, CPU and pages by then."""
        started = time.perf_counter()
        while time.perf_counter() < started + PATIENCE:
            cpu, done = processes.cpu(crawler.pid), self.visited()
            if done >= count:
                return time.perf_counter(), cpu, done
            if crawler.poll() is not None:
                raise SystemExit(f"the crawl ended by itself with {crawler.returncode}")
            time.sleep(0.05)
        raise SystemExit(f"no {count} pages within {PATIENCE:g} s")

    def __str__(self) -> str:
        rounds = ", ".join(f"{each:.2f}" for each in self.rounds)
        return (
            f"| {self.size:,} | {self.pages:,} | {self.pages / self.wall:.0f} "
            f"| {self.cpu / self.pages * 1000:.2f} ms | {rounds} |"
        )


def made(directory: Path, size: int, waiting: int, port: int, ca_file: Path) -> Terrain:
    """Load a terrain and write the configuration that its run is under."""
    database, config = directory / "terrain.db", directory / "config.toml"
    config.write_text(
        f"""
[crawler]
max-depth = {RADIUS}
max-concurrent-pages-open = 32
max-domain-requests = 1000000
head-probe = "never"
[robots]
mode = "ignore"
[network]
ca-file = "{ca_file}"
resolve = {{ "*.test" = "127.0.0.1:{port}" }}
[output]
database-path = "{database}"
summary-path = "{directory / "summary.md"}"
metrics-path = "{directory / "metrics.json"}"
[[quality]]
domain = "*.test"
seeds = ["{url_of(0)}"]
own = true
minimum-time-on-page = 0
max-concurrent = 4
""",
        encoding="utf-8",
    )
    # Of few hosts: a page from anywhere would cost a TLS handshake, whatever is stored.
    load(database, size, waiting, anywhere=False)
    found = load_config(str(config))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "UPDATE runs SET config_hash = ?, terrain_hash = ?",
            (found.config_hash, found.terrain_hash),
        )
    return Terrain(size, config, database)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a smoke test of a few seconds")
    parser.add_argument("--large", type=int, default=1_000_000, help="pages of the large terrain")
    parser.add_argument("--directory", type=Path, help="where to put the databases")
    options = parser.parse_args()
    large = 20_000 if options.quick else options.large
    warm_up, rounds, pages = (50, 1, 200) if options.quick else (400, 4, 1_000)
    with tempfile.TemporaryDirectory(dir=options.directory) as name:
        directory = Path(name)
        needed, free = large * 6_000, shutil.disk_usage(directory).free
        if free < needed:
            sys.exit(f"{directory}: {needed / 1e9:.0f} GB needed, {free / 1e9:.0f} GB free")
        with ExitStack() as servers:
            terrains = []
            for size in (10_000, large):
                began, place = time.perf_counter(), directory / str(size)
                place.mkdir()
                port, ca_file = servers.enter_context(serving(StoredWeb(size), place))
                terrains.append(made(place, size, 6_000, port, ca_file))
                print(f"{size:,} pages loaded in {time.perf_counter() - began:.0f} s", flush=True)
            for _ in range(rounds):
                for terrain in terrains:
                    terrain.crawl(warm_up, pages)
    print("\n| pages stored | pages crawled | pages/s | CPU per page | by rounds, ms |")
    print("|--:|--:|--:|--:|---|")
    for terrain in terrains:
        print(terrain)
    few, many = (terrain.cpu / terrain.pages for terrain in terrains)
    grows = many / few
    print(f"\n{'ok' if grows <= ALLOWED else 'FAILED'}: {grows:.2f} times (at most {ALLOWED})")
    return 0 if grows <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
