"""Headers: an input is the value of each header that is read: type, Location, Retry-After."""

from terrain.rules.charset import decode, encoding_for
from terrain.rules.content import is_html, looks_like_file, sniff_html
from terrain.rules.redirects import HopKind, classify_hop, decode_location
from terrain.rules.retries import (
    MAX_REASON,
    MAX_RETRY_AFTER,
    Again,
    FailureKind,
    RetryPolicy,
    failure_reason,
    parse_retry_after,
    verdict_for_status,
)
from terrain.rules.states import TERMINAL
from terrain.rules.urls import UrlRules
from tests.fuzz.target import Target, assert_storable

NOW = 1_700_000_000.0
HTTPS_ONLY = UrlRules()
WITH_HTTP = UrlRules(allow_http=True)
POLICY = RetryPolicy()

WORDS = (
    *(b"text/html", b"application/xhtml+xml", b"application/pdf", b"*/*", b"unknown/unknown"),
    *(b"; charset=", b";charset='", b'charset="', b"utf-8", b"utf-16", b"rot13", b"utf-7", b"idna"),
    *(b"unicode_escape", b"hex", b"undefined", b"mbcs", b"iso-8859-1", b",", b";", b"=", b'"'),
    *(b"https://", b"http://", b"//", b"/", b"?", b"#", b"\\", b"@", b":", b"..", b"www.", b"%"),
    *(b"example.com", b"/docs", b"/docs/", b"file:", b"data:", b"javascript:", b"gopher:", b"\xff"),
    *(b"127.0.0.1", b"[::1]", b"\xc3\xbc", b"\x00", b"\r\n", b"\t", b" ", b"\x1b", b"\x85"),
    *(b"Tue, 14 Nov 2023 22:15:20 GMT", b"Tuesday, 14-Nov-23", b"Tue Nov 14 22:15:20 2023"),
    *(b"GMT", b"+9999", b"-0000", b"120", b"9999999999", b"1.5", b"-1", b"1e9", b"nan", b"inf"),
    *(b"<html>", b"<!doctype html ", b"<!--", b"\xef\xbb\xbf", b"\xff\xfe", b".pdf", b".php", b";"),
)


def check(data: bytes) -> None:
    for value in (data.decode("latin-1"), data.decode("utf-8", "replace"), decode_location(data)):
        assert is_html(value) in {True, False, None}
        assert isinstance(looks_like_file(f"https://example.com/{value}"), bool)
        looks_like_file(value)
        _charset(value)
        _retry_after(value)
        _location(value)
        reason = failure_reason(FailureKind.OTHER, value)
        assert_storable(reason, MAX_REASON)
        assert len(reason.splitlines()) == 1
    sniff_html(data)


def _charset(value: str) -> None:
    name = encoding_for(value)
    assert name is None or encoding_for(name) == name
    decoded = decode(b"caf\xc3\xa9 \x1b$B", value)
    decoded.utf8.decode()
    assert encoding_for(decoded.encoding) == decoded.encoding


def _retry_after(value: str) -> None:
    at = parse_retry_after(value, NOW)
    assert at is None or NOW <= at <= NOW + MAX_RETRY_AFTER
    for status in (200, 429, 503):
        verdict = verdict_for_status(status, attempt=0, retry_after=at, now=NOW, policy=POLICY)
        if isinstance(verdict, Again):
            assert NOW <= verdict.at <= NOW + MAX_RETRY_AFTER
        elif verdict is not None:
            assert verdict.state in TERMINAL
            assert_storable(verdict.reason, MAX_REASON)


def _location(value: str) -> None:
    for rules in (HTTPS_ONLY, WITH_HTTP):
        page = rules.address("https://www.example.com/docs")
        assert page is not None
        for status in (301, 300):
            hop = classify_hop(
                address=page,
                status=status,
                location=value,
                asked=[page.fetch_url],
                hops=0,
                rules=rules,
            )
            same = hop.target is not None and hop.target.identity == page.identity
            assert (hop.kind is HopKind.FOLLOW) == same
            assert (hop.state is None) == same
            if hop.target is None:
                assert hop.reason is not None
                assert_storable(hop.reason, MAX_REASON)
            else:
                schemes = ("https://", "http://") if rules is WITH_HTTP else ("https://",)
                assert hop.target.fetch_url.startswith(schemes)


TARGET = Target(
    name="headers", check=check, words=WORDS, largest=64 * 1024, seconds=0.5, megabytes=16
)
