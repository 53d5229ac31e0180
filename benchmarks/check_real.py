"""A crawl of real HTML that nobody here wrote, against an independent walk of the files.

    scripts/install_real_docs.sh && python benchmarks/check_real.py

Documentation packages are served under several host names with TLS and crawled to the end. Every
page that the walk reaches must be processed, every file that is not HTML recognised, every link
reported as dead truly dead, and the links between the pages the same.
"""

import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from formula_server import serving
from real_docs import PORTAL, Files, Key, Walk, installed, key_of


def configure(directory: Path, port: int, ca_file: Path) -> Path:
    config = directory / "config.toml"
    config.write_text(
        f"""
[crawler]
max-depth = 0
max-concurrent-pages-open = 16
max-domain-requests = 1000000
[network]
ca-file = "{ca_file}"
resolve = {{ "*.docs.test" = "127.0.0.1:{port}" }}
[output]
database-path = "{directory / "terrain.db"}"
summary-path = "{directory / "summary.md"}"
metrics-path = "{directory / "metrics.json"}"
[[quality]]
domain = "*.docs.test"
seeds = ["https://{PORTAL}/"]
own = true
minimum-time-on-page = 0
max-concurrent = 8
""",
        encoding="utf-8",
    )
    return config


def found(database: Path, hosts: set[str]) -> tuple[dict[Key, str], set[tuple[Key, Key]]]:
    """States and links of these hosts, as the crawl left them."""
    with closing(sqlite3.connect(database)) as connection:
        pages = connection.execute("SELECT url, state FROM pages").fetchall()
        links = connection.execute(
            "SELECT s.url, t.url FROM links l JOIN pages s ON s.id = l.from_page_id"
            " JOIN pages t ON t.id = l.to_page_id WHERE l.kind = 'anchor'"
        ).fetchall()
    states = {key_of(url): state for url, state in pages if key_of(url).host in hosts}
    pairs = {(key_of(source), key_of(target)) for source, target in links}
    return states, {(source, target) for source, target in pairs if target.host in hosts}


def report(name: str, ours: set[object], theirs: set[object]) -> bool:
    for what, difference in (("only Terrain", ours - theirs), ("only the walk", theirs - ours)):
        for each in sorted(map(str, difference))[:5]:
            print(f"{name}: {what} has {each}")
    return ours == theirs


def main() -> int:
    trees = installed()
    if len(trees) < 2:
        print("check-real: documentation packages are not installed; skipped")
        return 0
    files = Files(trees)
    walk = Walk(files)
    walk.run()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with serving(files, directory) as (port, ca_file):
            config = configure(directory, port, ca_file)
            begun = time.monotonic()
            command = [sys.executable, "-m", "terrain", "crawl", str(config), "-q"]
            done = subprocess.run(command, check=False)
            took = time.monotonic() - begun
        if done.returncode:
            print(f"the crawl ended with {done.returncode}")
            return 1
        states, links = found(directory / "terrain.db", walk.hosts)
    counts = Counter(states.values())
    print("| host | pages | processed | dead | not HTML |\n|---|---|---|---|---|")
    for host in sorted(walk.hosts):
        mine = Counter(state for key, state in states.items() if key.host == host)
        print(
            f"| {host} | {mine.total()} | {mine['processed']} | {mine['dead_link']}"
            f" | {mine['content_mismatch']} |"
        )
    same_states = report("state", set(states.items()), set(walk.states.items()))
    same_links = report("link", set(links), set(walk.links))
    dead = [key for key, state in states.items() if state == "dead_link"]
    truly = [key for key in dead if files.file(key.host, key.path) is None]
    passed = same_states and same_links and len(dead) == len(truly)
    print(
        f"\n{'ok' if passed else 'FAILED'}: {counts['processed']} pages processed of"
        f" {sum(state == 'processed' for state in walk.states.values())} reachable,"
        f" {len(truly)} of {len(dead)} dead links truly dead, {len(links)} links"
        f" ({len(walk.links)} in the walk), {took:.0f} s"
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
