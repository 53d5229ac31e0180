"""One crawl, for an hour, of a faulty web without an end: does its memory stay where it was?

    python -m benchmarks.soak [--minutes 60] [--warmup 10] [--hosts 400]

Every page leads to pages nobody has seen, on its own host and on others; in between lie pages that
are reset, cut short, far too large, never whole, not found, moved or no pages at all, at addresses
that are new every time. Hosts have rules, crawl delays and latencies; some refuse connections. The
crawl is stopped by SIGTERM when the time is up, and must end in good order.

The memory of the crawl and of the process that reads its pages is sampled every few seconds.
Compared are two medians: of the minute after the warm-up, and of the last one. Prints both and
exits with 1 if they differ by 10 % or more.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).absolute().parent.parent))

from benchmarks import processes
from terrain.sampleweb.behaviours import Drip, Flaky, GiantHeader, HalfBody, WrongLength
from terrain.sampleweb.pages import (
    BigBody,
    Endless,
    Garbage,
    GzipBomb,
    Html,
    NonHtml,
    Redirect,
    Reset,
    Status,
)
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Latency, Web
from tests.blackbox.crawls import command, write_config

if TYPE_CHECKING:
    from terrain.sampleweb.behaviours import Behaviour

SAMPLE_SECONDS = 2.0
MOST_DIFFERENCE = 0.10

PAGE = Html("a page", text=("words " * 200,))

FAULTS: dict[str, Behaviour] = {
    "/reset/": Reset(),
    "/half/": HalfBody(PAGE),
    "/long/": WrongLength(PAGE, 300),
    "/garbage/": Garbage(4096),
    "/500/": Status(500),
    "/flaky/": Flaky((Status(503), HalfBody(PAGE), PAGE)),
    "/drip/": Drip(PAGE, 64, 0.2),
    "/bomb/": GzipBomb(20_000_000),
    "/big/": BigBody(20_000_000),
    "/header/": GiantHeader(PAGE),
    "/gone/": Status(404),
    "/file/": NonHtml(),
    "/moved/": Redirect("/n/0"),
}
"""By the beginning of the path; what follows is a number that is new every time."""


def endless_web(hosts: int) -> Web:
    """Return hosts that lead to each other and never come to an end."""
    names = [f"h{number}.test" for number in range(hosts)]
    faults = list(FAULTS)
    served: dict[str, Host] = {}
    for number, name in enumerate(names):
        others = [names[(number * 7 + step) % hosts] for step in range(1, 6)]
        hrefs = [
            "/n/{next}",
            "{path}/a",
            *(f"https://{other}/n/{{next}}" for other in others),
            *(f"{faults[(number + step) % len(faults)]}{{next}}" for step in range(3)),
        ]
        under: dict[str, Behaviour] = {**FAULTS, "/n/": Endless(tuple(hrefs))}
        served[name] = Host(under=under)
        if number % 10 == 3:
            served[name].robots = "User-agent: *\nCrawl-delay: 0.5\nDisallow: /500/\n"
        elif number % 50 == 7:
            served[name] = Host(listener="refuse")
    return Web(served, Latency(0.02))


def soak(minutes: float, warmup: float, hosts: int, directory: Path) -> int:
    with ServedWeb(endless_web(hosts), directory / "web") as served:
        quality = [
            {"domain": f"h{n}.test", "seeds": [f"https://h{n}.test/n/0"], "max-depth": 1_000_000}
            for n in range(0, hosts, 20)
            if n % 50 != 7
        ]
        config = write_config(
            directory,
            served,
            quality,
            crawler={
                "max-concurrent-pages-open": 100,
                "max-domain-requests": 100_000_000,
                "head-probe": "auto",
                "max-depth": 1_000_000,
            },
            retry={"delay": 500, "timeout": 3000, "timeout-step": 500, "attempts": 1},
        )
        with subprocess.Popen(
            command(config, "-q"), cwd=directory, start_new_session=True
        ) as process:
            try:
                samples = watch(process, minutes * 60, warmup * 60, directory / "terrain.db")
                process.send_signal(signal.SIGTERM)
                code = process.wait(300)
            finally:
                process.kill()
    return verdict(samples, warmup * 60, code, directory / "terrain.db")


def watch(
    process: subprocess.Popen[bytes], seconds: float, warmup: float, database: Path
) -> list[tuple[float, float]]:
    """Sample until the time is up; says how it goes every now and then."""
    begun = time.monotonic()
    samples: list[tuple[float, float]] = []
    said = 0
    while (passed := time.monotonic() - begun) < seconds:
        time.sleep(SAMPLE_SECONDS)
        now = processes.memory_mb(process.pid)
        if process.poll() is not None:
            print(f"the crawl ended by itself after {passed:.0f} s, with {process.poll()}")
            sys.exit(1)
        samples.append((passed, now))
        if passed >= said * max(warmup, 60.0) / 5:
            said += 1
            print(f"{passed:7.0f} s  {now:7.1f} MB  {pages(database):9} pages", flush=True)
    return samples


def pages(database: Path) -> int:
    """Return how many pages have been visited."""
    if not database.exists():
        return 0
    with closing(sqlite3.connect(database, timeout=60)) as connection:
        try:
            (count,) = connection.execute("SELECT count(*) FROM visits").fetchone()
        except sqlite3.OperationalError:
            return 0  # It has only just been made.
        return int(count)


def verdict(samples: list[tuple[float, float]], warmup: float, code: int, database: Path) -> int:
    minute = min(60.0, warmup / 2)
    after = [mb for at, mb in samples if warmup <= at < warmup + minute]
    last = [mb for at, mb in samples if at >= samples[-1][0] - minute]
    early, late = statistics.median(after), statistics.median(last)
    change = late / early - 1
    size = database.stat().st_size / 2**20
    print(f"\npages visited                {pages(database):>10}")
    print(f"database                     {size:>10.0f} MB")
    print(f"memory after {warmup / 60:4.1f} minutes    {early:>10.1f} MB")
    print(f"memory at the end            {late:>10.1f} MB")
    print(f"highest                      {max(mb for _, mb in samples):>10.1f} MB")
    print(f"difference                   {change:>10.1%}")
    print(f"exit code after SIGTERM      {code:>10}")
    return 0 if abs(change) < MOST_DIFFERENCE and code == 3 else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--warmup", type=float, default=10.0, help="minutes before the first (10)")
    parser.add_argument("--hosts", type=int, default=400, help="in the web (400)")
    arguments = parser.parse_args()
    if arguments.warmup * 1.2 > arguments.minutes:
        parser.error("--minutes must be well over --warmup")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    directory = Path(tempfile.mkdtemp(prefix="terrain-soak-"))
    try:
        return soak(arguments.minutes, arguments.warmup, arguments.hosts, directory)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    sys.exit(main())
