"""Serves a web in a process of its own, for as long as a `with` block lasts."""

import json
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict

from terrain.sampleweb.log import Contact, Exchange, read, read_contacts
from terrain.sampleweb.web import Web

_ANSWER_SECONDS = 60.0
"""How long the process may take to start or to obey; generous, for busy machines."""

_STOP_SECONDS = 10.0
"""How long it may take to stop before it is killed."""


class ServedWebError(RuntimeError):
    """The serving process did not start, did not obey, or died; the message has its own words."""


class _State(TypedDict):
    port: int
    ca: str
    log: str
    resolve: dict[str, str]
    error: str | None


class ServedWeb:
    """A web served by another process, which ends with the block or with this process.

    The directory holds `web.json`, `ca.pem`, the request log and `server.err`. A web served again
    in the same directory, on the same `port`, has the same authority and goes on with the log.
    """

    def __init__(self, web: Web, directory: Path, *, port: int = 0) -> None:
        self._web = web
        self._directory = directory
        self._wanted_port = port
        self._source = directory / "web.json"
        self._errors = directory / "server.err"
        self._unread = b""

    def __enter__(self) -> Self:
        self._directory.mkdir(parents=True, exist_ok=True)
        self._write(self._web)
        arguments = [str(self._source), "--dir", str(self._directory)]
        arguments += ["--port", str(self._wanted_port)]
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - our own module, our own arguments
                [sys.executable, "-m", "terrain.sampleweb", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                # a Ctrl-C is for the crawl, which may still want to finish what it asked for
                start_new_session=True,
            )
        try:
            self._state = self._answer()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The serving process."""
        return self._process.pid

    @property
    def port(self) -> int:
        """The shared port, for https and http."""
        return self._state["port"]

    @property
    def ca_file(self) -> Path:
        """The certificate to trust: `network.ca-file`."""
        return Path(self._state["ca"])

    @property
    def log_file(self) -> Path:
        """The request log."""
        return Path(self._state["log"])

    @property
    def resolve(self) -> dict[str, str]:
        """Where to connect for which host: `network.resolve`; every name leads here."""
        return dict(self._state["resolve"])

    def resolve_only(self, *patterns: str) -> dict[str, str]:
        """Return `resolve` for these patterns only: all other names are left to DNS."""
        shared = self._state["resolve"]["*"]
        own = {name: to for name, to in self._state["resolve"].items() if name != "*"}
        return {**dict.fromkeys(patterns, shared), **own}

    def log(self) -> list[Exchange]:
        """Return all exchanges that have ended, in the order of their starts."""
        self._sync()
        return read(self.log_file)

    def contacts(self) -> list[Contact]:
        """Return who was approached, in the order of time."""
        self._sync()
        return read_contacts(self.log_file)

    def update(self, web: Web) -> None:
        """Serve another web; every request that arrives after this returns gets its answers."""
        self._write(web)
        self._state = self._command(b"load")
        self._web = web

    def stop(self) -> None:
        """End the process, politely first; does nothing if it has ended."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.terminate()
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        finally:
            process.stdout.close()

    def kill(self) -> None:
        """End the process as a crash would: what is in flight, or was just then, is not logged."""
        self._process.kill()
        self._process.wait()

    def _sync(self) -> None:
        """Wait until all that a client can have seen is in the log."""
        if self._process.poll() is None:
            self._state = self._command(b"sync")

    def _write(self, web: Web) -> None:
        """Replace the file in one step: a reload never sees half of it."""
        half = self._source.with_suffix(".new")
        half.write_text(web.to_json(), encoding="utf-8")
        half.replace(self._source)

    def _command(self, command: bytes) -> _State:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command + b"\n")
        except BrokenPipeError:
            raise self._failure("it has ended") from None
        return self._answer()

    def _answer(self) -> _State:
        """Wait for a line of the process."""
        state: _State = json.loads(self._line())
        if state["error"] is not None:
            raise ServedWebError(state["error"])
        return state

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        deadline = time.monotonic() + _ANSWER_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not selector.select(deadline - time.monotonic()):
                    raise self._failure(f"no answer for {_ANSWER_SECONDS:.0f} s")
                data = os.read(self._process.stdout.fileno(), 65536)
                if not data:
                    raise self._failure("it has ended")
                self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _failure(self, what: str) -> ServedWebError:
        words = self._errors.read_text(encoding="utf-8", errors="replace").strip()
        return ServedWebError(f"the sample web's server: {what}" + (f"\n{words}" if words else ""))
