"""Generated webs for the store's benchmark: pages of many hosts with fifty links each.

A page links to its host's navigation (the same fifteen pages from every page of the host), to other
pages of its host, to home pages elsewhere (few hosts get most of these links, as in the real web),
to pages anywhere, and to a few addresses nobody has seen yet.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from terrain.rules.depth import DepthRules
from terrain.rules.hosts import HostRules
from terrain.rules.links import LinkKind, OutLink, Position
from terrain.rules.states import PageState
from terrain.rules.urls import UrlRules
from terrain.store import PageOutcome, Policy

if TYPE_CHECKING:
    from terrain.rules.urls import Address

LINKS = 50
NAVIGATION = 15
HOMES = 6
ANYWHERE = 3
NEW = 3
PAGES_PER_HOST = 200
DESCRIPTION = "What it is about, in the words of the people who wrote it."
URLS = UrlRules()


def host_of(page: int) -> str:
    return f"site-{page // PAGES_PER_HOST}.test"


def url_of(page: int) -> str:
    """Page 0 of a host is its home; the others have addresses as long as real ones are."""
    number = page % PAGES_PER_HOST
    path = f"articles/2024/{number:04d}-something-worth-reading" if number else ""
    return f"https://{host_of(page)}/{path}"


def address_of(url: str) -> Address:
    found = URLS.address(url)
    assert found is not None
    return found


def popular_home(random: Random, size: int) -> int:
    """The number of a home page; half of all draws fall on a sixteenth of the hosts."""
    hosts = size // PAGES_PER_HOST
    return int(hosts * random.random() ** 4) * PAGES_PER_HOST


class Web:
    """A web of `size` pages, all of them known; what a page links to is drawn from its number."""

    def __init__(self, size: int) -> None:
        self.size = size

    def targets(self, page: int, *, known: int | None = None) -> list[int]:
        """The known pages that a page links to, each once; `known` is how many of them."""
        random = Random(page)
        wanted = LINKS if known is None else known
        first = page - page % PAGES_PER_HOST
        last = min(first + PAGES_PER_HOST, self.size)
        found = dict.fromkeys(range(first, min(first + NAVIGATION, last)))
        found |= dict.fromkeys(popular_home(random, self.size) for _ in range(HOMES))
        found |= dict.fromkeys(random.choices(range(self.size), k=ANYWHERE))
        found.pop(page, None)
        while len(found) < wanted:
            found |= dict.fromkeys(random.choices(range(first, last), k=wanted - len(found)))
            found.pop(page, None)
        return list(found)[:wanted]

    def outcome(self, page: int, *, new: int = NEW) -> PageOutcome:
        """What reading the page brings."""
        urls = [url_of(target) for target in self.targets(page, known=LINKS - new)]
        urls += [f"{url_of(page)}/seen-for-the-first-time-{number}" for number in range(new)]
        return PageOutcome(
            page_id=address_of(url_of(page)).page_id,
            state=PageState.PROCESSED,
            fetch_url=url_of(page),
            links=tuple(
                OutLink(
                    address_of(url),
                    LinkKind.ANCHOR,
                    f"Something worth reading {number}",
                    "",
                    Position.NAV if number < NAVIGATION else Position.MAIN,
                )
                for number, url in enumerate(urls)
            ),
            title=f"Article {page} of many",
            description=DESCRIPTION,
            status_code=200,
            content_type="text/html; charset=utf-8",
            last_modified="Sat, 01 Jun 2024 10:00:00 GMT",
            etag='"5f3a-61a2"',
            content_hash=f"{page:032x}",
            language="en",
            bytes=20_000,
            fetch_ms=120,
        )


def policy(origins: int, *, max_depth: int = 3) -> Policy:
    """Each of the first `origins` hosts is a quality entry with its home page as seed."""
    names = [host_of(number * PAGES_PER_HOST) for number in range(origins)]
    rules = HostRules(blacklist=["*.bad.test"], stub=["*.big.test"], quality=names)
    return Policy(
        host_rules=rules,
        depth=DepthRules(rules, [max_depth] * origins),
        origins=tuple(names),
        seeds=tuple((address_of(f"https://{name}/"), n) for n, name in enumerate(names)),
        budget=1_000_000,
        max_subdomains=None,
        config_hash="benchmark",
        terrain_hash="benchmark",
    )
