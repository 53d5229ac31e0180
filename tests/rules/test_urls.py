"""Identity, fetch URL and page id: the specification of design 3.2, case by case and in general."""

import hashlib
from pathlib import Path

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from terrain.rules import urls
from terrain.rules.urls import (
    MAX_URL_LENGTH,
    Address,
    InvalidUrl,
    UrlRules,
    host_id,
    page_id,
    page_key,
    robots_origin,
)

WILD = (
    (Path(__file__).parents[1] / "data" / "urls-seen-in-the-wild.txt")
    .read_text(encoding="utf-8")
    .splitlines()
)

rules = UrlRules()
rules_with_http = UrlRules(allow_http=True)


def found(href: str, base: str | None = None, *, by: UrlRules = rules) -> Address:
    address = by.address(href, base)
    assert address is not None, f"{href!r} is no page"
    return address


SAME_PAGE = [
    # (what it shows, as found, identity)
    ("https already", "https://example.com/a", "https://example.com/a"),
    ("http becomes https", "http://example.com/a", "https://example.com/a"),
    ("the root has its slash", "https://example.com", "https://example.com/"),
    ("www. goes", "https://www.example.com/", "https://example.com/"),
    ("www. goes however often", "https://www.www.example.com/", "https://example.com/"),
    ("www. goes before a suffix", "https://www.gov.uk/", "https://gov.uk/"),
    ("www.com is a site", "https://www.com/", "https://www.com/"),
    ("www.www.com is that site", "https://www.www.com/", "https://www.com/"),
    ("www alone is a host", "https://www/", "https://www/"),
    ("www2. is another host", "https://www2.example.com/", "https://www2.example.com/"),
    ("www. inside stays", "https://a.www.example.com/", "https://a.www.example.com/"),
    ("host in lower case", "HTTPS://EXAMPLE.com/A", "https://example.com/A"),
    ("path keeps its case", "https://example.com/About", "https://example.com/About"),
    ("trailing dot of the host", "https://example.com./a", "https://example.com/a"),
    ("trailing dot and www.", "https://www.example.com./", "https://example.com/"),
    ("IDNA", "https://Bücher.example/", "https://xn--bcher-kva.example/"),
    ("IDNA, already ASCII", "https://XN--bcher-KVA.example/", "https://xn--bcher-kva.example/"),
    ("fullwidth letters and dot", "https://\uff45xample\u3002com/", "https://example.com/"),
    ("IPv4 in another notation", "https://0x7f.1/", "https://127.0.0.1/"),
    ("IPv6 shortened", "https://[2001:DB8:0:0::1]/", "https://[2001:db8::1]/"),
    ("default port of https", "https://example.com:443/", "https://example.com/"),
    ("default port of http", "http://example.com:80/", "https://example.com/"),
    ("http on the https port", "http://example.com:443/", "https://example.com/"),
    ("https on the http port", "https://example.com:80/", "https://example.com:80/"),
    ("other ports stay", "http://example.com:8080/", "https://example.com:8080/"),
    ("userinfo goes", "https://ann:secret@example.com/", "https://example.com/"),
    ("trailing slash", "https://example.com/docs/", "https://example.com/docs"),
    ("all trailing slashes", "https://example.com/docs///", "https://example.com/docs"),
    ("nothing but slashes", "https://example.com///", "https://example.com/"),
    ("empty segments inside stay", "https://example.com/a//b", "https://example.com/a//b"),
    ("slash before a query", "https://example.com/a/?b=1", "https://example.com/a?b=1"),
    ("slash inside a query stays", "https://example.com/?b=/c/", "https://example.com/?b=/c/"),
    ("fragment", "https://example.com/a#top", "https://example.com/a"),
    ("empty fragment", "https://example.com/a#", "https://example.com/a"),
    ("question mark in a fragment", "https://example.com/a#?b=1", "https://example.com/a"),
    ("dot segments", "https://example.com/a/./b/../c", "https://example.com/a/c"),
    ("escaped dot segments", "https://example.com/a/%2E/b/.%2e/c", "https://example.com/a/c"),
    ("dot segments above the root", "https://example.com/../../a", "https://example.com/a"),
    ("dot segment at the end", "https://example.com/a/b/..", "https://example.com/a"),
    ("three dots are a name", "https://example.com/%2e%2e%2e/a", "https://example.com/.../a"),
    ("needless escapes", "https://example.com/%7Eann/%61%2D%5f", "https://example.com/~ann/a-_"),
    ("needed escapes in upper case", "https://example.com/a%2fb%c3%bc", "https://example.com/a%2Fb%C3%BC"),
    ("not UTF-8", "https://example.com/%e9%ff", "https://example.com/%E9%FF"),
    ("Unicode", "https://example.com/ü?q=ü", "https://example.com/%C3%BC?q=%C3%BC"),
    ("a space", "https://example.com/a b?c d", "https://example.com/a%20b?c%20d"),
    ("a percent sign alone", "https://example.com/100%", "https://example.com/100%25"),
    ("no new escape by decoding", "https://example.com/%%34%31", "https://example.com/%2541"),
    ("an escaped percent sign stays", "https://example.com/%2541", "https://example.com/%2541"),
    ("query order", "https://example.com/?b=2&a=1", "https://example.com/?a=1&b=2"),
    ("equal names keep their order", "https://example.com/?b&a=2&a=1", "https://example.com/?a=2&a=1&b"),
    ("names are compared decoded", "https://example.com/?%62=1&a=2", "https://example.com/?a=2&b=1"),
    ("values are normalised", "https://example.com/?a=%7e%2f", "https://example.com/?a=~%2F"),
    ("empty query", "https://example.com/a?", "https://example.com/a"),
    ("empty parameters", "https://example.com/?&b&&a=1&", "https://example.com/?a=1&b"),
    ("nothing but empty parameters", "https://example.com/?&&", "https://example.com/"),
    ("a and a= stay apart", "https://example.com/?a=&a", "https://example.com/?a=&a"),
    ("parameter without a name", "https://example.com/?b&=1", "https://example.com/?=1&b"),
    ("plus is not %20", "https://example.com/?q=a+b%20c", "https://example.com/?q=a+b%20c"),
    ("semicolons separate nothing", "https://example.com/?b;a", "https://example.com/?b;a"),
    ("an escaped & separates nothing", "https://example.com/?b%26a", "https://example.com/?b%26a"),
    ("utm parameters", "https://example.com/?utm_source=x&a=1&utm_x", "https://example.com/?a=1"),
    ("all tracking parameters", "https://example.com/?fbclid=1&gclid=2&mc_eid=3&ref=4&source=5", "https://example.com/"),
    ("tracking, escaped", "https://example.com/?%75tm%5Fx=1&a", "https://example.com/?a"),
    ("names keep their case", "https://example.com/?Ref=1&UTM_x=2", "https://example.com/?Ref=1&UTM_x=2"),
    ("only whole names", "https://example.com/?refer=1&utm=2&xref=3", "https://example.com/?refer=1&utm=2&xref=3"),
    ("spaces around", "  \n https://example.com/a \t", "https://example.com/a"),
    ("tabs and newlines inside", "https://exam\tple.com/a\nb\r", "https://example.com/ab"),
    ("backslashes", "https:\\\\example.com\\a\\b", "https://example.com/a/b"),
    ("a backslash in a query stays", "https://example.com/?a\\b", "https://example.com/?a\\b"),
    ("too many slashes", "https:////example.com/a", "https://example.com/a"),
    ("a lone surrogate", "https://example.com/\ud800", "https://example.com/%EF%BF%BD"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("href", "identity"),
    [pytest.param(href, identity, id=shows) for shows, href, identity in SAME_PAGE],
)
def test_identity(href: str, identity: str) -> None:
    assert rules.identity(href) == identity
    assert rules.identity(identity) == identity


FETCH_URLS = [
    # (what it shows, as found, fetch URL)
    ("nothing to do", "https://example.com/a", "https://example.com/a"),
    ("http becomes https", "http://example.com/a", "https://example.com/a"),
    ("www. and slash stay", "https://www.example.com/a/", "https://www.example.com/a/"),
    ("trailing dot stays", "https://example.com./", "https://example.com./"),
    ("escapes stay", "https://example.com/%7Eann%2f%zz", "https://example.com/%7Eann%2f%zz"),
    ("query stays", "https://example.com/?utm_x&b&&a=%7e", "https://example.com/?utm_x&b&&a=%7e"),
    ("empty query stays", "https://example.com/?", "https://example.com/?"),
    ("fragment goes", "https://example.com/a?b#c?d", "https://example.com/a?b"),
    ("userinfo goes", "https://ann:secret@example.com/a@b", "https://example.com/a@b"),
    ("default port goes", "http://example.com:80/", "https://example.com/"),
    ("an http port stays", "http://example.com:8080/", "https://example.com:8080/"),
    ("port 443 of http goes", "http://example.com:443/", "https://example.com/"),
    ("port 80 of https stays", "https://example.com:80/", "https://example.com:80/"),
    ("IPv6 with a port", "http://[::1]:8080/a", "https://[::1]:8080/a"),
]


@pytest.mark.parametrize(
    ("href", "fetch_url"),
    [pytest.param(href, fetch_url, id=shows) for shows, href, fetch_url in FETCH_URLS],
)
def test_fetch_url(href: str, fetch_url: str) -> None:
    assert found(href).fetch_url == fetch_url


@pytest.mark.parametrize(
    ("href", "fetch_url"),
    [
        ("http://example.com/a/", "http://example.com/a/"),
        ("https://example.com/a/", "https://example.com/a/"),
        ("http://ann:secret@example.com/#a", "http://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("http://example.com:8080/", "http://example.com:8080/"),
        ("http://example.com:443/", "http://example.com:443/"),
    ],
)
def test_with_allow_http_the_scheme_stays_as_found(href: str, fetch_url: str) -> None:
    address = found(href, by=rules_with_http)
    assert address.fetch_url == fetch_url
    assert address.identity == rules.identity(href)


@pytest.mark.parametrize(
    "href",
    [
        "", " ", "#top", "?a", "/a", "//example.com/", "example.com", "https:", "https://",
        "https://?a", "https://@/", "https://:80/", "https://exa mple.com/", "https://a<b/",
        "https://example.com:65536/", "https://example.com:x/", "https://1.2.3.256/", "https://[::1/",
        "https://xn--a/", "mailto:a@example.com", "javascript:alert(1)", "tel:1", "data:,a",
        "ftp://example.com/", "ws://example.com/", "file:///etc/passwd", "blob:https://example.com/1",
        "view-source:https://example.com/", "about:blank",
    ],
)  # fmt: skip
def test_no_page(href: str) -> None:
    assert rules.address(href) is None
    with pytest.raises(InvalidUrl):
        rules.identity(href)


@pytest.mark.parametrize(
    ("href", "fetch_url"),
    [
        ("", "https://example.com/a/b?c"),
        ("#top", "https://example.com/a/b?c"),
        ("?d", "https://example.com/a/b?d"),
        ("d/", "https://example.com/a/d/"),
        ("../d", "https://example.com/d"),
        ("/d", "https://example.com/d"),
        ("\\d", "https://example.com/d"),
        ("//Other.example", "https://other.example/"),
        ("\t/\n/other.example", "https://other.example/"),
        ("https:d", "https://example.com/a/d"),
        ("http:d", "https://d/"),
        ("https://other.example/d", "https://other.example/d"),
    ],
)
def test_relative_hrefs_are_resolved_against_the_base(href: str, fetch_url: str) -> None:
    assert found(href, "https://example.com/a/b?c#e").fetch_url == fetch_url


def test_the_base_gives_a_link_neither_its_userinfo_nor_a_bad_parse() -> None:
    assert found("b", "https://ann:secret@example.com/a").fetch_url == "https://example.com/b"
    assert rules.address("b", "not a url") is None
    assert rules.address("b", "mailto:a@example.com") is None
    assert rules.address("b", "https://\ud800/") is None


def test_credentials_leave_no_trace() -> None:
    address = found("https://ann:secret@example.com/")
    assert "secret" not in repr(address)
    with pytest.raises(InvalidUrl) as refused:
        rules.identity("https://ann:secret@example.com:x/")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("prefix", ["https://example.com/", "https://example.com/?"])
def test_an_address_longer_than_the_limit_is_no_page(prefix: str) -> None:
    longest = prefix + "a" * (MAX_URL_LENGTH - len(prefix))
    assert found(longest).identity == longest
    assert rules.address(longest + "a") is None
    # The fragment does not count, what escaping adds does, in the identity as well.
    assert found(longest + "#" + "a" * 100_000).fetch_url == longest
    assert rules.address(longest[:-1] + "ü") is None
    assert rules.address(longest[:-1] + "%") is None


def test_a_host_longer_than_dns_allows_is_no_page() -> None:
    longest = ".".join(["a" * 63] * 3 + ["b" * 61])
    assert found(f"https://{longest}./").host == longest
    assert rules.address(f"https://{longest}b/") is None


def test_tracking_parameters_are_configurable() -> None:
    own = UrlRules(["sid", "x-*", "größe", "t[]"])
    url = "https://example.com/?utm_a=1&sid=2&x-=3&x-y=4&x=5&gr%c3%b6%c3%9fe=6&t[]=7&sids=8"
    assert own.identity(url) == "https://example.com/?sids=8&utm_a=1&x=5"
    assert UrlRules([]).identity("https://example.com/?ref=1") == "https://example.com/?ref=1"
    assert UrlRules(["*"]).identity("https://example.com/?a=1") == "https://example.com/"


@pytest.mark.parametrize("name", ["", "a*b", "**", "a=b", "a&b", "a#b", "a b", " a"])
def test_a_tracking_parameter_that_no_query_can_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name of a query parameter"):
        UrlRules([name])


# Keys


def test_page_id_and_check_are_the_documented_hash() -> None:
    identity = "https://example.com/docs?a=1"
    digest = hashlib.blake2b(identity.encode(), digest_size=12, person=b"terrain.page").digest()
    expected = (
        int.from_bytes(digest[:8], "big") // 2,
        int.from_bytes(digest[8:], "big") // 2,
    )
    assert page_key(identity) == expected
    address = found("http://www.example.com/docs/?a=1#top")
    assert (address.page_id, address.check) == expected
    assert page_id(identity) == expected[0]


def test_host_id_is_the_documented_hash() -> None:
    digest = hashlib.blake2b(b"example.com", digest_size=8, person=b"terrain.host").digest()
    assert host_id("example.com") == int.from_bytes(digest, "big") // 2
    assert host_id("example.com") != page_id("example.com")


@given(st.text())
def test_keys_fit_into_signed_columns(identity: str) -> None:
    key, check = page_key(identity)
    assert 0 <= key < 2**63
    assert 0 <= check < 2**31
    assert 0 <= host_id(identity) < 2**63


@pytest.mark.parametrize(
    ("fetch_url", "origin"),
    [
        ("https://www.example.com/a/b?c=//d", "https://www.example.com"),
        ("https://example.com:8443/", "https://example.com:8443"),
        ("http://a/", "http://a"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
    ],
)
def test_robots_txt_belongs_to_scheme_host_and_port_of_the_fetch_url(
    fetch_url: str, origin: str
) -> None:
    assert robots_origin(fetch_url) == origin


# In general

LABELS = st.sampled_from(
    ["www", "a", "Example", "com", "co", "uk", "bücher", "XN--bcher-KVA", "a_b", "例え", "ß", ""]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
HOSTS = st.lists(LABELS, min_size=1, max_size=5).map(".".join) | st.sampled_from(
    ["127.0.0.1", "0x7f.1", "1.2.3.4.", "[::1]", "[::ffff:1.2.3.4]", "localhost", ".", "a.."]
)
PIECES = st.sampled_from(
    [
        *("%", "%2", "%41", "%c3%bc", "%C3", "%2f", "%25", "%%34", "%2e", "%2E.", ".", "..", "//"),
        *("a", "B", "~", "=", "+", ";", "'", "|", "\\", " ", "\t", "ü", "[", "^", "@", ":"),
        *("ref", "utm_a"),
    ]
)
TEXTS = st.lists(PIECES, max_size=6).map("".join)
PORTS = st.sampled_from(["", ":", ":80", ":443", ":8443", ":0", ":00443", ":99999"])
WEB_URLS = st.builds(
    "{}://{}{}{}/{}{}{}".format,
    st.sampled_from(["http", "https", "HTTPS"]),
    st.sampled_from(["", "@", "ann@", "ann:secret@", "a@b:c@"]),
    HOSTS,
    PORTS,
    st.lists(TEXTS, max_size=5).map("/".join),
    st.lists(TEXTS, max_size=5).map(lambda parts: "?" + "&".join(parts)) | st.just(""),
    TEXTS.map("#{}".format) | st.just(""),
)
ANY_TEXT = st.text(st.characters(exclude_categories=[]))


def assert_settled(address: Address, by: UrlRules) -> None:
    """What was found is found again, from the identity as from the fetch URL."""
    assert by.address(address.fetch_url) == address
    again = found(address.identity, by=by)
    assert (again.identity, again.fetch_url, again.host) == (
        address.identity,
        address.identity,
        address.host,
    )
    assert ada_url.normalize_url(address.identity) == address.identity
    assert address.identity.isascii()


def test_identities_are_settled_over_urls_seen_in_the_wild() -> None:
    assert len(WILD) > 48_000
    pages = [address for url in WILD if (address := rules.address(url))]
    assert len(pages) > 48_000
    for address in pages:
        assert_settled(address, rules)


@given(WEB_URLS, st.sampled_from([rules, rules_with_http]))
@example("https://foo.0x4../", rules)
@example("https://www..com/", rules)
@example("https://a/%2%65%2%65/", rules)
def test_identities_are_settled(url: str, by: UrlRules) -> None:
    if address := by.address(url):
        assert_settled(address, by)


@given(WEB_URLS, st.sampled_from(["", "utm_source=b", "&&", "fbclid", "%72ef=1"]), TEXTS)
def test_tracking_and_fragments_never_change_the_identity(url: str, more: str, end: str) -> None:
    plain = url.partition("#")[0].rstrip()
    separator = "&" if "?" in plain else "?"
    before, after = rules.address(plain), rules.address(f"{plain}{separator}{more}#{end}")
    assert (before and before.identity) == (after and after.identity)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9))))
