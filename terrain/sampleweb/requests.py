"""Reads the head of an HTTP/1.1 request: as much of it as a sample web needs."""

from dataclasses import dataclass

MAX_HEAD = 1 << 16
"""A longer head is refused."""

_DEFAULT_PORTS = {"https": 443, "http": 80}


class RequestError(ValueError):
    """What came is not a request that can be answered."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
        """To be answered with."""


@dataclass(frozen=True, slots=True)
class Request:
    """The head of one request."""

    method: str
    target: str
    host: str
    """Lowercase, without port."""
    port: int
    user_agent: str
    keep_alive: bool
    """Whether the client wants to go on with this connection."""


def take_head(buffer: bytearray) -> bytes | None:
    """Remove the head of a request from the buffer; None: there is not yet a whole one.

    Raises `RequestError` as soon as it is clear that there will be none.
    """
    if not buffer[:1].isalpha():
        raise RequestError("not HTTP")
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        if len(buffer) > MAX_HEAD:
            raise RequestError("too long a head", 431)
        return None
    head = bytes(buffer[:end])
    del buffer[: end + 4]
    return head


def parse(head: bytes, scheme: str) -> Request:
    """Read a head, without the empty line that ends it; raises `RequestError`."""
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not words[1].startswith("/"):
        raise RequestError(f"not a request line: {lines[0][:100]!r}")
    fields: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            raise RequestError(f"not a header: {line[:100]!r}")
        fields[name.lower()] = value.strip()
    host, port = _authority(fields.get("host", ""), scheme)
    connection = fields.get("connection", "").lower()
    return Request(
        method=words[0],
        target=words[1],
        host=host,
        port=port,
        user_agent=fields.get("user-agent", ""),
        keep_alive=connection == "keep-alive" if words[2] == "HTTP/1.0" else connection != "close",
    )


def _authority(text: str, scheme: str) -> tuple[str, int]:
    """Split a Host header into host and port."""
    host, colon, port = text.rpartition(":")
    if not colon or port.endswith("]"):
        return text.lower(), _DEFAULT_PORTS[scheme]
    if not (port.isascii() and port.isdecimal()):
        raise RequestError(f"not a host: {text[:100]!r}")
    return host.lower(), int(port)
