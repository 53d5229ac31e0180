"""Remote control of a served web, over the standard input and output of its process."""

import asyncio
import json
import os
import signal
import sys
import threading
from pathlib import Path

from terrain.sampleweb.server import Server
from terrain.sampleweb.web import Web, WebError


class Control:
    """Obeys commands, one per line, and answers each with one line: the server's state as JSON.

    `load` reads the file again and serves what it says now; `sync` does nothing, but its answer
    shows that all that came before it is in the log. After a failure nothing has changed, and
    `error` in the answer says why.
    """

    def __init__(self, server: Server, source: Path) -> None:
        self._server = server
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Obey until told to stop: by SIGTERM or SIGINT, or by the end of the input."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._stop.set)
        self._loop.add_signal_handler(signal.SIGHUP, self._reload)
        threading.Thread(target=self._read_commands, daemon=True).start()
        self._tell(None)
        await self._stop.wait()

    def _read_commands(self) -> None:
        # os.read: a thread blocked in sys.stdin would hold its lock when the interpreter ends
        rest = b""
        while data := os.read(0, 65536):
            *commands, rest = (rest + data).split(b"\n")
            for command in commands:
                self._loop.call_soon_threadsafe(self._obey, command)
        self._loop.call_soon_threadsafe(self._stop.set)

    def _obey(self, command: bytes) -> None:
        if command == b"load":
            self._tell(self._load())
        elif command == b"sync":
            self._tell(None)
        else:
            self._tell(f"unknown command: {command.decode(errors='replace')}")

    def _tell(self, error: str | None) -> None:
        state = {
            "port": self._server.port,
            "ca": str(self._server.ca_file),
            "log": str(self._server.log_file),
            "resolve": self._server.resolve,
            "error": error,
        }
        try:
            sys.stdout.write(json.dumps(state) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            # whoever started this is gone
            self._stop.set()

    def _load(self) -> str | None:
        """Serve what the file says now; returns what is wrong with it, if anything."""
        try:
            self._server.load(Web.from_json(self._source.read_bytes()))
        except (OSError, WebError) as error:
            return f"{self._source}: {error}"
        return None

    def _reload(self) -> None:
        error = self._load()
        if error is not None:
            sys.stderr.write(error + "\n")