def test_parameters_are_sorted_by_name_and_none_is_lost(parameters: list[tuple[str, int]]) -> None:
    url = "https://example.com/?" + "&".join(f"{name}={value}" for name, value in parameters)
    expected = [f"{n}={value}" for n in "abc" for name, value in parameters if name == n]
    assert rules.identity(url).partition("?")[2] == "&".join(expected)


@given(ANY_TEXT, st.none() | ANY_TEXT | st.just("https://example.com/a/b"))
@example("\ud800", "https://example.com/")
@example("https://\udfff", "\ud800")
def test_no_text_makes_it_raise(href: str, base: str | None) -> None:
    if address := rules.address(href, base):
        assert_settled(address, rules)


@given(WEB_URLS, WEB_URLS)
def test_an_absolute_href_means_the_same_on_every_page(href: str, base: str) -> None:
    if rules.address(base) is not None:
        assert UrlRules().address(href, base) == UrlRules().address(
            ada_url.join_url(base, href) if ada_url.URL.can_parse(href, base) else ""
        )


# Memory


def test_caches_do_not_grow_with_the_terrain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urls, "_CACHED_URLS", 100)
    bounded = UrlRules()
    for number in range(1000):
        bounded.address(f"https://example.com/{number}")
        bounded.address(f"/{number}", "https://example.com/")
    assert bounded._from_href.cache_info().currsize == 100
    assert bounded._from_url.cache_info().currsize == 100


