"""Webs with faults on purpose, drawn from a seed, and the same webs in good health.

Four sorts of hosts, so that it can be said of every page what a disturbed crawl owes it:

steady      no fault at all
transient   a page fails a few times, then answers: fewer times than the crawl asks again
broken      a page never answers properly; its state is known beforehand
unsteady    served apart, vanish and come back, answer 500 for a while; nothing is owed but an end

Steady and transient pages make the *unaffected* terrain. Pages of the other two sorts link within
their own host only, so no path of the unaffected terrain leads through them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from terrain.sampleweb.behaviours import Behaviour, Drip, Flaky, GiantHeader, HalfBody, WrongLength
from terrain.sampleweb.pages import (
    BigBody,
    Garbage,
    GzipBomb,
    Hang,
    Html,
    Link,
    NonHtml,
    Redirect,
    Reset,
    Status,
)
from terrain.sampleweb.web import Host, Latency, Listener, Web

ATTEMPTS = 4
"""`retry.attempts`; no transient fault lasts longer than MOST_FAILURES tries."""

MOST_FAILURES = 2

CRAWL_DELAY = 0.3
"""Seconds, what one steady host asks for."""

QUICK_FAULTS: tuple[str, ...] = (
    "reset", "half-close", "half-reset", "half-drop", "too-long", "garbage", "500", "502", "503",
)  # fmt: skip
SLOW_FAULTS: tuple[str, ...] = ("hang", "slow-loris", "too-long-hang")
"""These cost the crawl a timeout each."""

ANY = "any"
"""Stands for a state that is not settled by the fault."""

BROKEN_HOSTS = 4
"""Over how many hosts the broken pages are spread: one alone would hold up the end of a round."""

LISTENERS: tuple[Listener, ...] = ("own", "refuse", "reset", "silent", "plain")


def fault(name: str, page: Html) -> Behaviour:
    """Return what a page does while it has the fault of that name."""
    return {
        "reset": Reset(),
        "half-close": HalfBody(page),
        "half-reset": HalfBody(page, 0.3, "reset"),
        "half-drop": HalfBody(page, 0.8, "drop"),
        "too-long": WrongLength(page, 500),
        "too-long-hang": WrongLength(page, 500, "hang"),
        "garbage": Garbage(2048),
        "500": Status(500),
        "502": Status(502),
        "503": Status(503, headers=(("Retry-After", "1"),)),
        "hang": Hang(),
        "slow-loris": Drip(page, 1, 0.3),
    }[name]


def _broken_pages(*, slow: bool) -> dict[str, tuple[Behaviour, str]]:
    """Return pages that never answer properly, each with the state it must end in."""
    page = Html("never whole", text=("words " * 50,))
    kinds: dict[str, tuple[Behaviour, str]] = {
        f"/{name}": (fault(name, page), "failed")
        for name in (*QUICK_FAULTS, *(("hang", "slow-loris") if slow else ()))
        if name != "503"
    }
    kinds["/bomb"] = (GzipBomb(60_000_000), "failed")
    kinds["/big"] = (BigBody(30_000_000), "failed")
    kinds["/giant-header"] = (GiantHeader(page), "failed")
    kinds["/gone"] = (Status(410), "dead_link")
    # Cut short or refused, by how the bytes arrive (docs/reliability.md); but what follows the
    # promised part must not spoil the next answer.
    kinds["/too-short"] = (WrongLength(page, -20), ANY)
    return kinds


@dataclass
class ChaosWeb:
    """A web, its healthy twin, and what is known about both."""

    faulty: Web
    """Steady, transient and broken hosts."""
    unsteady: Web
    """Hosts that come and go; every one has a port of its own."""
    healthy: Web
    """All of them, without a fault."""
    quality: list[dict[str, Any]]
    expected: dict[str, str]
    """States of broken pages, by URL."""
    faults: int
    """Answers of the web that are wrong on purpose, one per page and fault."""
    delays: dict[str, float] = field(default_factory=dict)
    """Seconds, of hosts that ask for more than the configuration does."""

    def is_unaffected(self, host: str) -> bool:
        """Tell whether a host's pages must come out as in the healthy web."""
        return host.startswith(("s", "t"))

    def weather(self, random: Random) -> Web:
        """Return the unsteady hosts as they are for the next while."""
        hosts = {}
        for name, host in self.unsteady.hosts.items():
            mood = random.random()
            if mood < 0.4:
                hosts[name] = host
            elif mood < 0.6:
                pages: dict[str, Behaviour] = dict.fromkeys(host.pages, Status(500))
                hosts[name] = replace(host, pages=pages)
            else:
                hosts[name] = replace(host, listener=random.choice(LISTENERS[1:]))
        return Web(hosts, self.unsteady.latency)


