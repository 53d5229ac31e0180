"""The terrain as a plain program would work it out: no crawl, no database, nothing of terrain's.

It knows the addresses that the generated webs use, and no others.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from posixpath import normpath
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from terrain.sampleweb.behaviours import Behaviour
from terrain.sampleweb.pages import Html, NonHtml, Redirect, Status

TRACKING = ("utm_", "fbclid", "gclid", "ref", "source")
KINDS = ("redirect", "anchor", "canonical")
"""The kinds of link; of several for one pair the first counts."""


def identity(href: str, base: str = "") -> str | None:
    """Return the identity that an href means, None if it is no page."""
    parts = urlsplit(urljoin(base, href.strip()))
    if parts.scheme not in {"http", "https"}:
        return None
    host = (parts.hostname or "").removesuffix(".").removeprefix("www.")
    path = normpath(parts.path.replace("%7E", "~").replace("%7e", "~") or "/").rstrip("/") or "/"
    query = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not name.startswith(TRACKING)
    ]
    query.sort(key=lambda parameter: parameter[0])
    return f"https://{host}{path}" + (f"?{urlencode(query)}" if query else "")


def host_of(url: str) -> str:
    return url.split("/")[2]


def matches(pattern: str, host: str) -> bool:
    name = pattern.removeprefix("*.")
    return host == name or (pattern.startswith("*.") and host.endswith(f".{name}"))


@dataclass(frozen=True)
class Origin:
    """A quality entry."""

    domain: str
    seeds: tuple[str, ...]
    limit: int


@dataclass
class Terrain:
    """What there is: pages by host and path, and what the configuration says of the hosts."""

    pages: dict[str, Behaviour]
    """By identity without query: addresses that differ in the query alone show the same."""
    origins: list[Origin]
    blacklist: list[str] = field(default_factory=list)
    stub: list[str] = field(default_factory=list)
    denied: set[str] = field(default_factory=set)
    """Identities without query that robots.txt forbids."""
    refusing: set[str] = field(default_factory=set)
    """Hosts that refuse connections."""

    def page(self, url: str) -> Behaviour:
        return self.pages.get(url.partition("?")[0], Status(404))

    def listed(self, url: str) -> str | None:
        host = host_of(url)
        for state, patterns in (("blacklisted", self.blacklist), ("stubbed", self.stub)):
            if any(matches(pattern, host) for pattern in patterns):
                return state
        return None


@dataclass
class Walk:
    """What a crawl should have found."""

    states: dict[str, str]
    links: set[tuple[str, str, str]]
    depths: set[tuple[str, str, int]]
    asked: set[str]
    """Pages asked for."""


def walk(terrain: Terrain) -> Walk:
    """Walk outward until nothing new can be asked."""
    asked: set[str] = set()
    while True:
        links = {link for url in asked for link in _links(terrain, url)}
        known = {seed for origin in terrain.origins for seed in map(_known, origin.seeds)}
        known |= {target for _, target, _ in links}
        depths = {o.domain: _depths(o, known, links) for o in terrain.origins}
        near = {
            url
            for url in known
            if any(depths[o.domain].get(url, o.limit + 1) <= o.limit for o in terrain.origins)
        }
        may = {
            url
            for url in near
            if terrain.listed(url) is None and url.partition("?")[0] not in terrain.denied
        }
        if may == asked:
            break
        asked = may
    nowhere = _nowhere(terrain, asked, links)
    states = {url: _state(terrain, url, near, nowhere) for url in known}
    records = {
        (url, origin.domain, depth)
        for origin in terrain.origins
        for url, depth in depths[origin.domain].items()
        if depth <= origin.limit + 1
    }
    return Walk(states, links, records, asked)


def _known(seed: str) -> str:
    url = identity(seed)
    assert url is not None
    return url


def _links(terrain: Terrain, url: str) -> Iterable[tuple[str, str, str]]:
    """The links of a page that is asked: one per target, none to itself."""
    if host_of(url) in terrain.refusing:
        return []
    page = terrain.page(url)
    found: list[tuple[str, str]] = []
    if isinstance(page, Redirect):
        found = [(page.location or "", "redirect")]
    elif isinstance(page, Html):
        found = [(link.href, "anchor") for link in page.links if "download" not in link.attrs]
        found += [(page.canonical, "canonical")] if page.canonical else []
    best: dict[str, str] = {}
    for href, kind in found:
        target = identity(href, url)
        if target is not None and target != url:
            best[target] = min(best.get(target, kind), kind, key=KINDS.index)
    return [(url, target, kind) for target, kind in best.items()]


def _depths(origin: Origin, known: set[str], links: set[tuple[str, str, str]]) -> dict[str, int]:
    """Breadth first from all pages on the origin's hosts; a redirect is no step."""
    out: dict[str, list[tuple[str, int]]] = {}
    for source, target, kind in links:
        out.setdefault(source, []).append((target, 0 if kind == "redirect" else 1))
    depths = {url: 0 for url in known if matches(origin.domain, host_of(url))}
    waiting = deque(depths)
    while waiting:
        url = waiting.popleft()
        for target, step in out.get(url, ()):
            if depths[url] + step < depths.get(target, 1 << 30):
                depths[target] = depths[url] + step
                waiting.append(target)
    return depths


def _state(terrain: Terrain, url: str, near: set[str], nowhere: set[str]) -> str:
    listed = terrain.listed(url)
    if listed is not None:
        return listed
    if url not in near:
        return "depth_exceeded"
    if url.partition("?")[0] in terrain.denied:
        return "failed"
    if host_of(url) in terrain.refusing:
        return "unreachable"
    page = terrain.page(url)
    if isinstance(page, Redirect):
        if _downgrades(url, page):
            return "unreachable"
        return "failed" if url in nowhere else "redirected"
    if isinstance(page, Status):
        return "dead_link" if page.code in {404, 410} else "failed"
    return "content_mismatch" if isinstance(page, NonHtml) else "processed"


def _downgrades(url: str, page: Redirect) -> bool:
    """Tell whether the page redirects to itself without TLS."""
    location = page.location or ""
    return location.startswith("http:") and identity(location, url) == url


def _nowhere(terrain: Terrain, asked: set[str], links: set[tuple[str, str, str]]) -> set[str]:
    """The pages whose redirects never end: in a cycle, or leading into one."""
    following = {source: target for source, target, kind in links if kind == "redirect"}
    for url in asked:
        page = terrain.page(url)
        redirects = isinstance(page, Redirect) and not _downgrades(url, page)
        if redirects and host_of(url) not in terrain.refusing:
            # If to another page, the link is there; if to itself, it is a redirect all the same.
            following.setdefault(url, url)
    return {url for url in following if _never_ends(url, following)}


def _never_ends(url: str, following: dict[str, str]) -> bool:
    seen = set()
    while url in following and url not in seen:
        seen.add(url)
        url = following[url]
    assert len(seen) <= 10, "a chain so long is the business of the state table"
    return url in seen
