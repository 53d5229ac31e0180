"""robots.txt: verdicts, crawl delay, and files made to hurt (design 3.5, RFC 9309)."""

import time
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.robots import (
    MAX_CRAWL_DELAY,
    MAX_ROBOTS_BYTES,
    Robots,
    RobotsMode,
    robots_from_answer,
)

SITE = "https://e.com"


def robots(text: str | bytes, agent: str = "Terrain") -> Robots:
    body = text if isinstance(text, bytes) else text.encode()
    return robots_from_answer(200, body, agent=agent, unreachable="allow")


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: *\nDisallow: /a", "/a", False),
        ("User-agent: *\nDisallow: /a", "/abc?q", False),
        ("User-agent: *\nDisallow: /a", "/b", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),  # the longest match wins
        ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", True),  # allow wins a tie
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?v=1", True),
        ("User-agent: *\nDisallow: /*?sid=", "/x?sid=1", False),
        ("User-agent: *\nDisallow: /caf%C3%A9", "/caf%c3%a9", False),
        ("User-agent: *\nDisallow: /café", "/caf%C3%A9", False),
        ("User-agent: *\nDisallow: /~u", "/%7Eu", False),
        ("User-agent: Terrain\nDisallow: /", "/a", False),
        ("User-agent: TERRAIN\nDisallow: /", "/a", False),
        ("User-agent: terrain/1.0\nDisallow: /", "/a", False),
        ("User-agent: Terrain*\nDisallow: /", "/a", False),
        ("User-agent: TerrainBot\nDisallow: /", "/a", True),
        ("User-agent: Terra\nDisallow: /", "/a", True),
        ("User-agent: Other\nDisallow: /", "/a", True),
        # our own group replaces the one for all
        ("User-agent: *\nDisallow: /\nUser-agent: Terrain\nDisallow: /x", "/a", True),
        ("User-agent: Terrain\nDisallow:\nUser-agent: *\nDisallow: /", "/a", True),
        # several names over one group, and one name in several groups
        ("User-agent: Other\nUser-agent: Terrain\nDisallow: /", "/a", False),
        ("User-agent: *\nUser-agent: Other\nDisallow: /", "/a", False),
        ("User-agent: Terrain\nDisallow: /x\nUser-agent: Terrain\nDisallow: /a", "/a", False),
        ("User-agent: Other\nDisallow: /\nUser-agent: *\nDisallow: /x", "/a", True),
        ("User-agent: *\nDisallow: /x\nUser-agent: Other\nDisallow: /", "/a", True),
        # what stands between the names
        ("User-agent: *\nSitemap: /s.xml\nUser-agent: Other\nDisallow: /", "/a", False),
        ("User-agent: *\n\n# why\nUser-agent: Other\nDisallow: /", "/a", False),
        ("User-agent: *\nsome words\nUser-agent: Other\nDisallow: /", "/a", False),
        ("User-agent: Terrain\nUnknown: x\nUser-agent: *\nDisallow: /", "/a", True),
        ("User-agent: Terrain\nCrawl-delay: 1\nUser-agent: *\nDisallow: /", "/a", True),
        # how people write it
        ("user-agent:*\r\ndisallow:/a\r\n", "/a", False),
        ("User-agent: *\rDisallow: /a", "/a", False),
        ("\ufeffUser-agent: *\nDisallow: /a", "/a", False),
        ("User-agent: * # all\nDisallow: /a # private", "/a", False),
        ("User agent *\nDissalow /a", "/a", False),
        ("Disallow: /a\nUser-agent: *\nDisallow: /b", "/a", True),  # a rule of nobody
        ("<!DOCTYPE html><html><body>Not found</body></html>", "/a", True),
    ],
)
def test_verdicts(text: str, path: str, allowed: bool) -> None:
    assert robots(text).allows(SITE + path) is allowed


def test_bytes_that_are_not_utf8_still_match_the_address_they_name() -> None:
    assert not robots(b"User-agent: *\nDisallow: /caf\xe9").allows(SITE + "/caf%E9")


def test_a_denied_page_says_so() -> None:
    rules = robots("User-agent: *\nDisallow: /a")
    assert rules.denial(SITE + "/a") == "robots denied"
    assert rules.denial(SITE + "/b") is None


