"""One crawl of one web, shared by the tests of a module that look at different parts of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terrain.sampleweb.log import Contact, Exchange
from terrain.sampleweb.pages import Html, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import Database, Page, Toml, assert_polite, crawl, write_config

START = "start.test"
"""The quality host of the state table: its home page links to every case."""

FROM_START: list[Toml] = [{"domain": START, "seeds": [f"https://{START}/"]}]


def web_of(hosts: Mapping[str, Host], *hrefs: str) -> Web:
    """A web whose home page links to the home page of every host, or to `hrefs` if there are any.

    A host whose name begins with `not-linked.` or `www.` is there to be led to by others.
    """
    homes = [f"https://{name}/" for name in hosts if not name.startswith(("not-linked.", "www."))]
    start = Host({"/": Html("Start", to(*(hrefs or homes)))})
    return Web({START: start, **hosts})


@dataclass(frozen=True)
class Crawled:
    """What a crawl left behind: database, request log, contacts."""

    config: Path
    pages: dict[str, Page]
    log: Sequence[Exchange]
    contacts: Sequence[Contact]

    @property
    def database(self) -> Database:
        return Database(self.config)

    def page(self, address: str) -> Page:
        """The page of an identity, given without its scheme."""
        return self.pages[f"https://{address}"]

    def state(self, address: str) -> str:
        return self.page(address).state

    def reason(self, address: str) -> str:
        return self.page(address).error_message or ""

    def asked(self, host: str, path: str | None = None) -> list[str]:
        """The kinds of request that a host got, in order; only those for `path` if it is given."""
        return [each.kind for each in self.exchanges(host, path)]

    def exchanges(self, host: str, path: str | None = None) -> list[Exchange]:
        found = [each for each in self.log if each.host == host]
        return found if path is None else [each for each in found if each.target == path]

    def contacted(self, host: str) -> bool:
        """Whether anything of the host was approached, be it by a TLS hello alone."""
        approached = {each.host for each in self.log} | {each.host for each in self.contacts}
        return host in approached

    def redirects(self) -> set[tuple[str, str]]:
        links = self.database.links()
        return {
            (source.removeprefix("https://"), target.removeprefix("https://"))
            for source, target, kind in links
            if kind == "redirect"
        }


def look_at(config: Path, served: ServedWeb) -> Crawled:
    """Read what is there after a crawl."""
    database = Database(config)
    return Crawled(config, database.pages(), served.log(), served.contacts())


def crawl_web(
    web: Web, directory: Path, quality: Sequence[Toml] = FROM_START, **sections: Any
) -> Crawled:
    """Serve a web, crawl it to the end and look; politeness is checked on the way."""
    crawler = {"max-concurrent-pages-open": 100, **sections.pop("crawler", {})}
    with ServedWeb(web, directory / "web") as served:
        config = write_config(directory, served, quality, crawler=crawler, **sections)
        crawl(config)
        assert_polite(served)
        return look_at(config, served)
