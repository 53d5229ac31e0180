"""URL and host rules: microseconds per link, cold and with warm caches, beside other parsers.

Run: python benchmarks/bench_urls.py
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from ada_url import join_url
from w3lib.url import canonicalize_url, safe_url_string

from terrain.rules import hosts
from terrain.rules.defaultrules import DEFAULT_RULES
from terrain.rules.linkrules import Action, LinkRules, Rule
from terrain.rules.traps import TrapLimits
from terrain.rules.urls import UrlRules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BASE = "https://www.example.com/docs/index.html"
WILD = Path(__file__).parents[1] / "tests" / "data" / "urls-seen-in-the-wild.txt"
DISTINCT = 10_000  # fits into the caches, so that the warm figures are about hits
ROUNDS = 5


def microseconds(
    work: Callable[[str], object], links: Sequence[str], prepare: Callable[[], object]
) -> float:
    """Best of some rounds, per link; `prepare` runs before each round, off the clock."""
    best = float("inf")
    for _ in range(ROUNDS):
        prepare()
        start = perf_counter()
        for link in links:
            work(link)
        best = min(best, perf_counter() - start)
    return best / len(links) * 1e6


def nothing() -> None:
    """Prepare nothing: the caches stay as the last round left them."""


def main() -> None:  # noqa: C901 - a table of cases and what each needs
    lines = WILD.read_text(encoding="utf-8").splitlines()
    rules = UrlRules()
    pages = [page for line in lines[:DISTINCT] if (page := rules.address(line))]
    absolute = [page.fetch_url for page in pages]
    relative = [urlsplit(link)._replace(scheme="", netloc="").geturl() for link in absolute]
    known = [page.host for page in pages]
    patterns = [f"*.list-{number}.example" for number in range(10_000)]
    lists = hosts.HostRules(blacklist=patterns, stub=patterns, quality=patterns[:100])

    def forget_links() -> None:
        nonlocal rules
        rules = UrlRules()

    def forget_all() -> None:
        forget_links()
        hosts._identity_host.cache_clear()  # noqa: SLF001 - the cache is what is measured
        for cached in (hosts.normal_host, hosts.root_of):
            cached.cache_clear()

    def forget_kinds() -> None:
        nonlocal lists
        forget_all()
        lists = hosts.HostRules(blacklist=patterns, stub=patterns, quality=patterns[:100])

    identities = [page.identity for page in pages]
    globs = [Rule(f"*.list-{number}.example/*x*", Action.SKIP) for number in range(5_000)]
    defaults, many = LinkRules(DEFAULT_RULES, TrapLimits()), LinkRules(globs)
    # (a+)+ and an address of 8 KiB that was written for it
    nested, hostile = LinkRules([Rule("re:(a+)+$", Action.SKIP)]), f"https://x.test/{'a' * 8000}!"

    def forget_rules() -> None:
        for each in (defaults, many, nested):
            each.first.cache_clear()

    def refusal(identity: str) -> object:
        return defaults.refusal(identity)

    def address(link: str) -> object:
        return rules.address(link, BASE)

    def classify(host: str) -> object:
        return lists.classify(host)

    def parse_by_ada(link: str) -> object:
        return join_url(BASE, link)

    def parse_by_urllib(link: str) -> object:
        return urlsplit(urljoin(BASE, link))

    def normalise_by_w3lib(link: str) -> object:
        return canonicalize_url(safe_url_string(urljoin(BASE, link)))

    hosts.root_of("example.com")  # loads the suffix list
    each_host = list(dict.fromkeys(known))
    cases: list[tuple[str, Callable[[str], object], Sequence[str], Callable[[], object]]] = [
        ("address, absolute, links and hosts new", address, absolute, forget_all),
        ("address, absolute, links new", address, absolute, forget_links),
        ("address, absolute, cached", address, absolute, nothing),
        ("address, relative, links new", address, relative, forget_links),
        ("address, relative, cached", address, relative, nothing),
        ("root_of, hosts new", hosts.root_of, each_host, forget_all),
        ("root_of, cached", hosts.root_of, known, nothing),
        ("classify, 20,100 patterns, hosts new", classify, each_host, forget_kinds),
        ("classify, cached", classify, known, nothing),
        ("rules, the default set, links new", defaults.first, identities, forget_rules),
        ("rules, 5,000 globs, links new", many.first, identities, forget_rules),
        ("rules, cached", defaults.first, identities, nothing),
        ("rules cached, and trap guards", refusal, identities, nothing),
        ("rule (a+)+$, hostile address of 8 KiB", nested.first, [hostile], forget_rules),
        ("parse only, ada-url", parse_by_ada, absolute, nothing),
        ("parse only, urllib", parse_by_urllib, absolute, nothing),
        ("normalise, w3lib", normalise_by_w3lib, absolute, nothing),
    ]
    print(f"{len(absolute)} links, {len(each_host)} hosts; µs each, best of {ROUNDS}")
    for name, work, links, prepare in cases:
        print(f"{name:42}{microseconds(work, links, prepare):8.2f}")


if __name__ == "__main__":
    main()
