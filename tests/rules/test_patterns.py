"""What a URL pattern matches, which ones are refused, and that none can be slow."""

from __future__ import annotations

import re
import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.hosts import HostPattern
from terrain.rules.patterns import UrlPattern, host_matcher
from terrain.rules.urls import MAX_URL_LENGTH, UrlRules

URLS = UrlRules()

CASES = [
    # pattern, addresses that it matches, addresses that it does not; https:// is left out
    # a host alone: all of its pages
    ("x.test", ["x.test/", "x.test/a?b=c"], ["a.x.test/"]),
    ("x.test", ["http://WWW.X.test:8443/a"], ["x.test.evil.test/"]),
    ("*.x.test", ["x.test/", "a.b.x.test/x"], ["anx.test/"]),
    ("*.github.io", ["me.github.io/", "github.io/"], ["github.com/"]),
    ("*", ["x.test/", "[::1]/a", "127.0.0.1:8000/"], []),
    ("ads*.x.test", ["ads7.x.test/x", "ads.x.test/"], ["x.test/"]),
    ("*track*", ["mytracker.test/"], ["x.test/track"]),
    ("*.ad*.test", ["adx.test/", "a.b.ads.test/"], ["x.test/"]),
    ("[::1]", ["[::1]/a"], ["[::2]/a"]),
    ("192.168.0.1/*", ["192.168.0.1/admin"], ["192.168.0.10/admin"]),
    ("bücher.example", ["xn--bcher-kva.example/x", "BÜCHER.example/"], ["bucher.example/"]),
    # a host and a path: the whole of both
    ("x.test/", ["x.test/", "x.test"], ["x.test/a", "x.test/?a"]),
    ("x.test/a", ["x.test/a", "www.x.test/a/"], ["x.test/a/b", "x.test/ab"]),
    ("x.test/a/", ["x.test/a"], ["x.test/a/b"]),
    ("x.test/a/*", ["x.test/a/b/c", "x.test/a/b?c"], ["x.test/a"]),
    ("x.test/a*", ["x.test/a", "x.test/abc/d"], ["x.test/b/a"]),
    ("x.test/*.pdf", ["x.test/x/y.pdf"], ["x.test/y.pdf?download", "x.test/y.PDF"]),
    ("*/feed", ["any.test/feed/"], ["any.test/blog/feed"]),
    ("*/*/feed", ["any.test/blog/feed", "any.test/a/b/feed"], ["any.test/feed"]),
    ("*.x.test/x", ["x.test/x", "a.x.test/x"], ["a.x.test/y"]),
    ("x.test/größe/*", ["x.test/größe/1", "x.test/gr%c3%b6%C3%9fe/1"], ["x.test/gro/1"]),
    ("x.test/%7euser", ["x.test/~user", "x.test/%7Euser"], ["x.test/user"]),
    ("x.test/a.b", ["x.test/a.b"], ["x.test/aXb"]),
    ("x.test/(x|y)+", ["x.test/(x|y)+"], ["x.test/x"]),
    # ? is the mark before a query and nothing else
    ("x.test/a?b=*", ["x.test/a?b=1", "x.test/a/?b="], ["x.test/axb=1", "x.test/a"]),
    ("*/*?*page=*", ["any.test/list?page=2", "any.test/?a=1&page=2"], ["any.test/page=2"]),
    ("*/*?b=*&z=*", ["any.test/?z=1&b=2"], ["any.test/?z=1"]),
    ("*/*?*utm_source=*", [], ["any.test/?utm_source=x"]),
    # ports
    ("x.test:8443", ["x.test:8443/x"], ["x.test/x", "x.test:844/x"]),
    ("x.test:443/x", ["x.test/x"], ["x.test:8443/x"]),
    ("*:8080/x", ["a.test:8080/x"], ["a.test/x"]),
    # regular expressions are looked for anywhere in host/path?query
    ("re:/tag/", ["x.test/tag/x"], ["x.test/tag"]),
    ("re:^x", ["x.test/"], ["my.x.test/"]),
    ("re:^https", [], ["x.test/"]),
    (r"re:[?&]sid=[0-9a-f]{8,}", ["a.test/?sid=deadbeef00"], ["a.test/?sid=12"]),
    ("re:(?i)/LOGIN$", ["a.test/login"], ["a.test/login/x"]),
    (r"re:^[^/]+\.gov(?::\d+)?/", ["data.gov/", "data.gov:8443/x"], ["a.test/x.gov/"]),
]  # fmt: skip


def identity(address: str) -> str:
    return URLS.identity(address if "://" in address else f"https://{address}")


