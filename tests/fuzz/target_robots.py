"""robots.txt: the first line of an input is the address that is asked about, the rest the file."""

from terrain.rules.robots import (
    MAX_CRAWL_DELAY,
    MAX_ROBOTS_BYTES,
    ROBOTS_DENIED,
    Robots,
    robots_from_answer,
)
from terrain.rules.urls import UrlRules
from tests.fuzz.target import Target, assert_storable, first_line

RULES = UrlRules()
AGENT = "Terrain"
FOREIGN_GROUP = b"User-agent: someone-else\nCrawl-delay: 7\nDisallow: /\n\n"

WORDS = (
    *(b"User-agent: *\n", b"User-agent: Terrain\n", b"user-agent:terrain/1.0\n", b"useragent *\n"),
    *(b"User-agent: other\n", b"User-agent: this-crawler\n", b"user agent", b"User-agent:\n"),
    *(b"Disallow: /\n", b"Disallow:\n", b"Allow: /\n", b"Disallow: /a", b"Disallow: /*", b"Allow:"),
    *(
        b"dissallow: ",
        b"Crawl-delay: 1\n",
        b"Crawl-delay: nan\n",
        b"crawl delay 1e9\n",
        b"-1",
        b"$",
    ),
    *(b"Sitemap: https://example.com/s\n", b"Host: a\n", b"Unknown: x\n", b"Request-rate: 1/1\n"),
    *(b"Visit-time: 0000-2400\n", b"\n", b"\r", b"\r\n", b"\x0b", b"\x85", b"\xe2\x80\xa8", b"#"),
    *(
        b"*",
        b"**",
        b"*a*a*a*a",
        b"$",
        b"%2F",
        b"%2f",
        b"%",
        b"%zz",
        b"\xc3\xbc",
        b"%C3%BC",
        b"\xff",
    ),
    *(b":", b" ", b"\t", b"\0", b"\xef\xbb\xbf", b"?a=b", b";p", b"/index.html", b"/robots.txt"),
    *(b"https://example.com/", b"https://example.com/a/b?c=d", b"https://[::1]/", b"/a/", b"aaaa"),
)


def check(data: bytes) -> None:
    line, body = first_line(data)
    address = RULES.address(line, "https://example.com/a/")
    fetch_url = address.fetch_url if address else "https://example.com/"
    robots = _read(body)
    _bounded(robots, body)
    denial = robots.denial(fetch_url)
    assert denial is None or denial.startswith(ROBOTS_DENIED)
    if denial is not None:
        assert_storable(denial, 100)
    assert robots.allows(fetch_url) == (denial is None)
    if len(body) < MAX_ROBOTS_BYTES // 2 and not body.startswith(b"\xef\xbb\xbf"):
        # What is said to another crawler, before anything else, changes nothing for this one.
        other = _read(FOREIGN_GROUP + body)
        assert other.denial(fetch_url) == denial
        assert other.crawl_delay == robots.crawl_delay


def _read(body: bytes) -> Robots:
    return robots_from_answer(200, body, agent=AGENT, unreachable="allow")


def _bounded(robots: Robots, body: bytes) -> None:
    delay = robots.crawl_delay
    assert delay is None or 0 <= delay <= MAX_CRAWL_DELAY
    # Each line that is kept may be spelt a little longer than it was.
    assert robots.weight <= 16 * (min(len(body), MAX_ROBOTS_BYTES) + 2)


TARGET = Target(
    name="robots", check=check, words=WORDS, largest=600 * 1024, seconds=4.0, megabytes=400
)
