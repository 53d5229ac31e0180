"""The hunt in one process: input after input, what each costs, and what is wrong with it."""

import hashlib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.measuring import Cost, Meter
from tests.fuzz.target import Target


@dataclass
class Finding:
    """An input that breaks a promise."""

    kind: str
    """`raised`, `slow` or `large`; the driver adds `hung` and `killed`."""
    place: str
    """Where it was raised, so that one mistake is one finding."""
    data: bytes
    """The input; the shortest of those with the same kind and place."""
    words: str
    """The traceback, or the price."""

    def save(self, directory: Path) -> Path:
        """Write the input, and beside it what is wrong with it."""
        directory.mkdir(parents=True, exist_ok=True)
        name = f"{self.kind}-{hashlib.sha256(self.place.encode()).hexdigest()[:12]}"
        path = directory / name
        path.write_bytes(self.data)
        (directory / f"{name}.txt").write_text(f"{self.place}\n{self.words}\n", encoding="utf-8")
        return path


@dataclass
class Hunt:
    """The state of a hunt, and its result."""

    target: Target
    inputs: int = 0
    """Inputs that were tried."""
    size: int = 0
    """Their bytes, all together."""
    slowest: tuple[float, bytes] = (0.0, b"")
    """CPU seconds, and the input that took them."""
    largest: tuple[float, bytes] = (0.0, b"")
    """Megabytes that the process grew by, and the input that made it."""
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    """By kind and place."""
    meter: Meter = field(default_factory=Meter, repr=False)

    def warm_up(self) -> None:
        """Try the seeds, so that what is loaded when first needed is nobody's cost."""
        for seed in self.target.seeds():
            self.try_one(seed)
        self.inputs = self.size = 0
        self.slowest = self.largest = (0.0, b"")

    def over(self, inputs: Iterator[bytes], go_on: Callable[[bytes], bool]) -> None:
        """Try inputs until `go_on`, which gets to see each of them before, says no."""
        for data in inputs:
            if not go_on(data):
                return
            self.try_one(data)

    def try_one(self, data: bytes) -> None:
        """Try one input; nothing that its check raises gets out."""
        self.inputs += 1
        self.size += len(data)
        try:
            cost = self.meter.cost(self.target.check, data)
            if self._too_dear(cost):
                # Once more: what comes from the collector or a cache that fills is not the input's.
                again = self.meter.cost(self.target.check, data)
                cost = Cost(min(cost.seconds, again.seconds), min(cost.megabytes, again.megabytes))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            self._found("raised", _place(error), data, traceback.format_exc())
            return
        if cost.seconds > self.slowest[0]:
            self.slowest = (cost.seconds, data)
        if cost.megabytes > self.largest[0]:
            self.largest = (cost.megabytes, data)
        if cost.seconds > self.target.seconds:
            self._found("slow", self.target.name, data, f"{cost.seconds:.3f} s of CPU")
        if cost.megabytes > self.target.megabytes:
            self._found("large", self.target.name, data, f"grew by {cost.megabytes:.1f} MB")

    def _too_dear(self, cost: Cost) -> bool:
        return cost.seconds > self.target.seconds or cost.megabytes > self.target.megabytes

    def _found(self, kind: str, place: str, data: bytes, words: str) -> None:
        known = self.findings.get((kind, place))
        if known is None or len(data) < len(known.data):
            self.findings[kind, place] = Finding(kind, place, data, words)


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    # The innermost frames tell one mistake from another; the outer ones are always the same.
    steps = (f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-2:])
    return f"{type(error).__name__} at {' > '.join(steps)}"
