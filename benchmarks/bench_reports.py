"""`terrain stats` and `terrain summary` on a large terrain: seconds, each in a process of its own.

The database is made by bulk insert in a temporary directory: a million pages on fifty thousand
hosts, a fifth of them read, with some four million links. `--keep FILE` keeps it for the next time.

    python benchmarks/bench_reports.py [--pages 1000000] [--hosts 50000] [--links 25] [--keep FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from terrain.rules.depth import DepthRules
from terrain.rules.hosts import HostRules
from terrain.rules.urls import UrlRules, host_id
from terrain.store import Policy, Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIMIT = 3.0
"""Seconds that either command may take (issue 3 of 5)."""

RULES = HostRules(blacklist=["ads.test"], stub=["stub.test"], quality=["*.h0.test", "h1.test"])

MAX_DEPTH = 3

# Share of pages in each state: most of a terrain is known, not visited.
STATES = (
    ("processed", 0.17), ("redirected", 0.03), ("dead_link", 0.02), ("failed", 0.012),
    ("unreachable", 0.008), ("content_mismatch", 0.01), ("blacklisted", 0.03), ("stubbed", 0.02),
    ("depth_exceeded", 0.40), ("request_limit_hit", 0.08), ("subdomain_limit_hit", 0.02),
    ("rate_limited", 0.02), ("queued", 0.18),
)  # fmt: skip
ASKED = {"processed", "redirected", "dead_link", "failed", "unreachable", "content_mismatch"}
MESSAGES = {
    "failed": ("HTTP 500", "timeout: no answer in 30 s", "robots denied: /private", "HTTP 403"),
    "unreachable": ("TLS error: certificate has expired", "DNS failure: no such host"),
    "dead_link": ("HTTP 404", "HTTP 404", "HTTP 410"),
    "rate_limited": ("host asked for a pause (429)",),
}
NOW = "2024-05-01T12:00:00.000Z"
LATER = "2024-05-01T13:00:00.000Z"


def policy() -> Policy:
    seed = UrlRules().address("https://h0.test/")
    assert seed is not None
    return Policy(
        host_rules=RULES,
        depth=DepthRules(RULES, [MAX_DEPTH, MAX_DEPTH]),
        origins=("*.h0.test", "h1.test"),
        seeds=((seed, 0),),
        budget=500,
        max_subdomains=None,
        config_hash="bench",
        terrain_hash="bench",
    )


class Pages(NamedTuple):
    """A terrain by formula, in the order of page ids."""

    ids: list[int]
    owners: list[int]
    """The number of each page's host."""
    states: list[str]
    depths: list[int]


def invent(dice: random.Random, pages: int, hosts: int) -> Pages:
    return Pages(
        ids=sorted(dice.getrandbits(62) for _ in range(pages)),
        # Few hosts have many pages, most have a handful.
        owners=[int(hosts * dice.random() ** 3) for _ in range(pages)],
        states=dice.choices([s for s, _ in STATES], [share for _, share in STATES], k=pages),
        depths=dice.choices(range(MAX_DEPTH + 2), [1, 9, 20, 30, 40], k=pages),
    )


def build(path: Path, pages: int, hosts: int, links: int) -> None:
    """Fill a database with one closed run over that many pages and hosts, `links` per page read."""
    store = Store(path, policy())
    store.open_run()
    store.close_run(completed=False)
    store.close()
    dice = random.Random(1)
    names = [f"h{number}.test" for number in range(hosts)]
    host_ids = [host_id(name) for name in names]
    found = invent(dice, pages, hosts)
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    for table in ("page", "page_address", "host", "page_depth", "origin", "frontier_entry"):
        database.execute(f"DELETE FROM {table}")
    tables: dict[str, Iterable[tuple[Any, ...]]] = {
        "origin": [(0, "*.h0.test"), (1, "h1.test")],
        "host": host_rows(dice, names, host_ids),
        "page": page_rows(found, host_ids),
        "page_address": (
            (key, f"https://{names[owner]}/section/page-{key % 99_991}", None, 1, NOW)
            for key, owner in zip(found.ids, found.owners, strict=True)
        ),
        "page_depth": ((k, d, 0, 1) for k, d in zip(found.ids, found.depths, strict=True)),
        "frontier_entry": sorted(
            (host_ids[owner], 2, number, key, NOW)
            for number, (key, owner, state, _) in enumerate(zip(*found, strict=True))
            if state == "queued"
        ),
        "page_fact": facts(dice, found),
        "link": outlinks(dice, found, links),
    }
    for table, rows in tables.items():
        columns = len(database.execute(f"PRAGMA table_info({table})").fetchall())
        marks = ",".join("?" * columns)
        database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    asked = ",".join(f"'{state}'" for state in sorted(ASKED))
    database.execute(
        "INSERT INTO visits SELECT f.id, 1, p.state, f.status_code, f.title, f.content_hash, "
        "f.bytes, f.fetch_ms, f.visited_at, f.error_message "
        f"FROM page_fact f JOIN page p ON p.id = f.id WHERE p.state IN ({asked})"
    )
    # As recording would have kept it (store/rollup.py).
    database.execute(
        "INSERT INTO edge SELECT s.host_id, t.host_id, count(*) FROM link "
        "JOIN page s ON s.id = from_id JOIN page t ON t.id = to_id "
        "WHERE last_run IS NULL AND s.host_id <> t.host_id GROUP BY 1, 2"
    )
    database.execute(
        "UPDATE host SET crawl_count = v.n FROM (SELECT host_id, count(*) AS n FROM visits "
        "JOIN page ON page.id = page_id GROUP BY host_id) AS v WHERE v.host_id = host.id"
    )
    # As a run that ended well leaves it; `close_run` above could not know.
    database.execute("UPDATE runs SET status = 'completed'")
    database.execute("CREATE INDEX IF NOT EXISTS ix_link_to ON link (to_id)")
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def host_rows(
    dice: random.Random, names: list[str], host_ids: list[int]
) -> Iterator[tuple[Any, ...]]:
    for number, (key, name) in enumerate(zip(host_ids, names, strict=True)):
        limited = number % 500 == 7
        yield (
            key, name, name, dice.getrandbits(62), NOW, 1, "rate_limited" if limited else "open",
            20, 1, None, None, LATER if limited else None, 17 if limited else None, 0,
        )  # fmt: skip


