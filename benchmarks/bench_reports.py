"""`terrain stats` and `terrain summary` on a large terrain: seconds, each in a process of its own.

The database is made by bulk insert in a temporary directory: a million pages on fifty thousand
hosts, a fifth of them read, with five million links. `--keep FILE` keeps it for the next time.

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from terrain.rules.depth import DepthRules
from terrain.rules.hosts import HostRules
from terrain.rules.urls import UrlRules, host_id
from terrain.store import Policy, Store

LIMIT = 3.0
"""Seconds that either command may take (issue 3 of 5)."""

RULES = HostRules(blacklist=["ads.test"], stub=["stub.test"], quality=["*.h0.test", "h1.test"])

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


def policy() -> Policy:
    seed = UrlRules().address("https://h0.test/")
    assert seed is not None
    return Policy(
        host_rules=RULES,
        depth=DepthRules(RULES, [3, 3]),
        origins=("*.h0.test", "h1.test"),
        seeds=((seed, 0),),
        budget=500,
        max_subdomains=None,
        config_hash="bench",
        terrain_hash="bench",
    )


def build(path: Path, pages: int, hosts: int, links: int) -> None:
    """Fill a database with one closed run over that many pages and hosts, `links` per page read."""
    store = Store(path, policy())
    store.open_run()
    store.close_run(completed=True)
    store.close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    for table in ("page", "page_address", "host", "page_depth", "origin", "frontier_entry"):
        database.execute(f"DELETE FROM {table}")
    dice = random.Random(1)
    names = [f"h{number}.test" for number in range(hosts)]
    host_ids = [host_id(name) for name in names]
    ids = sorted(dice.getrandbits(62) for _ in range(pages))
    # Few hosts have many pages, most have a handful.
    owners = [int(hosts * dice.random() ** 3) for _ in range(pages)]
    states = dice.choices([s for s, _ in STATES], [share for _, share in STATES], k=pages)

    def many(table: str, rows: Iterator[tuple[Any, ...]], columns: int) -> None:
        marks = ",".join("?" * columns)
        database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    many("origin", iter([(0, "*.h0.test"), (1, "h1.test")]), 2)
    limited = {owner for owner, state in zip(owners, states, strict=True) if owner % 500 == 7}
    many(
        "host",
        (
            (key, name, name, dice.getrandbits(62), NOW, 1,
             "rate_limited" if number in limited else "open", 20, 1, None, None,
             "2024-05-01T13:00:00.000Z" if number in limited else None,
             17 if number in limited else None)
            for number, (key, name) in enumerate(sorted(zip(host_ids, names, strict=True)))
        ),
        13,
    )  # fmt: skip
    many(
        "page",
        (
            (key, 1, host_ids[owner], state, 1, int(state in {"processed", "redirected"}), 1, 0, 0,
             0, number)
            for number, (key, owner, state) in enumerate(zip(ids, owners, states, strict=True))
        ),
        11,
    )  # fmt: skip
    many(
        "page_address",
        (
            (key, f"https://{names[owner]}/section/page-{key % 99991}", None, 1, NOW)
            for key, owner in zip(ids, owners, strict=True)
        ),
        5,
    )
    many("page_depth", ((key, dice.randrange(1, 5), 0, 1) for key in ids), 4)
    facts, seen = [], []
    for key, state in zip(ids, states, strict=True):
        if state not in ASKED and state != "rate_limited":
            continue
        message = dice.choice(MESSAGES[state]) if state in MESSAGES else None
        took = int(dice.lognormvariate(5, 0.8))
        title = f"The title of page {key % 9973}, of a usual length"
        facts.append(
            (key, title, "A description such as pages have, a sentence or two. " * 2, 200,
             "text/html; charset=utf-8", None, None, f"{key:032x}", "en", None, None, 20_000, took,
             NOW, message, 0)
        )  # fmt: skip
        if state in ASKED:
            seen.append((key, 1, state, 200, title, f"{key:032x}", 20_000, took, NOW, message))
    many("page_fact", iter(facts), 16)
    many("visits", iter(seen), 10)
    waiting = sorted(
        (host_ids[owner], 2, number, key, NOW)
        for number, (key, owner, state) in enumerate(zip(ids, owners, states, strict=True))
        if state == "queued"
    )
    many("frontier_entry", iter(waiting), 5)
    listed = {k for k, s in zip(ids, states, strict=True) if s in {"blacklisted", "stubbed"}}

    def outlinks() -> Iterator[tuple[Any, ...]]:
        for key, state in zip(ids, states, strict=True):
            if state not in {"processed", "redirected"}:
                continue
            targets = sorted({ids[int(pages * dice.random() ** 2)] for _ in range(links)} - {key})
            for target in targets:
                yield key, target, 1, 5, "some anchor text", None, 1, None, int(target in listed)

    many("link", outlinks(), 9)
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=50_000)
    parser.add_argument("--links", type=int, default=25)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    build(options.keep, options.pages, options.hosts, options.links)
    return 0


if __name__ == "__main__":
    sys.exit(main())
