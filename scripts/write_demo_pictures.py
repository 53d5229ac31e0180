"""Write the pictures of the README from a real run of `terrain demo` on a pseudo-terminal.

docs/images/demo.svg is the picture that the crawl leaves; docs/images/progress.svg is the live view
as it was drawn in the middle of it, by way of rich's own export.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
ROWS, COLUMNS = 30, 86

REDRAW = re.compile(r"\r?(?:\x1b\[2K|\x1b\[1A)+")
"""How rich goes back to the top of what it drew before."""

TITLE = "\x1b[1mterrain  run"

FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""Fonts that rich would have a browser fetch; any monospaced one will do."""


def main() -> int:
    """Run the demo and keep two pictures of it."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        drawn = _on_a_terminal([sys.executable, "-m", "terrain", "demo", "--dir", directory])
        shutil.copyfile(Path(directory) / "crawl-summary.svg", IMAGES / "demo.svg")
    # From its title on: a log line that came meanwhile stands above the view, not in it.
    frames = [frame[frame.index(TITLE) :] for frame in REDRAW.split(drawn) if "time left" in frame]
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(frames[len(frames) * 2 // 5].replace("\r\n", "\n")))
    picture = console.export_svg(title="terrain demo", unique_id="terrain")
    (IMAGES / "progress.svg").write_text(FONT.sub("", picture), encoding="utf-8")
    return 0


def _on_a_terminal(command: list[str]) -> str:
    """Run the command on a pseudo-terminal and return everything it wrote there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env) as process:
        os.close(slave)
        parts = []
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # how Linux tells that the other side is closed
                break
            if not data:
                break
            parts.append(data)
    os.close(master)
    if process.returncode:
        raise SystemExit(f"the demo ended with {process.returncode}")
    return b"".join(parts).decode()


if __name__ == "__main__":
    sys.exit(main())
