"""The seeds, one by one: each was thought of as a trap, or was one."""

from pathlib import Path

import pytest

from tests.fuzz.measuring import Meter
from tests.fuzz.target import CORPUS
from tests.fuzz.targets import TARGETS

SEEDS = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_must_hold_for_any_input_holds_for_the_seed(seed: Path) -> None:
    target = TARGETS[seed.parent.name]
    cost = Meter().cost(target.check, seed.read_bytes())
    assert cost.seconds < target.seconds


def test_every_target_has_seeds_and_every_seed_a_target() -> None:
    assert {path.parent.name for path in SEEDS} == set(TARGETS)
    assert all(len(target.seeds()) >= 15 for target in TARGETS.values())
    assert all(path.stat().st_size < 16_384 for path in SEEDS)
