"""The rows of design 3.3 about what comes before the GET: robots.txt and HEAD."""

import gzip

import pytest

from terrain.sampleweb.behaviours import Behaviour, ByMethod, Gzipped, HalfBody
from terrain.sampleweb.pages import (
    BigBody,
    Garbage,
    GzipBomb,
    Html,
    NonHtml,
    Redirect,
    Reset,
    Status,
    to,
)
from terrain.sampleweb.web import Host
from tests.blackbox.crawled import Crawled, crawl_web, web_of

PAGE = Html("A page", to("/private", "/open"))
DENY = "User-agent: *\nDisallow: /private\n"
DENIED = Status(200, DENY.encode())
FILLER = b"# nothing to see here\n" * 60_000
"""Over a megabyte of comment: more than RFC 9309 makes anybody read."""


def under(robots: str | Behaviour) -> Host:
    """A host with these rules, a page that they may forbid, and one that they do not."""
    return Host({"/": PAGE, "/private": Html("P"), "/open": Html("O")}, robots=robots)


def probed(head: Behaviour, get: Behaviour = PAGE) -> Host:
    return Host({"/": ByMethod(head, get)})


OBEYED = {
    "plain.test": under(DENY),
    "packed.test": under(Gzipped(DENIED)),
    "by-name.test": under("User-agent: Terrain\nDisallow: /private\n\nUser-agent: *\nAllow: /\n"),
    "strange-type.test": under(Status(200, DENY.encode(), content_type="text/html")),
    "latin-1.test": under(Status(200, b"# caf\xe9\n" + DENY.encode())),
    "moved.test": under(Redirect("https://not-linked.rules.test/r")),
    "five-hops.test": Host(
        {
            **under(DENY).pages,
            **{f"/{n}": Redirect(f"/{n + 1}") for n in range(1, 5)},
            "/5": DENIED,
        },
        robots=Redirect("/1"),
    ),
    "endless.test": under(Status(200, DENY.encode() + FILLER)),
    "packed-endless.test": under(
        Status(200, gzip.compress(DENY.encode() + FILLER), headers=(("Content-Encoding", "gzip"),))
    ),
}
"""Hosts whose rules can be read, one way or another."""

NOT_THERE = {
    "404.test": under(Status(404)),
    "403.test": under(Status(403)),
    "500.test": under(Status(500)),
    "reset.test": under(Reset()),
    "cut.test": under(HalfBody(DENIED)),
    "garbage.test": under(Garbage()),
    "not-packed.test": under(Status(200, DENY.encode(), headers=(("Content-Encoding", "gzip"),))),
    "bomb.test": under(GzipBomb(50_000_000)),
    "loop.test": under(Redirect("/robots.txt")),
    "six-hops.test": Host(
        {
            **under("").pages,
            **{f"/{n}": Redirect(f"/{n + 1}") for n in range(1, 6)},
            "/6": DENIED,
        },
        robots=Redirect("/1"),
    ),
    "to-blacklist.test": under(Redirect("https://bad.test/robots.txt")),
    "error-without-end.test": under(HalfBody(Html(status=404, size=5_000_000))),
    "file.test": under(BigBody(3_000_000, content_type="application/pdf")),
}
"""Hosts without rules that could be read; `robots.unreachable` is "allow" here."""

PROBED = {
    "head-pdf.test": probed(NonHtml()),
    "head-html.test": probed(PAGE, NonHtml()),
    "head-403.test": probed(Status(403)),
    "head-404.test": probed(Status(404)),
    "head-405.test": probed(Status(405)),
    "head-500.test": probed(Status(500)),
    "head-404-pdf.test": probed(Status(404, content_type="application/pdf")),
    "head-reset.test": probed(Reset()),
    "head-garbage.test": probed(Garbage()),
    "head-untyped.test": probed(Status(200, content_type=None)),
    "head-moved.test": probed(Redirect("https://nowhere.test/")),
}

HOSTS = {
    **OBEYED,
    **NOT_THERE,
    **PROBED,
    "not-linked.rules.test": Host({"/r": DENIED}),
    "spellings.test": Host({"/": Redirect("https://www.spellings.test/")}),
    "www.spellings.test": Host({"/": PAGE}, robots="User-agent: *\nDisallow: /\n"),
    "all.test": under("User-agent: *\nDisallow: /\n"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return crawl_web(
        web_of(HOSTS),
        tmp_path_factory.mktemp("robots"),
        blacklist=[{"domain": "bad.test"}],
        # Pages may be small here; that must not keep rules from being read.
        crawler={"max-body-bytes": 4096},
    )


@pytest.mark.parametrize("host", OBEYED)
def test_what_robots_txt_forbids_fails_and_is_not_asked(crawled: Crawled, host: str) -> None:
    page = crawled.page(f"{host}/private")
    assert (page.state, page.error_message) == ("failed", "robots denied")
    assert crawled.asked(host, "/private") == []
    assert crawled.state(f"{host}/open") == "processed"


def test_a_host_that_forbids_everything_is_asked_for_its_rules_only(crawled: Crawled) -> None:
    assert crawled.state("all.test/") == "failed"
    assert crawled.asked("all.test") == ["robots"]


@pytest.mark.parametrize("host", NOT_THERE)
def test_without_rules_everything_may_be_asked(crawled: Crawled, host: str) -> None:
    assert crawled.state(f"{host}/private") == "processed"
    assert crawled.page(f"{host}/private").error_message is None


@pytest.mark.parametrize("host", ["404.test", "reset.test", "moved.test", "endless.test"])
def test_robots_txt_is_asked_for_once(crawled: Crawled, host: str) -> None:
    assert crawled.asked(host).count("robots") == 1


def test_a_blacklisted_host_is_not_asked_for_the_rules_of_another(crawled: Crawled) -> None:
    assert not crawled.contacted("bad.test")


def test_each_spelling_of_a_host_has_rules_of_its_own(crawled: Crawled) -> None:
    assert crawled.state("spellings.test/") == "failed"
    assert crawled.reason("spellings.test/") == "robots denied"
    assert crawled.asked("www.spellings.test") == ["robots"]


def test_head_that_calls_a_page_a_file_is_believed(crawled: Crawled) -> None:
    assert crawled.state("head-pdf.test/") == "content_mismatch"
    assert crawled.asked("head-pdf.test", "/") == ["head"]


def test_head_that_calls_a_file_a_page_is_found_out(crawled: Crawled) -> None:
    assert crawled.state("head-html.test/") == "content_mismatch"
    assert crawled.asked("head-html.test", "/") == ["head", "get"]


@pytest.mark.parametrize(
    "how", ["403", "404", "405", "500", "404-pdf", "reset", "garbage", "untyped", "moved"]
)
def test_any_other_answer_to_head_says_nothing(crawled: Crawled, how: str) -> None:
    assert crawled.state(f"head-{how}.test/") == "processed"
    assert crawled.asked(f"head-{how}.test", "/") == ["head", "get"]
    assert "https://nowhere.test/" not in crawled.pages
