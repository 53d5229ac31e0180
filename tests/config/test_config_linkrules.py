"""From the file to the rules about addresses: order, the default set, the guards."""

from __future__ import annotations

import pytest

from terrain.config import Config, parse_config

ENTRY = '\n[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/"]\n'


def config(text: str = "", **env: str) -> Config:
    return parse_config(text + ENTRY, env)


SHARE = "https://twitter.com/intent/tweet?text=x"
RULE = '[[rules]]\nmatch = "*.twitter.com"\naction = "{}"\n'


def action(configured: Config, identity: str) -> str | None:
    rule = configured.link_rules().first(identity)
    return None if rule is None else rule.action.value


def test_the_default_set_holds_unless_it_is_turned_off() -> None:
    assert action(config(), SHARE) == "skip"
    assert action(config("rules-defaults = false\n"), SHARE) is None
    assert action(config(TERRAIN_RULES_DEFAULTS="false"), SHARE) is None


@pytest.mark.parametrize("wanted", ["crawl", "record", "skip"])
def test_own_rules_come_before_the_default_set(wanted: str) -> None:
    assert action(config(RULE.format(wanted)), SHARE) == wanted


@pytest.mark.parametrize("key", ["blacklist", "stub"])
def test_the_default_set_leaves_listed_hosts_to_their_list(key: str) -> None:
    listed = config(f'[[{key}]]\ndomain = "*.doubleclick.net"\n')
    assert action(listed, "https://ad.doubleclick.net/x") == "crawl"
    assert action(config(), "https://ad.doubleclick.net/x") == "skip"


def test_own_rules_hold_for_listed_hosts_too() -> None:
    text = RULE.format("skip") + '[[blacklist]]\ndomain = "*.twitter.com"\n'
    assert action(config(text), SHARE) == "skip"


def test_the_guards_have_the_limits_of_the_file() -> None:
    deep = "https://example.com/a/b/c/d"
    assert config().link_rules().refusal(deep) is None
    tight = config("[traps]\nmax-path-segments = 3\n")
    assert tight.link_rules().refusal(deep) == "trap guard: a path of more than 3 segments"
    off = config("[traps]\nenabled = false\nmax-path-segments = 3\n")
    assert off.link_rules().refusal(deep) is None


def test_a_change_of_rules_or_guards_is_a_change_of_meaning_but_needs_no_new_run() -> None:
    base = config()
    changes = [
        "rules-defaults = false\n",
        RULE.format("skip"),
        RULE.format("record"),
        RULE.format("skip") + RULE.format("record"),
        RULE.format("record") + RULE.format("skip"),
        "[traps]\nenabled = false\n",
        "[traps]\nmax-path-length = 100\n",
    ]
    hashes = {config(text).config_hash for text in changes} | {base.config_hash}
    assert len(hashes) == len(changes) + 1
    assert {config(text).terrain_hash for text in changes} == {base.terrain_hash}


def test_equal_rules_are_compiled_once() -> None:
    assert config(RULE.format("skip")).link_rules() is config(RULE.format("skip")).link_rules()
