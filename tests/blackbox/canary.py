"""A listener on this machine that nobody may ever talk to, and that notices when somebody does."""

import selectors
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


class Canary:
    """Accepts on one port of every loopback address, says nothing, remembers who came."""

    def __init__(self) -> None:
        self.visitors: list[str] = []
        """Local address that was connected to, for each connection."""
        self._sockets: list[socket.socket] = []
        self._wake, self._waker = socket.socketpair()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.port = 0

    def __enter__(self) -> Self:
        for family, address in LOOPBACK:
            # A machine without IPv6 has one place less to be attacked at.
            with suppress(OSError):
                listener = socket.create_server((address, self.port), family=family)
                self.port = listener.getsockname()[1]
                self._sockets.append(listener)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._waker.close()
        self._thread.join()
        for each in (*self._sockets, self._wake):
            each.close()

    def _watch(self) -> None:
        with selectors.DefaultSelector() as selector:
            for each in (*self._sockets, self._wake):
                selector.register(each, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._wake:
                        return
                    assert isinstance(key.fileobj, socket.socket)
                    visitor, _ = key.fileobj.accept()
                    self.visitors.append(str(visitor.getsockname()[0]))
                    visitor.close()