def page_rows(found: Pages, host_ids: list[int]) -> Iterator[tuple[Any, ...]]:
    for number, (key, owner, state, depth) in enumerate(zip(*found, strict=True)):
        read = int(state in {"processed", "redirected"})
        yield key, 1, host_ids[owner], state, 1, read, MAX_DEPTH - depth, 0, 0, 0, number


def facts(dice: random.Random, found: Pages) -> Iterator[tuple[Any, ...]]:
    for key, state in zip(found.ids, found.states, strict=True):
        if state not in ASKED and state not in MESSAGES:
            continue
        message = dice.choice(MESSAGES[state]) if state in MESSAGES else None
        yield (
            key, f"The title of page {key % 9973}, of a usual length",
            "A description such as pages have, a sentence or two. " * 2, 200,
            "text/html; charset=utf-8", None, None, f"{key:032x}", "en", None, None, 20_000,
            int(dice.lognormvariate(5, 0.8)), NOW, message, 0,
        )  # fmt: skip


def outlinks(dice: random.Random, found: Pages, links: int) -> Iterator[tuple[Any, ...]]:
    ids, pages = found.ids, len(found.ids)
    by_owner: dict[int, list[int]] = {}
    listed = set()
    for key, owner, state, _ in zip(*found, strict=True):
        by_owner.setdefault(owner, []).append(key)
        if state in {"blacklisted", "stubbed"}:
            listed.add(key)
    for key, owner, state, _ in zip(*found, strict=True):
        if state not in {"processed", "redirected"}:
            continue
        own = by_owner[owner]
        targets = {
            # Most links stay at home; the others prefer what everybody links to.
            dice.choice(own) if dice.random() < 0.7 else ids[int(pages * dice.random() ** 8)]
            for _ in range(links)
        }
        for target in sorted(targets - {key}):
            yield key, target, 1, 5, "some anchor text", None, 1, None, int(target in listed)


COMMANDS = ("stats", "summary", "metrics", "picture")
LIMITED = {"stats", "summary"}


def report(command: str, path: Path) -> None:
    """Do what the command does, in this process, and print what it took as JSON."""
    start = time.perf_counter()
    from terrain.reports.metrics import RunCounters, gather_metrics, render_metrics
    from terrain.reports.picture import render_picture
    from terrain.reports.stats import render_stats
    from terrain.reports.summary import render_summary
    from terrain.store.queries import open_terrain

    with open_terrain(path) as reader:
        if command == "stats":
            text = render_stats(reader, now=time.time())
        elif command == "summary":
            text = render_summary(reader, policy(), now=time.time())
        elif command == "picture":
            text = render_picture(reader, policy())
        else:
            counters = RunCounters("completed", "finished", NOW, NOW)
            text = render_metrics(gather_metrics(reader, counters))
    used = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "seconds": time.perf_counter() - start,
        "cpu": used.ru_utime + used.ru_stime,
        "mebibytes": used.ru_maxrss / 1024,
        "characters": len(text),
    }
    print(json.dumps(figures))


def measure(command: str, path: Path) -> dict[str, float]:
    """Run the report in a process of its own; seconds are those of the whole process."""
    arguments = [sys.executable, __file__, "--report", command, "--keep", str(path)]
    start = time.perf_counter()
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    figures["seconds"] = time.perf_counter() - start
    return figures


def compare(path: Path, repeats: int) -> int:
    """Print the table; 1 if a command that has a limit is over it."""
    slow = False
    print(f"{'report':<10}{'seconds':>9}{'CPU s':>8}{'peak MiB':>10}{'text kB':>9}")
    for command in COMMANDS:
        runs = [measure(command, path) for _ in range(repeats)]
        best = min(runs, key=lambda run: run["seconds"])
        over = command in LIMITED and best["seconds"] > LIMIT
        slow = slow or over
        print(
            f"{command:<10}{best['seconds']:>9.2f}{best['cpu']:>8.2f}{best['mebibytes']:>10.0f}"
            f"{best['characters'] / 1000:>9.1f}{f'  over {LIMIT:.0f} s' if over else ''}"
        )
    return int(slow)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=50_000)
    parser.add_argument("--links", type=int, default=25, help="of each page that was read")
    parser.add_argument("--repeats", type=int, default=3, help="the best of them counts")
    parser.add_argument("--keep", type=Path, help="use this database; made if there is none")
    parser.add_argument("--report", choices=COMMANDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report:
        report(options.report, options.keep)
        return 0
    with tempfile.TemporaryDirectory() as directory:
        path = options.keep or Path(directory) / "terrain.db"
        if not path.exists():
            start = time.perf_counter()
            build(path, options.pages, options.hosts, options.links)
            print(f"built in {time.perf_counter() - start:.0f} s")
        with sqlite3.connect(path) as database:
            counts = [
                database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("page", "host", "link")
            ]
        database.close()
        sizes = "{:,} pages, {:,} hosts, {:,} links".format(*counts)
        print(f"{sizes}, {path.stat().st_size / 1e6:,.0f} MB")
        return compare(path, options.repeats)


if __name__ == "__main__":
    sys.exit(main())
