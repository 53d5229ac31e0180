"""Pages that try to send the crawler into the network it runs in (design 6).

The served web is reached by names that `network.resolve` maps. Beside it a canary listens on
loopback, and every disguise that a link, a redirect or a robots.txt can wear leads there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from terrain.sampleweb.pages import Html, Link, Redirect, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.canary import Canary
from tests.blackbox.crawls import Database, Page, assert_polite, crawl, write_config

LOCAL = {
    "escaped digits": "%31%32%37.0.0.1",
    "escaped dots": "127%2E0%2e0.1",
    "wide digits": "\uff11\uff12\uff17.0.0.1",
    "circled digits": "\u2460\u2461\u2466.0.0.1",
    "ideographic stops": "127\u30020\u30020\u30021",
    "wide stop and invisible hyphen": "127\uff0e0\u00ad.0.1",
    "tab and line break inside": "127.0.\t0\n.1",
    "octal with many zeros": "00000000177.0.0.1",
    "octal without dots": "017700000001",
    "hexadecimal by bytes": "0x7F.0x0.0x0.0x1",
    "mixed bases": "0x7f.0.1",
    "another of the sixteen million": "127.255.255.254",
    "this host": "0.0.0.0",
    "this host as a number": "0",
    "user and password": "start.test:443@127.0.0.1",
    "several at signs": "a@start.test@127.0.0.1",
    "user in IPv6": "start.test@[::1]",
    "IPv6 in full": "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "IPv6 this host": "[::]",
    "mapped": "[::ffff:127.0.0.1]",
    "mapped in hexadecimal": "[0:0:0:0:0:FFFF:7f00:0001]",
    "compatible": "[::127.0.0.1]",
    "translated": "[64:ff9b::127.0.0.1]",
    "translated by a local prefix": "[64:ff9b:1::127.0.0.1]",
    "6to4": "[2002:7f00:1::]",
    "Teredo": "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "name": "localhost",
}
"""Ways to write a host that is this machine."""

RESERVED = {
    "private": "10.255.0.1",
    "private as a number": "3232235777",
    "carrier": "100.64.0.1",
    "metadata mapped": "[::ffff:169.254.169.254]",
    "metadata translated": "[64:ff9b::a9fe:a9fe]",
    "link-local": "[fe80::1]",
    "site-local": "[fec0::1]",
    "unique local": "[fd00:ec2::254]",
    "protocol assignments": "192.0.0.1",
    "benchmarks": "198.18.0.1",
    "documentation": "203.0.113.9",
    "documentation in IPv6": "[2001:db8::1]",
    "newer documentation": "[3fff::1]",
    "discard": "[100::1]",
    "multicast": "224.0.0.1",
    "multicast in IPv6": "[ff02::1]",
    "class E": "240.0.0.1",
    "broadcast": "255.255.255.255",
}
"""Hosts that are nobody's on the public internet."""

NO_PAGES = {
    "zone": "https://[fe80::1%25eth0]/no-page",
    "null inside": "https://127.0.0.1%00.start.test/no-page",
    "too large a byte": "https://127.0.0.256/no-page",
    "five bytes": "https://127.0.0.0.1/no-page",
    "port too large": "https://127.0.0.1:65536/no-page",
    "file": "file:///etc/passwd#no-page",
    "gopher": "gopher://127.0.0.1:{port}/_no-page",
    "ftp": "ftp://127.0.0.1:{port}/no-page",
    "web socket": "wss://127.0.0.1:{port}/no-page",
    "blob": "blob:https://127.0.0.1:{port}/no-page",
    "view-source": "view-source:https://127.0.0.1:{port}/no-page",
    "data": "data:text/html,<a href=https://127.0.0.1:{port}/no-page>x</a>",
    "script": "javascript:location='https://127.0.0.1:{port}/no-page'",
}
"""Links that are no pages at all: they leave no trace."""

AT_HOME = {
    "user at the end": r"https://start.test\@127.0.0.1:{port}/",
    "fragment": "https://start.test/fragment#@127.0.0.1:{port}/",
    "query": "https://start.test/query?@127.0.0.1:{port}/",
    "slashes": "https:////start.test/slashes//127.0.0.1:{port}/",
}
"""Links that look as if they led to loopback and don't, whatever a careless parser thinks."""

