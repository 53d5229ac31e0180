"""Fixtures of the reports' tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from terrain.store import Policy
from terrain.store.queries import TerrainReader, open_terrain
from tests.reports import known


@pytest.fixture(scope="session")
def known_database(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Policy]:
    """The known terrain, made once; only for reading."""
    path = tmp_path_factory.mktemp("known") / "terrain.db"
    return path, known.build(path)


@pytest.fixture
def reader(known_database: tuple[Path, Policy]) -> Iterator[TerrainReader]:
    with open_terrain(known_database[0]) as found:
        yield found


@pytest.fixture
def policy(known_database: tuple[Path, Policy]) -> Policy:
    return known_database[1]


@pytest.fixture
def own_database(known_database: tuple[Path, Policy], tmp_path: Path) -> Path:
    """A copy of the known terrain that a test may change."""
    return Path(shutil.copy(known_database[0], tmp_path / "own.db"))
