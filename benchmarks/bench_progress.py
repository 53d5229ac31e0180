"""What the live view costs: CPU of a crawl on a terminal beside the same crawl with -q.

A site of our own is crawled as fast as it goes, so the view competes for a core that is busy; the
two ways take turns. Then the view alone: what one drawing and one look at the database take, and
which share of a core that is at the rate at which they happen.

    python benchmarks/bench_progress.py [--pages 4000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rich.console import Console

from terrain.extensions.figures import Figures
from terrain.extensions.liveview import LiveView
from terrain.extensions.progress import GAUGE_INTERVAL, GAUGE_SHARE, LIVE_INTERVAL
from terrain.frontier import Counts
from terrain.sampleweb.pages import Tree
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from terrain.store.gauge import Gauge
from tests.blackbox.crawls import write_config
from tests.cli.terminals import TERRAIN, Terminal

LIMIT = 0.02
"""Share of the crawl that the view may cost (issue 3 of 5)."""


def crawl(directory: Path, served: ServedWeb, *, live: bool) -> float:
    """Crawl the site anew and return the seconds of CPU it took."""
    directory.mkdir()
    quality = [
        {
            "domain": "own.test",
            "seeds": ["https://own.test/"],
            "own": True,
            "minimum-time-on-page": 0,
            "max-concurrent": 16,
        }
    ]
    crawler = {
        "head-probe": "never",
        "max-domain-requests": 1_000_000,
        "max-concurrent-pages-open": 16,
    }
    config = write_config(directory, served, quality, crawler=crawler)
    before = os.times()
    if live:
        with Terminal(["crawl", str(config)]) as terminal:
            code = terminal.wait(600)
    else:
        code = subprocess.run([*TERRAIN, "crawl", str(config), "-q"], check=False).returncode
    after = os.times()
    assert code == 0, code
    spent = after.children_user + after.children_system
    return spent - before.children_user - before.children_system


def drawing() -> float:
    """Return the seconds of CPU that one drawing takes."""
    states = ("processed", "queued", "fetching", "failed", "stubbed", "dead_link", "redirected")
    figures = Figures(
        run=1,
        elapsed=3600,
        done=123_456,
        per_second=321.5,
        requests=234_567,
        counts=Counts(900, 12, 800, 3, 16, 20_000, 3, 16),
        waiting=1_234_567,
        waiting_hosts=45_678,
        states={state: 10**number for number, state in enumerate(states)},
        seconds_left=7200,
        slowest="slow.test",
    )
    view = LiveView(Console(file=io.StringIO(), force_terminal=True, width=120, height=40))
    view.start()
    began = time.process_time()
    for _ in range(500):
        view.show(figures)
    spent = time.process_time() - began
    view.stop()
    return spent / 500


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    width = max(2, round(options.pages**0.5))
    site = Web({"own.test": Host(otherwise=Tree((width, width), size=5000))})
    quiet: list[float] = []
    live: list[float] = []
    with tempfile.TemporaryDirectory() as name, ServedWeb(site, Path(name) / "web") as served:
        for round_number in range(options.rounds):
            quiet.append(crawl(Path(name) / f"quiet{round_number}", served, live=False))
            live.append(crawl(Path(name) / f"live{round_number}", served, live=True))
        gauge = Gauge(Path(name) / "live0" / "terrain.db", 1)
        looks = [gauge.read().took for _ in range(20)]
        gauge.close()
    pages = width * width + width + 1
    q, v = statistics.median(quiet), statistics.median(live)
    print(f"crawl of {pages} pages, -q:    {q:6.2f} s CPU  ({q / pages * 1000:.2f} ms a page)")
    print(f"the same with the live view: {v:6.2f} s CPU  ({(v / q - 1) * 100:+.1f} %)")
    one, look = drawing(), statistics.median(looks)
    share = one / LIVE_INTERVAL + look / max(GAUGE_INTERVAL, GAUGE_SHARE * look)
    print(f"one drawing {one * 1000:.2f} ms every {LIVE_INTERVAL} s; one look {look * 1000:.2f} ms")
    print(f"share of a busy core: {share * 100:.2f} %  (limit {LIMIT * 100:.0f} %)")
    return int(share > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
