"""Depth, radius and redirect verdicts equal a plain search, whatever the order of arrival.

Hypothesis builds a small web with several origins, feeds its pages to the store in random order
and random batches, crashes between batches, and after every commit compares the whole picture with
a reference that starts from nothing: a breadth-first search over the links seen so far.
"""

import tempfile
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from terrain.rules.depth import MAX_HOPS
from terrain.store import PageOutcome
from terrain.store import faults as faults_module
from terrain.store import reach as reach_module
from tests.store.terrains import Terrain, make_policy, processed, redirected

HOSTS = ["a.test", "b.test", "c.test", "d.test", "bad.test"]


@dataclass(frozen=True)
class Web:
    quality: dict[str, int]
    pages: tuple[str, ...]
    links: dict[str, tuple[str, ...]]
    redirects: dict[str, str]

    def outcome(self, url: str) -> PageOutcome:
        if url in self.redirects:
            return redirected(url, self.redirects[url])
        return processed(url, *self.links[url])


@st.composite
def webs(draw: st.DrawFn, redirecting: float = 0.25) -> Web:
    """Webs large and deep enough that pages are often found again by a shorter way.

    Hypothesis chooses a seed rather than every link: its own choices lean to the smallest web, in
    which nothing arrives late.
    """
    random = Random(draw(st.integers(0, 2**32)))
    # Most pages lie on hosts of no origin: on an origin's own host the depth is always 0.
    hosts = random.choices(HOSTS, weights=[1, 1, 5, 5, 1], k=random.randint(3, 24))
    pages = ["https://a.test/", *(f"https://{host}/{n}" for n, host in enumerate(hosts))]
    quality = {"a.test": random.randint(0, 5)}
    if random.random() < 0.5:
        quality["b.test"] = random.randint(0, 4)
    if random.random() < 0.1:
        quality["*.test"] = random.randint(0, 2)
    links, redirects = {}, {}
    for number, page in enumerate(pages):
        others = [other for other in pages if other != page]
        if number and random.random() < redirecting:
            redirects[page] = random.choice(others)
        else:
            links[page] = tuple(random.sample(others, min(len(others), random.randint(0, 3))))
    return Web(quality, tuple(pages), links, redirects)


class Reference:
    """The terrain after the pages in `read` have been read, worked out from scratch."""

    def __init__(self, web: Web, read: set[str], max_hops: int) -> None:
        self.web, self.read, self.max_hops = web, read, max_hops
        self.edges = [(page, web.redirects[page], 0) for page in read if page in web.redirects]
        self.edges += [(page, t, 1) for page in read for t in web.links.get(page, ())]
        self.reached = self._reached()
        self.hops = self._hops()
        self.depths = {origin: self._depths(origin) for origin in web.quality}

    def _reached(self) -> set[str]:
        reached, wave = {self.web.pages[0]}, deque([self.web.pages[0]])
        while wave:
            page = wave.popleft()
            for source, target, _ in self.edges:
                if source == page and target not in reached:
                    reached.add(target)
                    wave.append(target)
        return reached

    def _hops(self) -> dict[str, int]:
        linked = {target for _, target, cost in self.edges if cost} | {self.web.pages[0]}
        hops = dict.fromkeys(linked, 0)
        wave = deque(linked)
        while wave:
            page = wave.popleft()
            for source, target, cost in self.edges:
                if source == page and not cost and target not in hops:
                    hops[target] = hops[page] + 1
                    wave.append(target)
        return hops

    def _depths(self, origin: str) -> dict[str, int]:
        depths = {page: 0 for page in self.reached if _matches(origin, _host(page))}
        changed = True
        while changed:
            changed = False
            for source, target, cost in self.edges:
                if source in depths and depths[source] + cost < depths.get(target, 99):
                    depths[target] = depths[source] + cost
                    changed = True
        return depths

    def crawlable(self, page: str) -> bool:
        return any(
            self.depths[origin].get(page, 99) <= limit for origin, limit in self.web.quality.items()
        )

    def state(self, page: str) -> str:
        if _host(page) == "bad.test":
            return "blacklisted"
        if page in self.read:
            if page not in self.web.redirects:
                return "processed"
            return "redirected" if self._ends_well(page) else "failed"
        if not self.crawlable(page):
            return "depth_exceeded"
        return "queued" if self.hops[page] <= self.max_hops else "failed"

    def _ends_well(self, page: str) -> bool:
        seen: set[str] = set()
        while page in self.read and page in self.web.redirects:
            if page in seen:
                return False
            seen.add(page)
            page = self.web.redirects[page]
        return self.hops[page] <= self.max_hops or not self._would_be_asked(page)

    def _would_be_asked(self, page: str) -> bool:
        return page in self.read or (_host(page) != "bad.test" and self.crawlable(page))


def _host(url: str) -> str:
    return url.split("/")[2]


def _matches(pattern: str, host: str) -> bool:
    return host == pattern or (pattern.startswith("*.") and host.endswith(pattern[1:]))


def _compare(terrain: Terrain, reference: Reference) -> None:
    expected = {page: reference.state(page) for page in reference.reached}
    assert terrain.states() == expected
    assert terrain.waiting() == {page for page, state in expected.items() if state == "queued"}


def _crawl(web: Web, seed: int, max_hops: int) -> None:
    random = Random(seed)
    policy = make_policy(web.quality, [web.pages[0]], blacklist=["bad.test"])
    with tempfile.TemporaryDirectory() as directory:
        terrain = Terrain(Path(directory) / "terrain.db", policy)
        terrain.open()
        read: set[str] = set()
        try:
            _compare(terrain, Reference(web, read, max_hops))
            while waiting := sorted(terrain.waiting()):
                chosen = random.sample(waiting, random.randint(1, min(4, len(waiting))))
                terrain.record(*(web.outcome(url) for url in chosen))
                read |= set(chosen)
                if random.random() < 0.2:
                    terrain.crash()
                    terrain.open()
                _compare(terrain, Reference(web, read, max_hops))
            assert terrain.store is not None
            terrain.store.close_run(completed=True)
            _compare_depths(terrain, Reference(web, read, max_hops))
        finally:
            terrain.crash()


def _compare_depths(terrain: Terrain, reference: Reference) -> None:
    stored = terrain.rows(
        "SELECT url, quality_origin, depth FROM page_depths JOIN pages ON page_id = pages.id"
    )
    expected = {
        (page, origin, depth)
        for origin, depths in reference.depths.items()
        for page, depth in depths.items()
        # Records beyond limit + 1 need not be kept.
        if depth <= reference.web.quality[origin] + 1
    }
    assert set(stored) == expected


_SETTINGS = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_SETTINGS
@given(web=webs(), seed=st.integers(0, 2**32))
def test_states_and_depths_equal_a_breadth_first_search(web: Web, seed: int) -> None:
    _crawl(web, seed, MAX_HOPS)


@_SETTINGS
@given(web=webs(redirecting=0.6), seed=st.integers(0, 2**32))
def test_hop_limits_and_cycles_do_not_depend_on_the_order(
    web: Web, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A limit of 2 hops, so that small webs run into it often.
    monkeypatch.setattr(reach_module, "MAX_HOPS", 2)
    monkeypatch.setattr(faults_module, "MAX_HOPS", 2)
    _crawl(web, seed, 2)
