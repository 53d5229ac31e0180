"""A web as plain data: hosts, their pages, their robots.txt, and how they take a connection.

Tests build one in Python; `to_json` and `from_json` carry it to the serving process and to files.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, TypeAdapter, ValidationError

from terrain.sampleweb.behaviours import Behaviour
from terrain.sampleweb.certificates import CertificateKind
from terrain.sampleweb.pages import Data, Seconds, Status

Listener = Literal["shared", "own", "refuse", "plain", "reset", "silent"]
"""How a host takes a connection. `shared`: TLS (and plain http) on the one port of the web.

All others have a port of their own, which stays theirs while the server runs, so that a host can
vanish and come back: `own` behaves like `shared`; `refuse` does not listen; `plain` knows no TLS;
`reset` resets every connection; `silent` accepts and never says a word.
"""

NOT_FOUND = Status(404, b"Not found\n")


class WebError(ValueError):
    """The JSON is not a web; the message says where and why, one line per problem."""


@dataclass(frozen=True)
class Limit(Data):
    """A host that has had enough: after `requests` of any kind it answers `then` to all others."""

    requests: NonNegativeInt
    then: Behaviour = field(
        default_factory=lambda: Status(
            429, b"Too many requests\n", headers=(("Retry-After", "3600"),)
        )
    )


@dataclass(frozen=True)
class Latency(Data):
    """A delay before every answer, log-normal, the same for the same seed and request.

    It is drawn from the seed, the address, the method and how often that was asked, not from the
    order in which requests arrive.
    """

    median: Seconds
    sigma: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.5
    """Spread of the logarithm; 0 makes every delay the median."""
    ceiling: Seconds = 10.0
    seed: int = 0


@dataclass
class Host(Data):
    """One host name. A name and its `www.` form are two hosts here, as they are to a server."""

    pages: dict[str, Behaviour] = field(default_factory=dict)
    """By request target exactly as sent: `/`, `/docs/`, `/search?q=a`."""
    robots: str | Behaviour | None = None
    """Text of robots.txt, or what else `/robots.txt` does; absent: not found."""
    under: dict[str, Behaviour] = field(default_factory=dict)
    """By the beginning of the request target; the longest that fits, when no page does."""
    otherwise: Behaviour = NOT_FOUND
    """What every other address does."""
    http: Behaviour | None = None
    """What plain http requests get, whatever the address; absent: the same as https."""
    listener: Listener = "shared"
    certificate: CertificateKind = "good"
    limit: Limit | None = None
    latency: Latency | None = None
    """In place of the web's."""

    def behaviour(self, target: str) -> Behaviour:
        """Return what the request target `target` does."""
        page = self.pages.get(target)
        if page is not None:
            return page
        if target == "/robots.txt" and self.robots is not None:
            if isinstance(self.robots, str):
                return Status(200, self.robots.encode())
            return self.robots
        prefix = max(
            (start for start in self.under if target.startswith(start)), key=len, default=""
        )
        return self.under.get(prefix, self.otherwise)


@dataclass
class Web(Data):
    """A web of many hosts."""

    hosts: dict[str, Host] = field(default_factory=dict)
    """By host name: lowercase ASCII, no port; an IPv6 address in brackets."""
    latency: Latency | None = None

    def to_json(self) -> str:
        """Return the web as JSON that `from_json` reads; what has its default value is left out."""
        return json.dumps(_plain(self), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Web":
        """Read a web; raises `WebError`."""
        try:
            return _reader().validate_json(text)
        except ValidationError as error:
            problems = (
                ".".join(str(step) for step in problem["loc"]) + ": " + problem["msg"]
                for problem in error.errors(include_url=False, include_input=False)
            )
            raise WebError("\n".join(problems)) from None


@cache
def _reader() -> TypeAdapter[Web]:
    """Return the validator; made once, when first needed."""
    return TypeAdapter(Web)


@cache
def _fields(cls: type[Any]) -> tuple[tuple[str, object], ...]:
    """Return the name and default of each field of a dataclass; `MISSING` where there is none."""
    return tuple(
        (item.name, item.default if item.default_factory is MISSING else item.default_factory())
        for item in fields(cls)
    )


def _plain(value: Any) -> Any:
    """Return `value` in terms of JSON. `kind` is always kept: it says what the rest means."""
    if is_dataclass(value):
        return {
            name: _plain(item)
            for name, default in _fields(value.__class__)
            if (item := getattr(value, name)) != default or name == "kind"
        }
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value
