"""TERRAIN_… variables over the file."""

from __future__ import annotations

import pytest

from terrain.config import load_config, parse_config
from terrain.config.environment import variable_name
from terrain.config.keys import known_keys
from terrain.config.model import Config
from terrain.errors import ConfigError

FILE = """
[crawler]
max-depth = 5
max-domain-requests = 7

[[quality]]
domain = "example.com"
seeds = ["https://example.com/"]
"""


def crawler_with(**env: str):
    return parse_config(FILE, env=env).crawler


def test_a_variable_wins_over_the_file_and_leaves_the_rest():
    crawler = crawler_with(TERRAIN_CRAWLER__MAX_DEPTH="2")
    assert crawler.max_depth == 2
    assert crawler.max_domain_requests == 7


def test_a_variable_sets_a_section_that_the_file_does_not_have():
    config = parse_config(FILE, env={"TERRAIN_USER_AGENT__CONTACT_EMAIL": "me@example.com"})
    assert config.user_agent.contact_email == "me@example.com"


@pytest.mark.parametrize("name", ["TERRAIN_CRAWLER__MAX_DEPTH", "terrain_crawler__max_depth"])
def test_case_does_not_matter(name):
    assert crawler_with(**{name: "2"}).max_depth == 2


def test_an_empty_variable_counts_as_absent():
    assert crawler_with(TERRAIN_CRAWLER__MAX_DEPTH="").max_depth == 5


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("1", True), ("yes", True), ("false", False), ("0", False)]
)
def test_truth_values(text, value):
    config = parse_config(FILE, env={"TERRAIN_NETWORK__ALLOW_HTTP": text})
    assert config.network.allow_http is value


def test_a_path_is_read_as_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    config = parse_config(FILE, env={"TERRAIN_OUTPUT__SUMMARY_PATH": "~/summary.md"})
    assert config.output.summary_path == tmp_path / "summary.md"


def test_lists_and_tables_are_json_and_replace_the_files():
    env = {
        "TERRAIN_QUALITY": '[{"domain": "a.org", "seeds": ["https://a.org/"], "max-depth": 1}]',
        "TERRAIN_STUB": '[{"domain": "github.com"}]',
        "TERRAIN_NETWORK__RESOLVE": '{"*.test": "127.0.0.1:8443"}',
        "TERRAIN_URLS__TRACKING_PARAMETERS": '["sid"]',
    }
    config = parse_config(FILE, env=env)
    assert [(entry.domain, entry.max_depth) for entry in config.quality] == [("a.org", 1)]
    assert [entry.domain for entry in config.stub] == ["github.com"]
    assert config.network.resolve_target("a.test") == ("127.0.0.1", 8443)
    assert config.urls.tracking_parameters == ("sid",)


def test_a_whole_section_is_merged_and_a_single_key_wins_over_it():
    crawler = crawler_with(
        TERRAIN_CRAWLER='{"max-depth": 1, "head-probe": "never"}', TERRAIN_CRAWLER__MAX_DEPTH="2"
    )
    assert crawler.max_depth == 2
    assert crawler.head_probe == "never"
    assert crawler.max_domain_requests == 7


def test_a_good_value_in_the_environment_takes_a_wrong_one_in_the_file_away():
    toml = FILE.replace("max-depth = 5", "max-depth = -5")
    config = parse_config(toml, env={"TERRAIN_CRAWLER__MAX_DEPTH": "2"})
    assert config.crawler.max_depth == 2


def test_variables_of_others_are_left_alone():
    # What Kubernetes sets for a service that is called terrain.
    env = {"TERRAIN_PORT": "tcp://10.0.0.1:80", "TERRAIN_SERVICE_HOST": "10.0.0.1", "PATH": "/bin"}
    assert parse_config(FILE, env=env) == parse_config(FILE, env={})


def test_the_environment_of_the_process_is_the_default(tmp_path, monkeypatch):
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    monkeypatch.setenv("TERRAIN_CRAWLER__MAX_DEPTH", "4")
    assert load_config(path).crawler.max_depth == 4
    assert load_config(path, env={}).crawler.max_depth == 5


@pytest.mark.parametrize("path", list(known_keys(Config)), ids=variable_name)
def test_every_key_is_set_by_its_variable(path):
    # No key allows a null character, so that each variable that is read is refused.
    with pytest.raises(ConfigError) as caught:
        parse_config(FILE, env={variable_name(path): "\0"})
    assert [line.partition(" = ")[0] for line in caught.value.problems] == [
        f"environment: {variable_name(path)}"
    ]


def test_every_key_has_a_variable_of_its_own():
    paths = list(known_keys(Config))
    assert len({variable_name(path) for path in paths}) == len(paths)
    assert variable_name(("user-agent", "contact-email")) == "TERRAIN_USER_AGENT__CONTACT_EMAIL"


def test_checks_across_keys_name_the_variable_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    taken = "is output.database-path too; give each its own file"
    with pytest.raises(ConfigError) as caught:
        parse_config(FILE, env={"TERRAIN_OUTPUT__DATABASE_PATH": "./metrics.json"})
    # The file that comes second is the one in the way; it has its default, so no line.
    assert caught.value.problems == [f'config.toml: output.metrics-path = "metrics.json": {taken}']
    with pytest.raises(ConfigError) as caught:
        parse_config(FILE, env={"TERRAIN_OUTPUT__METRICS_PATH": "./terrain.db"})
    assert caught.value.problems == [
        f'environment: TERRAIN_OUTPUT__METRICS_PATH = "./terrain.db": {taken}'
    ]


def test_a_variable_with_an_odd_name_is_told_on_one_harmless_line():
    name = "TERRAIN_CRAWLER__\x1b[31m\n" + "X" * 1000
    with pytest.raises(ConfigError) as caught:
        parse_config(FILE, env={name: "1"})
    (line,) = caught.value.problems
    assert line.startswith(r"environment: TERRAIN_CRAWLER__\u001b[31m\u000aXXX")
    assert line.isprintable()
    assert len(line) < 200
