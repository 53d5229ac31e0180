"""`record` and `skip`: in the database, in the request log, and in what the commands say."""

import signal
from pathlib import Path

import pytest

from terrain.sampleweb.pages import Html, Redirect, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawled import FROM_START, START, Crawled, crawl_web, look_at
from tests.blackbox.crawls import Database, crawl, write_config
from tests.blackbox.running import PATIENCE, Running

PAGE = Html("A page")

RULES = [
    {"match": "crawl-me.test/ads/kept", "action": "crawl"},
    {"match": "*.noted.test", "action": "record"},
    {"match": "*/tag/*", "action": "record"},
    {"match": "re:[?&]sid=(([0-9a-f])+)+$", "action": "skip"},
    {"match": "*.unseen.test", "action": "skip"},
    {"match": "*/ads/*", "action": "skip"},
    {"match": "twitter.com/intent/kept", "action": "crawl"},
]

HOSTS = {
    START: Host(
        {
            "/": Html(
                "Start",
                to(
                    "/tag/a",
                    "/ads/1",
                    "/page?sid=00ff",
                    "/page",
                    "/moved-to-skipped",
                    "/moved-to-recorded",
                    "/canonical",
                    "https://noted.test/",
                    "https://deep.noted.test/x",
                    "https://unseen.test/",
                    "https://a.unseen.test/y",
                    "https://crawl-me.test/ads/kept",
                    "https://crawl-me.test/ads/dropped",
                    "https://twitter.com/intent/tweet?text=hello",
                    "https://twitter.com/intent/kept",
                    "https://ad.doubleclick.net/x",
                    "https://www.facebook.com/sharer.php?u=x",
                ),
            ),
            "/page": PAGE,
            "/moved-to-skipped": Redirect("https://elsewhere.unseen.test/"),
            "/moved-to-recorded": Redirect("https://target.noted.test/z"),
            "/canonical": Html("Canonical", canonical="https://canonical.unseen.test/"),
        }
    ),
    "noted.test": Host(otherwise=PAGE),
    "deep.noted.test": Host(otherwise=PAGE),
    "target.noted.test": Host(otherwise=PAGE),
    "unseen.test": Host(otherwise=PAGE),
    "a.unseen.test": Host(otherwise=PAGE),
    "elsewhere.unseen.test": Host(otherwise=PAGE),
    "canonical.unseen.test": Host(otherwise=PAGE),
    "crawl-me.test": Host(otherwise=PAGE),
    "twitter.com": Host(otherwise=PAGE),
    "ad.doubleclick.net": Host(otherwise=PAGE),
    "facebook.com": Host(otherwise=PAGE),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    directory = tmp_path_factory.mktemp("rules")
    return crawl_web(Web(HOSTS), directory, rules=RULES)


RECORDED = {
    "start.test/tag/a": "recorded by a rule: */tag/*",
    "noted.test/": "recorded by a rule: *.noted.test",
    "deep.noted.test/x": "recorded by a rule: *.noted.test",
    "target.noted.test/z": "recorded by a rule: *.noted.test",
}


@pytest.mark.parametrize("address", RECORDED)
def test_a_recorded_page_is_there_with_its_reason_and_was_never_asked_for(
    crawled: Crawled, address: str
) -> None:
    page = crawled.page(address)
    assert (page.state, page.error_message) == ("discovered", RECORDED[address])
    assert (page.status_code, page.title) == (None, None)
    host, _, path = address.partition("/")
    assert crawled.exchanges(host, f"/{path}") == []


@pytest.mark.parametrize("host", ["noted.test", "deep.noted.test", "target.noted.test"])
def test_a_host_of_which_all_is_recorded_hears_nothing(crawled: Crawled, host: str) -> None:
    assert not crawled.contacted(host)


def test_the_links_to_recorded_pages_are_kept(crawled: Crawled) -> None:
    links = crawled.database.links()
    start = "https://start.test/"
    assert (start, f"{start}tag/a", "anchor") in links
    assert (start, "https://noted.test/", "anchor") in links
    assert (f"{start}moved-to-recorded", "https://target.noted.test/z", "redirect") in links
    assert crawled.state("start.test/moved-to-recorded") == "redirected"


SKIPPED = (
    "unseen.test", "a.unseen.test", "elsewhere.unseen.test", "canonical.unseen.test",
    "ad.doubleclick.net", "facebook.com",
)  # fmt: skip


@pytest.mark.parametrize("host", SKIPPED)
def test_what_is_skipped_leaves_no_trace(crawled: Crawled, host: str) -> None:
    database = crawled.database
    assert not crawled.contacted(host)
    assert not [url for url in crawled.pages if host in url]
    assert database.rows("SELECT * FROM nodes WHERE domain_name = ?", host) == []
    assert database.rows("SELECT * FROM domain_states WHERE domain = ?", host) == []
    tables = [
        name for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type='table'")
    ]
    for table in tables:
        for row in database.rows(f"SELECT * FROM {table}"):
            # The rule's own text is in the reason of the page that redirects there.
            texts = [str(cell).replace("*.unseen.test", "") for cell in row]
            assert not [text for text in texts if host in text], table


@pytest.mark.parametrize(
    "address", ["start.test/ads/1", "start.test/page?sid=00ff", "crawl-me.test/ads/dropped"]
)
def test_a_skipped_page_of_a_known_host_is_not_there_and_was_not_asked_for(
    crawled: Crawled, address: str
) -> None:
    assert f"https://{address}" not in crawled.pages
    host, _, path = address.partition("/")
    assert crawled.exchanges(host, f"/{path}") == []


@pytest.mark.parametrize("address", ["crawl-me.test/ads/kept", "twitter.com/intent/kept"])
def test_crawl_exempts_from_later_rules_and_from_the_default_set(
    crawled: Crawled, address: str
) -> None:
    assert crawled.state(address) == "processed"
    assert [url for url in crawled.pages if url.startswith("https://twitter.com/")] == [
        "https://twitter.com/intent/kept"
    ]


def test_a_redirect_to_what_is_skipped_says_so_and_leads_nowhere(crawled: Crawled) -> None:
    page = crawled.page("start.test/moved-to-skipped")
    assert page.state == "redirected"
    assert page.error_message == "redirects to an address skipped by a rule: *.unseen.test"
    links = crawled.database.links()
    assert not [link for link in links if link[0] == "https://start.test/moved-to-skipped"]


def test_a_canonical_link_to_what_is_skipped_is_not_there(crawled: Crawled) -> None:
    rows = crawled.database.rows("SELECT canonical_url FROM pages WHERE url LIKE '%/canonical'")
    assert rows == [(None,)]
    assert crawled.state("start.test/canonical") == "processed"


def test_robots_txt_is_asked_for_whatever_the_rules_say(tmp_path: Path) -> None:
    web = Web({START: Host({"/": Html("Start", to("/a")), "/a": PAGE})})
    rules = [{"match": "*/robots.txt", "action": "skip"}, {"match": "re:robots", "action": "skip"}]
    found = crawl_web(web, tmp_path, rules=rules)
    assert found.asked(START, "/robots.txt") == ["robots"]
    assert found.state("start.test/a") == "processed"


def test_the_summary_says_what_was_left_out_and_why(crawled: Crawled) -> None:
    text = (crawled.config.parent / "crawl-summary.md").read_text()
    section = text.partition("## Not crawled")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:3]] for line in section.splitlines()]
    assert ["`recorded by a rule: *.noted.test`", "3"] in cells
    assert ["`recorded by a rule: */tag/*`", "1"] in cells


def test_a_rule_added_between_two_starts_holds_for_what_waits(tmp_path: Path) -> None:
    paths = [f"/{kind}/{number}" for number in range(6) for kind in ("keep", "drop")]
    web = Web({START: Host({"/": Html("Start", to(*paths))}, otherwise=PAGE)})
    with ServedWeb(web, tmp_path / "web") as served:
        config = write_config(tmp_path, served, FROM_START)
        with Running.terrain(config) as running:
            running.wait_until(lambda: len(served.log()) > 8)
            running.signal(signal.SIGTERM)
            assert running.process.wait(PATIENCE) == 3
        asked_before = {each.target for each in served.log()}
        rules = [{"match": "*/drop/*", "action": "record"}]
        write_config(tmp_path, served, FROM_START, rules=rules)
        crawl(config)
        found = look_at(config, served)
    assert Database(config).runs() == [(1, "completed")]
    for path in paths:
        expected = "processed"
        if "drop" in path and path not in asked_before:
            expected = "discovered"
        assert found.state(f"{START}{path}") == expected, path
    assert "discovered" in {page.state for page in found.pages.values()}
