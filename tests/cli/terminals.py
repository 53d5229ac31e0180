"""Commands on a pseudo-terminal, and what they wrote there."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

TERRAIN = [sys.executable, "-m", "terrain"]

CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""An escape sequence of a terminal (ECMA-48, 5.4)."""


class Terminal:
    """A command whose standard streams are a terminal of some size."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        rows: int = 30,
        columns: int = 100,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._master, slave = pty.openpty()
        self._size(slave, rows, columns)
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "TERRAIN_"))}
        inherited.pop("NO_COLOR", None)
        wanted = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **(env or {})}
        self.process = subprocess.Popen(
            [*TERRAIN, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**inherited, **wanted},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(slave)
        self._data = bytearray()
        self._written = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        os.close(self._master)

    def resize(self, rows: int, columns: int) -> None:
        """Change the size; the kernel tells the foreground process."""
        self._size(self._master, rows, columns)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def until(self, text: str, seconds: float = 30) -> None:
        """Wait until it has written this."""
        self._wait_for(lambda: text in self.text, seconds)

    def until_more(self, seconds: float = 30) -> None:
        """Wait until it has drawn again."""
        drawn = len(self.raw)
        self._wait_for(lambda: len(self.raw) >= drawn + 200, seconds)

    def wait(self, timeout: float = 60) -> int:
        """Wait for the end and return the exit code."""
        code = self.process.wait(timeout)
        self._reader.join(timeout)
        return code

    @property
    def raw(self) -> bytes:
        """Everything written so far."""
        return bytes(self._data)

    @property
    def text(self) -> str:
        """The same without colours and movements."""
        return CONTROL.sub("", self.raw.decode("utf-8", "replace")).replace("\r\n", "\n")

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:  # how Linux tells that the other side is closed
                return
            if not data:
                return
            with self._written:
                self._data += data
                self._written.notify_all()

    def _wait_for(self, reached: Callable[[], bool], seconds: float) -> None:
        with self._written:
            assert self._written.wait_for(reached, seconds), self.text

    @staticmethod
    def _size(fd: int, rows: int, columns: int) -> None:
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def start(
    *arguments: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.Popen[str]:
    """Start a command without a terminal."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TERRAIN_")}
    return subprocess.Popen(
        [*TERRAIN, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**inherited, **(env or {})},
        cwd=cwd,
    )


def finished(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Wait for the end of a command and return what it said."""
    with process:
        out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def piped(
    *arguments: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal."""
    return finished(start(*arguments, env=env, cwd=cwd))
