"""Which links count and which pages are asked for, by their addresses: rules and trap guards.

All patterns of all rules are one automaton, which reads an address once. So the cost of a link does
not depend on the number of rules, and what a link once was told is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import re2

from terrain.rules.patterns import UrlPattern, re2_options, subject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from terrain.rules.traps import TrapLimits

MAX_EXPRESSIONS: Final = 500_000
"""Characters of all expressions together: some six thousand globs, compiled in half a second."""

_MEMORY: Final = 8 << 20
_MEMORY_PER_CHARACTER: Final = 192
"""Bytes that the automaton may take at least, and by its size: twice what it needs itself. The rest
is for states, which are made as addresses need them and thrown away when there is no room."""

_REMEMBERED: Final = 8_192
"""Addresses remembered, as many as `urls` has."""


class Action(StrEnum):
    """What becomes of an address that a rule matches."""

    CRAWL = "crawl"
    """As if there were no rules."""
    RECORD = "record"
    """The page and the links to it are kept; it is never asked for."""
    SKIP = "skip"
    """As if the link were not there: no page, no link, no host."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what it means."""

    match: str
    """The pattern as written."""
    action: Action

    @property
    def skips(self) -> bool:
        """Tell whether links that match are left out."""
        return self.action is Action.SKIP

    @property
    def reason(self) -> str:
        """Say why a page that matches is not asked for."""
        return f"{_DONE[self.action]} by a rule: {self.match}"


_DONE: Final = {Action.CRAWL: "crawled", Action.RECORD: "recorded", Action.SKIP: "skipped"}


class LinkRules:
    """The rules in their order, the first that matches counts; and the trap guards.

    Raises ValueError for a pattern that is none, or when they are too large together.
    """

    def __init__(self, rules: Iterable[Rule] = (), traps: TrapLimits | None = None) -> None:
        self._rules = tuple(rules)
        self._traps = traps
        self._automaton = _automaton([UrlPattern.parse(rule.match) for rule in self._rules])
        self.first = lru_cache(maxsize=_REMEMBERED)(self._first)
        """The first rule that matches an identity, None if none does."""

    def __reduce__(self) -> tuple[object, ...]:
        """To another process go the rules, not what they remember."""
        return LinkRules, (self._rules, self._traps)

    def refusal(self, identity: str) -> str | None:
        """Say why a page is known and never asked for; None if it may be asked for."""
        rule = self.first(identity)
        if rule is not None and rule.action is not Action.CRAWL:
            return rule.reason
        return None if self._traps is None else self._traps.reason(identity)

    def _first(self, identity: str) -> Rule | None:
        if not self._rules:
            return None
        # The last pattern matches everything, see below.
        number = min(self._automaton.Match(subject(identity)) or [len(self._rules)])
        return self._rules[number] if number < len(self._rules) else None


def _automaton(patterns: list[UrlPattern]) -> re2.Set:
    expressions = [pattern.expression for pattern in patterns]
    size = sum(map(len, expressions))
    if size > MAX_EXPRESSIONS:
        raise ValueError("the rules are too large together")
    automaton = re2.Set.SearchSet(re2_options(max(_MEMORY, _MEMORY_PER_CHARACTER * size)))
    # RE2 says "nothing matches" when its memory is too small to begin with. So one pattern is added
    # that always does, and asked for once.
    for expression in [*expressions, ""]:
        automaton.Add(expression.encode())
    try:
        automaton.Compile()
    except re2.error:
        raise ValueError("the rules are too large together") from None
    if not automaton.Match(b"example.com/"):
        raise ValueError("the rules are too large together")
    return automaton


NO_RULES: Final = LinkRules()
"""Every link counts and every page may be asked for."""