LEADING_AWAY = {
    "https": "https://127.0.0.1:{port}/led",
    "http": "http://127.0.0.1:{port}/led-by-http",
    "no scheme": "//0x7f.1:{port}/led-without-scheme",
    "backslashes": r"\\127.0.0.1:{port}\led-by-backslashes",
    "userinfo": "https://start.test:secret@127.0.0.1:{port}/led-by-userinfo",
    "mapped": "https://[::ffff:127.0.0.1]:{port}/led-to-mapped",
    "name": "https://localhost:{port}/led-by-name",
    "metadata": "http://169.254.169.254/latest/meta-data/led",
}
"""Redirects to private addresses; each target has `led` in its path."""

LEADING_NOWHERE = {
    "file": "file:///etc/passwd",
    "file with a host": "file://127.0.0.1:{port}/etc/passwd",
    "data": "data:text/html,<a href=https://127.0.0.1:{port}/>x</a>",
    "gopher": "gopher://127.0.0.1:{port}/_GET%20/",
    "ftp": "ftp://127.0.0.1:{port}/",
    "script": "javascript:location='https://127.0.0.1:{port}/'",
    "dict": "dict://127.0.0.1:{port}/d:x",
    "broken": "https://[::1:{port}/",
}
"""Redirects to what is not asked at all."""


@dataclass(frozen=True)
class Attacked:
    """What the crawl left behind."""

    pages: dict[str, Page]
    port: int
    visitors: tuple[str, ...]
    links: set[tuple[str, str, str]]

    def at(self, path: str) -> Page:
        """The one page with this path that is not of the start host."""
        (page,) = (
            page
            for url, page in self.pages.items()
            if url.endswith(path) and not url.startswith("https://start.test/")
        )
        return page


def slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def host_for(kind: str, name: str) -> str:
    return f"{slug(name)}.{kind}.test"


def attacking_web(port: int) -> Web:
    """A home page that links to everything, and hosts that redirect."""
    hrefs = [f"https://{host}:{port}/{slug(name)}" for name, host in LOCAL.items()]
    hrefs += [f"https://{host}/reserved/{slug(name)}" for name, host in RESERVED.items()]
    hrefs += [href.format(port=port) for href in (*NO_PAGES.values(), *AT_HOME.values())]
    hrefs.append(f"https://LocalHost.:{port}/name-with-a-dot")
    hosts: dict[str, Host] = {}
    for kind, redirects in (("away", LEADING_AWAY), ("nowhere", LEADING_NOWHERE)):
        for name, location in redirects.items():
            hosts[host_for(kind, name)] = Host({"/": Redirect(location.format(port=port))})
    hosts["far.test"] = Host({"/": Redirect("https://further.test/")})
    hosts["further.test"] = Host({"/": Redirect(f"https://127.1:{port}/led-in-the-end")})
    loopback = f"https://127.0.0.1:{port}"
    hosts["robots-away.test"] = Host({"/": Html()}, robots=Redirect(f"{loopback}/robots.txt"))
    hosts["robots-file.test"] = Host({"/": Html()}, robots=Redirect("file:///etc/hosts"))
    hosts["robots-far.test"] = Host({"/": Html()}, robots=Redirect("https://far.test/"))
    hosts["base.test"] = Host({"/": Html(base=f"{loopback}/", links=to("based"))})
    hosts["canonical.test"] = Host({"/": Html(canonical=f"{loopback}/canonical")})
    links = [*(Link(href) for href in hrefs), *(Link(f"https://{name}/") for name in hosts)]
    hosts["start.test"] = Host({"/": Html("Start", tuple(links))}, otherwise=Html("At home"))
    return Web(hosts)


def attack(directory: Path, canary: Canary, web: Web, **network: bool) -> Attacked:
    directory.mkdir(exist_ok=True)
    with ServedWeb(web, directory / "web") as served:
        config = write_config(
            directory,
            served,
            [{"domain": "start.test", "seeds": ["https://start.test/"]}],
            crawler={"head-probe": "never", "max-concurrent-pages-open": 100},
            network={"resolve": served.resolve_only("*.test"), **network},
            retry={"attempts": 0},
        )
        crawl(config)
        assert_polite(served)
    database = Database(config)
    database.check()
    return Attacked(database.pages(), canary.port, tuple(canary.visitors), database.links())


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    with Canary() as canary:
        yield attack(tmp_path_factory.mktemp("ssrf"), canary, attacking_web(canary.port))


def assert_refused(page: Page) -> None:
    assert page.state == "unreachable"
    assert (page.error_message or "").startswith("private address: ")
    assert page.status_code is None