@pytest.mark.parametrize(
    ("status", "by_default", "if_disallowed"),
    [
        (204, True, True),  # an empty file
        (301, True, True),  # one redirect too many: unavailable
        (400, True, True),
        (401, True, True),
        (403, True, True),
        (404, True, True),
        (410, True, True),
        (429, False, False),  # the host wants to be left alone
        (500, True, False),
        (503, True, False),
        (599, True, False),
        (999, True, False),
        (None, True, False),  # no answer
    ],
)
def test_answers_without_rules(status: int | None, by_default: bool, if_disallowed: bool) -> None:
    def verdict(unreachable: Literal["allow", "disallow"]) -> bool:
        found = robots_from_answer(status, None, agent="Terrain", unreachable=unreachable)
        assert found.crawl_delay is None
        return found.allows(SITE + "/a")

    assert verdict("allow") is by_default
    assert verdict("disallow") is if_disallowed


def test_the_body_of_an_error_page_is_no_rule() -> None:
    body = b"User-agent: *\nDisallow: /"
    assert robots_from_answer(404, body, agent="Terrain", unreachable="allow").allows(SITE)


def test_a_page_denied_for_want_of_a_robots_txt_says_so() -> None:
    rules = robots_from_answer(None, None, agent="Terrain", unreachable="disallow")
    assert rules.denial(SITE + "/a") == "robots denied: robots.txt could not be read"


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 10", 10.0),
        ("User-agent: *\nCrawl-delay: 0.5", 0.5),
        ("User-agent: *\nCrawl-delay: 0", 0.0),
        ("User-agent: *\nDisallow: /a", None),
        ("User-agent: Other\nCrawl-delay: 10", None),
        ("User-agent: *\nCrawl-delay: 10\nUser-agent: Terrain\nCrawl-delay: 2", 2.0),
        ("User-agent: *\nCrawl-delay: 10\nUser-agent: Terrain\nDisallow: /a", None),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: nan", None),
        ("User-agent: *\nCrawl-delay: inf", None),
        ("User-agent: *\nCrawl-delay: soon", None),
        ("User-agent: *\nCrawl-delay: 1e300", MAX_CRAWL_DELAY),
        ("User-agent: *\nCrawl-delay: 86401", MAX_CRAWL_DELAY),
    ],
)
def test_crawl_delay(text: str, delay: float | None) -> None:
    assert robots(text).crawl_delay == delay


@pytest.mark.parametrize("agent", ["my bot", "a*b", "x#y", "ünï", "someone-else", "", "*"])
def test_any_crawler_name_still_obeys_the_rules_for_all(agent: str) -> None:
    assert not robots("User-agent: *\nDisallow: /", agent).allows(SITE + "/a")


def test_a_name_of_two_words_is_found() -> None:
    assert not robots("User-agent: My Bot/2\nDisallow: /", "my bot").allows(SITE + "/a")


def test_the_words_of_the_mode() -> None:
    assert [mode.value for mode in RobotsMode] == ["respect", "ignore", "report"]


# Files made to hurt


def test_what_is_over_the_limit_is_not_read_and_the_line_it_cuts_is_dropped() -> None:
    start = b"User-agent: *\nDisallow: /a\n"
    cut = b"Disallow: /bcd"
    filler = b"#" * (MAX_ROBOTS_BYTES - len(start) - len(cut) + 2) + b"\n"
    rules = robots(start + filler + cut + b"\nDisallow: /e\n")
    assert not rules.allows(SITE + "/a")
    assert rules.allows(SITE + "/bcd")
    assert rules.allows(SITE + "/b")
    assert rules.allows(SITE + "/e")


def test_the_500_kib_that_must_be_read_are_read() -> None:
    end = b"\nUser-agent: *\nDisallow: /a\n"
    assert not robots(b"#" * (MAX_ROBOTS_BYTES - len(end)) + end).allows(SITE + "/a")


def full_size(text: str) -> bytes:
    return text.encode()[:MAX_ROBOTS_BYTES]


