"""One redirect hop: which page it leads to, and what becomes of the page (design 3.2, 3.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.depth import MAX_HOPS
from terrain.rules.redirects import Hop, HopKind, classify_hop, decode_location, is_redirect
from terrain.rules.states import PageState
from terrain.rules.urls import Address, UrlRules

HTTPS_ONLY = UrlRules()
HTTP_TOO = UrlRules(allow_http=True)


def address(url: str, rules: UrlRules = HTTPS_ONLY) -> Address:
    found = rules.address(url)
    assert found is not None
    return found


def hop(
    url: str,
    location: str | None,
    *,
    status: int = 301,
    asked: list[str] | None = None,
    hops: int = 0,
    rules: UrlRules = HTTPS_ONLY,
) -> Hop:
    """Judge an answer from `url`; `asked` are the addresses asked before it."""
    return classify_hop(
        address=address(url, rules),
        status=status,
        location=location,
        asked=[*(asked or []), url],
        hops=hops,
        rules=rules,
    )


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("https://e.com/docs", "https://e.com/docs/"),
        ("https://e.com/docs", "/docs/"),
        ("https://e.com/docs/", "/docs"),
        ("https://e.com/docs", "https://www.e.com/docs"),
        ("https://www.e.com/", "https://e.com/"),
        ("https://e.com/~u", "/%7Eu"),
        ("https://e.com/a?b=1&a=2", "?a=2&b=1"),
        ("https://e.com/a?utm_source=x", "/a"),
        ("https://e.com/a", "//www.e.com/a"),
    ],
)
def test_another_address_of_the_same_page_is_followed(url: str, location: str) -> None:
    found = hop(url, location)
    assert found.kind is HopKind.FOLLOW
    assert found.state is None
    assert found.reason is None
    assert found.target is not None
    assert found.target.identity == address(url).identity
    assert found.target.fetch_url != url
    assert found.hops == 1


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("https://other.org/x", "https://other.org/x"),
        ("/b", "https://e.com/b"),
        ("b", "https://e.com/dir/b"),
        ("?q=1", "https://e.com/dir/a?q=1"),
        ("//other.org/x", "https://other.org/x"),
        ("  /b\t", "https://e.com/b"),
        ("/b#part", "https://e.com/b"),
        ("http://e.com/b", "https://e.com/b"),  # asked as https, as every page is
        ("https://sub.e.com/dir/a", "https://sub.e.com/dir/a"),
        ("https://e.com:8443/dir/a", "https://e.com:8443/dir/a"),
        ("http://e.com:8080/dir/a", "https://e.com:8080/dir/a"),
    ],
)
def test_another_page_makes_this_one_redirected(location: str, target: str) -> None:
    found = hop("https://e.com/dir/a", location)
    assert found.target is not None
    assert (found.kind, found.state, found.reason) == (
        HopKind.ELSEWHERE,
        PageState.REDIRECTED,
        None,
    )
    assert found.target.fetch_url == target


@pytest.mark.parametrize(
    "location",
    [
        "http://e.com/a",
        "http://www.e.com/a",
        "http://e.com/a/",
        "http://e.com:80/a",
        "http://e.com/a?utm_medium=x",
        "HTTP://E.COM/a",
    ],
)
def test_https_that_redirects_to_http_of_the_same_page_is_unreachable(location: str) -> None:
    found = hop("https://e.com/a", location)
    assert (found.kind, found.state) == (HopKind.DOWNGRADE, PageState.UNREACHABLE)
    assert found.reason == "HTTP 301: https redirects to http of the same page"


def test_with_allow_http_the_same_page_over_http_is_followed() -> None:
    found = hop("https://e.com/a", "http://e.com/a", rules=HTTP_TOO)
    assert found.kind is HopKind.FOLLOW
    assert found.target is not None
    assert found.target.fetch_url == "http://e.com/a"


def test_from_http_to_https_is_followed_and_back_again_is_a_loop() -> None:
    up = hop("http://e.com/a", "https://e.com/a", rules=HTTP_TOO)
    assert up.kind is HopKind.FOLLOW
    back = hop("https://e.com/a", "http://e.com/a", asked=["http://e.com/a"], rules=HTTP_TOO)
    assert (back.kind, back.state) == (HopKind.LOOP, PageState.FAILED)


@pytest.mark.parametrize(
    ("url", "location", "asked"),
    [
        ("https://e.com/a", "https://e.com/a", []),
        ("https://e.com/a", "/a#part", []),
        ("https://e.com/a/", "/a", ["https://e.com/a"]),
        ("https://e.com/a", "/a", ["https://e.com/a/", "https://www.e.com/a"]),
        ("https://e.com/a", "/a/", ["https://e.com/a/", "https://www.e.com/a"]),
    ],
)
def test_the_same_address_twice_is_a_loop(url: str, location: str, asked: list[str]) -> None:
    found = hop(url, location, asked=asked)
    assert (found.kind, found.state) == (HopKind.LOOP, PageState.FAILED)
    assert found.reason == "redirect loop: the same address twice"


@pytest.mark.parametrize(
    "location",
    [
        None,
        "",
        "   ",
        "https://",
        "https://exa mple.com/",
        "http://[::1",
        "mailto:a@e.com",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://e.com/a",
        "file:///etc/passwd",
        "about:blank",
    ],
)
def test_a_redirect_without_a_usable_location_fails(location: str | None) -> None:
    found = hop("https://e.com/a", location, status=302)
    assert (found.kind, found.state, found.target) == (HopKind.NO_LOCATION, PageState.FAILED, None)
    assert found.reason == "HTTP 302: redirect without a usable Location"


@pytest.mark.parametrize("status", [300, 304, 305, 306, 399])
def test_a_3xx_that_browsers_do_not_follow_fails_even_with_a_location(status: int) -> None:
    found = hop("https://e.com/a", "/b", status=status)
    assert (found.kind, found.state) == (HopKind.NO_LOCATION, PageState.FAILED)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_statuses_that_redirect(status: int) -> None:
    assert is_redirect(status)
    assert hop("https://e.com/a", "/b", status=status).kind is HopKind.ELSEWHERE


@pytest.mark.parametrize("status", [200, 201, 300, 304, 305, 306, 404, 500])
def test_the_statuses_that_do_not(status: int) -> None:
    assert not is_redirect(status)


def test_exactly_ten_hops_are_allowed_and_eleven_are_not() -> None:
    tenth = hop("https://e.com/a", "/b", hops=9)
    assert (tenth.kind, tenth.hops) == (HopKind.ELSEWHERE, 10)
    eleventh = hop("https://e.com/a", "/b", hops=10)
    assert (eleventh.kind, eleventh.hops) == (HopKind.TOO_MANY, 11)
    assert eleventh.state is PageState.FAILED
    assert eleventh.reason == "more than 10 redirect hops"


def test_hops_between_addresses_of_one_page_count_too() -> None:
    asked = ["https://e.com/a", "https://e.com/a/"]
    assert hop("https://www.e.com/a", "/b", asked=asked, hops=7).hops == 10
    assert hop("https://www.e.com/a", "/b", asked=asked, hops=8).kind is HopKind.TOO_MANY
    assert hop("https://www.e.com/a", "/a/", asked=asked, hops=7).kind is HopKind.FOLLOW
    assert hop("https://www.e.com/a", "/a/", asked=asked, hops=8).kind is HopKind.TOO_MANY


def test_the_target_beyond_the_limit_is_named_for_when_a_shorter_way_is_found() -> None:
    found = hop("https://e.com/a", "https://other.org/", hops=10)
    assert found.target is not None
    assert found.target.identity == "https://other.org/"


def test_a_downgrade_or_a_loop_is_called_that_even_beyond_the_limit() -> None:
    assert hop("https://e.com/a", "http://e.com/a", hops=10).kind is HopKind.DOWNGRADE
    assert hop("https://e.com/a", "/a", hops=10).kind is HopKind.LOOP


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"/caf%C3%A9", "/caf%C3%A9"),
        ("/café".encode(), "/café"),
        ("/café".encode("latin-1"), "/café"),
        (b"", ""),
    ],
)
def test_a_location_is_decoded_as_browsers_do(raw: bytes, text: str) -> None:
    assert decode_location(raw) == text


@given(
    raw=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8")),
    status=st.integers(300, 399),
    hops=st.integers(0, 20),
    rules=st.sampled_from([HTTPS_ONLY, HTTP_TOO]),
)
def test_any_location_gets_a_verdict_that_fits_together(
    raw: bytes, status: int, hops: int, rules: UrlRules
) -> None:
    found = hop("https://e.com/a", decode_location(raw), status=status, hops=hops, rules=rules)
    assert (found.state is None) == (found.kind is HopKind.FOLLOW)
    assert (found.reason is None) == (found.kind in {HopKind.FOLLOW, HopKind.ELSEWHERE})
    if found.kind in {HopKind.FOLLOW, HopKind.ELSEWHERE}:
        assert found.target is not None
        assert found.hops <= MAX_HOPS
    assert found.hops == hops + 1


SPELLINGS = [
    f"https://{www}e.com/{tilde}a{slash}{query}"
    for www in ("", "www.")
    for tilde in ("~", "%7E")
    for slash in ("", "/")
    for query in ("", "?ref=x", "?gclid=1")
]


@given(st.permutations(SPELLINGS), st.integers(0, MAX_HOPS))
def test_no_server_can_keep_one_page_going_for_ever(ways: list[str], hops: int) -> None:
    asked = [ways[0]]
    for location in ways[1:]:
        found = hop(asked[-1], location, asked=asked[:-1], hops=hops)
        if found.kind is HopKind.TOO_MANY:
            break
        assert found.kind is HopKind.FOLLOW
        asked.append(location)
    assert hops + len(asked) - 1 == MAX_HOPS
