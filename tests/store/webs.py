"""Random webs, and what a terrain must look like after some of their pages were read.

The reference starts from nothing every time: plain searches over the links seen so far.
"""

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from terrain.store import PageOutcome
from tests.store.terrains import processed, redirected

HOSTS = ["a.test", "b.test", "c.test", "d.test", "bad.test"]
SEED = "https://a.test/"


@dataclass(frozen=True)
class Web:
    quality: dict[str, int]
    pages: tuple[str, ...]
    links: dict[str, tuple[str, ...]]
    redirects: dict[str, str]
    own_hops: dict[str, int]
    """Hops within its identity that a redirecting page makes before it leads elsewhere."""
    late: frozenset[str]
    """Pages to be read only when no other waits: what they bring comes as a surprise."""

    def outcome(self, url: str) -> PageOutcome:
        if url in self.redirects:
            return redirected(url, self.redirects[url], self.own_hops.get(url, 0))
        return processed(url, *self.links[url])


def random_web(random: Random) -> Web:
    """A web large and deep enough that pages are often found again by a shorter way."""
    # Most pages lie on hosts of no origin: on an origin's own host the depth is always 0.
    hosts = random.choices(HOSTS, weights=[1, 1, 5, 5, 1], k=random.randint(3, 24))
    pages = [SEED, *(f"https://{host}/{n}" for n, host in enumerate(hosts))]
    quality = {"a.test": random.randint(0, 5)}
    if random.random() < 0.5:
        quality["b.test"] = random.randint(0, 4)
    if random.random() < 0.1:
        quality["*.test"] = random.randint(0, 2)
    links, redirects = {}, {}
    for number, page in enumerate(pages):
        others = [other for other in pages if other != page]
        if number and random.random() < 0.25:
            redirects[page] = random.choice(others)
        else:
            links[page] = tuple(random.sample(others, min(len(others), random.randint(0, 3))))
    late = frozenset(page for page in pages if random.random() < 0.3)
    return Web(quality, tuple(pages), links, redirects, {}, late)


def chained_web(random: Random) -> Web:
    """Redirect chains that join, end badly or well, and whose middles are found directly, late."""
    chains = [
        [f"https://{random.choice('ccd')}.test/{chain}-{n}" for n in range(random.randint(2, 7))]
        for chain in range(random.randint(1, 3))
    ]
    members = [page for chain in chains for page in chain]
    redirects: dict[str, str] = {}
    links: dict[str, tuple[str, ...]] = {}
    for chain in chains:
        redirects |= dict(pairwise(chain))
        chance = random.random()
        if chance < 0.35:  # into a chain, its own included: then it is a cycle
            redirects[chain[-1]] = random.choice([page for page in members if page != chain[-1]])
        elif chance < 0.5:
            redirects[chain[-1]] = f"https://{random.choice(['bad', 'd'])}.test/end"
        else:
            links[chain[-1]] = tuple(random.sample(members, random.randint(0, 1)))
    shortcuts = [f"https://{random.choice('acd')}.test/short-{n}" for n in range(3)]
    for page in shortcuts:
        links[page] = tuple(random.sample(members, random.randint(1, 2)))
    known = members if random.random() < 0.3 else [chain[0] for chain in chains]
    links[SEED] = tuple(dict.fromkeys([*known, *random.sample(shortcuts, 2)]))
    links[random.choice(shortcuts)] += (random.choice(shortcuts),)
    for end in set(redirects.values()) - redirects.keys() - links.keys():
        links[end] = ()
    for page, targets in links.items():
        links[page] = tuple(dict.fromkeys(target for target in targets if target != page))
    own_hops = {page: 1 for page in redirects if random.random() < 0.15}
    late = frozenset(shortcuts) if random.random() < 0.8 else frozenset()
    pages = (SEED, *sorted({*links, *redirects} - {SEED}))
    return Web({"a.test": random.randint(1, 4)}, pages, links, redirects, own_hops, late)


class Reference:
    """The terrain after the pages in `read` have been read."""

    def __init__(self, web: Web, read: set[str], max_hops: int) -> None:
        self.web, self.read, self.max_hops = web, read, max_hops
        self.edges = [(page, web.redirects[page], 0) for page in read if page in web.redirects]
        self.edges += [(page, t, 1) for page in read for t in web.links.get(page, ())]
        self.reached = self._reached()
        self.hops = self._hops()
        self.depths = {origin: self._depths(origin) for origin in web.quality}

    def _reached(self) -> set[str]:
        reached, wave = {SEED}, deque([SEED])
        while wave:
            page = wave.popleft()
            for source, target, _ in self.edges:
                if source == page and target not in reached:
                    reached.add(target)
                    wave.append(target)
        return reached

    def _hops(self) -> dict[str, int]:
        """Hops from the nearest seed or ordinary link."""
        hops = dict.fromkeys([target for _, target, cost in self.edges if cost] + [SEED], 0)
        changed = True
        while changed:
            changed = False
            for source, target, cost in self.edges:
                if cost or source not in hops:
                    continue
                found = hops[source] + self.web.own_hops.get(source, 0) + 1
                if found < hops.get(target, 99):
                    hops[target] = found
                    changed = True
        return hops

    def _depths(self, origin: str) -> dict[str, int]:
        depths = {page: 0 for page in self.reached if _matches(origin, host_of(page))}
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
        if host_of(page) == "bad.test":
            return "blacklisted"
        if page in self.read:
            if page not in self.web.redirects:
                return "processed"
            return "redirected" if self.reason(page) is None else "failed"
        if not self.crawlable(page):
            return "depth_exceeded"
        return "queued" if self.hops[page] <= self.max_hops else "failed"

    def reason(self, page: str) -> str | None:
        """Why a page is `failed`, None if it is not."""
        if page not in self.read:
            too_far = self.state(page) == "failed"
            return f"more than {self.max_hops} redirect hops" if too_far else None
        seen: set[str] = set()
        while page in self.read and page in self.web.redirects:
            if page in seen:
                return "redirect cycle"
            seen.add(page)
            page = self.web.redirects[page]
        too_far = page not in self.read and self.state(page) == "failed"
        return f"leads to more than {self.max_hops} redirect hops" if too_far and seen else None

    def kept_depths(self) -> set[tuple[str, str, int]]:
        """The depths that must be stored; those beyond an origin's limit + 1 need not."""
        return {
            (page, origin, depth)
            for origin, depths in self.depths.items()
            for page, depth in depths.items()
            if depth <= self.web.quality[origin] + 1
        }


def host_of(url: str) -> str:
    return url.split("/")[2]


def _matches(pattern: str, host: str) -> bool:
    return host == pattern or (pattern.startswith("*.") and host.endswith(pattern[1:]))


HEAVY_QUALITY = {"a.test": 3, "b.test": 2}


def heavy_web(random: Random) -> Web:
    """A web of many pages with many links each, for what needs work to be interrupted."""
    hosts = random.choices(HOSTS, weights=[1, 1, 5, 5, 1], k=70)
    pages = [SEED, *(f"https://{host}/{n}" for n, host in enumerate(hosts))]
    redirects = {page: random.choice(pages) for page in pages[1:] if random.random() < 0.15}
    redirects = {page: target for page, target in redirects.items() if page != target}
    links = {
        page: tuple(target for target in random.sample(pages, 8) if target != page)
        for page in pages
        if page not in redirects
    }
    return Web(HEAVY_QUALITY, tuple(pages), links, redirects, {}, frozenset())
