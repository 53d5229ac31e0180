"""`terrain init`: the file it writes is one that a crawl accepts."""

from pathlib import Path

import pytest

from terrain.cli import run
from terrain.cli.init import ENTRY, starter_path
from terrain.config import load_config
from tests.cli.terminals import Terminal


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def entries(file: Path) -> list[tuple[str, tuple[str, ...]]]:
    return [(entry.domain, entry.seeds) for entry in load_config(file, {}).quality]


def test_without_arguments_and_without_anybody_to_ask_it_writes_the_starter(here: Path):
    assert run(["init"]) == 0
    assert "terrain crawl terrain.toml" in (here / "terrain.toml").read_text()
    assert entries(here / "terrain.toml") == [("*.example.com", ("https://www.example.com/",))]


def test_each_domain_gets_its_home_page_for_a_seed(here: Path):
    assert run(["init", "my.toml", "--domain", "a.example", "--domain", "*.b.example"]) == 0
    assert entries(here / "my.toml") == [
        ("a.example", ("https://a.example/",)),
        ("*.b.example", ("https://b.example/",)),
    ]


def test_seeds_go_to_the_domain_they_are_on_and_others_make_their_own(here: Path):
    seeds = ["https://docs.b.example/x", "https://c.example/blog/", "https://b.example/y"]
    options = [part for seed in seeds for part in ("--seed", seed)]
    assert run(["init", "my.toml", "--domain", "*.b.example", *options]) == 0
    assert entries(here / "my.toml") == [
        ("*.b.example", (seeds[0], seeds[2])),
        ("c.example", (seeds[1],)),
    ]


def test_the_comments_and_the_other_lists_are_kept(here: Path):
    assert run(["init", "my.toml", "--domain", "a.example"]) == 0
    starter = ENTRY.sub("", starter_path().read_text()).replace("starter.toml", "my.toml")
    written = ENTRY.sub("", (here / "my.toml").read_text())
    assert written == starter


def test_an_email_is_told_to_those_who_are_visited(here: Path):
    assert run(["init", "my.toml", "--domain", "a.example", "--email", "me@a.example"]) == 0
    config = load_config(here / "my.toml", {})
    assert config.user_agent.header.endswith("(me@a.example)")


def test_force_overwrites(here: Path):
    (here / "my.toml").write_text("mine")
    assert run(["init", "my.toml", "--domain", "a.example"]) == 2
    assert (here / "my.toml").read_text() == "mine"
    assert run(["init", "my.toml", "--domain", "a.example", "--force"]) == 0
    assert entries(here / "my.toml") == [("a.example", ("https://a.example/",))]


def test_on_a_terminal_it_asks_for_what_is_missing(here: Path):
    with Terminal(["init", "my.toml"], cwd=here) as terminal:
        terminal.type("*.a.example\n")
        terminal.type("me@a.example\n")
        assert terminal.wait() == 0, terminal.text
    assert entries(here / "my.toml") == [("*.a.example", ("https://a.example/",))]


def test_on_a_terminal_it_asks_nothing_when_given_a_domain(here: Path):
    with Terminal(["init", "my.toml", "--domain", "a.example"], cwd=here) as terminal:
        assert terminal.wait() == 0
    assert terminal.text.startswith("Wrote my.toml.")


def test_the_starter_has_exactly_one_entry_to_replace():
    assert len(ENTRY.findall(starter_path().read_text())) == 1
