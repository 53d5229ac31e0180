"""Rules in their order, the default set, and what they say of a page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.defaultrules import DEFAULT_RULES, DEFAULT_SKIPS, exempt
from terrain.rules.linkrules import NO_RULES, Action, LinkRules, Rule
from terrain.rules.patterns import UrlPattern
from terrain.rules.traps import TrapLimits
from terrain.rules.urls import UrlRules

URLS = UrlRules()
DEFAULTS = LinkRules(DEFAULT_RULES)

RULES = LinkRules(
    [
        Rule("example.com/keep/*", Action.CRAWL),
        Rule("example.com/*?*print=*", Action.SKIP),
        Rule("*.example.com/tag/*", Action.RECORD),
        Rule("re:/logout$", Action.SKIP),
        Rule("example.com/tag/*", Action.SKIP),
    ],
    TrapLimits(),
)

TABLE = [
    ("https://example.com/", "crawl"),
    ("https://example.com/page?print=1", "skip"),
    ("https://example.com/keep/page?print=1", "crawl"),
    ("https://www.example.com/tag/a", "record"),
    ("https://blog.example.com/tag/a", "record"),
    ("https://example.com/tag", "crawl"),
    ("https://example.com/tag/a?print=1", "skip"),
    ("https://any.test/user/logout/", "skip"),
    ("https://any.test/user/logout/now", "crawl"),
    ("https://example.com/keep/logout", "crawl"),
]


def action_of(rules: LinkRules, address: str) -> str:
    rule = rules.first(URLS.identity(address))
    return "crawl" if rule is None else rule.action.value


@pytest.mark.parametrize(("address", "action"), TABLE)
def test_the_first_rule_that_matches_counts(address: str, action: str) -> None:
    assert action_of(RULES, address) == action


def test_why_a_page_is_not_asked_for() -> None:
    asked = {
        "https://example.com/": None,
        "https://example.com/keep/page?print=1": None,
        "https://example.com/tag/a": "recorded by a rule: *.example.com/tag/*",
        "https://example.com/a?print=1": "skipped by a rule: example.com/*?*print=*",
        "https://example.com/a/a/a/a/a": "trap guard: a segment more than 4 times in the path",
        "https://example.com/keep/a/a/a/a/a": "trap guard: a segment more than 4 times in the path",
    }
    assert {url: RULES.refusal(url) for url in asked} == asked


def test_without_rules_and_guards_all_may_be_asked_for() -> None:
    assert NO_RULES.first("https://example.com/a/a/a/a/a") is None
    assert NO_RULES.refusal("https://example.com/a/a/a/a/a") is None


PATTERNS = ["*.a.test", "a.test/x*", "*/x", "re:x", "b.test", "*/*?x", "re:^b", "*"]
ADDRESSES = st.builds(
    "https://{}/{}".format,
    st.sampled_from(["a.test", "b.a.test", "b.test", "c.test"]),
    st.sampled_from(["", "x", "x/y", "y", "?x", "y?x"]),
)


@given(
    st.lists(st.builds(Rule, st.sampled_from(PATTERNS), st.sampled_from(Action)), max_size=6),
    ADDRESSES,
)
def test_one_automaton_says_the_same_as_one_pattern_after_the_other(
    rules: list[Rule], address: str
) -> None:
    identity = URLS.identity(address)
    expected = next((r for r in rules if UrlPattern.parse(r.match).matches(identity)), None)
    assert LinkRules(rules).first(identity) == expected


def test_many_rules_are_told_apart() -> None:
    rules = LinkRules(Rule(f"host{n}.test/x*", Action.SKIP) for n in range(2_000))
    found = rules.first("https://host1999.test/xyz")
    assert found is not None
    assert found.match == "host1999.test/x*"
    assert rules.first("https://host2000.test/xyz") is None


def test_rules_that_are_too_large_together_are_refused() -> None:
    with pytest.raises(ValueError, match="too large together"):
        LinkRules(Rule(f"host{n}.test/{'x' * 300}", Action.SKIP) for n in range(2_000))


SKIPPED = [
    "https://ad.doubleclick.net/ddm/clk/1;2",
    "https://www.googleadservices.com/pagead/aclk?sa=L",
    "https://www.google-analytics.com/collect?v=1",
    "https://statcounter.com/p123/",
    "https://www.facebook.com/sharer/sharer.php?u=https%3A%2F%2Fexample.com",
    "https://m.facebook.com/sharer.php?u=x",
    "https://twitter.com/intent/tweet?text=x",
    "https://x.com/intent/post?url=x",
    "https://twitter.com/share?url=x",
    "https://www.linkedin.com/shareArticle?mini=true&url=x",
    "https://pinterest.com/pin/create/button/?url=x",
    "https://www.reddit.com/submit?url=x",
    "https://api.whatsapp.com/send?text=x",
    "https://t.me/share/url?url=x",
    "https://news.ycombinator.com/submitlink?u=x",
    "https://blog.example.com/2024/05/post/?share=facebook&nb=1",
]
KEPT = [
    "https://facebook.com/example",
    "https://twitter.com/example",
    "https://x.com/example/status/1",
    "https://www.linkedin.com/in/somebody",
    "https://reddit.com/r/birds",
    "https://t.me/birds",
    "https://www.google.com/search?q=birds",
    "https://outbrain.com/",
    "https://blog.example.com/share",
    "https://blog.example.com/?share=price",
    "https://notdoubleclick.net/",
    "https://example.com/doubleclick.net/",
]


@pytest.mark.parametrize("address", SKIPPED)
def test_the_default_set_skips(address: str) -> None:
    assert action_of(DEFAULTS, address) == "skip"


@pytest.mark.parametrize("address", KEPT)
def test_the_default_set_keeps(address: str) -> None:
    assert action_of(DEFAULTS, address) == "crawl"


def test_no_default_rule_is_there_twice_or_covered_by_another() -> None:
    patterns = [rule.match for rule in DEFAULT_RULES]
    assert len(set(patterns)) == len(patterns)
    assert all(DEFAULT_SKIPS.values())
    for rule in DEFAULT_RULES:
        if rule.match.startswith("re:"):
            continue
        host, slash, rest = rule.match.partition("/")
        example = re.sub(r"\*+", "1", f"https://{host.removeprefix('*.')}/{rest if slash else ''}")
        found = DEFAULTS.first(URLS.identity(example))
        assert found is rule, example


def test_own_lists_are_kept_from_the_default_set() -> None:
    listed = ["ad.doubleclick.net", "*.facebook.com", "example.com", "*.net", "google.com"]
    assert [rule.match for rule in exempt(listed)] == [
        "ad.doubleclick.net",
        "*.facebook.com",
        "*.net",
        "google.com",
    ]
    rules = LinkRules([*exempt(listed), *DEFAULT_RULES])
    assert action_of(rules, "https://ad.doubleclick.net/x") == "crawl"
    assert action_of(rules, "https://www.facebook.com/sharer.php") == "crawl"
    assert action_of(rules, "https://twitter.com/share") == "skip"


def test_a_long_list_adds_only_what_meets_a_default() -> None:
    assert exempt(f"*.host{n}.example" for n in range(5_000)) == []
