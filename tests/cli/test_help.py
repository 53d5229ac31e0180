"""Help, version and completion."""

import subprocess

import pytest

from terrain import __version__
from terrain.cli import run, terrain
from tests.cli.terminals import TERRAIN, piped


@pytest.mark.parametrize("name", sorted(terrain.commands))
def test_every_command_explains_itself_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
):
    assert run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: terrain {name} ")
    assert "Example" in text
    assert f"terrain {name}" in text.partition("Example")[2]


def test_the_version(capsys: pytest.CaptureFixture[str]):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"terrain, version {__version__}\n"


def test_without_a_command_the_help_is_shown_as_an_answer_to_a_mistake(
    capsys: pytest.CaptureFixture[str],
):
    assert run([]) == 2
    assert capsys.readouterr().err.startswith("Usage: terrain ")


def test_python_dash_m_is_the_same_command():
    assert piped("--version").stdout == f"terrain, version {__version__}\n"


def test_help_is_quick_because_nothing_heavy_is_imported_for_it():
    code = "import sys, terrain.cli; print([m for m in ('scrapy', 'rich', 'sqlalchemy', "
    code += "'pydantic', 'terrain.config') if m in sys.modules])"
    done = subprocess.run(
        [TERRAIN[0], "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_asks_terrain(shell: str, capsys: pytest.CaptureFixture[str]):
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_TERRAIN_COMPLETE={shell}_complete" in script


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("terrain cr", "crawl"), ("terrain crawl --fr", "--fresh"), ("terrain completion f", "fish")],
)
def test_what_bash_is_offered(typed: str, offered: str):
    words = typed.split()
    asked = {
        "_TERRAIN_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = piped(env=asked)
    assert f"plain,{offered}" in done.stdout.splitlines()
