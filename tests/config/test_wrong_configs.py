"""The tables in wrong/, case by case: exact lines, exit code 2."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from terrain.config import load_config
from terrain.errors import ConfigError

GOOD_ENTRY = '[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/"]\n'


@dataclass(frozen=True)
class Wrong:
    """A wrong configuration and what is said about it."""

    name: str
    toml: str
    env: dict[str, str]
    says: list[str]


def read_case(text: str) -> Wrong:
    head, _, says = text.partition("--- says\n")
    file, _, env = head.partition("--- env\n")
    name, _, toml = file.partition("\n")
    pairs = (line.split("=", 1) for line in env.splitlines())
    return Wrong(
        name=name,
        toml=toml if "quality" in toml else toml + GOOD_ENTRY,
        env={variable: json.loads(value) for variable, value in pairs},
        says=says.split("\n\n")[0].splitlines(),
    )


TABLES = sorted((Path(__file__).parent / "wrong").glob("*.txt"))
CASES = [
    pytest.param(read_case(text), id=f"{table.stem}: {text.partition(chr(10))[0]}")
    for table in TABLES
    for text in table.read_text(encoding="utf-8").split("=== ")[1:]
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    directory = tmp_path / "here"
    directory.mkdir()
    (directory / "not-a-certificate.pem").write_text("hello\n")
    monkeypatch.chdir(directory)
    return directory


@pytest.mark.parametrize("case", CASES)
def test_every_problem_gives_its_line(case: Wrong, here: Path):
    Path("config.toml").write_text(case.toml, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config("config.toml", env=case.env)
    assert caught.value.problems == case.says
    assert caught.value.exit_code == 2


def test_the_tables_are_read_whole():
    names = [case.id for case in CASES]
    assert len(names) == len(set(names)) > 40
    assert all(case.values[0].says for case in CASES)


def test_what_is_not_wrong_in_the_cases_is_good(here: Path):
    Path("config.toml").write_text(GOOD_ENTRY, encoding="utf-8")
    assert load_config("config.toml", env={}).quality[0].domain == "example.com"
