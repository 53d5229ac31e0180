"""The table of design 3.3: what an answer makes of its page, row by row."""

import gzip

import pytest

from terrain.sampleweb.behaviours import (
    ByMethod,
    Drip,
    Flaky,
    Framed,
    GiantHeader,
    Gzipped,
    HalfBody,
)
from terrain.sampleweb.pages import BigBody, Garbage, GzipBomb, Html, NonHtml, Status, to
from terrain.sampleweb.web import Host
from tests.blackbox.crawled import Crawled, crawl_web, web_of

MAX_BODY = 200_000
"""`max-body-bytes` of this crawl."""

MEGABYTE = 1_000_000
GZIP = (("Content-Encoding", "gzip"),)
BOMB = gzip.compress(bytes(50 * MEGABYTE))
PAGE = Html("A page", text=("Some words that somebody might read.",) * 200)


def home(behaviour: object) -> Host:
    return Host({"/": behaviour})  # type: ignore[dict-item]


HOSTS = {
    "html.test": home(Html("HTML", description="About", lang="en")),
    "xhtml.test": home(Html("XHTML", content_type="application/xhtml+xml")),
    "dripping.test": home(Drip(Html("Slow and steady"), piece=100, pause=0.01)),
    "404.test": home(Status(404)),
    "410.test": home(Status(410)),
    "404-cut.test": home(HalfBody(Status(404, b"x" * 5000))),
    "404-bomb.test": home(Status(404, BOMB, headers=GZIP)),
    "404-not-gzip.test": home(Status(404, b"not packed at all", headers=GZIP)),
    "404-large.test": home(Html(status=404, size=5 * MEGABYTE)),
    "403.test": home(Status(403)),
    "401.test": home(Status(401)),
    "999.test": home(Status(999)),
    "500.test": home(Status(500)),
    "flaky.test": home(Flaky((Status(500), Html("Here I am")))),
    "flaky-to-the-last.test": home(Flaky((*[Status(502)] * 3, Html("Here I am")))),
    "type-html.test": home(Html("Untyped", content_type=None)),
    "type-none.test": home(NonHtml(content_type=None)),
    "type-nonsense.test": home(Html("Nonsense", content_type="nonsense")),
    "pdf.test": home(NonHtml()),
    "pdf-large.test": home(NonHtml(size=5 * MEGABYTE)),
    "pdf-unannounced.test": home(ByMethod(Html(), NonHtml(size=5 * MEGABYTE))),
    "pdf-not-gzip.test": home(ByMethod(Html(), NonHtml(headers=GZIP))),
    "feed.test": home(NonHtml("application/rss+xml", start=b"<rss>")),
    "large.test": home(BigBody(MEGABYTE)),
    "large-unannounced.test": home(Framed(BigBody(MEGABYTE), "chunked")),
    "large-enough.test": home(Html("Just fits", size=MAX_BODY)),
    "gzip.test": home(Gzipped(PAGE)),
    "gzip-bomb.test": home(GzipBomb(50 * MEGABYTE)),
    "not-gzip.test": home(Html("Not packed", headers=GZIP)),
    "cut.test": home(HalfBody(PAGE)),
    "cut-chunks.test": home(HalfBody(Framed(PAGE, "chunked"))),
    "cut-once.test": home(Flaky((HalfBody(PAGE), PAGE))),
    "ends-by-closing.test": home(Framed(PAGE, "close")),
    "garbage.test": home(Garbage()),
    "giant-header.test": home(GiantHeader(Html("Heavy head"))),
    "broken-charset.test": home(Html("Café", charset="latin-1")),
    "unknown-charset.test": home(Html("Klingon", content_type="text/html; charset=klingon")),
    "links.test": home(Html("Links", to("/same", "/same", "/", "mailto:a@b.test"))),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return crawl_web(
        web_of(HOSTS), tmp_path_factory.mktemp("answers"), crawler={"max-body-bytes": MAX_BODY}
    )


def assert_tries(crawled: Crawled, host: str, tries: int) -> None:
    """The page was asked for with GET so many times, and says how many were in vain."""
    assert crawled.asked(host, "/").count("get") == tries
    assert crawled.page(f"{host}/").retry_count == tries - 1


@pytest.mark.parametrize("name", ["html", "xhtml", "dripping"])
def test_2xx_html_is_processed(crawled: Crawled, name: str) -> None:
    page = crawled.page(f"{name}.test/")
    assert (page.state, page.status_code, page.error_message) == ("processed", 200, None)
    assert crawled.asked(f"{name}.test") == ["robots", "head", "get"]


def test_what_is_known_of_a_processed_page(crawled: Crawled) -> None:
    facts = crawled.database.rows(
        "SELECT title, description, language, content_type, bytes > 0, fetch_ms >= 0, visited_at"
        " FROM pages WHERE url = 'https://html.test/'"
    )[0]
    assert facts[:6] == ("HTML", "About", "en", "text/html; charset=utf-8", 1, 1)
    assert facts[6].endswith("Z")


@pytest.mark.parametrize("status", [404, 410])
def test_404_and_410_are_dead_links(crawled: Crawled, status: int) -> None:
    page = crawled.page(f"{status}.test/")
    assert (page.state, page.status_code) == ("dead_link", status)
    assert page.error_message == f"HTTP {status}"
    assert crawled.asked(f"{status}.test") == ["robots", "head", "get"]


@pytest.mark.parametrize("name", ["404-cut", "404-bomb", "404-not-gzip", "404-large"])
def test_the_body_of_an_error_page_does_not_matter(crawled: Crawled, name: str) -> None:
    assert crawled.state(f"{name}.test/") == "dead_link"
    assert_tries(crawled, f"{name}.test", 1)


def test_a_large_error_page_is_not_downloaded(crawled: Crawled) -> None:
    assert crawled.exchanges("404-large.test", "/")[-1].outcome == "left"


@pytest.mark.parametrize("status", [401, 403, 999])
def test_other_4xx_fail_at_once(crawled: Crawled, status: int) -> None:
    assert crawled.state(f"{status}.test/") == "failed"
    assert crawled.reason(f"{status}.test/") == f"HTTP {status}"
    assert_tries(crawled, f"{status}.test", 1)


def test_500_is_asked_four_times_and_then_failed(crawled: Crawled) -> None:
    assert crawled.state("500.test/") == "failed"
    assert crawled.reason("500.test/") == "HTTP 500"
    assert_tries(crawled, "500.test", 4)


@pytest.mark.parametrize(("name", "tries"), [("flaky", 2), ("flaky-to-the-last", 4)])
def test_a_flaky_page_is_processed_in_the_end(crawled: Crawled, name: str, tries: int) -> None:
    assert crawled.state(f"{name}.test/") == "processed"
    assert_tries(crawled, f"{name}.test", tries)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("type-html", "processed"),
        ("type-nonsense", "processed"),
        ("type-none", "content_mismatch"),
    ],
)
def test_2xx_without_a_type_is_sniffed(crawled: Crawled, name: str, state: str) -> None:
    assert crawled.state(f"{name}.test/") == state
    assert crawled.asked(f"{name}.test") == ["robots", "head", "get"]


