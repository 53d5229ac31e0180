"""By domain every address on a host is its home page; where that really is, redirects say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.extract import PageFacts, extract
from terrain.rules.redirects import Hop, HopKind, classify_hop
from terrain.rules.states import PageState
from terrain.rules.urls import UrlRules, page_key

BY_PAGE = UrlRules()
BY_HOST = UrlRules(by_host=True)

HOMES = [
    # (what it shows, href, identity, fetch URL)
    ("a home", "https://e.com/", "https://e.com/", "https://e.com/"),
    ("a page", "https://e.com/a/b?c=1#d", "https://e.com/", "https://e.com/"),
    ("www.", "https://www.e.com/a", "https://e.com/", "https://www.e.com/"),
    ("http", "http://e.com/a", "https://e.com/", "https://e.com/"),
    ("a port", "https://e.com:8443/a", "https://e.com/", "https://e.com:8443/"),
    ("the default port", "http://e.com:443/a", "https://e.com/", "https://e.com/"),
    ("a trailing dot", "https://e.com./a", "https://e.com/", "https://e.com./"),
    ("upper case", "HTTPS://E.Com/A", "https://e.com/", "https://e.com/"),
    ("a password", "https://me:secret@e.com/a", "https://e.com/", "https://e.com/"),
    ("Unicode", "https://bücher.de/a", "https://xn--bcher-kva.de/", "https://xn--bcher-kva.de/"),
    ("IPv4", "https://192.0.2.1/a", "https://192.0.2.1/", "https://192.0.2.1/"),
    ("IPv6", "https://[2001:DB8::1]/a", "https://[2001:db8::1]/", "https://[2001:db8::1]/"),
    ("a single label", "https://intranet/a", "https://intranet/", "https://intranet/"),
    ("an address too long for a page", f"https://e.com/{'a' * 9000}", "https://e.com/",
     "https://e.com/"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("href", "identity", "fetch_url"), [pytest.param(*case[1:], id=case[0]) for case in HOMES]
)
def test_an_address_is_the_home_of_its_host(href: str, identity: str, fetch_url: str) -> None:
    address = BY_HOST.address(href)
    assert address is not None
    assert (address.identity, address.fetch_url) == (identity, fetch_url)
    assert (address.page_id, address.check) == page_key(identity)


def test_a_relative_address_is_on_the_same_host() -> None:
    for href in ("/a", "b?c", "?d", "#e", "."):
        address = BY_HOST.address(href, "https://www.e.com/deep/page")
        assert address is not None
        assert (address.identity, address.fetch_url) == ("https://e.com/", "https://www.e.com/")


@pytest.mark.parametrize("href", ["mailto:a@e.com", "javascript:0", "https://", "tel:1", ""])
def test_what_is_no_page_is_no_host_either(href: str) -> None:
    assert BY_HOST.address(href) is None
    assert BY_HOST.located(href) is None


def test_an_address_that_a_server_names_is_kept_as_found() -> None:
    address = BY_HOST.located("/en/?a=1#b", "https://www.e.com/")
    assert address is not None
    assert address.identity == "https://e.com/"
    assert address.fetch_url == "https://www.e.com/en/?a=1"


@given(
    st.sampled_from(["https://", "http://", "//"]),
    st.from_regex(r"[a-z0-9][a-z0-9.-]{0,20}[a-z0-9](:[0-9]{1,4})?", fullmatch=True),
    st.text(max_size=30),
)
def test_the_host_is_the_one_that_a_page_there_has(scheme: str, host: str, rest: str) -> None:
    href = f"{scheme}{host}/{rest}"
    page, home = (rules.address(href, "https://e.com/") for rules in (BY_PAGE, BY_HOST))
    assert (page is None) == (home is None)
    if page is not None and home is not None:
        assert home.host == page.host
        assert home.identity == f"https://{page.host}/"
        again = BY_HOST.address(home.identity)
        assert again is not None
        assert again.identity == home.identity


def hop(url: str, location: str, *asked: str) -> Hop:
    address = BY_HOST.located(url)
    assert address is not None
    return classify_hop(
        address=address, status=301, location=location, asked=[*asked, url], hops=0, rules=BY_HOST
    )


@pytest.mark.parametrize("location", ["https://www.e.com/", "/en/", "/login?next=/", "//e.com./x"])
def test_a_redirect_on_the_host_is_followed_to_where_it_leads(location: str) -> None:
    found = hop("https://e.com/", location)
    assert (found.kind, found.state) == (HopKind.FOLLOW, None)
    assert found.target == BY_HOST.located(location, "https://e.com/")


def test_a_redirect_to_another_host_leads_to_its_home() -> None:
    found = hop("https://e.com/", "https://www.other.com/landing?from=e.com")
    assert (found.kind, found.state) == (HopKind.ELSEWHERE, PageState.REDIRECTED)
    assert found.target is not None
    assert found.target.fetch_url == "https://www.other.com/"


def test_the_same_address_twice_is_a_loop_and_no_other() -> None:
    assert hop("https://e.com/en/", "/", "https://e.com/").kind is HopKind.LOOP
    assert hop("https://e.com/en/", "/en/start", "https://e.com/").kind is HopKind.FOLLOW


def test_a_redirect_to_http_of_the_host_is_a_downgrade() -> None:
    assert hop("https://e.com/", "http://e.com/en/").kind is HopKind.DOWNGRADE


def read(html: str, max_links: int | None = None) -> PageFacts:
    return extract(
        html.encode(),
        content_type="text/html",
        fetch_url="https://www.e.com/en/",
        identity="https://e.com/",
        rules=BY_HOST,
        max_links=max_links,
    )


PAGE = """
    <a href=/about>own</a> <a href=https://e.com/x>own</a> <a href=https://b.com/2>second</a>
    <a href=https://b.com/1>again</a> <a href=//www.a.com>first</a> <a href=https://a.com>again</a>
    <a href=https://c.com download>file</a> <a href=http://d.com:81/x>third</a>"""


class TestLinks:
    def test_are_the_first_to_each_other_host_in_document_order(self) -> None:
        found = [(link.address.host, link.anchor) for link in read(PAGE).links]
        assert found == [("b.com", "second"), ("a.com", "first"), ("d.com", "third")]

    @pytest.mark.parametrize("most", [1, 2, 3, 4])
    def test_only_so_many_are_taken(self, most: int) -> None:
        facts = read(PAGE, most)
        hosts = [link.address.host for link in facts.links]
        assert hosts == ["b.com", "a.com", "d.com"][:most]
        note = f"kept the first {most} of more links" if most < 3 else None
        assert facts.note == note

    def test_a_canonical_link_is_none_of_them_and_is_kept_as_a_fact(self) -> None:
        facts = read("<link rel=canonical href=https://www.other.com/page><a href=//b.com>b</a>", 1)
        assert [link.address.host for link in facts.links] == ["b.com"]
        assert facts.canonical_url == "https://www.other.com/page"
