"""One run of `terrain demo` on a terminal, and everything that is looked at while it goes on."""

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.terminals import Terminal, finished, start

DURING = ("stats", "summary", "nodes", "edges")
"""Commands that read while the crawl writes."""

SIZES = [(12, 60), (50, 180), (5, 20), (30, 100)]
"""Rows and columns that somebody drags the window to, a second apart."""


@dataclass
class DemoRun:
    """What came out of it."""

    directory: Path
    code: int = -1
    seconds: float = 0.0
    """From the command to its end, the sample web's start included."""
    raw: bytes = b""
    text: str = ""
    during: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)
    """Commands that were run while the crawl was on."""
    left_running: list[str] = field(default_factory=list)

    @property
    def config(self) -> Path:
        return self.directory / "config.toml"

    @property
    def database(self) -> Path:
        return self.directory / "terrain.db"


def run_demo(directory: Path) -> DemoRun:
    """Run the demo, look at it while it runs, and drag its window about."""
    run = DemoRun(directory)
    started = time.monotonic()
    with Terminal(["demo", "--dir", str(directory)]) as terminal:
        terminal.until("frontier")
        # All at once, at the very beginning: on a busy machine they take a while to start.
        readers = {command: start(command, run.config) for command in DURING}
        for rows, columns in SIZES:
            terminal.resize(rows, columns)
            terminal.until_more()
        run.during = {command: finished(reader) for command, reader in readers.items()}
        run.code = terminal.wait(90)
        run.seconds = time.monotonic() - started
        run.raw, run.text = terminal.raw, terminal.text
    run.left_running = _processes_naming(directory)
    return run


def _processes_naming(directory: Path) -> list[str]:
    """Return the command lines of running processes that speak of the directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has just ended
            continue
        if str(directory) in line:
            found.append(line)
    return found