NAMES = "".join(f"User-agent:{number}\n" for number in range(14_000))
HIDDEN_NAMES = "\n".join(f"User \t agent x:{number}" for number in range(11_000)) + "\n"
ODD_BREAKS = "User-agent: *\nDisallow: /x" + "".join(
    f"\u2028User-agent:{number}\x0c" for number in range(12_000)
)
RULES = "".join(f"Disallow:/{number}\n" for number in range(100, 15_000))
HOSTILE = {
    "one rule of wildcards": "User-agent: *\nDisallow: /" + "*a" * 255_000,
    "many short wildcards": "User-agent: *\n"
    + "".join(f"Disallow:/*{number}\n" for number in range(100_000, 130_000)),
    "needles that almost match": "User-agent: *\n"
    + ("Disallow:/*" + "a" * 45 + "b" + "a" * 45 + "\n") * 5_000,
    "escaped needles that almost match": "User-agent: *\n"
    + ("Disallow:/*" + "!" * 45 + "b" + "!" * 45 + "\n") * 5_000,
    "many names over many rules": NAMES + RULES,
    "our name among many over many rules": NAMES + "User-agent: Terrain\n" + RULES,
    "names spelt oddly": "User-agent: *\nAllow:/x\n" + HIDDEN_NAMES + RULES,
    "names behind odd line breaks": ODD_BREAKS + "\n" + RULES,
    "one name ten thousand times": "User-agent: Terrain\n" * 20_000 + RULES,
    "names and rules in turn": "User-agent: Terrain\nDisallow:/x\n" * 15_000,
    "blanks": "User-agent" + " " * 400_000 + "x\nUser" + " " * 100_000,
    "colons": ":" * 500_000,
    "no line break": "Disallow" * 60_000,
    "percent signs": "User-agent: *\nDisallow: /" + "%" * 250_000 + "%41" * 80_000,
    "dollar signs": "User-agent: *\nDisallow: /" + "$" * 500_000,
    "digits": "User-agent: *\nCrawl-delay: " + "9" * 500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("url", [SITE + "/" + "a" * 150, SITE + "/" + "a!" * 4_080])
def test_a_hostile_file_costs_bounded_time(name: str, url: str) -> None:
    started = time.process_time()
    rules = robots(full_size(HOSTILE[name]))
    read = time.process_time()
    rules.allows(url)
    judged = time.process_time()
    # Ten times what it takes on a slow core; without the bounds it is minutes and gigabytes.
    assert read - started < 3
    assert judged - read < 0.5


def test_a_verdict_that_would_take_too_long_is_a_denial_with_the_reason() -> None:
    rules = robots(full_size(HOSTILE["needles that almost match"]))
    assert rules.allows(SITE + "/short")
    denial = rules.denial(SITE + "/" + "a" * 8_000)
    assert denial == "robots denied: too many wildcard rules for so long an address"


def test_only_what_concerns_this_crawler_is_kept() -> None:
    assert robots(full_size(NAMES + RULES)).weight < 100
    ours = "User-agent: *\nDisallow: /a\n"
    assert robots(full_size(ours + "User-agent: Other\n" + RULES)).weight < 200
    assert robots(full_size("User-agent: Other\n" + RULES + ours)).weight < 200


@given(
    body=st.binary(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                "User-agent:",
                "*",
                "Terrain",
                "\n",
                "Disallow:",
                "Allow:",
                "/",
                "a",
                "$",
                "%",
                "%2",
                "Crawl-delay:",
                "1",
                "#",
                ":",
                " ",
                "\u2028",
                "Sitemap",
                "\ufeff",
                "\x00",
                "é",
            ]
        ),
        max_size=60,
    ).map(lambda parts: "".join(parts).encode()),
    status=st.none() | st.integers(100, 999),
    url=st.text(max_size=30).map(lambda path: f"{SITE}/{path}") | st.text(max_size=30),
    unreachable=st.sampled_from(["allow", "disallow"]),
)
def test_no_bytes_and_no_address_raise(
    body: bytes, status: int | None, url: str, unreachable: Literal["allow", "disallow"]
) -> None:
    rules = robots_from_answer(status, body, agent="Terrain", unreachable=unreachable)
    assert rules.allows(url) in {True, False}
    assert rules.crawl_delay is None or 0 <= rules.crawl_delay <= MAX_CRAWL_DELAY
