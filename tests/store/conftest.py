"""Fixtures of the store's tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from terrain.store import Policy
from tests.store.terrains import Terrain


@pytest.fixture
def make_terrain(tmp_path: Path) -> Iterator[Callable[[Policy], Terrain]]:
    """Open terrains by policy; whatever the test did to them, they must be sound afterwards."""
    made: list[Terrain] = []

    def make(policy: Policy) -> Terrain:
        terrain = Terrain(tmp_path / f"terrain-{len(made)}.db", policy)
        terrain.open()
        made.append(terrain)
        return terrain

    yield make
    for terrain in made:
        terrain.check()
