"""A command as a whole: how long it takes, what it costs, and how much memory it needs at most."""

import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INTERVAL = 0.5
"""Seconds between two looks at the memory: the kernel takes milliseconds for one, and holds the
process up meanwhile."""


@dataclass(frozen=True)
class Ended:
    seconds: float
    cpu: float
    """Seconds of CPU, processes that it started included."""
    peak_mb: float
    """The most that it and all processes it started took at one time.

    A page of memory that several of them share (the interpreter, a library) counts once (PSS).
    """
    rss_mb: float
    """The same as `ps` would add it up, with what they share counted for each of them."""
    code: int


def run(command: list[str], **options: Any) -> Ended:
    """Run a command to its end, as a user would: with compiled modules kept from the last time."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(command, env=environment, **options)
    most = {"Pss": 0.0, "Rss": 0.0}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(INTERVAL):
            family = [_memory(pid) for pid in _family(process.pid)]
            for kind, before in most.items():
                most[kind] = max(before, sum(each.get(kind, 0.0) for each in family))

    watcher = threading.Thread(target=look)
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    ended.set()
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    # The kernel's own record of the first process is exact, also between two looks.
    rss = max(most["Rss"], usage.ru_maxrss / 1024)
    cpu = usage.ru_utime + usage.ru_stime
    return Ended(seconds, cpu, most["Pss"], rss, process.returncode)


def cpu(pid: int) -> float:
    """Return the seconds of CPU that a running process and those it started have used so far."""
    return sum(map(_cpu, _family(pid)))


def memory_mb(pid: int) -> float:
    """Return what a running process and those it started take now, 0 if it has ended.

    What they share counts once (PSS).
    """
    return sum(_memory(each).get("Pss", 0.0) for each in _family(pid))


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _family(pid: int) -> list[int]:
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in children.read_text().split():
                found += _family(int(child))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def _memory(pid: int) -> dict[str, float]:
    """Return what a process takes now, in megabytes by the kernel's names; empty if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except (FileNotFoundError, ProcessLookupError):
        return {}
    fields = (line.split() for line in lines)
    return {name.rstrip(":"): int(value) / 1024 for name, value, *_ in fields}
