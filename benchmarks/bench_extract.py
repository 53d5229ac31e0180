"""Extraction: time and peak memory, for an ordinary page and for pages made to hurt.

    python benchmarks/bench_extract.py

Every case runs in a process of its own, so that its peak memory is its own. "added" is the peak
over what the process held with the body in its hands.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from terrain.rules.defaultrules import DEFAULT_RULES
from terrain.rules.extract import extract
from terrain.rules.linkrules import LinkRules
from terrain.rules.urls import UrlRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from terrain.rules.extract import PageFacts

FETCH_URL = "https://www.example.com/docs/"
IDENTITY = "https://example.com/docs"
RULES = UrlRules()
LINK_RULES = LinkRules(DEFAULT_RULES)
SECTIONS = {"nav", "header", "footer", "aside", "main"}
UNSEEN = {"script", "style", "noscript", "template"}


def ordinary_page(links: int = 50, size: int = 20_000) -> bytes:
    item = (
        '<li class="item"><a class="l" href="/section/page-{0}?q={0}" rel="nofollow">Link {0}</a>'
    )
    items = [item.format(i) + "</li>\n" for i in range(links)]
    paragraph = (
        '<p class="x">Lorem ipsum <b>dolor</b> sit amet, <i class="y">consectetur</i> adipiscing '
        "elit &amp; more text, as long as a paragraph is on the pages of this world.</p>\n"
    )
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>An ordinary page</title>'
        '<meta name="description" content="What it is about"><link rel="canonical" href="/docs">'
        "<script>for (var i=0;i<9;i++) { x(i) }</script></head><body><nav><ul>"
    )
    half = links // 2
    middle = "".join(items[:half]) + "</ul></nav><main>"
    tail = "<ul>" + "".join(items[half:]) + "</ul></main></body></html>"
    count = (size - len(head) - len(middle) - len(tail)) // len(paragraph)
    return (head + middle + paragraph * count + tail).encode()


def reopened(count: int) -> bytes:
    bold = "".join(f"<b id={i}>" for i in range(count))
    return f"<p>{bold}</p>{'<p>x</p>' * count}".encode()


CASES: dict[str, Callable[[], bytes]] = {
    "20 kB, 50 links": ordinary_page,
    "200 kB, 500 links": lambda: ordinary_page(500, 200_000),
    "1,000,000 links": lambda: b"".join(b"<a href=/%d>%d</a>" % (i, i) for i in range(1_000_000)),
    "nested 100,000 deep": lambda: b"<div>" * 100_000 + b"<a href=/x>deep</a>",
    "10 MiB of <div>": lambda: b"<div>" * (10 * 2**20 // 5),
    "1 MB of random bytes": lambda: random.Random(1).randbytes(1_000_000),
    "10 MB of random bytes": lambda: random.Random(1).randbytes(10_000_000),
    "100,000 <b> to open again": lambda: reopened(100_000),
    "1,000,000 attributes": lambda: b"<a %s>" % b" ".join(b"a%d=1" % i for i in range(1_000_000)),
    "the worst tree it builds": lambda: b"<ul><li>" * 9_999,
}


def with_lexbor(body: bytes) -> int:
    return len(read(body).links)


def read(body: bytes) -> PageFacts:
    return extract(
        body,
        content_type="text/html; charset=utf-8",
        fetch_url=FETCH_URL,
        identity=IDENTITY,
        rules=RULES,
        link_rules=LINK_RULES,
    )


def with_parsel(body: bytes) -> int:
    """Find the same facts with parsel: what the choice of lexbor is weighed against."""
    from parsel import Selector

    page = Selector(body=body, encoding="utf-8")
    facts = [
        page.xpath("string(//title)").get(),
        page.xpath("//meta[@name='description']/@content").get(),
        page.xpath("/html/@lang").get(),
        page.xpath("//link[@rel='canonical']/@href").get(),
        page.xpath("//meta[@name='robots']/@content").get(),
        page.xpath("//base/@href").get(),
    ]
    links = {}
    for node in page.root.iter("a"):
        href = node.get("href")
        if href is None or (address := RULES.address(href, FETCH_URL)) is None:
            continue
        position = next((e.tag for e in node.iterancestors() if e.tag in SECTIONS), "body")
        text = " ".join("".join(node.itertext()).split())[:200]
        links.setdefault(address.page_id, (address, text, node.get("rel"), position))
    texts = page.root.xpath("//body//text()[not(parent::script or parent::style)]")
    hashlib.blake2b("".join("".join(texts).split()).encode()).hexdigest()
    return len(links) if facts else 0


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_case(body: bytes) -> dict[str, float]:
    held = peak_mb()
    repeat = 300 if len(body) < 100_000 and b"<ul><li><ul>" not in body else 1
    if repeat > 1:
        read(body)
    began = time.perf_counter()
    for _ in range(repeat):
        links = with_lexbor(body)
    seconds = (time.perf_counter() - began) / repeat
    return {
        "bytes": len(body),
        "ms": seconds * 1000,
        "peak": peak_mb(),
        "added": peak_mb() - held,
        "links": links,
    }


def compare() -> None:
    body = ordinary_page()
    readers = {"lexbor": with_lexbor, "parsel": with_parsel}
    best = dict.fromkeys(readers, float("inf"))
    for name, reader in list(readers.items()) * 3:  # by turns: the machine's mood hits both alike
        reader(body)
        began = time.perf_counter()
        for _ in range(200):
            reader(body)
        best[name] = min(best[name], (time.perf_counter() - began) / 200)
    print(f"\nthe {len(body)} byte page with 50 links, URLs included, best of 3 times 200:")
    for name, seconds in best.items():
        print(f"  {name:8}{seconds * 1e6:8.0f} µs per page")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, help="read this page only, and print JSON")
    parser.add_argument("--make", choices=CASES, help="only write this case's page to --file")
    options = parser.parse_args()
    if options.make:
        options.file.write_bytes(CASES[options.make]())
        return
    if options.file:
        print(json.dumps(run_case(options.file.read_bytes())))
        return
    print(f"{'':28}{'body':>10}{'time':>12}{'peak':>10}{'added':>10}{'links':>8}")
    for name in CASES:
        # A process starts with the peak of the one that started it: so this one makes no page.
        with tempfile.NamedTemporaryFile() as page:
            command = [sys.executable, __file__, "--file", page.name]
            subprocess.run([*command, "--make", name], check=True)
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        r = json.loads(done.stdout)
        print(
            f"{name:28}{r['bytes'] / 1e6:>7.2f} MB{r['ms']:>9.2f} ms{r['peak']:>7.0f} MB"
            f"{r['added']:>7.0f} MB{r['links']:>8.0f}"
        )
    compare()


if __name__ == "__main__":
    main()
