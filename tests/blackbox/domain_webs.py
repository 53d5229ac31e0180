"""Webs of many hosts with little more than a home page each, drawn from a seed, for crawls by
domain; and the same webs some time later."""

from dataclasses import replace
from random import Random
from typing import Any

from terrain.sampleweb.behaviours import Behaviour
from terrain.sampleweb.pages import Html, Link, NonHtml, Redirect, Status
from terrain.sampleweb.web import Host, Latency, Web
from tests.blackbox.domain_reference import Sites
from tests.blackbox.reference import Origin

QUALITY = ("q0.test", "q1.test", "sub.q1.test")
LISTED = ("bad.test", "deep.bad.test", "noted.test")
# Up to three hosts under a root, beside the root itself: the cap is for another test.
OTHERS = (
    *(f"d{number}.test" for number in range(24)),
    *(f"{name}.root{number}.test" for number in range(3) for name in ("a", "b", "c")),
    *(f"{name}.co.uk" for name in ("one", "two", "three", "four")),
    *(f"{name}.github.io" for name in ("one", "two", "three", "four")),
)
HOSTS = (*QUALITY, *LISTED, *OTHERS)
STYLES = ("plain", "www", "both", "language")
"""Where a home page is: at `/`; there, but with `www.`; at both; at `/en/`."""


def generate(seed: int) -> Sites:
    random = Random(seed)
    homes: dict[str, Behaviour] = {host: _home(random, host) for host in HOSTS}
    for host in QUALITY:  # An origin that leads nowhere makes a dull web.
        homes[host] = _html(random, host, least=5)
    origins = [
        Origin("q0.test", ("https://q0.test/", "https://q0.test/deep/page?x=1"), 1),
        Origin("*.q1.test", ("https://sub.q1.test/p#there",), random.randint(0, 2)),
    ]
    denied = {host for host in OTHERS if random.random() < 0.06}
    return Sites(
        homes,
        origins,
        most_links=random.choice([3, 10]),
        most_visits=2 + seed % 2,
        blacklist=["*.bad.test"],
        stub=["noted.test"],
        denied=denied,
        refusing=_refusing(random, denied),
    )


def change(sites: Sites, seed: int) -> Sites:
    """The same some time later. What robots.txt says is known for a day, so it stays."""
    random = Random(seed)
    homes = {
        host: _home(random, host) if random.random() < 0.3 else home
        for host, home in sites.homes.items()
    }
    for host in QUALITY:
        homes[host] = _html(random, host, least=5)
    return replace(sites, homes=homes, refusing=_refusing(random, sites.denied))


def _refusing(random: Random, denied: set[str]) -> set[str]:
    """Some hosts; not those with a robots.txt that must be read."""
    return {host for host in OTHERS if host not in denied and random.random() < 0.06}


def _home(random: Random, host: str) -> Behaviour:
    kind = random.random()
    if kind < 0.8:
        return _html(random, host)
    if kind < 0.9:
        target = random.choice([other for other in HOSTS if other != host])
        return Redirect(_address(random, target))
    return random.choice([Status(404), Status(410), Status(403), NonHtml()])


def _html(random: Random, host: str, least: int = 0) -> Html:
    links: list[Link] = []
    for _ in range(random.randint(least, 6)):
        target = random.choice(HOSTS)
        links += [Link(_address(random, target)) for _ in range(random.choice([1, 1, 2]))]
        if random.random() < 0.5:
            links.append(Link(random.choice(["/about", "#top", "mailto:us@q0.test", "page?x=2"])))
    links += [Link(_address(random, random.choice(HOSTS)), attrs={"download": ""})]
    random.shuffle(links)
    canonical = random.choice([None, None, "/", _address(random, random.choice(HOSTS))])
    return Html(
        title=random.choice([None, f"The home of {host}"]),
        description=random.choice([None, f"What {host} is about, {random.randint(1, 9)}"]),
        links=tuple(links),
        canonical=canonical,
    )


def _address(random: Random, host: str) -> str:
    """Some address on a host; only its home is ever asked for, and it has no other page."""
    www = "www." if style_of(host) in {"www", "both"} and random.random() < 0.4 else ""
    start = random.choice(["https://", "https://", "http://", "//"])
    path = random.choice(["", "/", "/deep/page", "/?q=1&utm_source=x", "/a/../b#c"])
    return f"{start}{www}{host}{path}"


def style_of(host: str) -> str:
    """The same for a host in every web: what was learnt of it in one run holds in the next."""
    return "plain" if host in QUALITY else STYLES[sum(host.encode()) % len(STYLES)]


def served(sites: Sites, seed: int) -> Web:
    """The web to serve."""
    hosts: dict[str, Host] = {}
    for host, home in sites.homes.items():
        robots = "User-agent: *\nDisallow: /\n" if host in sites.denied else None
        style = style_of(host)
        if style == "language":
            hosts[host] = Host({"/": Redirect("/en/"), "/en/": home}, robots)
        elif style == "www":
            hosts[host] = Host({"/": Redirect(f"https://www.{host}/")}, robots)
        else:
            hosts[host] = Host({"/": home}, robots)
        if style in {"www", "both"}:
            hosts[f"www.{host}"] = Host({"/": home}, robots)
    for host in sites.homes:
        # All that may ever refuse have a port of their own: it stays theirs.
        for name in {host, f"www.{host}"} & set(hosts):
            hosts[name].listener = "refuse" if host in sites.refusing else "own"
    return Web(hosts, latency=Latency(0.01, seed=seed))


def quality(sites: Sites) -> list[dict[str, Any]]:
    return [
        {"domain": o.domain, "seeds": list(o.seeds), "max-depth": o.limit} for o in sites.origins
    ]


def sections(sites: Sites) -> dict[str, Any]:
    crawler = {
        "granularity": "domain",
        "max-outbound-links": sites.most_links,
        "max-crawls-per-domain": sites.most_visits,
        "max-concurrent-pages-open": 20,
    }
    return {
        "crawler": crawler,
        "blacklist": [{"domain": domain} for domain in sites.blacklist],
        "stub": [{"domain": domain} for domain in sites.stub],
    }
