"""Webs drawn from a seed, for tests that disturb a crawl and compare it with an undisturbed one."""

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from terrain.sampleweb.pages import Html, Link, NonHtml, Redirect, Status
from terrain.sampleweb.web import Host, Latency, Web

if TYPE_CHECKING:
    from terrain.sampleweb.behaviours import Behaviour


@dataclass
class Scene:
    """A web and what the configuration says about it."""

    web: Web
    quality: list[dict[str, Any]]
    sections: dict[str, Any] = field(default_factory=dict)
    pages_open: int = 10
    """`max-concurrent-pages-open`."""
    own: bool = False
    """No delay, several requests at once: politeness is not what this web is for."""
    delays: dict[str, float] = field(default_factory=dict)
    """Seconds, of hosts that ask for more than the configuration does."""

    def __post_init__(self) -> None:
        crawler = self.sections.setdefault("crawler", {})
        crawler["max-concurrent-pages-open"] = self.pages_open


def _pages(random: Random, names: list[str], count: int) -> dict[str, Host]:
    """Hosts of `count` pages that link to each other at random; some pages are something else."""
    addresses = [f"https://{name}/p{number}" for name in names for number in range(count)]
    hosts: dict[str, Host] = {}
    for name in names:
        pages: dict[str, Behaviour] = {}
        for number in range(count):
            links = tuple(Link(href, f"to {href}") for href in random.sample(addresses, 6))
            # One link to the next page, so that every page of the host is reached.
            onward = Link(f"/p{(number + 1) % count}")
            kind = random.random()
            if kind < 0.7 or number == 0:
                page: Behaviour = Html(f"{name} {number}", links=(*links, onward))
            elif kind < 0.85:
                page = Redirect(random.choice(addresses))
            else:
                page = random.choice([Status(404), Status(410), NonHtml()])
            pages[f"/p{number}"] = page
        hosts[name] = Host(pages)
    return hosts


def polite(seed: int) -> Scene:
    """Several hosts asked one at a time, with HEAD, robots.txt, crawl delays and redirects."""
    random = Random(seed)
    names = [f"h{number}.test" for number in range(8)]
    hosts = _pages(random, names, 5)
    hosts[names[1]].robots = "User-agent: *\nCrawl-delay: 0.2\n"
    hosts[names[2]].robots = "User-agent: *\nDisallow: /p3\n"
    web = Web(hosts, latency=Latency(0.02, seed=seed))
    quality = [
        {"domain": names[0], "seeds": [f"https://{names[0]}/p0"], "max-depth": 4},
        {"domain": names[3], "seeds": [f"https://{names[3]}/p0"], "max-depth": 2},
    ]
    return Scene(web, quality, delays={names[1]: 0.2})


def busy(seed: int) -> Scene:
    """One's own hosts, many pages, eight requests at once and no delay."""
    random = Random(seed)
    names = [f"own{number}.test" for number in range(3)]
    web = Web(_pages(random, names, 100), latency=Latency(0.01, seed=seed))
    quality = [
        {
            "domain": name,
            "seeds": [f"https://{name}/p0"],
            "own": True,
            "minimum-time-on-page": 0,
            "max-concurrent": 8,
        }
        for name in names
    ]
    sections = {
        "crawler": {"head-probe": "never", "max-depth": 100, "max-domain-requests": 100_000},
        "robots": {"mode": "ignore"},
    }
    return Scene(web, quality, sections, own=True, pages_open=8)


def scarce(seed: int) -> Scene:
    """Hosts whose request budget is smaller than what their pages would take."""
    names = [f"h{number}.test" for number in range(5)]
    web = Web(_pages(Random(seed), names, 15), latency=Latency(0.02, seed=seed))
    quality = [{"domain": names[0], "seeds": [f"https://{names[0]}/p0"], "max-depth": 20}]
    return Scene(web, quality, {"crawler": {"max-domain-requests": 20}})
