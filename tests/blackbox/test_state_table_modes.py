"""The modes of robots.txt and HEAD: what the configuration makes of the rows of design 3.3."""

import pytest

from terrain.sampleweb.pages import Html, NonHtml, Reset, Status, to
from terrain.sampleweb.web import Host
from tests.blackbox.crawled import Crawled, crawl_web, web_of

LARGE = 5_000_000
PATHS = ("/page", "/page.html", "/file.pdf", "/no-file.pdf", "/unnamed")
FILES = Host(
    {
        "/": Html("Files", to(*PATHS)),
        "/page": Html("A page"),
        "/page.html": Html("A page"),
        "/file.pdf": NonHtml(),
        "/no-file.pdf": Html("A page about a PDF"),
        "/unnamed": NonHtml(size=LARGE),
    }
)
STATES = {
    "/page": "processed",
    "/page.html": "processed",
    "/file.pdf": "content_mismatch",
    "/no-file.pdf": "processed",
    "/unnamed": "content_mismatch",
}
PAGE = Html("A page")
DENYING = Host({"/": PAGE}, robots="User-agent: *\nDisallow: /\nCrawl-delay: 1\n")
WEB = web_of(
    {
        "files.test": FILES,
        "denying.test": DENYING,
        "500.test": Host({"/": PAGE}, robots=Status(500)),
        "reset.test": Host({"/": PAGE}, robots=Reset()),
        "404.test": Host({"/": PAGE}, robots=Status(404)),
    }
)


@pytest.fixture(scope="module")
def auto_and_report(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return crawl_web(
        WEB,
        tmp_path_factory.mktemp("report"),
        robots={"mode": "report"},
        crawler={"head-probe": "auto"},
    )


@pytest.fixture(scope="module")
def never_and_ignore(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return crawl_web(
        WEB,
        tmp_path_factory.mktemp("ignore"),
        robots={"mode": "ignore"},
        crawler={"head-probe": "never"},
    )


@pytest.fixture(scope="module")
def disallow(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return crawl_web(WEB, tmp_path_factory.mktemp("disallow"), robots={"unreachable": "disallow"})


@pytest.mark.parametrize("mode", ["auto_and_report", "never_and_ignore", "disallow"])
def test_the_probe_changes_the_requests_and_not_the_states(
    mode: str, request: pytest.FixtureRequest
) -> None:
    crawled: Crawled = request.getfixturevalue(mode)
    assert {path: crawled.state(f"files.test{path}") for path in PATHS} == STATES


def test_auto_probes_what_looks_like_a_file(auto_and_report: Crawled) -> None:
    asked = {path: auto_and_report.asked("files.test", path) for path in PATHS}
    assert asked == {
        "/page": ["get"],
        "/page.html": ["get"],
        "/file.pdf": ["head"],
        "/no-file.pdf": ["head", "get"],
        "/unnamed": ["get"],
    }


def test_never_does_not_probe(never_and_ignore: Crawled) -> None:
    assert {each.kind for each in never_and_ignore.log} == {"get"}


@pytest.mark.parametrize("mode", ["auto_and_report", "never_and_ignore"])
def test_without_a_probe_a_large_file_is_cut_off_at_its_headers(
    mode: str, request: pytest.FixtureRequest
) -> None:
    crawled: Crawled = request.getfixturevalue(mode)
    (get,) = crawled.exchanges("files.test", "/unnamed")
    assert get.outcome == "left"
    assert get.bytes < LARGE


def test_report_asks_all_the_same_and_notes_it(auto_and_report: Crawled) -> None:
    page = auto_and_report.page("denying.test/")
    assert (page.state, page.error_message) == ("processed", "robots denied")
    assert auto_and_report.page("404.test/").error_message is None


def test_report_still_keeps_the_crawl_delay(auto_and_report: Crawled) -> None:
    robots, get = auto_and_report.exchanges("denying.test")
    assert get.start - robots.end >= 0.998


def test_ignore_does_not_even_ask_for_robots_txt(never_and_ignore: Crawled) -> None:
    page = never_and_ignore.page("denying.test/")
    assert (page.state, page.error_message) == ("processed", None)


@pytest.mark.parametrize("host", ["500.test", "reset.test"])
def test_what_cannot_be_read_may_count_as_forbidden(disallow: Crawled, host: str) -> None:
    assert disallow.state(f"{host}/") == "failed"
    assert disallow.reason(f"{host}/") == "robots denied: robots.txt could not be read"
    assert disallow.asked(host) == ["robots"]


def test_a_robots_txt_that_does_not_exist_forbids_nothing(disallow: Crawled) -> None:
    assert disallow.state("404.test/") == "processed"
