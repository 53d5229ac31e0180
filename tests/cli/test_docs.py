"""The docs say what the program does, by test."""

import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from terrain.addon import EXTENSIONS
from terrain.cli import terrain
from tests.cli.demo_run import DemoRun

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.+?)```", README, re.DOTALL)
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]


def dependencies() -> list[str]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    named = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    return [re.split(r"[<>=\[;~! ]", name, maxsplit=1)[0] for name in named]


def test_the_command_reference_is_not_stale():
    check = subprocess.run(
        [sys.executable, ROOT / "scripts/write_command_reference.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (check.returncode, check.stdout) == (0, ""), check.stdout + check.stderr


@pytest.mark.parametrize("name", sorted(terrain.commands))
def test_every_command_is_in_the_reference_and_in_the_readme(name: str):
    assert f"## `terrain {name}`" in (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    assert f"terrain {name}" in README


@pytest.mark.parametrize("name", dependencies())
def test_every_dependency_has_its_reason(name: str):
    text = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    assert re.search(rf"(\*\*|\| ){re.escape(name)}(\.?\*\*| \|)", text)


@pytest.mark.parametrize("page", PAGES)
def test_links_and_pictures_lead_somewhere(page: str):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text)
    missing = [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()]
    assert missing == []


def test_what_the_architecture_points_to_is_there():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    _, _, table = text.partition("## Where do I change X?")
    paths = re.findall(r"`((?:terrain|scripts|migrations)/[\w/.]*)`", table)
    assert len(paths) > 15
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_make_targets_of_the_readme_exist():
    targets = set(re.findall(r"\bmake ([a-z]+)\b", README))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"crawl", "test"} <= targets
    assert targets <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def test_the_progress_and_the_reports_are_part_of_every_crawl():
    assert "terrain.extensions.progress.Progress" in EXTENSIONS
    assert "terrain.extensions.reporting.Reporting" in EXTENSIONS


@pytest.fixture(scope="module")
def database(
    demo: DemoRun, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[sqlite3.Connection]:
    """The demo's terrain, and one run more."""
    copy = tmp_path_factory.mktemp("queries") / "terrain.db"
    shutil.copy(demo.database, copy)
    connection = sqlite3.connect(copy)
    # As if a second run had read Heron Watch again: its text changed, a link is gone.
    connection.executescript(
        """
        INSERT INTO runs (id, started_at, config_hash, terrain_hash, status)
            SELECT 2, started_at, config_hash, terrain_hash, 'completed' FROM runs;
        INSERT INTO visits
            SELECT page_id, 2, state, status_code, 'Heron Watch, moved', 'another', bytes,
                   fetch_ms, visited_at, error_message
              FROM visits WHERE title = 'Heron Watch';
        UPDATE page SET run = 2, read_run = 2
         WHERE id = (SELECT page_id FROM visits WHERE run_id = 2);
        UPDATE link SET last_run = 1
         WHERE from_id = (SELECT page_id FROM visits WHERE run_id = 2)
           AND to_id = (SELECT id FROM pages WHERE url = 'https://night-herons.example/');
        """
    )
    with closing(connection):
        yield connection


class TestQueries:
    """The SQL of the README."""

    def ask(self, database: sqlite3.Connection, number: int) -> list[tuple[object, ...]]:
        return database.execute(QUERIES[number]).fetchall()

    def test_there_are_five(self):
        assert len(QUERIES) == 5

    def test_domains_that_are_pointed_to_and_not_trusted_yet(self, database: sqlite3.Connection):
        found = {str(domain): links for domain, links, _ in self.ask(database, 0)}
        assert "reedbed-trust.example" in found
        assert "heronwatch.example" not in found
        assert list(found.values()) == sorted(found.values(), reverse=True)  # type: ignore[type-var]

    def test_broken_links_and_where_they_stand(self, database: sqlite3.Connection):
        assert (
            "https://floodmarks.example/1607",
            404,
            "https://floodmarks.example/",
            "The mark of 1607",
        ) in self.ask(database, 1)

    def test_links_that_are_gone(self, database: sqlite3.Connection):
        assert self.ask(database, 2) == [
            ("https://heronwatch.example/", "https://night-herons.example/", 1)
        ]

    def test_pages_that_changed(self, database: sqlite3.Connection):
        changed = [(url, before, now) for url, _, before, now in self.ask(database, 3)]
        assert changed == [("https://heronwatch.example/", "Heron Watch", "Heron Watch, moved")]

    def test_what_went_wrong_by_domain(self, database: sqlite3.Connection):
        worst = self.ask(database, 4)[0]
        assert worst[:2] == ("swan-registry.example", "rate_limited")
