"""Error messages of pages, gathered into kinds."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from terrain.rules.robots import ROBOTS_DENIED
from terrain.rules.states import PageState
from terrain.store.queries import Failure

MAX_KINDS: Final = 1_000
"""Kinds told apart; a component that writes a different text each time must not fill the memory."""

OTHER: Final = "other"

_STATUS: Final = re.compile(r"HTTP (\d{3})(?:: (.+))?", re.DOTALL)

_WITHOUT_A_WORD: Final = {
    PageState.DEAD_LINK.value: "HTTP 404 or 410",
    PageState.UNREACHABLE.value: "unreachable, no reason given",
}


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """Pages that failed in the same way."""

    kind: str
    """`HTTP 500`, `timeout`, `TLS error` and so on; may hold a stranger's words: escape it."""
    state: str
    """What became of the pages."""
    pages: int


@dataclass(frozen=True, slots=True)
class Errors:
    """All that went wrong in a run."""

    kinds: list[ErrorKind]
    """Most frequent first."""
    robots_denied: int
    """Pages not asked for because robots.txt forbids it; not an error, so not among the kinds."""


def gather(failures: Iterable[Failure]) -> Errors:
    """Count failures by kind."""
    counts: Counter[tuple[str, str]] = Counter()
    robots_denied = 0
    for failure in failures:
        kind = kind_of(failure)
        if kind == ROBOTS_DENIED:
            robots_denied += 1
            continue
        key = (kind, failure.state)
        if key not in counts and len(counts) >= MAX_KINDS:
            key = (OTHER, failure.state)
        counts[key] += 1
    kinds = [ErrorKind(kind, state, pages) for (kind, state), pages in counts.items()]
    return Errors(sorted(kinds, key=lambda kind: (-kind.pages, kind.kind)), robots_denied)


def kind_of(failure: Failure) -> str:
    """Return what a failure has in common with others: its message without the particulars.

    Messages are `kind: particulars`, or begin with the status of the answer.
    """
    message = failure.message or ""
    if found := _STATUS.match(message):
        return found[2] or f"HTTP {found[1]}"
    return message.partition(":")[0].strip() or _WITHOUT_A_WORD.get(failure.state, OTHER)