def test_the_canary_sees_nobody(attacked: Attacked) -> None:
    assert attacked.visitors == ()


@pytest.mark.parametrize("name", LOCAL)
def test_this_machine_is_recognised_in_every_spelling(attacked: Attacked, name: str) -> None:
    assert_refused(attacked.at(f":{attacked.port}/{slug(name)}"))


def test_a_dot_behind_the_name_is_no_way_around(attacked: Attacked) -> None:
    # Whether such a name exists is the resolver's to say; either way nobody is asked.
    assert attacked.at("/name-with-a-dot").state == "unreachable"


@pytest.mark.parametrize("name", RESERVED)
def test_what_is_not_public_is_not_asked(attacked: Attacked, name: str) -> None:
    assert_refused(attacked.at(f"/reserved/{slug(name)}"))


def test_what_is_no_page_leaves_no_trace(attacked: Attacked) -> None:
    assert [url for url in attacked.pages if "no-page" in url] == []
    assert all(url.startswith("https://") for url in attacked.pages)


def test_a_link_that_only_looks_like_loopback_is_asked_where_it_leads(attacked: Attacked) -> None:
    home = {url for url, page in attacked.pages.items() if page.title == "At home"}
    assert home == {
        f"https://start.test/@127.0.0.1:{attacked.port}",
        "https://start.test/fragment",
        f"https://start.test/query?@127.0.0.1:{attacked.port}/",
        f"https://start.test/slashes//127.0.0.1:{attacked.port}",
    }


@pytest.mark.parametrize("name", LEADING_AWAY)
def test_a_redirect_to_a_private_address_is_recorded_and_not_followed(
    attacked: Attacked, name: str
) -> None:
    source = f"https://{host_for('away', name)}/"
    assert attacked.pages[source].state == "redirected"
    (target,) = (to_ for from_, to_, kind in attacked.links if from_ == source)
    assert "/led" in target or target.startswith("https://169.254.169.254/")
    assert_refused(attacked.pages[target])


@pytest.mark.parametrize("name", LEADING_NOWHERE)
def test_a_redirect_to_another_scheme_is_a_failure(attacked: Attacked, name: str) -> None:
    page = attacked.pages[f"https://{host_for('nowhere', name)}/"]
    assert (page.state, page.status_code) == ("failed", 302)
    assert page.error_message == "HTTP 302: redirect without a usable Location"


def test_the_end_of_a_chain_is_checked_like_its_beginning(attacked: Attacked) -> None:
    assert attacked.pages["https://far.test/"].state == "redirected"
    assert attacked.pages["https://further.test/"].state == "redirected"
    assert_refused(attacked.at("/led-in-the-end"))


@pytest.mark.parametrize("name", ["robots-away", "robots-file", "robots-far"])
def test_a_robots_txt_that_leads_there_counts_as_none(attacked: Attacked, name: str) -> None:
    assert attacked.pages[f"https://{name}.test/"].state == "processed"


@pytest.mark.parametrize("path", ["/based", "/canonical"])
def test_base_and_canonical_lead_nowhere_else_than_links(attacked: Attacked, path: str) -> None:
    assert_refused(attacked.at(path))


def test_plain_http_is_no_way_around(tmp_path: Path) -> None:
    with Canary() as canary:
        hrefs = [
            f"http://{host}:{canary.port}/{n}" for n, host in enumerate(("0", "[::1]", "127.1"))
        ]
        hrefs.append(f"http://localhost:{canary.port}/name")
        web = Web({"start.test": Host({"/": Html(links=to(*hrefs))})})
        attacked = attack(tmp_path / "http", canary, web, **{"allow-http": True})
    assert attacked.visitors == ()
    others = {url: page for url, page in attacked.pages.items() if "start.test" not in url}
    assert len(others) == len(hrefs)
    for page in others.values():
        assert page.fetch_url.startswith("http://")
        assert_refused(page)


def test_the_canary_would_have_noticed(tmp_path: Path) -> None:
    """The same links with private addresses allowed: it is the guard that kept them away."""
    with Canary() as canary:
        hrefs = [f"https://{host}:{canary.port}/" for host in ("0x7f.1", "0", "localhost")]
        web = Web({"start.test": Host({"/": Html(links=to(*hrefs))})})
        attacked = attack(tmp_path / "allowed", canary, web, **{"allow-private": True})
    assert len(attacked.visitors) >= len(hrefs)
