"""The same web gives the same graph, whatever the order in which its answers arrive.

Ten crawls of one web that has a bit of everything (redirect chains and cycles, late shorter ways,
depth limits, several origins, lists, robots.txt, failures that pass and failures that stay), each
under other circumstances: how long every answer takes, how many pages are open at once, and how
many outcomes go into a transaction. The last is not a setting: the writer takes what is there. So
another program holds the database for moments on end, and what piles up meanwhile is one batch.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from random import Random

from terrain.sampleweb.behaviours import Behaviour, Flaky, HalfBody
from terrain.sampleweb.pages import Html, Link, NonHtml, Redirect, Reset, Status
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Latency, Web
from tests.blackbox.crawls import Database, crawl, write_config
from tests.blackbox.dumps import dump

CRAWLS = 10
HOSTS = 20
PAGES = 3

QUALITY = [
    {"domain": "*.h0.test", "seeds": ["https://h0.test/"], "max-depth": 6},
    {"domain": "h1.test", "seeds": ["https://h1.test/", "https://h1.test/2"], "max-depth": 2},
    {"domain": "chain.test", "seeds": ["https://chain.test/0"], "max-depth": 3},
]
LISTS = {"blacklist": [{"domain": "*.bad.test"}], "stub": [{"domain": "stub.test"}]}


def the_web() -> Web:
    """One web, always the same."""
    random = Random(7)
    names = [f"h{number}.test" for number in range(HOSTS)]
    known = [f"https://{name}/{page or ''}" for name in names for page in range(PAGES)]
    odd = [
        "https://x.bad.test/", "https://bad.test/a", "https://stub.test/", "https://gone.test/",
        "https://flaky.test/", "https://broken.test/", "https://hops.test/0", "https://loop.test/a",
        "https://refuse.test/", "https://files.test/a.pdf", "https://chain.test/7",
        "https://deep.h0.test/", "http://h2.test/1?utm_source=x#top",
    ]  # fmt: skip
    hosts = {name: Host(_pages(random, name, known, odd)) for name in names}
    hosts[names[4]].robots = "User-agent: *\nDisallow: /1\n"
    pages = hosts[names[2]].pages
    pages["/1?utm_source=x"] = pages["/1"]
    # All addresses of a page answer alike; which one is asked is a matter of time.
    hosts |= {f"www.{name}": hosts[name] for name in names}
    page = Html("a page", links=(Link(known[0]),))
    # A long way to everything, so that shorter ones are found late.
    hosts["chain.test"] = Host(
        {
            f"/{n}": Html(f"step {n}", links=(Link(f"/{n + 1}"), Link(known[-1 - n])))
            for n in range(9)
        }
    )
    hosts["hops.test"] = Host({f"/{n}": Redirect(f"/{n + 1}") for n in range(14)})
    hosts["loop.test"] = Host(
        {"/a": Redirect("/b"), "/b": Redirect("/c"), "/c": Redirect("/b"), "/d": Redirect("/a")}
    )
    hosts["flaky.test"] = Host({"/": Flaky((Status(503), Reset(), HalfBody(page), page))})
    hosts["broken.test"] = Host({"/": HalfBody(page)})
    hosts["gone.test"] = Host({"/": Status(410)})
    hosts["refuse.test"] = Host(listener="refuse")
    hosts["files.test"] = Host({"/a.pdf": NonHtml()})
    hosts["deep.h0.test"] = Host({"/": page})
    return Web(hosts)


def _pages(random: Random, name: str, known: list[str], odd: list[str]) -> dict[str, Behaviour]:
    pages: dict[str, Behaviour] = {}
    for number in range(PAGES):
        links = [
            Link(to, f"{name} to {to}", {"rel": random.choice(["", "nofollow", "me author"])})
            for to in random.sample(known, 7)
        ]
        # The same page twice: the first of the document counts, and redirects before both.
        links.append(Link(links[0].href + "#again", "later"))
        links.append(Link(random.choice(odd), within=random.choice(["nav", "main", "footer"])))
        links.append(Link(f"https://www.{name}/{(number + 1) % PAGES or ''}", within="aside"))
        page: Behaviour = Html(
            f"{name} {number}",
            tuple(links),
            lang=random.choice(["en", "de", None]),
            canonical=random.choice([None, known[number]]),
            text=(f"words of {name} {number}",),
        )
        if number and random.random() < 0.25:
            page = Redirect(random.choice([*known, *odd]))
        pages[f"/{number or ''}"] = page
    return pages


@contextmanager
def piling_up(database: Path, moments: Iterator[float]) -> Iterator[None]:
    """Hold the database again and again for the next of `moments`, until they are used up."""
    over = threading.Event()

    def hold() -> None:
        while not database.exists() and not over.wait(0.05):
            pass
        for moment in moments:
            if over.wait(0.05):
                return
            with closing(sqlite3.connect(database, timeout=30, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                over.wait(moment)
                connection.execute("ROLLBACK")

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def circumstances(number: int) -> tuple[Latency | None, int, Iterator[float]]:
    """Return latencies, pages open at once and holds of the database for the n-th crawl."""
    random = Random(number)
    median = (0.0, 0.01, 0.05)[number % 3]
    latency = Latency(median, sigma=1.5, ceiling=0.4, seed=number) if median else None
    pages_open = 50 if number else 20
    if number > 1:
        pages_open = random.randint(8, 50)
    # One at a time is the slowest there is; it gets no other trouble.
    if number == 1:
        return None, 1, iter(())
    holds = chain(*repeat([random.uniform(0.05, 0.6) for _ in range(5)], 100))
    return latency, pages_open, iter(()) if number % 2 else holds


def test_ten_crawls_of_one_web_give_the_same_graph_byte_for_byte(
    serve: Callable[[Web], ServedWeb], tmp_path: Path
) -> None:
    web = the_web()
    served = serve(web)
    dumps: list[bytes] = []
    for number in range(CRAWLS):
        latency, pages_open, holds = circumstances(number)
        # Loading it anew also makes what failed for a while fail again.
        served.update(replace(web, latency=latency))
        directory = tmp_path / f"crawl-{number}"
        directory.mkdir()
        config = write_config(
            directory,
            served,
            QUALITY,
            crawler={
                "max-depth": 3,
                "max-concurrent-pages-open": pages_open,
                "head-probe": "never",
            },
            **LISTS,
        )
        with piling_up(Database(config).path, holds):
            crawl(config)
        dumps.append("\n".join(dump(Database(config).path)).encode())
    first = dumps[0]
    for number, other in enumerate(dumps):
        assert other == first, differences(first, other, number)
    rows = [json.loads(line) for line in first.decode().splitlines()]
    states = {row[3] for row in rows if row[0] == "page"}
    # The comparison is worth something only if the web has all of this.
    assert states >= {
        "processed", "redirected", "failed", "dead_link", "unreachable", "content_mismatch",
        "blacklisted", "stubbed",
    }  # fmt: skip


def differences(first: bytes, other: bytes, number: int) -> str:
    ours, theirs = (set(text.decode().splitlines()) for text in (first, other))
    lines = [f"only the first: {line}" for line in sorted(ours - theirs)[:10]]
    lines += [f"only crawl {number}: {line}" for line in sorted(theirs - ours)[:10]]
    return "\n".join(lines)