@pytest.mark.parametrize("name", ["pdf", "pdf-large", "feed"])
def test_what_head_calls_not_html_is_not_asked_for(crawled: Crawled, name: str) -> None:
    assert crawled.state(f"{name}.test/") == "content_mismatch"
    assert crawled.reason(f"{name}.test/").startswith("not HTML: application/")
    assert crawled.asked(f"{name}.test") == ["robots", "head"]


def test_a_large_file_that_head_did_not_announce_is_cut_off_at_its_headers(
    crawled: Crawled,
) -> None:
    assert crawled.state("pdf-unannounced.test/") == "content_mismatch"
    get = crawled.exchanges("pdf-unannounced.test", "/")[-1]
    assert (get.kind, get.outcome) == ("get", "left")
    assert get.bytes < 5 * MEGABYTE


def test_a_file_that_is_cut_off_is_not_unpacked(crawled: Crawled) -> None:
    assert crawled.state("pdf-not-gzip.test/") == "content_mismatch"


@pytest.mark.parametrize("name", ["large", "large-unannounced"])
def test_a_body_too_large_fails_at_once(crawled: Crawled, name: str) -> None:
    assert crawled.state(f"{name}.test/") == "failed"
    assert crawled.reason(f"{name}.test/").startswith("body too large: ")
    assert_tries(crawled, f"{name}.test", 1)


def test_a_body_of_just_the_size_allowed_is_read(crawled: Crawled) -> None:
    assert crawled.state("large-enough.test/") == "processed"


def test_a_packed_page_is_unpacked(crawled: Crawled) -> None:
    assert crawled.page("gzip.test/").title == "A page"


def test_a_gzip_bomb_fails_at_once(crawled: Crawled) -> None:
    assert crawled.state("gzip-bomb.test/") == "failed"
    assert crawled.reason("gzip-bomb.test/").startswith("decompression bomb: ")
    assert_tries(crawled, "gzip-bomb.test", 1)


def test_a_body_that_cannot_be_unpacked_fails(crawled: Crawled) -> None:
    assert crawled.state("not-gzip.test/") == "failed"
    assert "gzip" in crawled.reason("not-gzip.test/")


@pytest.mark.parametrize("name", ["cut", "cut-chunks", "garbage"])
def test_a_broken_transfer_is_tried_four_times_and_then_failed(crawled: Crawled, name: str) -> None:
    assert crawled.state(f"{name}.test/") == "failed"
    assert crawled.reason(f"{name}.test/").startswith("broken transfer")
    assert_tries(crawled, f"{name}.test", 4)


def test_a_transfer_cut_once_is_made_good(crawled: Crawled) -> None:
    assert crawled.page("cut-once.test/").title == "A page"
    assert_tries(crawled, "cut-once.test", 2)


def test_a_body_that_ends_by_closing_is_whole(crawled: Crawled) -> None:
    assert crawled.page("ends-by-closing.test/").title == "A page"


def test_a_header_of_a_megabyte_is_its_own_pages_problem(crawled: Crawled) -> None:
    page = crawled.page("giant-header.test/")
    assert page.state == "failed"
    assert 0 < len(page.error_message or "") <= 300


@pytest.mark.parametrize("name", ["broken-charset", "unknown-charset"])
def test_a_wrong_charset_does_not_keep_a_page_from_being_read(crawled: Crawled, name: str) -> None:
    assert crawled.state(f"{name}.test/") == "processed"


def test_links_are_recorded_once_per_pair_and_not_to_the_page_itself(crawled: Crawled) -> None:
    links = {link for link in crawled.database.links() if link[0] == "https://links.test/"}
    assert links == {("https://links.test/", "https://links.test/same", "anchor")}