def test_a_long_href_is_not_kept() -> None:
    fresh = UrlRules()
    padding = "a" * 2000
    for href in (
        f"https://example.com/{padding}",
        f"https://example.com/#{padding}",
        f"/{padding}",
    ):
        assert fresh.address(href, "https://example.com/") is not None
    assert fresh._from_href.cache_info().currsize == 0
    assert fresh._from_url.cache_info().currsize == 1  # the one that is short without its fragment


_BASES = st.sampled_from(
    [
        "https://example.com/",
        "https://example.com/a/b/c.html",
        "https://example.com/a/b/?q=/x/y#f/g",
        "http://user:pw@www.example.com:8080/a/b",
        "https://example.com",
        "https://example.com?q=1/2",
    ]
)
_HREFS = st.text(st.sampled_from("/\\.:?#ab%2e \t\nhttps@[]"), max_size=12)


@given(_BASES, _HREFS)
def test_what_is_remembered_of_a_relative_link_is_what_parsing_it_gives(
    base: str, href: str
) -> None:
    rules = UrlRules()
    assert rules.address(href, base) == rules._parsed(href, base)


def test_links_on_a_page_with_a_long_address_are_not_kept() -> None:
    fresh = UrlRules()
    base = f"https://example.com/{'a' * 8000}/"
    for href in ("/b", "c"):
        assert fresh.address(href, base) is not None
    assert fresh._from_relative.cache_info().currsize == 0


