"""Is a response HTML: by its type, its first bytes, its name (design 3.3)."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.rules.content import SNIFFED_BYTES, is_html, looks_like_file, sniff_html


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html",
        "text/html; charset=utf-8",
        "text/html;charset=x;y",
        "TEXT/HTML",
        " text/html ",
        "text/html ; charset=utf-8",
        "text/html, text/html",
        "application/xhtml+xml",
        "application/xhtml+xml; profile=x",
    ],
)
def test_html_types(content_type: str) -> None:
    assert is_html(content_type) is True


@pytest.mark.parametrize(
    "content_type",
    [
        "application/pdf",
        "text/plain",
        "text/plain; note=text/html",
        "text/xml",
        "application/xml",
        "application/json",
        "image/svg+xml",
        "application/octet-stream",
        "text/htmlx",
        "multipart/x-mixed-replace",
    ],
)
def test_other_types(content_type: str) -> None:
    assert is_html(content_type) is False


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "  ",
        ";charset=utf-8",
        "html",
        "text",
        "text/",
        "/html",
        "text html/x",
        "unknown/unknown",
        "application/unknown",
        "*/*",
    ],
)
def test_no_type_at_all_must_be_sniffed(content_type: str | None) -> None:
    assert is_html(content_type) is None


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html>",
        b"<!doctype HTML PUBLIC>",
        b"<html>",
        b"<HTML lang=en>",
        b"\n\t\x0c\r <html>",
        b"<!-- a comment",
        b"<head>",
        b"<script src=x>",
        b"<iframe >",
        b"<h1>",
        b"<div class=x>",
        b"<font >",
        b"<table>",
        b"<a href=x>",
        b"<style>",
        b"<title>",
        b"<b>",
        b"<body>",
        b"<br>",
        b"<p>",
        codecs.BOM_UTF8 + b" <html>",
        codecs.BOM_UTF16_LE + "<!DOCTYPE html>".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "\n<html>".encode("utf-16-be"),
    ],
)
def test_what_starts_like_html(body: bytes) -> None:
    assert sniff_html(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"Hello <html>",
        b"<htmlx>",
        b"<html",
        b"<h2>",
        b"<span>",
        b"<html\n>",  # only a blank or > ends a tag here
        b"< html>",
        b"<?xml version='1.0'?><html>",
        b"<svg>",
        b"%PDF-1.7",
        b"\x89PNG\r\n\x1a\n",
        b"PK\x03\x04",
        b'{"a": "<html>"}',
        codecs.BOM_UTF8,
        codecs.BOM_UTF16_LE,
        codecs.BOM_UTF16_LE + b"<",
        "<html>".encode("utf-16-le"),
    ],
)
def test_what_does_not(body: bytes) -> None:
    assert not sniff_html(body)


def test_only_the_resource_header_is_looked_at() -> None:
    assert sniff_html(b" " * (SNIFFED_BYTES - 6) + b"<html>")
    assert not sniff_html(b" " * SNIFFED_BYTES + b"<html>")


@pytest.mark.parametrize(
    "url",
    [
        "https://e.com/paper.pdf",
        "https://e.com/PAPER.PDF",
        "https://e.com/a/b.tar.gz?download=1",
        "https://e.com/photo.jpeg",
        "https://e.com/feed.xml",
        "https://e.com/data.json;v=2",
        "https://e.com/dir.html/film.mp4",
        "https://e.com/page.php.zip",
    ],
)
def test_names_of_files(url: str) -> None:
    assert looks_like_file(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://e.com",
        "https://e.com/",
        "https://e.com/docs/",
        "https://e.com/docs",
        "https://files.zip/",
        "https://e.com/index.html",
        "https://e.com/index.htm",
        "https://e.com/page.xhtml",
        "https://e.com/page.php",
        "https://e.com/page.aspx",
        "https://e.com/page.jsp",
        "https://e.com/page.cgi",
        "https://e.com/show?file=paper.pdf",
        "https://e.com/paper.pdf/",
        "https://e.com/v1.2",
        "https://e.com/john.doe",
        "https://e.com/example.com",
        "https://e.com/.json",
        "https://e.com/pdf",
        "https://e.com/page;x=a.pdf",
    ],
)
def test_names_of_pages(url: str) -> None:
    assert not looks_like_file(url)


@given(st.text())
def test_any_text_gets_an_answer(text: str) -> None:
    assert is_html(text) in {True, False, None}
    assert looks_like_file(text) in {True, False}


@given(st.binary(max_size=2_000), st.sampled_from([b"", *(codecs.BOM_UTF16, codecs.BOM_UTF8)]))
def test_any_bytes_get_an_answer_and_what_follows_the_header_never_changes_it(
    body: bytes, mark: bytes
) -> None:
    start = (mark + body).ljust(SNIFFED_BYTES, b" ")
    assert sniff_html(start) == sniff_html(start[:SNIFFED_BYTES])
