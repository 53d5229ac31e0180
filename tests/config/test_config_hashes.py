"""config_hash: has the meaning of a run changed. terrain_hash: does the change need a new run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain.config import parse_config

BASE = """
[crawler]
max-depth = 3

[user-agent]
crawler-name = "Terrain"

[urls]
tracking-parameters = ["a", "b*"]

[[quality]]
domain = "example.com"
seeds = ["https://example.com/", "https://example.com/blog"]

[[quality]]
domain = "example.org"
seeds = ["https://example.org/"]
max-depth = 5

[[blacklist]]
domain = "ads.net"

[[blacklist]]
domain = "spam.net"

[[stub]]
domain = "github.com"
"""


def changed(old: str, new: str):
    assert old in BASE
    return parse_config(BASE.replace(old, new), env={})


base = parse_config(BASE, env={})

WITHOUT_MEANING = {
    "database": ("[crawler]", 'output.database-path = "other.db"\n[crawler]'),
    "database by URL": ("[crawler]", 'output.database-url = "postgresql:///x"\n[crawler]'),
    "summary": ("[crawler]", 'output.summary-path = "other.md"\n[crawler]'),
    "where to connect": ("[crawler]", 'network.resolve = {"*" = "127.0.0.1"}\n[crawler]'),
    "version of the crawler": ("[urls]", 'crawler-version = "9"\n[urls]'),
    "default spelt out": (
        "[urls]\n",
        '[retry]\nattempts = 3\n[robots]\nmode = "respect"\n[urls]\n',
    ),
    "order of tracking parameters": ('"a", "b*"', '"b*", "a"'),
    "order of seeds": (
        '["https://example.com/", "https://example.com/blog"]',
        '["https://example.com/blog", "https://example.com/"]',
    ),
    "order of the blacklist": (
        'domain = "ads.net"\n\n[[blacklist]]\ndomain = "spam.net"',
        'domain = "spam.net"\n\n[[blacklist]]\ndomain = "ads.net"',
    ),
    "a domain blacklisted twice": ("[[stub]]", '[[blacklist]]\ndomain = "ads.net"\n\n[[stub]]'),
    "spelling of a domain": ('"github.com"', '"WWW.GitHub.com"'),
    "comments": ("[crawler]", "# hello\n[crawler]  # there"),
}

ONLY_SAID = {
    "budget": ("max-depth = 3", "max-depth = 3\nmax-domain-requests = 5"),
    "delay": ("max-depth = 3", "max-depth = 3\nminimum-time-on-page = 2000"),
    "probe": ("max-depth = 3", 'max-depth = 3\nhead-probe = "never"'),
    "retries": ("[urls]", "[retry]\nattempts = 4\n[urls]"),
    "robots": ("[urls]", '[robots]\nmode = "ignore"\n[urls]'),
    "name of the crawler": ('"Terrain"', '"Ripple"'),
    "tracking parameters": ('"a", "b*"', '"a"'),
    "plain http": ("[urls]", "[network]\nallow-http = true\n[urls]"),
    "private addresses": ("[urls]", "[network]\nallow-private = true\n[urls]"),
    "blacklist": ('"ads.net"', '"*.ads.net"'),
    "stub list": ('"github.com"', '"gitlab.com"'),
    "blacklist and stub list exchanged": ("[[stub]]", "[[blacklist]]"),
    "own site": ("max-depth = 5", "max-depth = 5\nown = true"),
    "delay of one domain": ("max-depth = 5", "max-depth = 5\nminimum-time-on-page = 100"),
}

NEW_RUN = {
    "global depth": ("max-depth = 3", "max-depth = 2"),
    "depth of one domain": ("max-depth = 5", "max-depth = 6"),
    "depth of one domain left out": ("max-depth = 5\n", ""),
    "domain": ('domain = "example.org"', 'domain = "*.example.org"'),
    "seed more": ('["https://example.org/"]', '["https://example.org/", "https://example.org/b"]'),
    "seed less": ('"https://example.com/", ', ""),
    "domain more": (
        "[[stub]]",
        '[[quality]]\ndomain = "example.net"\nseeds = ["https://example.net/"]\n[[stub]]',
    ),
}


@pytest.mark.parametrize("change", WITHOUT_MEANING.values(), ids=WITHOUT_MEANING)
def test_what_has_no_meaning_changes_neither_hash(change):
    config = changed(*change)
    assert config.config_hash == base.config_hash
    assert config.terrain_hash == base.terrain_hash


@pytest.mark.parametrize("change", ONLY_SAID.values(), ids=ONLY_SAID)
def test_what_changes_the_run_but_not_the_terrain_changes_the_config_hash_only(change):
    config = changed(*change)
    assert config.config_hash != base.config_hash
    assert config.terrain_hash == base.terrain_hash


@pytest.mark.parametrize("change", NEW_RUN.values(), ids=NEW_RUN)
def test_what_needs_a_new_run_changes_both(change):
    config = changed(*change)
    assert config.config_hash != base.config_hash
    assert config.terrain_hash != base.terrain_hash


def test_the_file_of_authorities_has_no_meaning(tmp_path):
    import trustme

    path = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(path)
    config = changed("[crawler]", f'network.ca-file = "{path}"\n[crawler]')
    assert config.network.ca_file == path
    assert config.config_hash == base.config_hash


def test_the_order_of_quality_entries_decides_about_terms_and_not_about_the_terrain():
    config = base.model_copy(update={"quality": base.quality[::-1]})
    assert config.config_hash != base.config_hash
    assert config.terrain_hash == base.terrain_hash


def test_a_copy_with_other_values_has_its_own_hashes():
    config = base.model_copy(update={"quality": base.quality[:1]})
    assert config.config_hash != base.config_hash
    assert config.terrain_hash != base.terrain_hash


domains = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


@given(domains, st.randoms(use_true_random=False))
def test_any_order_of_the_lists_gives_the_same_hash(names, random):
    def with_lists(ordered: list[str]) -> str:
        tables = [
            f'[[{kind}]]\ndomain = "{n}.net"' for n in ordered for kind in ("stub", "blacklist")
        ]
        return parse_config("\n".join([BASE, *tables]), env={}).config_hash

    shuffled = random.sample(names, len(names))
    assert with_lists(shuffled) == with_lists(names)


@given(domains, domains)
def test_different_lists_give_different_hashes(some, others):
    def with_stubs(names: list[str]) -> str:
        tables = [f'[[stub]]\ndomain = "{name}.net"' for name in names]
        return parse_config("\n".join([BASE, *tables]), env={}).config_hash

    assert (with_stubs(some) == with_stubs(others)) == (set(some) == set(others))
