"""Trap guards: addresses of a shape that only sites without an end have.

A calendar that adds to its own query, a session id that is put before every path, a relative link
that grows by itself: each new page has a longer address than the last. Such a page is known, and
never asked for. The limits are far beyond what people write; seeds are never judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_PATH_LENGTH = 1024
"""Characters, as escaped: a title of 100 characters takes 900 in some scripts."""

MAX_PATH_SEGMENTS = 32
"""Parts of a path between slashes."""

MAX_REPEATED_SEGMENTS = 4
"""How often one part may stand in a path: /2011/11/11/11 happens."""

MAX_QUERY_LENGTH = 1024
"""Characters, as escaped, without tracking parameters."""

MAX_QUERY_PARAMETERS = 32
"""Parameters, tracking parameters not counted."""


@dataclass(frozen=True, slots=True)
class TrapLimits:
    """What an address may look like and still be asked for."""

    path_length: int = MAX_PATH_LENGTH
    path_segments: int = MAX_PATH_SEGMENTS
    repeated_segments: int = MAX_REPEATED_SEGMENTS
    query_length: int = MAX_QUERY_LENGTH
    query_parameters: int = MAX_QUERY_PARAMETERS
    _few_slashes: int = field(init=False, repr=False)
    _short: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # The scheme has two slashes, and the first segment one.
        few = min(self.repeated_segments, self.path_segments) + 2
        object.__setattr__(self, "_few_slashes", few)
        object.__setattr__(self, "_short", min(self.path_length, self.query_length))

    def reason(self, identity: str) -> str | None:
        """Say why an identity looks like a trap; None for nearly all.

        The words are the same for all pages that one limit cuts off, so that they can be counted.
        """
        # Asked for every new page, so the cheap questions come first: most end here.
        if (
            len(identity) <= self._short
            and identity.count("/") <= self._few_slashes
            and identity.count("&") < self.query_parameters
        ):
            return None
        path, _, query = identity[identity.index("/", len("https://")) :].partition("?")
        if len(path) > self.path_length:
            return f"trap guard: a path of more than {self.path_length} characters"
        parts = path[1:].split("/")
        if len(parts) > self.path_segments:
            return f"trap guard: a path of more than {self.path_segments} segments"
        if len(parts) - len(set(parts)) >= self.repeated_segments and any(
            parts.count(part) > self.repeated_segments for part in set(parts)
        ):
            return f"trap guard: a segment more than {self.repeated_segments} times in the path"
        if len(query) > self.query_length:
            return f"trap guard: a query of more than {self.query_length} characters"
        if query and query.count("&") >= self.query_parameters:
            return f"trap guard: a query of more than {self.query_parameters} parameters"
        return None
