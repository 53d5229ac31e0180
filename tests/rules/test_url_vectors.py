"""Browsers' own test vectors: every entry of web-platform-tests' urltestdata.json.

No entry is left out. What a browser takes for an http(s) URL has to be a page address with the same
parts; what it rejects, and what has another scheme, has to be none.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from terrain.rules.urls import UrlRules

VECTORS: list[dict[str, Any]] = [
    entry
    for entry in json.loads(
        (Path(__file__).parents[1] / "data" / "urltestdata.json").read_text(encoding="utf-8")
    )
    if isinstance(entry, dict)  # the strings between them are comments
]
PAGES = [entry for entry in VECTORS if entry.get("protocol") in {"http:", "https:"}]
REJECTED = [entry for entry in VECTORS if entry.get("failure")]
OTHER_SCHEMES = [entry for entry in VECTORS if "href" in entry and entry not in PAGES]

as_found = UrlRules(allow_http=True)
always_https = UrlRules()


def name_of(entry: dict[str, Any]) -> str:
    return ascii(f"{entry['input']} on {entry['base']}")


def without_userinfo_and_fragment(entry: dict[str, Any]) -> str:
    userinfo = entry["username"] + (f":{entry['password']}" if entry["password"] else "")
    url: str = entry["href"].partition("#")[0]
    return url.replace(f"//{userinfo}@", "//", 1) if userinfo else url


def test_the_vectors_are_all_there() -> None:
    assert (len(PAGES), len(REJECTED), len(OTHER_SCHEMES)) == (229, 273, 367)
    assert len(PAGES) + len(REJECTED) + len(OTHER_SCHEMES) == len(VECTORS)
    assert sum(entry["base"] is not None for entry in PAGES) > 100


@pytest.mark.parametrize("entry", PAGES, ids=name_of)
def test_an_http_url_has_the_parts_a_browser_gives_it(entry: dict[str, Any]) -> None:
    address = as_found.address(entry["input"], entry["base"])
    assert address is not None
    assert address.fetch_url == without_userinfo_and_fragment(entry)
    assert address.host in {entry["hostname"], entry["hostname"].removeprefix("www.")}


@pytest.mark.parametrize("entry", PAGES, ids=name_of)
def test_the_scheme_is_all_that_https_changes(entry: dict[str, Any]) -> None:
    plain = as_found.address(entry["input"], entry["base"])
    secure = always_https.address(entry["input"], entry["base"])
    assert plain is not None
    assert secure is not None
    assert secure.fetch_url == plain.fetch_url.replace("http://", "https://", 1)
    assert secure.identity == plain.identity
    assert always_https.identity(secure.identity) == secure.identity


@pytest.mark.parametrize("entry", REJECTED, ids=name_of)
def test_what_a_browser_rejects_is_no_page(entry: dict[str, Any]) -> None:
    assert as_found.address(entry["input"], entry["base"]) is None


@pytest.mark.parametrize("entry", OTHER_SCHEMES, ids=name_of)
def test_another_scheme_is_no_page(entry: dict[str, Any]) -> None:
    assert as_found.address(entry["input"], entry["base"]) is None