@pytest.mark.parametrize(
    ("pattern", "address"), [(p, address) for p, matched, _ in CASES for address in matched]
)
def test_matches(pattern: str, address: str) -> None:
    assert UrlPattern.parse(pattern).matches(identity(address))


@pytest.mark.parametrize(
    ("pattern", "address"), [(p, address) for p, _, others in CASES for address in others]
)
def test_does_not_match(pattern: str, address: str) -> None:
    assert not UrlPattern.parse(pattern).matches(identity(address))


REFUSED = [
    ("", "must not be empty"),
    ("re:", "must not be empty"),
    ("a b.test/x", "white space"),
    ("x" * 401, "at most 400 characters"),
    ("https://example.com/a", 'without a scheme; write "example.com/a"'),
    ("example.com/a#top", "leave out what begins with #"),
    ("/tag/*", 'write "*/tag/*"'),
    ("*?page=*", 'write "*/*?page=*"'),
    ("example.com?page=*", 'write "example.com/*?page=*"'),
    ("user@example.com/x", "does not start with a host"),
    ("exa_mple!*.com", "letters, digits, hyphens and dots"),
    ("re:(a", "missing )"),
    ("re:[z-a]", "invalid character class range"),
    ("re:*a", "no argument for repetition operator"),
    ("re:(?=a)b", "look-around and back-references do not exist"),
    (r"re:(a)\1", "look-around and back-references do not exist"),
    ("re:größe", "percent-escapes, such as %C3%B6"),
    ("re:(a{1000}){1000}", "invalid repetition size"),
    ("re:((a|b){100}){10}", "too large when it is compiled"),
]


@pytest.mark.parametrize(("pattern", "message"), REFUSED)
def test_is_refused_with_a_remedy(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        UrlPattern.parse(pattern)
    assert "\n" not in str(refused.value)


LONGEST = MAX_URL_LENGTH - len("https://example.com/")

CATASTROPHES = [
    ("re:(a+)+$", "a" * (LONGEST - 1) + "!"),
    ("re:^example.com/(a|aa)+$", "a" * (LONGEST - 1) + "!"),
    ("re:(([a-z])+.)+[A-Z]([a-z])+$", "a" * LONGEST),
    ("re:(.*a){12}b", "a" * LONGEST),
    ("re:(x+x+)+y", "x" * LONGEST),
    ("example.com/" + "*a" * 150 + "*b", "a" * LONGEST),
]


@pytest.mark.parametrize(("pattern", "path"), CATASTROPHES)
def test_nested_quantifiers_on_a_hostile_address_take_under_a_millisecond(
    pattern: str, path: str
) -> None:
    parsed = UrlPattern.parse(pattern)
    hostile = f"https://example.com/{path}"
    assert len(hostile) <= MAX_URL_LENGTH

    def seconds() -> float:
        began = time.perf_counter()
        assert not parsed.matches(hostile)
        return time.perf_counter() - began

    # The best of several: another process may have the processor.
    assert min(seconds() for _ in range(20)) < 0.001


PLAIN = st.text("ab/.?=", max_size=12)


@given(st.lists(PLAIN, max_size=4), PLAIN)
def test_stars_in_a_path_are_those_of_the_shell(parts: list[str], path: str) -> None:
    glob, text = "*".join(parts), f"/{path}"
    found = identity(f"example.com{text}")
    path_of_glob, mark, query = f"/{glob}".partition("?")
    wanted = (path_of_glob.rstrip("/") or "/") + mark + query
    # fnmatch takes ? for any character; here it is itself.
    expected = fnmatchcase(
        found.removeprefix("https://example.com").replace("?", "!"), wanted.replace("?", "!")
    )
    assert UrlPattern.parse(f"example.com/{glob}").matches(found) == expected


HOSTS = st.sampled_from(
    ["example.com", "a.example.com", "www.example.com", "anexample.com", "example.org", "com"]
)


@given(HOSTS, HOSTS, st.booleans())
def test_hosts_match_as_in_the_lists(named: str, host: str, below: bool) -> None:
    pattern = f"*.{named}" if below else named
    expected = HostPattern.parse(pattern).matches(host)
    assert UrlPattern.parse(pattern).matches(URLS.identity(f"https://{host}/x")) == expected
    assert host_matcher(pattern)(URLS.address(f"https://{host}/").host) == expected  # type: ignore[union-attr]


def test_a_host_matcher_takes_no_path() -> None:
    with pytest.raises(ValueError, match="about a host"):
        host_matcher("example.com/x")
