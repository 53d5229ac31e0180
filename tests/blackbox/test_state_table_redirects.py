"""The redirect rows of the table of design 3.3."""

import pytest

from terrain.sampleweb.behaviours import Behaviour, ByMethod, Slow
from terrain.sampleweb.pages import Html, Raw, Redirect, to
from terrain.sampleweb.web import Host
from tests.blackbox.crawled import Crawled, crawl_web, web_of

END = Html("The end")

LATE = 5.0
"""Seconds after which the shorter way is found: by then the long chain has been walked."""


def chain(length: int) -> Host:
    """`/0` leads to `/<length>` in that many hops."""
    pages: dict[str, Behaviour] = {f"/{n}": Redirect(f"/{n + 1}") for n in range(length)}
    return Host({**pages, f"/{length}": END})


def moved(location: str | None, status: int = 302, **more: Behaviour) -> Host:
    """A host whose home page redirects; `more` are pages by the name of their path."""
    pages: dict[str, Behaviour] = {f"/{name}": page for name, page in more.items()}
    return Host({"/": Redirect(location, status), **pages})


HOSTS = {
    "slash.test": Host({"/docs": Redirect("/docs/"), "/docs/": END}),
    "bare.test": moved("https://www.bare.test/"),
    "www.bare.test": Host({"/": END}),
    "both.test": Host({"/a": Redirect("https://www.both.test/a")}),
    "www.both.test": Host({"/a": Redirect("/a/"), "/a/": END}),
    **{f"status-{n}.test": moved("/x", n, x=END) for n in (301, 302, 303, 307, 308)},
    "known.test": Host({"/": Redirect("/hub"), "/hub": Html("Hub", to("/"))}),
    "none.test": moved(None),
    "empty.test": moved(""),
    "mail.test": moved("mailto:someone@mail.test"),
    "invalid.test": moved("https://[nonsense/"),
    "choices.test": moved("/x", 300, x=END),
    "not-modified.test": moved("/x", 304, x=END),
    "downgrade.test": moved("http://downgrade.test/"),
    "downgrade-elsewhere.test": moved("http://downgrade-elsewhere.test/x", x=END),
    "to-blacklist.test": moved("https://bad.test/trap"),
    "to-stub.test": moved("https://sub.noted.test/page"),
    "not-linked.bad.test": Host({"/trap": END}),
    "relative.test": Host({"/a/b": Redirect("../c?x=1#part"), "/c?x=1": END}),
    "unicode.test": Host({"/": Redirect("/caf\u00e9"), "/caf%C3%A9": END}),
    "other-scheme.test": moved("ftp://other-scheme.test/file"),
    "self.test": moved("/"),
    "spellings.test": Host({"/x": Redirect("/x/"), "/x/": Redirect("/x")}),
    "cycle.test": Host({"/in": Redirect("/a"), "/a": Redirect("/b"), "/b": Redirect("/a")}),
    "ten.test": chain(10),
    "eleven.test": chain(11),
    "middle.test": chain(14),
    "late.test": chain(14),
    "guide.test": Host({"/": ByMethod(END, Slow(LATE, Html("Guide", to("https://late.test/7"))))}),
    "raw-location.test": Host(
        {"/": Raw(b"HTTP/1.1 302 Found\r\nLocation: /\xe9\r\nContent-Length: 0\r\n\r\n")}
    ),
}
ENTRIES = {
    "slash.test": ["/docs"],
    "both.test": ["/a"],
    "relative.test": ["/a/b"],
    "spellings.test": ["/x"],
    "cycle.test": ["/in"],
    "ten.test": ["/0"],
    "eleven.test": ["/0"],
    "middle.test": ["/0", "/7"],
    "late.test": ["/0"],
}
"""Where a host is entered, unless at its home page."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    hrefs = [
        f"https://{name}{path}"
        for name in HOSTS
        if not name.startswith(("www.", "not-linked."))
        for path in ENTRIES.get(name, ["/"])
    ]
    return crawl_web(
        web_of(HOSTS, *hrefs),
        tmp_path_factory.mktemp("redirects"),
        blacklist=[{"domain": "bad.test"}],
        stub=[{"domain": "*.noted.test"}],
        crawler={"max-depth": 2},
    )


def states(crawled: Crawled, host: str) -> dict[str, str]:
    start = f"https://{host}"
    return {
        url.removeprefix(start): page.state
        for url, page in crawled.pages.items()
        if url.startswith(f"{start}/")
    }


@pytest.mark.parametrize(
    ("identity", "fetch_url", "gets"),
    [
        ("slash.test/docs", "https://slash.test/docs/", ["/docs", "/docs/"]),
        ("bare.test/", "https://www.bare.test/", ["/", "/"]),
        ("both.test/a", "https://www.both.test/a/", ["/a", "/a", "/a/"]),
    ],
)
def test_the_same_page_at_another_address_is_followed_and_no_loop(
    crawled: Crawled, identity: str, fetch_url: str, gets: list[str]
) -> None:
    page = crawled.page(identity)
    assert (page.state, page.title, page.fetch_url) == ("processed", "The end", fetch_url)
    host = identity.partition("/")[0]
    assert [e.target for e in crawled.log if e.key == host and e.kind == "get"] == gets
    assert not any(source == identity for source, _ in crawled.redirects())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_another_page_is_redirected_to_and_asked_at_the_same_depth(
    crawled: Crawled, status: int
) -> None:
    host = f"status-{status}.test"
    assert states(crawled, host) == {"/": "redirected", "/x": "processed"}
    assert crawled.page(f"{host}/").status_code == status
    assert (f"{host}/", f"{host}/x") in crawled.redirects()
    depths = {url: depth for url, _, depth in crawled.database.depths()}
    assert depths[f"https://{host}/"] == depths[f"https://{host}/x"] == 1


def test_a_known_target_is_not_asked_again(crawled: Crawled) -> None:
    assert states(crawled, "known.test") == {"/": "redirected", "/hub": "processed"}
    assert crawled.asked("known.test").count("get") == 2


@pytest.mark.parametrize("name", ["none", "empty", "mail", "other-scheme", "invalid"])
def test_3xx_without_a_usable_location_fails(crawled: Crawled, name: str) -> None:
    assert crawled.state(f"{name}.test/") == "failed"
    assert crawled.reason(f"{name}.test/").endswith("redirect without a usable Location")
    assert crawled.asked(f"{name}.test").count("get") == 1


@pytest.mark.parametrize("name", ["choices", "not-modified"])
def test_3xx_that_is_no_redirect_fails(crawled: Crawled, name: str) -> None:
    assert states(crawled, f"{name}.test") == {"/": "failed"}
    assert crawled.asked(f"{name}.test").count("get") == 1


def test_https_that_redirects_to_http_of_the_same_page_is_unreachable(crawled: Crawled) -> None:
    assert states(crawled, "downgrade.test") == {"/": "unreachable"}
    assert "http" in crawled.reason("downgrade.test/")
    assert {e.scheme for e in crawled.exchanges("downgrade.test")} == {"https"}


def test_a_redirect_to_http_of_another_page_is_followed_over_https(crawled: Crawled) -> None:
    assert states(crawled, "downgrade-elsewhere.test") == {"/": "redirected", "/x": "processed"}
    assert {e.scheme for e in crawled.exchanges("downgrade-elsewhere.test")} == {"https"}


@pytest.mark.parametrize(
    ("source", "target", "state"),
    [
        ("to-blacklist.test/", "bad.test/trap", "blacklisted"),
        ("to-stub.test/", "sub.noted.test/page", "stubbed"),
    ],
)
def test_a_redirect_to_a_listed_host_is_recorded_and_not_visited(
    crawled: Crawled, source: str, target: str, state: str
) -> None:
    assert crawled.state(source) == "redirected"
    assert crawled.state(target) == state
    assert (source, target) in crawled.redirects()
    assert not crawled.contacted(target.partition("/")[0])


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("relative.test/a/b", "relative.test/c?x=1"),
        ("unicode.test/", "unicode.test/caf%C3%A9"),
        ("raw-location.test/", "raw-location.test/%C3%A9"),
    ],
)
def test_a_location_is_read_as_browsers_read_it(crawled: Crawled, source: str, target: str) -> None:
    assert crawled.state(source) == "redirected"
    assert (source, target) in crawled.redirects()


def test_the_same_address_twice_is_a_loop(crawled: Crawled) -> None:
    assert states(crawled, "self.test") == {"/": "failed"}
    assert "loop" in crawled.reason("self.test/")
    assert crawled.asked("self.test").count("get") == 1


def test_spellings_that_lead_to_each_other_are_a_loop(crawled: Crawled) -> None:
    assert states(crawled, "spellings.test") == {"/x": "failed"}
    assert "loop" in crawled.reason("spellings.test/x")
    asked = [e.target for e in crawled.exchanges("spellings.test") if e.kind == "get"]
    assert asked == ["/x", "/x/"]


def test_a_cycle_fails_with_all_that_leads_into_it(crawled: Crawled) -> None:
    assert states(crawled, "cycle.test") == dict.fromkeys(("/in", "/a", "/b"), "failed")
    assert {crawled.reason(f"cycle.test/{name}") for name in ("in", "a", "b")} == {"redirect cycle"}
    assert crawled.asked("cycle.test").count("get") == 3


def test_exactly_ten_hops_are_followed(crawled: Crawled) -> None:
    walked = {f"/{n}": "redirected" for n in range(10)}
    assert states(crawled, "ten.test") == {**walked, "/10": "processed"}


def test_eleven_hops_fail_and_the_last_page_is_not_asked(crawled: Crawled) -> None:
    assert states(crawled, "eleven.test") == {f"/{n}": "failed" for n in range(12)}
    reasons = {crawled.reason(f"eleven.test/{n}") for n in range(12)}
    assert all("more than 10 redirect hops" in reason for reason in reasons)
    assert crawled.asked("eleven.test", "/11") == []


@pytest.mark.parametrize("host", ["middle.test", "late.test"])
def test_hops_are_counted_from_the_nearest_link_whenever_it_is_found(
    crawled: Crawled, host: str
) -> None:
    walked = {f"/{n}": "redirected" for n in range(14)}
    assert states(crawled, host) == {**walked, "/14": "processed"}
    assert all(not crawled.reason(f"{host}/{n}") for n in range(15))


def test_the_late_way_was_found_late(crawled: Crawled) -> None:
    """Else the test above shows less than it says."""
    found = crawled.exchanges("guide.test", "/")[-1].end
    first_part = [crawled.exchanges("late.test", f"/{n}")[-1] for n in range(11)]
    assert all(each.end < found for each in first_part)
    assert crawled.exchanges("late.test", "/11")[0].start > found