def test_an_address_that_is_too_long_is_not_normalised(monkeypatch: pytest.MonkeyPatch) -> None:
    # It is made of as many escapes, and each would be looked at.
    fresh = UrlRules()
    monkeypatch.setattr(urls, "normal_escapes", None)
    assert fresh.address("https://example.com/" + "ü" * 60_000) is None


def test_an_href_of_megabytes_is_not_even_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = UrlRules()
    monkeypatch.setattr(urls, "_serialised", None)
    for href in ("/" + "a" * 1_000_000, "https://example.com/#" + "a" * 1_000_000):
        assert fresh.address(href, "https://example.com/") is None


@given(st.sampled_from(WILD), st.booleans(), st.booleans())
def test_a_stored_fetch_url_needs_no_parser(url: str, allow_http: bool, by_host: bool) -> None:
    rules = UrlRules(allow_http=allow_http, by_host=by_host)
    address = rules.located(url)
    if address is not None:
        assert rules.stored(address.fetch_url) == address


@given(
    st.sampled_from(WILD) | st.text("ab/.:?#%\\@ \t\n&=-", max_size=12),
    st.sampled_from(
        [
            "https://a.test/d/e?q#f",
            "http://a.test",
            "https://a.test/\\x/y",
            "mailto:x",
            "about:blank",
        ]
    ),
)
@example("2 #", "https://a.test/")
@example("2\x00#x", "https://a.test/")
def test_what_is_remembered_of_hrefs_is_what_the_parser_says(href: str, base: str) -> None:
    assert rules.address(href, base) == rules._parsed(href, base)
