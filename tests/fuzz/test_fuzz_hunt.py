"""The hunt itself: a short one over every target, and proof that it finds what is there."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from benchmarks.fuzz_worker import CurrentInput
from tests.fuzz.hunting import Hunt
from tests.fuzz.mutations import SMALL, Mutator
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parents[2]
INPUTS = 1500
"""For each target; a few seconds altogether."""


def burn_for(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def planted(data: bytes) -> None:
    if b"raise" in data:
        raise KeyError(data)
    if b"slow" in data:
        burn_for(0.2)
    if b"large" in data:
        assert b"x" * 64_000_000


def hunt_with_planted_mistakes(limit: float = 16) -> Hunt:
    return Hunt(Target("planted", planted, (b"slow",), SMALL, seconds=0.1, megabytes=limit))


class TestTheHuntFinds:
    @pytest.mark.parametrize(
        ("data", "kind"), [(b"a raise", "raised"), (b"slow", "slow"), (b"large", "large")]
    )
    def test_what_raises_what_is_slow_and_what_is_large(self, data: bytes, kind: str) -> None:
        hunt = hunt_with_planted_mistakes()
        hunt.try_one(b"harmless")
        assert not hunt.findings
        hunt.try_one(data)
        (finding,) = hunt.findings.values()
        assert (finding.kind, finding.data) == (kind, data)

    def test_of_one_mistake_the_shortest_input(self, tmp_path: Path) -> None:
        hunt = hunt_with_planted_mistakes()
        for data in (b"a raise", b"raise", b"another raise"):
            hunt.try_one(data)
        (finding,) = hunt.findings.values()
        path = finding.save(tmp_path)
        assert path.read_bytes() == b"raise"
        assert "KeyError" in path.with_name(f"{path.name}.txt").read_text()

    def test_and_remembers_the_dearest(self) -> None:
        hunt = hunt_with_planted_mistakes()
        for data in (b"x", b"slow", b"y"):
            hunt.try_one(data)
        assert hunt.slowest[0] >= 0.2
        assert hunt.slowest[1] == b"slow"
        assert hunt.inputs == 3


class TestTheMutator:
    def test_is_the_same_for_the_same_seed_and_keeps_within_its_limit(self) -> None:
        target = TARGETS["html"]
        first, second = (Mutator(target.seeds(), target.words, 10_000, Random(7)) for _ in range(2))
        inputs = [first.next() for _ in range(500)]
        assert inputs == [second.next() for _ in range(500)]
        assert SMALL < max(map(len, inputs)) <= 10_000
        assert len(set(inputs)) > 400


def test_the_input_of_a_process_that_died_can_be_read(tmp_path: Path) -> None:
    current = CurrentInput.create(tmp_path / "current")
    assert current.age() == 0
    code = (
        "import os, sys; from pathlib import Path; from benchmarks.fuzz_worker import CurrentInput;"
        "CurrentInput(Path(sys.argv[1])).set(b'the last'); os.abort()"
    )
    died = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "current"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
    )
    assert died.returncode < 0, died.stderr
    assert current.data() == b"the last"
    assert 0 < current.age() < 60


def test_a_short_hunt_finds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "benchmarks/fuzz.py", f"--inputs={INPUTS}", "--jobs=1"]
    done = subprocess.run(
        [*command, f"--findings={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in TARGETS:
        assert re.search(rf"\| {name} \| {INPUTS:,} \|", done.stdout), done.stdout
    results = [json.loads(path.read_text()) for path in tmp_path.glob("running/*.json")]
    assert len(results) == len(TARGETS)