def chaos_web(
    seed: int, *, pages: int = 12, steady: int = 10, transient: int = 4, slow: bool = True
) -> ChaosWeb:
    """Draw a web of about `pages * (steady + transient)` unaffected pages."""
    random = Random(seed)
    sound = [f"s{number}.test" for number in range(steady)]
    shaky = [f"t{number}.test" for number in range(transient)]
    unsteady = [f"u{number}.test" for number in range(3)]
    broken = _broken_pages(slow=slow)
    where = {path: f"b{number % BROKEN_HOSTS}.test" for number, path in enumerate(broken)}
    sinks = [f"https://{host}{path}" for path, host in where.items()]
    sinks += [f"https://{name}/p{number}" for name in unsteady for number in range(4)]
    healthy = _sound_hosts(random, [*sound, *shaky], pages, sinks)
    healthy[sound[1]].robots = f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}\n"
    healthy[sound[2]].robots = "User-agent: *\nDisallow: /p3\n"
    # A straight way down, longer than the depth limit.
    healthy["s-chain.test"] = Host(
        {f"/p{n}": Html(f"step {n}", links=(Link(f"/p{n + 1}"),)) for n in range(8)}
    )
    # A cycle of redirects, and a way into it.
    healthy["s-cycle.test"] = Host(
        {f"/p{n}": Redirect(f"/p{(n + 1) % 4 if n < 4 else 0}") for n in range(5)}
    )
    faulty = dict(healthy)
    faults = 0
    for name in shaky:
        faulty[name], count = _shaken(random, healthy[name])
        faults += count
    for path, name in where.items():
        for hosts, page in ((faulty, broken[path][0]), (healthy, Html(path))):
            hosts.setdefault(name, Host()).pages[path] = page
    coming = {
        name: Host(
            {f"/p{n}": Html(f"{name} {n}", links=(Link(f"/p{(n + 1) % 4}"),)) for n in range(4)}
        )
        for name in unsteady
    }
    latency = Latency(0.02, seed=seed)
    return ChaosWeb(
        faulty=Web(faulty, latency),
        unsteady=Web({name: replace(host, listener="own") for name, host in coming.items()}),
        healthy=Web({**healthy, **coming}, latency),
        quality=[
            {"domain": sound[0], "seeds": [f"https://{sound[0]}/p0"]},
            {"domain": sound[3], "seeds": [f"https://{sound[3]}/p0"], "max-depth": 2},
        ],
        expected={
            f"https://{where[path]}{path}": state
            for path, (_, state) in broken.items()
            if state is not ANY
        },
        faults=faults + len(broken),
        delays={sound[1]: CRAWL_DELAY},
    )


def _sound_hosts(random: Random, names: list[str], pages: int, sinks: list[str]) -> dict[str, Host]:
    """Hosts whose pages link to each other, and some to a sink."""
    addresses = [f"https://{name}/p{number}" for name in names for number in range(pages)]
    addresses += ["https://s-chain.test/p0", "https://s-cycle.test/p4"]
    hosts: dict[str, Host] = {}
    for name in names:
        found: dict[str, Behaviour] = {}
        for number in range(pages):
            kind = random.random()
            if number and kind < 0.1:
                found[f"/p{number}"] = Redirect(random.choice(addresses))
            elif number and kind < 0.2:
                found[f"/p{number}"] = random.choice([Status(404), Status(410), NonHtml()])
            else:
                links = [Link(to, f"to {to}") for to in random.sample(addresses, 6)]
                links.append(Link(random.choice(sinks), attrs={"rel": "nofollow"}, within="footer"))
                links.append(Link(f"/p{(number + 1) % pages}", within="nav"))
                found[f"/p{number}"] = Html(
                    f"{name} {number}", links=tuple(links), text=(f"page {number} of {name}",)
                )
        hosts[name] = Host(found)
    # Every host is reached early: the first page knows all of them.
    first = hosts[names[0]].pages["/p0"]
    assert isinstance(first, Html)
    homes = [Link(f"https://{name}/p0") for name in names[1:]]
    more = [*homes, Link("https://s-chain.test/p0"), Link("https://s-cycle.test/p4")]
    more += [Link(sink) for sink in sinks]
    hosts[names[0]].pages["/p0"] = replace(first, links=(*first.links, *more))
    return hosts


def _shaken(random: Random, host: Host) -> tuple[Host, int]:
    """Return the host with transient faults on most pages, and how many those are."""
    pages: dict[str, Behaviour] = {}
    faults = 0
    for target, page in host.pages.items():
        count = random.randint(0, MOST_FAILURES)
        if not isinstance(page, Html) or not count:
            pages[target] = page
            continue
        names = random.choices(QUICK_FAULTS, k=count)
        if random.random() < 0.1:
            names[0] = random.choice(SLOW_FAULTS)
        pages[target] = Flaky((*(fault(name, page) for name in names), page))
        faults += count
    return replace(host, pages=pages), faults
