"""Hosts: roots by the Public Suffix List, patterns, and the order of the user's lists."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules import hosts
from terrain.rules.hosts import HostKind, HostPattern, HostRules, identity_host, root_of
from terrain.rules.urls import UrlRules

ROOTS = [
    # (what it shows, host, root)
    ("a domain", "example.com", "example.com"),
    ("a subdomain", "a.b.example.com", "example.com"),
    ("a suffix of two labels", "a.b.co.uk", "b.co.uk"),
    ("a suffix by wildcard", "a.b.c.ck", "b.c.ck"),
    ("an exception to a wildcard", "a.city.kobe.jp", "city.kobe.jp"),
    ("a private suffix", "user.github.io", "user.github.io"),
    ("below a private suffix", "a.user.github.io", "user.github.io"),
    ("a public suffix", "co.uk", "co.uk"),
    ("a private suffix itself", "github.io", "github.io"),
    ("www. of a private suffix, which is that suffix", "a.www.github.io", "github.io"),
    ("a top-level domain", "com", "com"),
    ("a top-level domain nobody knows", "a.b.test", "b.test"),
    ("directly below such a one", "b.test", "b.test"),
    ("a single label", "localhost", "localhost"),
    ("punycode", "a.xn--bcher-kva.example.com", "example.com"),
    ("punycode in the domain", "a.xn--85x722f.com.cn", "xn--85x722f.com.cn"),
    ("punycode in the suffix", "a.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
    ("Unicode", "a.食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
    ("a trailing dot", "a.example.com.", "example.com"),
    ("upper case", "A.EXAMPLE.Co.Uk", "example.co.uk"),
    ("www.", "www.example.com", "example.com"),
    ("IPv4", "127.0.0.1", "127.0.0.1"),
    ("IPv4 in another notation", "0x7f.1", "127.0.0.1"),
    ("IPv6", "[2001:db8::1]", "[2001:db8::1]"),
    ("an underscore", "a_b.example.com", "example.com"),
    ("empty labels", "a..com", "a..com"),
    ("a star, as URLs allow", "*.example.com", "example.com"),
]


@pytest.mark.parametrize(
    ("host", "root"), [pytest.param(host, root, id=shows) for shows, host, root in ROOTS]
)
def test_root(host: str, root: str) -> None:
    assert root_of(host) == root
    assert root_of(root) == root


def test_the_suffix_list_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a rule opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    hosts._suffix_list.cache_clear()
    root_of.cache_clear()
    assert root_of("a.b.co.uk") == "b.co.uk"


@pytest.mark.parametrize("text", ["", "a b", "https://example.com", "a:80", "[::1", "a/b", "xn--a"])
def test_what_is_no_host_has_no_root(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|xn--"):
        root_of(text)


@pytest.mark.parametrize(
    ("parsed", "identity"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("www.www.example.com", "example.com"),
        ("www.example.com.", "example.com"),
        ("www.com", "www.com"),
        ("www.com.", "www.com"),
        ("www", "www"),
        ("www.", "www"),
        ("www..com", "www..com"),
        ("a..", "a.."),
        (".", "."),
        ("wwwexample.com", "wwwexample.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("xn--fa-hia.de", "xn--fa-hia.de"),
        ("xn--a.de", None),
        ("a" * 254, None),
    ],
)
def test_identity_host(parsed: str, identity: str | None) -> None:
    assert identity_host(parsed) == identity
    if identity is not None:
        assert identity_host(identity) == identity


# Patterns

MATCHES = [
    # (pattern, normalised, hosts that match, hosts that do not)
    ("example.com", "example.com",
     ["example.com", "www.example.com", "EXAMPLE.com."], ["a.example.com", "example.org", "com"]),
    ("*.example.com", "*.example.com",
     ["example.com", "a.example.com", "a.b.example.com", "www.example.com"],
     ["anexample.com", "example.com.org", "com", "example.org"]),
    ("WWW.Example.COM.", "example.com", ["example.com", "www.example.com"], ["a.example.com"]),
    ("*.Example.COM.", "*.example.com", ["example.com", "a.example.com"], ["com"]),
    ("*.www.example.com", "*.www.example.com",
     ["www.example.com", "example.com", "a.www.example.com"], ["blog.example.com"]),
    ("Bücher.example", "xn--bcher-kva.example",
     ["bücher.example", "xn--bcher-kva.example"], ["bucher.example"]),
    ("*.com", "*.com", ["com", "example.com", "www.com"], ["example.org", "dotcom"]),
    ("localhost", "localhost", ["localhost"], ["a.localhost"]),
    ("0x7f.1", "127.0.0.1", ["127.0.0.1"], ["127.0.0.2"]),
    ("[::1]", "[::1]", ["[0::1]"], ["[::2]"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "normalised", "inside", "outside"), MATCHES)
def test_pattern(text: str, normalised: str, inside: list[str], outside: list[str]) -> None:
    pattern = HostPattern.parse(text)
    assert pattern.text == normalised
    assert HostPattern.parse(normalised) == pattern
    assert [host for host in inside + outside if pattern.matches(host)] == inside


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" example.com", "white space"),
        ("*", r"as in \*\.example\.com"),
        ("*example.com", r"as in \*\.example\.com"),
        ("*.", "empty"),
        ("*.*.example.com", r"as in \*\.example\.com"),
        ("a.*.com", r"as in \*\.example\.com"),
        ("https://example.com", "'/' cannot stand"),
        ("example.com/a", "'/' cannot stand"),
        ("ann@example.com", "'@' cannot stand"),
        ("ex%61mple.com", "'%' cannot stand"),
        ("example.com:443", "no port"),
        ("::1", "brackets"),
        ("*.127.0.0.1", "no subdomains"),
        ("*.[::1]", "no subdomains"),
        ("1.2.3.256", "no browser"),
        ("exa<mple.com", "no browser"),
        ("exa\ud800mple.com", "no browser"),
        ("xn--a.com", "punycode"),
        ("a" * 254, "too long"),
    ],
)
def test_a_bad_pattern_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        HostPattern.parse(text)


# The lists


def test_blacklist_before_stub_before_quality() -> None:
    rules = HostRules(
        blacklist=["*.bad.example", "both.example"],
        stub=["both.example", "*.noted.example", "deep.good.example"],
        quality=["*.good.example", "noted.example", "bad.example"],
    )
    assert {
        host: rules.classify(host)
        for host in [
            "bad.example",
            "a.bad.example",
            "both.example",
            "noted.example",
            "deep.good.example",
            "good.example",
            "a.deep.good.example",
            "other.example",
        ]
    } == {
        "bad.example": HostKind.BLACKLISTED,
        "a.bad.example": HostKind.BLACKLISTED,
        "both.example": HostKind.BLACKLISTED,
        "noted.example": HostKind.STUBBED,
        "deep.good.example": HostKind.STUBBED,
        "good.example": HostKind.QUALITY,
        "a.deep.good.example": HostKind.QUALITY,
        "other.example": HostKind.DISCOVERED,
    }


def test_origins_are_all_quality_entries_that_match_whatever_the_kind() -> None:
    rules = HostRules(
        blacklist=["a.example.com"],
        stub=[],
        quality=["*.example.com", "example.org", "a.example.com", "*.com", "example.com"],
    )
    assert rules.origins("a.example.com") == (0, 2, 3)
    assert rules.origins("www.example.com") == (0, 3, 4)
    assert rules.origins("example.org") == (1,)
    assert rules.origins("a.example.org") == ()


def test_another_spelling_does_not_slip_past_the_blacklist() -> None:
    rules = HostRules(blacklist=["bücher.example", "127.0.0.1"], stub=[], quality=[])
    for host in ["BÜCHER.example", "www.xn--bcher-kva.example", "xn--bcher-kva.example.", "0x7f.1"]:
        assert rules.classify(host) is HostKind.BLACKLISTED


def test_the_kinds_are_stored_as_these_words() -> None:
    assert [str(kind) for kind in HostKind] == ["blacklisted", "stubbed", "quality", "discovered"]


def test_a_bad_entry_is_refused_when_the_rules_are_made() -> None:
    with pytest.raises(ValueError, match="no port"):
        HostRules(blacklist=[], stub=["example.com:1"], quality=[])


NAMES = st.lists(st.sampled_from(["www", "a", "b", "com"]), min_size=1, max_size=5).map(".".join)
PATTERNS = st.lists(st.builds("{}{}".format, st.sampled_from(["", "*."]), NAMES), max_size=6)


@given(PATTERNS, PATTERNS, PATTERNS, NAMES)
def test_the_tables_agree_with_the_patterns_one_by_one(
    blacklist: list[str], stub: list[str], quality: list[str], host: str
) -> None:
    def matching(texts: list[str]) -> tuple[int, ...]:
        return tuple(i for i, text in enumerate(texts) if HostPattern.parse(text).matches(host))

    rules = HostRules(blacklist=blacklist, stub=stub, quality=quality)
    assert rules.origins(host) == matching(quality)
    if matching(blacklist):
        expected = HostKind.BLACKLISTED
    elif matching(stub):
        expected = HostKind.STUBBED
    else:
        expected = HostKind.QUALITY if matching(quality) else HostKind.DISCOVERED
    assert rules.classify(host) is expected


@given(st.text(max_size=20) | NAMES)
def test_every_host_of_an_address_has_a_kind_and_a_root_it_lies_in(text: str) -> None:
    if address := UrlRules().address(f"https://{text}/"):
        root = root_of(address.host)
        assert address.host == root or address.host.endswith(f".{root}")
        rules = HostRules(blacklist=[], stub=[], quality=[])
        assert rules.classify(address.host) is HostKind.DISCOVERED


# Cost


def test_classifying_looks_up_labels_not_patterns() -> None:
    class Counting(dict[str, list[int]]):
        lookups = 0

        def get(self, key: str, default: object = None) -> object:  # type: ignore[override]
            Counting.lookups += 1
            return super().get(key, default)

    table = hosts._PatternTable([f"*.host-{number}.example.com" for number in range(10_000)])
    table._below = Counting(table._below)  # type: ignore[assignment]
    assert table.matches("a.b.host-77.example.com") == (77,)
    assert table.matches("a." * 100 + "host-77.example.com") == (77,)
    assert Counting.lookups == 6  # com, example.com, host-77.example.com, twice


def test_caches_over_hosts_are_bounded() -> None:
    for bounded in (hosts._identity_host, root_of, hosts.normal_host):
        assert bounded.cache_parameters()["maxsize"] == hosts._CACHED_HOSTS
    rules = HostRules(blacklist=[], stub=[], quality=[])
    for number in range(hosts._CACHED_HOSTS + 10):
        rules.classify(f"host-{number}.example.com")
    assert rules._facts.cache_info().currsize == hosts._CACHED_HOSTS


def test_a_host_of_megabytes_is_not_kept() -> None:
    before = hosts._identity_host.cache_info().currsize
    assert identity_host("a" * 1_000_000) is None
    assert hosts._identity_host.cache_info().currsize == before
