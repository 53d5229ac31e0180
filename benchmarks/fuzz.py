"""Throw strangers' bytes at everything that reads them; see tests/fuzz for what must hold.

    python benchmarks/fuzz.py --seconds 600          all targets, for so long altogether
    python benchmarks/fuzz.py html --inputs 1000000  one target, so many inputs

Prints what the worst input of each target costs, saves what is wrong under --findings, and ends
with 1 if anything is. Every worker is a process of its own that leaves its current input where this
one finds it, should it hang, crash or run out of memory. fuzz_atheris.py is the other way to hunt.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.fuzz_worker import CurrentInput, Figures, Task  # noqa: E402 - found by the line above
from tests.fuzz.hunting import Finding  # noqa: E402
from tests.fuzz.targets import TARGETS  # noqa: E402

HUNG_SECONDS = 60.0
"""An input that takes this long has hung: a call into C cannot be interrupted in any other way."""

COLUMNS = (
    *("target", "inputs", "MB in", "inputs/s and core", "slowest, CPU ms", "its bytes"),
    *("largest growth, MB", "its bytes", "process peak, MB", "findings"),
)

LOOK_SECONDS = 0.2
"""How often the workers are looked at."""

# Large blocks go back to the system when they are freed, or one dear input would hide the next.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


@dataclass
class Worker:
    """A process on one target."""

    task: Task
    process: subprocess.Popen[bytes]
    current: CurrentInput

    @classmethod
    def start(cls, task: Task) -> Worker:
        current = CurrentInput.create(Path(task.current))
        arguments = [sys.executable, "-m", "benchmarks.fuzz_worker", task.to_json()]
        environment = {**os.environ, **MALLOC}
        process = subprocess.Popen(arguments, cwd=ROOT, env=environment)
        return cls(task, process, current)

    def ended(self) -> bool:
        """Tell whether it is done; one that has hung is ended here."""
        if self.process.poll() is not None:
            return True
        if self.current.age() > HUNG_SECONDS:
            self.process.kill()
            self.process.wait()
            return True
        return False

    def result(self) -> Figures | None:
        """Return what it found; None if it did not live to tell."""
        path = Path(self.task.result)
        return Figures(**json.loads(path.read_bytes())) if path.exists() else None

    def last_words(self) -> Finding:
        """Return the input that it did not survive."""
        hung = self.current.age() > HUNG_SECONDS
        code = self.process.returncode
        kind, words = ("hung", "") if hung else ("killed", f"exit code {code}")
        return Finding(kind, f"{self.task.target} {self.task.seed}", self.current.data(), words)


def tasks_of(options: argparse.Namespace, directory: Path) -> list[Task]:
    """Share the work out: all jobs on one target, then on the next."""
    names = options.targets or list(TARGETS)
    return [
        Task(
            target=name,
            seed=options.seed + job,
            seconds=options.seconds and options.seconds / len(names),
            inputs=options.inputs and -(-options.inputs // options.jobs),
            largest=options.largest or TARGETS[name].largest,
            findings=str(options.findings / name),
            current=str(directory / f"{name}-{job}.current"),
            result=str(directory / f"{name}-{job}.json"),
        )
        for name in names
        for job in range(options.jobs)
    ]


def run(tasks: list[Task], jobs: int) -> list[Figures]:
    """Run all tasks, `jobs` at a time."""
    waiting = list(reversed(tasks))
    running: list[Worker] = []
    results: list[Figures] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(Worker.start(waiting.pop()))
        time.sleep(LOOK_SECONDS)
        for worker in [worker for worker in running if worker.ended()]:
            running.remove(worker)
            result = worker.result()
            if result is None:
                saved = worker.last_words().save(Path(worker.task.findings))
                result = Figures(target=worker.task.target, findings=[str(saved)])
            results.append(result)
    return results


def table(results: list[Figures]) -> list[str]:
    """Return the figures, a line for each target."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for name in dict.fromkeys(result.target for result in results):
        parts = [result for result in results if result.target == name]
        inputs = sum(part.inputs for part in parts)
        seconds = sum(part.seconds for part in parts) or 1.0
        slow = max(parts, key=lambda part: part.slowest_seconds)
        large = max(parts, key=lambda part: part.largest_megabytes)
        lines.append(
            f"| {name} | {inputs:,} | {sum(part.size for part in parts) / 1e6:,.0f} "
            f"| {inputs / seconds:,.0f} "
            f"| {slow.slowest_seconds * 1000:.1f} | {slow.slowest_bytes:,} "
            f"| {large.largest_megabytes:.1f} | {large.largest_bytes:,} "
            f"| {max(part.peak_megabytes for part in parts):.0f} "
            f"| {sum(len(part.findings) for part in parts)} |"
        )
    return lines


def main() -> int:
    """Read the command line, hunt, report."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], help="default: all")
    parser.add_argument("--seconds", type=float, help="altogether, shared among the targets")
    parser.add_argument("--inputs", type=int, help="for each target")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, help="bytes of the longest input")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    if not options.seconds and not options.inputs:
        parser.error("say when to stop: --seconds or --inputs")
    options.findings = options.findings.resolve()
    directory = options.findings / "running"
    directory.mkdir(parents=True, exist_ok=True)
    for left_over in directory.iterdir():
        left_over.unlink()
    results = run(tasks_of(options, directory), options.jobs)
    print("\n".join(table(results)))
    findings = [finding for result in results for finding in result.findings]
    for finding in findings:
        print(f"finding: {finding}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
