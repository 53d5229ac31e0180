"""What rules skip is as if it were not in the document."""

from __future__ import annotations

from terrain.rules.extract import MAX_LINKS, PageFacts, extract
from terrain.rules.linkrules import Action, LinkRules, Rule
from terrain.rules.urls import UrlRules

RULES = LinkRules(
    [
        Rule("x.test/keep*", Action.CRAWL),
        Rule("*.ads.test", Action.SKIP),
        Rule("x.test/*?*print*", Action.SKIP),
        Rule("*/tag/*", Action.RECORD),
    ]
)


def read(html: str, max_links: int | None = None) -> PageFacts:
    return extract(
        html.encode(),
        content_type="text/html; charset=utf-8",
        fetch_url="https://x.test/",
        identity="https://x.test/",
        rules=UrlRules(),
        link_rules=RULES,
        max_links=max_links,
    )


def targets(facts: PageFacts) -> list[str]:
    return [link.address.identity for link in facts.links]


def anchors(*hrefs: str) -> str:
    return "".join(f'<a href="{href}">x</a>' for href in hrefs)


def test_skipped_links_are_left_out_and_the_others_stay_in_their_order() -> None:
    html = anchors(
        "https://ads.test/", "/a", "/a?print=1", "/keep?print=1", "/tag/b", "//x.ads.test/y", "/c"
    )
    assert targets(read(html)) == [
        "https://x.test/a",
        "https://x.test/keep?print=1",
        "https://x.test/tag/b",
        "https://x.test/c",
    ]


def test_they_take_no_place_among_the_first_links() -> None:
    facts = read(anchors(*(f"/{n}?print" for n in range(20)), "/a", "/b", "/c"), max_links=2)
    assert targets(facts) == ["https://x.test/a", "https://x.test/b"]
    assert facts.note == "kept the first 2 of more links"
    assert read(anchors(*(f"/{n}?print" for n in range(MAX_LINKS + 1)), "/a")).note is None


def test_a_skipped_canonical_link_is_none() -> None:
    facts = read('<link rel=canonical href="https://ads.test/x"><link rel=canonical href="/a">')
    assert facts.canonical_url == "https://x.test/a"
    assert targets(facts) == ["https://x.test/a"]
    assert read('<link rel=canonical href="/a?print">').canonical_url is None


def test_a_recorded_canonical_link_is_one() -> None:
    facts = read('<link rel=canonical href="/tag/a">')
    assert targets(facts) == ["https://x.test/tag/a"]
