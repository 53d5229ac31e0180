"""One process of benchmarks/fuzz.py: hunts on one target and writes down what it found."""

from __future__ import annotations

import json
import mmap
import resource
import struct
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.fuzz.hunting import Hunt
from tests.fuzz.mutations import Mutator
from tests.fuzz.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY_LIMIT = 3 * 1024**3
"""Bytes of address space; beyond that an allocation fails, and the input is a finding."""

ROOM = 16 * 1024 * 1024
"""Bytes for the current input."""


@dataclass(frozen=True)
class Task:
    """What a worker is to do."""

    target: str
    seed: int
    seconds: float | None
    inputs: int | None
    largest: int
    findings: str
    """Directory for what is wrong."""
    current: str
    """File with the input that is being tried."""
    result: str
    """File for the figures."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Figures:
    """What came of it; a worker that died has only a finding to show."""

    target: str
    findings: list[str]
    """Files of what is wrong."""
    inputs: int = 0
    size: int = 0
    """Bytes of all inputs."""
    seconds: float = 0.0
    slowest_seconds: float = 0.0
    slowest_bytes: int = 0
    largest_megabytes: float = 0.0
    largest_bytes: int = 0
    peak_megabytes: float = 0.0


class CurrentInput:
    """The input that is being tried, in memory that outlives the process that tries it."""

    _HEAD = struct.Struct("=dQ")  # when it was begun, how long it is

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), ROOM)

    @classmethod
    def create(cls, path: Path) -> CurrentInput:
        with path.open("wb") as file:
            file.truncate(ROOM)
        return cls(path)

    def set(self, data: bytes) -> None:
        size = min(len(data), ROOM - self._HEAD.size)
        self._memory[self._HEAD.size : self._HEAD.size + size] = data[:size]
        self._HEAD.pack_into(self._memory, 0, time.monotonic(), size)

    def age(self) -> float:
        """Seconds since it was begun; 0 before the first."""
        begun, _ = self._HEAD.unpack_from(self._memory, 0)
        return time.monotonic() - begun if begun else 0.0

    def data(self) -> bytes:
        _, size = self._HEAD.unpack_from(self._memory, 0)
        return self._memory[self._HEAD.size : self._HEAD.size + size]


def hunt(task: Task) -> Figures:
    """Try mutated inputs until time or number is used up; returns the figures."""
    target = TARGETS[task.target]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    current = CurrentInput(Path(task.current))
    mutator = Mutator(target.seeds(), target.words, task.largest, Random(task.seed))
    state = Hunt(target)
    started = time.monotonic()
    end = started + task.seconds if task.seconds else float("inf")
    most = task.inputs or float("inf")

    def go_on(data: bytes) -> bool:
        current.set(data)
        return time.monotonic() < end and state.inputs < most

    state.warm_up()
    state.over(_endless(mutator), go_on)
    directory = Path(task.findings)
    saved = [str(finding.save(directory)) for finding in state.findings.values()]
    _keep_worst(state, directory)
    return Figures(
        target=task.target,
        findings=saved,
        inputs=state.inputs,
        size=state.size,
        seconds=time.monotonic() - started,
        slowest_seconds=state.slowest[0],
        slowest_bytes=len(state.slowest[1]),
        largest_megabytes=state.largest[0],
        largest_bytes=len(state.largest[1]),
        peak_megabytes=state.meter.peak,
    )


def _endless(mutator: Mutator) -> Iterator[bytes]:
    while True:
        yield mutator.next()


def _keep_worst(state: Hunt, directory: Path) -> None:
    """Save the dearest inputs, wrong or not: they show where the time and the memory go."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "slowest").write_bytes(state.slowest[1])
    (directory / "largest").write_bytes(state.largest[1])


def main() -> None:
    """Do what the argument says."""
    task = Task(**json.loads(sys.argv[1]))
    Path(task.result).write_text(json.dumps(asdict(hunt(task))), encoding="utf-8")


if __name__ == "__main__":
    main()
