"""docs/configuration.md says what the sections say, and the design's keys are all there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from terrain.config import Config
from terrain.config.keys import fields_by_key
from terrain.config.wording import item_shape, model_of
from terrain.rules.defaultrules import DEFAULT_RULES
from terrain.rules.patterns import UrlPattern
from terrain.rules.urls import UrlRules

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs/configuration.md"

# The contract, key by key: a key that is added or renamed must be added here on purpose.
KEYS = {
    "crawler": "granularity max-depth max-concurrent-pages-open minimum-time-on-page "
    "max-domain-requests max-subdomains-per-root max-outbound-links max-crawls-per-domain "
    "head-probe max-body-bytes",
    "retry": "attempts delay timeout timeout-step connect-timeout",
    "robots": "mode unreachable",
    "user-agent": "crawler-name crawler-version contact-url contact-email",
    "output": "database-path database-url summary-path metrics-path prometheus-path",
    "urls": "tracking-parameters",
    "network": "ca-file allow-http allow-private resolve",
    "traps": "enabled max-path-length max-path-segments max-repeated-segments max-query-length "
    "max-query-parameters",
    "quality": "domain seeds max-depth own minimum-time-on-page max-concurrent",
    "blacklist": "domain",
    "stub": "domain",
    "rules": "match action",
}
AT_THE_TOP = {"rules-defaults"}


def test_the_reference_is_not_stale():
    check = subprocess.run(
        [sys.executable, ROOT / "scripts/write_config_reference.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (check.returncode, check.stdout) == (0, ""), check.stdout + check.stderr


def test_the_keys_are_those_of_the_contract():
    sections = {
        key: model_of(shape) or model_of(item_shape(shape))
        for key, (_, shape) in fields_by_key(Config).items()
    }
    assert {key for key, model in sections.items() if model is None} == AT_THE_TOP
    keys = {key: " ".join(fields_by_key(model)) for key, model in sections.items() if model}
    assert keys == KEYS


def test_a_default_that_depends_on_the_granularity_is_told_for_both():
    text = REFERENCE.read_text()
    for key, default in {
        "max-depth": "`3`; by domain `5`",
        "max-subdomains-per-root": "absent; by domain `3`",
        "max-outbound-links": "absent; by domain `10`",
    }.items():
        (row,) = re.findall(rf"^\| `crawler\.{key}` .*$", text, re.MULTILINE)
        assert f" | {default} | " in row


def test_every_key_has_its_row_with_range_default_and_sentence():
    rows = dict(re.findall(r"^\| `([a-z.-]+)` \| (.+) \|$", REFERENCE.read_text(), re.MULTILINE))
    for section, keys in {**KEYS, "": " ".join(AT_THE_TOP)}.items():
        lists = {"quality", "blacklist", "stub", "rules", ""}
        prefix = "" if section in lists else f"{section}."
        for key in keys.split():
            allowed, default, sentence = rows[prefix + key].split(" | ")
            assert allowed
            assert default
            assert sentence.endswith(".")


def test_the_default_rules_are_listed_one_by_one():
    text = REFERENCE.read_text().partition("## The default set")[2].partition("\n## ")[0]
    listed = re.findall("`([^`]+)`", text)
    assert listed == ["rules-defaults = false", *(rule.match for rule in DEFAULT_RULES)]


def test_the_examples_of_patterns_do_what_the_page_says():
    text = REFERENCE.read_text().partition("## Patterns")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \| (?:`(.+)`)? \|$", text, re.MULTILINE)
    assert len(rows) > 5
    urls = UrlRules()
    for pattern, matched, other in rows:
        parsed = UrlPattern.parse(pattern.replace(r"\|", "|"))
        assert parsed.matches(urls.identity(matched)), pattern
        assert not other or not parsed.matches(urls.identity(other)), pattern
