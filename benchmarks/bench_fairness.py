"""No head-of-line blocking: slow hosts do not hold the places of the fast ones.

    python benchmarks/bench_fairness.py [--hosts 200] [--slow 20] [--pages 20] [--delay 1.0]

Hosts of a few pages each, some of which take two seconds for every answer, one request per host at
a time, a delay between two requests to a host, and 16 places. Reported from the server's log, for
Terrain and for plain Scrapy with the same delay: how long the fast hosts took, from the first
request of all to the last answer of a fast host, over the time that the delays alone take; and how
many gaps between two requests to a host were shorter than the delay.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from terrain.sampleweb.behaviours import Slow
from terrain.sampleweb.log import Exchange, by_host, gaps, max_in_flight
from terrain.sampleweb.pages import Tree
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web

HERE = Path(__file__).parent
PLACES = 16
SLOW_ANSWER = 2.0
LIMIT = 1.2
"""What Terrain's fast hosts may take, over the bound."""

CLOCK_SLACK = 0.002
"""What two processes' readings of one clock may differ by."""


@dataclass
class Figures:
    name: str
    fast: float
    """Seconds from the first request to the last answer of a fast host."""
    whole: float
    """The same for all hosts."""
    pages: int
    short: int
    """Gaps under the delay."""
    gaps: int
    shortest: float
    close_starts: int
    """Requests that started less than 0.95 of the delay after the one before had started."""
    in_flight: int
    """Most requests to one host at a time."""
    server: float
    """CPU seconds of the server per second: at 1 it would be the bottleneck."""


def web_of(hosts: int, slow: int, pages: int) -> Web:
    tree = Tree((pages - 1,))
    return Web(
        {
            _name(number): Host(under={"/": Slow(SLOW_ANSWER, tree) if number < slow else tree})
            for number in range(hosts)
        }
    )


def _name(number: int) -> str:
    # The slow ones are spread by name, so that no order of names helps.
    return f"h{number * 7919 % 10007:05d}.test"


def terrain(served: ServedWeb, names: list[str], delay: float, directory: Path) -> list[str]:
    config = directory / "config.toml"
    resolve = ", ".join(f'"{name}" = "{to}"' for name, to in served.resolve.items())
    quality = "".join(
        f'[[quality]]\ndomain = "{name}"\nseeds = ["https://{name}/"]\n' for name in names
    )
    config.write_text(
        f"""
[crawler]
max-concurrent-pages-open = {PLACES}
minimum-time-on-page = {round(delay * 1000)}
head-probe = "never"
[robots]
mode = "ignore"
[network]
ca-file = "{served.ca_file}"
resolve = {{ {resolve} }}
[output]
database-path = "{directory / "terrain.db"}"
summary-path = "{directory / "summary.md"}"
metrics-path = "{directory / "metrics.json"}"
{quality}""",
        encoding="utf-8",
    )
    return [sys.executable, "-m", "terrain", "crawl", str(config), "-q"]


def scrapy(served: ServedWeb, names: list[str], delay: float) -> list[str]:
    script = HERE / "peers" / "scrapy_polite.py"
    return [sys.executable, str(script), str(served.port), str(delay), str(PLACES), *names]


def measure(
    name: str, command: list[str], served: ServedWeb, slow: set[str], delay: float
) -> Figures:
    begun, busy = time.monotonic(), _cpu(served.pid)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    busy = (_cpu(served.pid) - busy) / (time.monotonic() - begun)
    log = served.log()
    first = log[0].start
    found = gaps(log)
    return Figures(
        name,
        fast=max(each.end for each in log if each.key not in slow) - first,
        whole=max(each.end for each in log) - first,
        pages=len(_pages(log)),
        short=sum(gap.seconds < delay - CLOCK_SLACK for gap in found),
        gaps=len(found),
        shortest=min(gap.seconds for gap in found),
        close_starts=sum(
            after.start - before.start < 0.95 * delay
            for exchanges in by_host(log).values()
            for before, after in pairwise(exchanges)
        ),
        in_flight=max(max_in_flight(exchanges) for exchanges in by_host(log).values()),
        server=busy,
    )


def _pages(log: list[Exchange]) -> set[str]:
    return {each.url for each in log if each.status == 200}


def _cpu(pid: int) -> float:
    """CPU seconds a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--slow", type=int, default=20)
    parser.add_argument("--pages", type=int, default=20, help="per host")
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--only", choices=["terrain", "scrapy"])
    options = parser.parse_args()
    names = [_name(number) for number in range(options.hosts)]
    slow = set(names[: options.slow])
    names.sort()
    bound = (options.pages - 1) * options.delay
    web = web_of(options.hosts, options.slow, options.pages)
    results = []
    for name in ("terrain", "scrapy"):
        if options.only not in {None, name}:
            continue
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory)
            with ServedWeb(web, path / "web") as served:
                if name == "terrain":
                    command = terrain(served, names, options.delay, path)
                else:
                    command = scrapy(served, names, options.delay)
                results.append(measure(name, command, served, slow, options.delay))

    print(
        f"{options.hosts} hosts of {options.pages} pages, {options.slow} of them answer in"
        f" {SLOW_ANSWER:g} s; delay {options.delay:g} s, {PLACES} places."
        f" The delays alone take a fast host {bound:g} s.\n"
    )
    print(
        "| | fast hosts | ratio | all hosts | pages | gaps under the delay | shortest gap"
        " | starts closer than 0.95 of it | server busy |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for each in results:
        print(
            f"| {each.name} | {each.fast:.1f} s | {each.fast / bound:.2f} | {each.whole:.1f} s"
            f" | {each.pages} | {each.short} of {each.gaps} | {each.shortest:.3f} s"
            f" | {each.close_starts} | {each.server:.0%} |"
        )
    ours = next((each for each in results if each.name == "terrain"), None)
    if ours is None:
        return 0
    expected = options.hosts * options.pages
    passed = (
        ours.fast <= LIMIT * bound
        and not ours.short
        and ours.pages == expected
        and ours.in_flight == 1
    )
    print(f"\n{'ok' if passed else 'FAILED'}: ratio at most {LIMIT}, no short gap, all pages")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
