"""By domain, on webs made by hand: the cap under a root, redirects, reports, refusals."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from terrain.sampleweb.pages import Html, Link, Redirect, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawled import START, Crawled, crawl_web, look_at, web_of
from tests.blackbox.crawls import Database, crawl, write_config
from tests.cli.terminals import piped

Serve = Callable[[Web], ServedWeb]

BY_DOMAIN = {"granularity": "domain"}
PAGE = Html("A page")

UNDER_ONE_ROOT = {
    "a suffix of two labels": [f"{name}.one.co.uk" for name in "abcde"],
    "a private suffix": [f"{name}.me.github.io" for name in "abcde"],
    "punycode": [f"{name}.xn--85x722f.com.cn" for name in "abcde"],
    "a trailing dot": [f"{name}.dotted.test" for name in "abcde"],
}
ON_THEIR_OWN = [
    "one.co.uk",
    *(f"{name}.co.uk" for name in ("two", "three", "four", "five")),
    *(f"{name}.github.io" for name in ("me", "you", "she", "they")),
    "xn--85x722f.com.cn",
    *("192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"),
    *("intranet", "wiki", "mail", "files"),
]


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Every link leads to some page of its host; those with a trailing dot come second."""
    hosts = {host: Host({"/": PAGE}) for hosts in UNDER_ONE_ROOT.values() for host in hosts}
    hosts |= {host: Host({"/": PAGE}) for host in ON_THEIR_OWN}
    hrefs = [f"https://{host}/deep/page" for host in hosts]
    hrefs += [f"https://{host}./" for host in UNDER_ONE_ROOT["a trailing dot"]]
    crawler = {**BY_DOMAIN, "max-outbound-links": 100}
    return crawl_web(web_of(hosts, *hrefs), tmp_path_factory.mktemp("capped"), crawler=crawler)


@pytest.mark.parametrize("hosts", UNDER_ONE_ROOT.values(), ids=UNDER_ONE_ROOT)
def test_three_subdomains_of_a_root_are_visited(capped: Crawled, hosts: list[str]) -> None:
    states = {host: capped.state(f"{host}/") for host in hosts}
    assert sorted(states.values()) == ["processed"] * 3 + ["subdomain_limit_hit"] * 2
    for host, state in states.items():
        assert capped.contacted(host) == (state == "processed")


@pytest.mark.parametrize("host", ON_THEIR_OWN)
def test_a_root_of_its_own_is_visited(capped: Crawled, host: str) -> None:
    assert capped.state(f"{host}/") == "processed"


def test_every_link_is_an_edge_visited_or_not(capped: Crawled) -> None:
    weights = capped.database.rows("SELECT weight FROM edges")
    assert len(weights) == len(ON_THEIR_OWN) + sum(map(len, UNDER_ONE_ROOT.values()))
    assert set(weights) == {(1,)}


def test_ten_links_in_document_order_by_default(tmp_path: Path) -> None:
    names = [f"h{number}.test" for number in range(14)]
    hrefs = [f"https://{name}/{number}" for name in names for number in range(2)]
    crawled = crawl_web(
        web_of({name: Host({"/": PAGE}) for name in names}, *hrefs), tmp_path, crawler=BY_DOMAIN
    )
    assert set(crawled.pages) == {f"https://{name}/" for name in (START, *names[:10])}


MOVED = {
    "www.test": Host({"/": Redirect("https://www.www.test/")}),
    "language.test": Host({"/": Redirect("/en"), "/en": Redirect("/en/"), "/en/": PAGE}),
    "away.test": Host({"/": Redirect("https://not-linked.test/landing?from=away")}),
    "not-linked.test": Host({"/": Html("Here", description="What is here")}),
    "round.test": Host({"/": Redirect("/a"), "/a": Redirect("/")}),
    "canonical.test": Host({"/": Html("C", canonical="https://not-linked.other.test/page")}),
}


