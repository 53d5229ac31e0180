"""A command as a whole: how long it takes, what it costs, and how much memory it needs at most."""

import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INTERVAL = 0.1
"""Seconds between two looks at the memory; what is read each time is a peak already."""


@dataclass(frozen=True)
class Ended:
    seconds: float
    cpu: float
    """Seconds of CPU, processes that it started included."""
    peak_mb: float
    """The peaks of it and of all processes that it started, added up."""
    code: int


def run(command: list[str], **options: Any) -> Ended:
    """Run a command to its end."""
    started = time.perf_counter()
    process = subprocess.Popen(command, **options)
    peaks: dict[int, float] = {}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(INTERVAL):
            for pid in _family(process.pid):
                peaks[pid] = max(peaks.get(pid, 0.0), _peak_mb(pid))

    watcher = threading.Thread(target=look)
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    ended.set()
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    peaks[process.pid] = usage.ru_maxrss / 1024  # exact, and there also if it was quick
    return Ended(seconds, usage.ru_utime + usage.ru_stime, sum(peaks.values()), process.returncode)


def _family(pid: int) -> list[int]:
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in children.read_text().split():
                found += _family(int(child))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def _peak_mb(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) / 1024 if lines else 0.0
