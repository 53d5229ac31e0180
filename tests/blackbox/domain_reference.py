"""The map of domains as a plain program would draw it, run after run: nothing of terrain's.

It knows what the home pages of the generated hosts show, and no addresses: a host is a name.
"""

from collections import Counter, deque
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from terrain.sampleweb.behaviours import Behaviour
from terrain.sampleweb.pages import Html, NonHtml, Redirect, Status
from tests.blackbox.reference import Origin, matches

Link = tuple[str, str, bool]
"""From, to, and whether it is a redirect."""

FAR = 1 << 30


@dataclass
class Sites:
    """What the home page of each host shows, and what the configuration says."""

    homes: dict[str, Behaviour]
    """By host, without `www.`."""
    origins: list[Origin]
    most_links: int
    most_visits: int
    blacklist: list[str] = field(default_factory=list)
    stub: list[str] = field(default_factory=list)
    denied: set[str] = field(default_factory=set)
    """Hosts whose robots.txt forbids their home page."""
    refusing: set[str] = field(default_factory=set)
    """Hosts that refuse connections."""

    def listed(self, host: str) -> str | None:
        for state, patterns in (("blacklisted", self.blacklist), ("stubbed", self.stub)):
            if any(matches(pattern, host) for pattern in patterns):
                return state
        return None

    def answer(self, host: str) -> Behaviour | None:
        return None if host in self.refusing else self.homes.get(host, Status(404))


@dataclass
class Map:
    """All that should be known of the domains after some runs."""

    runs: int = 0
    states: dict[str, str] = field(default_factory=dict)
    """As of the last run that reached each."""
    last_run: dict[str, int] = field(default_factory=dict)
    visits: dict[tuple[str, int], str] = field(default_factory=dict)
    """State by host and run, for each visit."""
    descriptions: dict[str, str | None] = field(default_factory=dict)
    weights: Counter[tuple[str, str]] = field(default_factory=Counter)
    depths: dict[str, dict[str, int]] = field(default_factory=dict)
    """By host and origin, as of the last run that reached each."""

    @property
    def counts(self) -> Counter[str]:
        """Visits by host."""
        return Counter(host for host, _ in self.visits)

    @property
    def nodes(self) -> dict[str, tuple[str | None, int]]:
        counts = self.counts
        return {host: (self.descriptions.get(host), counts[host]) for host in self.states}


def walk_on(sites: Sites, before: Map) -> Map:
    """Walk once more over the sites as they are now."""
    counts = before.counts
    spent = {host for host, count in counts.items() if count >= sites.most_visits}
    starts = set(counts) - spent
    asked: set[str] = set()
    while True:
        links = {link for host in asked for link in _links(sites, host)}
        known = starts | {_host(seed) for origin in sites.origins for seed in origin.seeds}
        known |= {target for _, target, _ in links}
        depths = {
            origin.domain: _depths(_zero(origin, known, starts, before), links)
            for origin in sites.origins
        }
        near = {
            host
            for host in known
            if any(depths[o.domain].get(host, FAR) <= o.limit for o in sites.origins)
        }
        may = {host for host in near if sites.listed(host) is None} - sites.denied - spent
        if may == asked:
            break
        asked = may
    after = deepcopy(before)
    after.runs += 1
    endless = _endless(links)
    for host in known:
        if host in asked:
            after.states[host] = _outcome(sites, host, endless)
            after.visits[host, after.runs] = after.states[host]
            after.descriptions[host] = _description(sites.answer(host))
        elif (listed := sites.listed(host)) is not None:
            after.states[host] = listed
        elif host in spent:
            newest = max(run for name, run in before.visits if name == host)
            after.states[host] = before.visits[host, newest]
        else:
            after.states[host] = "failed" if host in near else "depth_exceeded"
        after.last_run[host] = after.runs
        after.depths[host] = {
            o.domain: depth
            for o in sites.origins
            if (depth := depths[o.domain].get(host, FAR)) <= o.limit + 1
        }
    after.weights.update((source, target) for source, target, _ in links)
    return after


def _zero(origin: Origin, known: set[str], starts: set[str], before: Map) -> set[str]:
    """The hosts at depth 0: the origin's own, and those visited again that it led to before."""
    own = {host for host in known if matches(origin.domain, host)}
    return own | {host for host in starts if origin.domain in before.depths[host]}


def _depths(zero: set[str], links: Iterable[Link]) -> dict[str, int]:
    out: dict[str, list[tuple[str, int]]] = {}
    for source, target, redirect in links:
        out.setdefault(source, []).append((target, 0 if redirect else 1))
    depths = dict.fromkeys(zero, 0)
    waiting = deque(zero)
    while waiting:
        host = waiting.popleft()
        for target, step in out.get(host, ()):
            if depths[host] + step < depths.get(target, FAR):
                depths[target] = depths[host] + step
                waiting.append(target)
    return depths


def _links(sites: Sites, host: str) -> Iterable[Link]:
    """What a visit sees: the first so many other hosts in the document, or where it redirects."""
    page = sites.answer(host)
    if isinstance(page, Redirect):
        return [(host, _host(page.location or ""), True)]
    if not isinstance(page, Html):
        return []
    anchors = [link.href for link in page.links if "download" not in link.attrs]
    targets = dict.fromkeys(_host(href, f"https://{host}/") for href in anchors)
    for nowhere in ("", host):  # mailto: and its like name no host
        targets.pop(nowhere, None)
    return [(host, target, False) for target in list(targets)[: sites.most_links]]


def _host(href: str, base: str = "") -> str:
    return (urlsplit(urljoin(base, href)).hostname or "").removeprefix("www.")


def _outcome(sites: Sites, host: str, endless: set[str]) -> str:
    page = sites.answer(host)
    if page is None:
        return "unreachable"
    if isinstance(page, Redirect):
        return "failed" if host in endless else "redirected"
    if isinstance(page, Status):
        return "dead_link" if page.code in {404, 410} else "failed"
    return "content_mismatch" if isinstance(page, NonHtml) else "processed"


def _description(page: Behaviour | None) -> str | None:
    return (page.description or page.title) if isinstance(page, Html) else None


def _endless(links: Iterable[Link]) -> set[str]:
    """The hosts whose redirects lead into a cycle."""
    following = {source: target for source, target, redirect in links if redirect}
    found = set()
    for host in following:
        seen, at = set(), host
        while at in following and at not in seen:
            seen.add(at)
            at = following[at]
        # Each may take two hops; more than ten are the business of the state table.
        assert len(seen) <= 4, "choose another web"
        if at in seen:
            found.add(host)
    return found