def test_redirects_within_a_host_are_followed_and_others_are_edges(tmp_path: Path) -> None:
    crawled = crawl_web(web_of(MOVED), tmp_path, crawler=BY_DOMAIN)
    page = crawled.page("language.test/")
    assert (page.state, page.fetch_url) == ("processed", "https://language.test/en/")
    assert crawled.state("away.test/") == "redirected"
    assert crawled.redirects() == {("away.test/", "not-linked.test/")}
    # The home page of where it leads, not the address that was named.
    assert crawled.page("not-linked.test/").fetch_url == "https://not-linked.test/"
    assert [each.target for each in crawled.exchanges("not-linked.test") if each.kind == "get"] == [
        "/"
    ]
    assert crawled.state("round.test/") == "failed"
    assert "loop" in crawled.reason("round.test/")
    nodes = dict(crawled.database.rows("SELECT domain_name, description FROM nodes"))
    assert nodes["not-linked.test"] == "What is here"
    assert nodes["away.test"] is None


def test_a_canonical_link_to_another_host_is_a_fact_and_no_edge(tmp_path: Path) -> None:
    crawled = crawl_web(web_of(MOVED), tmp_path, crawler=BY_DOMAIN)
    assert "https://not-linked.other.test/" not in crawled.pages
    rows = crawled.database.rows("SELECT canonical_url FROM pages WHERE domain = 'canonical.test'")
    assert rows == [("https://not-linked.other.test/page",)]


QUALITY = [{"domain": "a.test", "seeds": ["https://a.test/deep/page"]}]
PAIR = Web(
    {
        "a.test": Host({"/": Html("A", (*to("/own"), Link("https://b.test/x"))), "/own": PAGE}),
        "b.test": Host({"/": Html("B", to("https://a.test/"))}),
    }
)


def test_visits_are_used_up_over_runs(serve: Serve, tmp_path: Path) -> None:
    served = serve(PAIR)
    crawler = {**BY_DOMAIN, "max-crawls-per-domain": 2}
    config = write_config(tmp_path, served, QUALITY, crawler=crawler)
    for _ in range(3):
        crawl(config)
    crawled = look_at(config, served)
    assert crawled.asked("a.test").count("get") == crawled.asked("b.test").count("get") == 2
    database = Database(config)
    assert database.rows("SELECT domain_name, crawl_count FROM nodes ORDER BY 1") == [
        ("a.test", 2),
        ("b.test", 2),
    ]
    assert database.rows("SELECT weight FROM edges") == [(2,), (2,)]
    # The third run reached its seed, asked nobody, and was complete.
    assert database.runs() == [(1, "completed"), (2, "completed"), (3, "completed")]
    assert database.rows("SELECT url, state, last_run FROM pages ORDER BY 1") == [
        ("https://a.test/", "processed", 3),
        ("https://b.test/", "processed", 2),
    ]


def test_summary_and_picture_speak_of_domains(serve: Serve, tmp_path: Path) -> None:
    config = write_config(tmp_path, serve(PAIR), QUALITY, crawler=BY_DOMAIN)
    crawl(config)
    summary = (tmp_path / "crawl-summary.md").read_text()
    assert "| `b.test`" in summary
    assert "by domain: a page is the home page of its host" in summary
    assert "every page that was reached was asked for" in summary
    (picture,) = tmp_path.glob("*.svg")
    assert "b.test" in picture.read_text()
    for _ in range(3):
        crawl(config)
    summary = (tmp_path / "crawl-summary.md").read_text()
    assert re.search(r"visited as often as allowed in earlier runs *\| +1 \|", summary)


@pytest.mark.parametrize(("first", "then"), [("page", "domain"), ("domain", "page")])
def test_another_granularity_needs_another_database(
    serve: Serve, tmp_path: Path, first: str, then: str
) -> None:
    served = serve(PAIR)
    crawl(write_config(tmp_path, served, QUALITY, crawler={"granularity": first}))
    config = write_config(tmp_path, served, QUALITY, crawler={"granularity": then})
    before = len(served.log())
    said = crawl(config, expect=2)
    line = f'terrain.db: holds a terrain by {first}, and crawler.granularity = "{then}": '
    assert line in said
    assert "name another output.database-path, or set the key back" in said
    assert len(said.splitlines()) == 1
    assert len(served.log()) == before
    assert Database(config).runs() == [(1, "completed")]
    assert line in piped("check", config).stdout
    refused = piped("crawl", config, "--dry-run")
    assert refused.returncode == 2
    assert line in refused.stderr
