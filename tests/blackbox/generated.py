"""Webs drawn from a seed, with all that makes addresses and pages look different or alike."""

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from terrain.sampleweb.behaviours import Behaviour, Gzipped
from terrain.sampleweb.pages import Html, Link, NonHtml, Redirect, Status
from terrain.sampleweb.web import Host, Latency, Web
from tests.blackbox.reference import Origin, Terrain, identity

QUALITY = ("q0.test", "q1.test", "sub.q1.test", "q2.test")
OTHERS = ("d0.test", "d1.test", "d2.test", "d3.test", "d4.test")
LISTED = ("bad.test", "deep.bad.test", "noted.test")
PER_HOST = 6


@dataclass
class Generated:
    """A web to serve, the configuration for it, and the same as the reference sees it."""

    web: Web
    terrain: Terrain
    sections: dict[str, Any]

    @property
    def quality(self) -> list[dict[str, Any]]:
        return [
            {"domain": o.domain, "seeds": list(o.seeds), "max-depth": o.limit}
            for o in self.terrain.origins
        ]


def generate(seed: int) -> Generated:
    random = Random(seed)
    stems = [f"{host}{path}" for host in (*QUALITY, *OTHERS, *LISTED) for path in _paths()]
    pages: dict[str, Behaviour] = {f"https://{stem}": _page(random, stems) for stem in stems}
    origins = [
        Origin("q0.test", ("https://q0.test/", "https://www.q0.test/p01"), random.randint(1, 3)),
        Origin("*.q1.test", ("https://sub.q1.test/p02",), random.randint(0, 2)),
        Origin("q2.test", ("https://q2.test/~p05/",), random.randint(0, 3)),
    ]
    for origin in origins:  # A seed that leads nowhere makes a dull web.
        for seed_url in origin.seeds:
            url = identity(seed_url)
            assert url is not None
            pages[url] = _html(random, stems)
    denied = {f"https://{host}/p03" for host in (*QUALITY, *OTHERS[2:]) if random.random() < 0.2}
    refusing = {host for host in OTHERS[:2] if random.random() < 0.3}
    terrain = Terrain(pages, origins, ["*.bad.test"], ["noted.test"], denied, refusing)
    sections = {
        "crawler": {
            "head-probe": random.choice(["always", "auto", "never"]),
            "max-concurrent-pages-open": random.choice([3, 10, 50]),
        },
        "blacklist": [{"domain": domain} for domain in terrain.blacklist],
        "stub": [{"domain": domain} for domain in terrain.stub],
    }
    return Generated(serve_as(random, terrain), terrain, sections)


def change(before: Generated, seed: int) -> Generated:
    """The same web some time later: other pages here and there, other hosts that refuse."""
    random = Random(seed)
    old = before.terrain
    stems = [url.removeprefix("https://") for url in old.pages]
    pages = {
        url: _page(random, stems) if random.random() < 0.25 else page
        for url, page in old.pages.items()
    }
    for origin in old.origins:
        for seed_url in origin.seeds:
            url = identity(seed_url)
            assert url is not None
            pages[url] = _html(random, stems)
    refusing = {host for host in OTHERS[:2] if random.random() < 0.5}
    terrain = replace(old, pages=pages, refusing=refusing)
    return Generated(serve_as(random, terrain), terrain, before.sections)


def _paths() -> list[str]:
    # None begins like another, so that each stands for all addresses that begin with it.
    return ["/", *(f"/p{n:02}" for n in range(PER_HOST - 1)), "/~p05"]


def _page(random: Random, stems: list[str]) -> Behaviour:
    kind = random.random()
    if kind < 0.65:
        return _html(random, stems)
    if kind < 0.82:
        return Redirect(_href(random, random.choice(stems)), random.choice([301, 302, 307]))
    others: list[Behaviour] = [Status(404), Status(410), Status(403), NonHtml()]
    return random.choice(others)


def _html(random: Random, stems: list[str]) -> Html:
    links = [
        Link(_href(random, random.choice(stems)), attrs=random.choice([{}, {"rel": "nofollow"}]))
        for _ in range(random.randint(1, 5))
    ]
    distractions = [
        Link("mailto:someone@d0.test"),
        Link("javascript:void(0)"),
        Link(f"https://{random.choice(stems)}-file", attrs={"download": ""}),
        Link("#top"),
    ]
    links += random.sample(distractions, random.randint(0, 2))
    random.shuffle(links)
    canonical = _href(random, random.choice(stems)) if random.random() < 0.2 else None
    return Html(
        f"Page {random.random()}",
        tuple(links),
        canonical=canonical,
        content_type=random.choice(["text/html", "application/xhtml+xml", None]),
    )


def _href(random: Random, stem: str) -> str:
    """Write the address of a page in one of many ways; some are another page of the same look."""
    host, _, path = stem.partition("/")
    tail = random.choice(["", "", "", "/", "?utm_source=mail", "?b=2&a=1", "?a=1&ref=x&b=2", "#s"])
    if random.random() < 0.1:
        path = f"x/../{path}"
    if random.random() < 0.5:
        path = path.replace("~", "%7E")
    name = random.choice([host, host, f"www.{host}", host.upper(), f"{host}:443"])
    scheme = random.choice(["https:", "https:", "http:", ""])
    if scheme == "http:":
        name = name.removesuffix(":443")
    if not path and tail == "/":
        tail = ""
    return f"{scheme}//{name}/{path}{tail}"


def serve_as(random: Random, terrain: Terrain) -> Web:
    """Give every page to a server, at every address of its identity alike."""
    hosts: dict[str, Host] = {}
    for name in (*QUALITY, *OTHERS, *LISTED):
        host = hosts[name] = Host()
        moved = random.random() < 0.2  # The bare host sends everybody to `www.`.
        for path in _paths():
            page = terrain.pages[f"https://{name}{path}"]
            if random.random() < 0.2:
                page = Gzipped(page)
            for spelling in {path, path.replace("~", "%7E")}:
                host.under[spelling] = page
                if path != "/" and random.random() < 0.15:
                    host.pages[spelling] = Redirect(f"{spelling}/")
        forbidden = [path for path in _paths() if f"https://{name}{path}" in terrain.denied]
        host.robots = "User-agent: *\n" + "".join(f"Disallow: {path}\n" for path in forbidden)
        if name in terrain.refusing:
            host.listener = "refuse"
        hosts[f"www.{name}"] = Host(
            dict(host.pages), host.robots, dict(host.under), listener=host.listener
        )
        if moved:
            _send_to_www(name, host)
    return Web(hosts, latency=Latency(0.01, seed=random.randint(0, 1000)))


def _send_to_www(name: str, host: Host) -> None:
    host.pages = {}
    for start in list(host.under):
        for tail in ("", "/", "?utm_source=mail", "?b=2&a=1", "?a=1&ref=x&b=2"):
            target = f"{start}{tail}"
            host.pages[target] = Redirect(f"https://www.{name}{target}", 301)
