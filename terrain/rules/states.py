"""The states of a page, and which changes of state are legal.

A state belongs to a run. Within one run a page that has been asked for keeps its outcome: it is
never asked twice. What was decided without asking may be decided anew when more is known: a shorter
way, a larger budget. In a new run a page starts over from whatever an earlier run left.
"""

import logging
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

logger = logging.getLogger(__name__)


class PageState(StrEnum):
    """What is known about a page, stored as these words."""

    DISCOVERED = "discovered"
    """Known, and left at that: a rule says so, or a trap guard. The reason is in `error_message`.

    What a page is before anything is decided, too, which nobody gets to see.
    """
    QUEUED = "queued"
    """May be asked for, and waits for its turn."""
    FETCHING = "fetching"
    """Leased: a request for it is out, or its answer is not committed yet."""
    PROCESSED = "processed"
    """Answered with HTML, which was read."""
    REDIRECTED = "redirected"
    """Answered with a redirect to another page."""
    BLACKLISTED = "blacklisted"
    """Its host is on the blacklist. Never asked for."""
    STUBBED = "stubbed"
    """Its host is on the stub list. Never asked for."""
    DEAD_LINK = "dead_link"
    """Answered with 404 or 410."""
    UNREACHABLE = "unreachable"
    """No conversation over https with a public address was possible."""
    RATE_LIMITED = "rate_limited"
    """Its host asked to be left alone (429, or 503 with a long Retry-After)."""
    FAILED = "failed"
    """Anything else that went wrong; the reason is in `error_message`."""
    DEPTH_EXCEEDED = "depth_exceeded"
    """Deeper than allowed from every origin. Not asked for."""
    REQUEST_LIMIT_HIT = "request_limit_hit"
    """Its host's request budget for the run is spent."""
    SUBDOMAIN_LIMIT_HIT = "subdomain_limit_hit"
    """Its root already has its number of subdomains."""
    CONTENT_MISMATCH = "content_mismatch"
    """Answered with something that is not HTML."""


_S = PageState

WAITING: Final = frozenset({_S.QUEUED, _S.FETCHING})
"""The run is not done with these pages: each of them has a frontier entry."""

TERMINAL: Final = frozenset(PageState) - WAITING - {_S.DISCOVERED}
"""The run is done with these pages, as far as is known now."""

_ASKED: Final = frozenset(
    {
        _S.PROCESSED,
        _S.REDIRECTED,
        _S.DEAD_LINK,
        _S.UNREACHABLE,
        _S.RATE_LIMITED,
        _S.FAILED,
        _S.CONTENT_MISMATCH,
    }
)
"""Outcomes of a request."""

_LISTED: Final = frozenset({_S.BLACKLISTED, _S.STUBBED})
"""Decided by the user's lists."""

_LIMITED: Final = frozenset({_S.RATE_LIMITED, _S.REQUEST_LIMIT_HIT, _S.SUBDOMAIN_LIMIT_HIT})
"""Decided by the state of the host."""

_REFUSED: Final = _LISTED | _LIMITED | {_S.FAILED}
"""Every way not to ask for a page that is near enough; `failed` is robots.txt or too many hops."""

INITIAL: Final = _REFUSED | {_S.DISCOVERED, _S.QUEUED, _S.DEPTH_EXCEEDED}
"""What a page can be when a run reaches it for the first time, that is, before it is asked for."""

_NOTHING: Final[frozenset[PageState]] = frozenset()

_WITHIN_ONE_RUN: Final[Mapping[PageState, frozenset[PageState]]] = {
    _S.DISCOVERED: INITIAL,
    # Leased, or found not to be allowed when it is loaded (a changed config) or released.
    _S.QUEUED: _REFUSED | {_S.FETCHING, _S.DEPTH_EXCEEDED, _S.DISCOVERED},
    # Asked, or lost in a crash: then queued again, or refused when it is loaded. The budget may be
    # spent between HEAD and GET, or between two tries.
    _S.FETCHING: _ASKED | _REFUSED | {_S.QUEUED},
    # A shorter way makes it crawlable, and then all may happen that happens to a new page.
    _S.DEPTH_EXCEEDED: _REFUSED | {_S.QUEUED},
    # A larger budget in a changed config. A 429 is not among these: it holds for the whole run.
    _S.REQUEST_LIMIT_HIT: _REFUSED | {_S.QUEUED},
    _S.SUBDOMAIN_LIMIT_HIT: _REFUSED | {_S.QUEUED},
    # The page it leads to turns out to be in a cycle or too many hops away ...
    _S.REDIRECTED: frozenset({_S.FAILED}),
    # ... and a shorter way brings it back: as the redirect it was, or, if it was itself too far
    # away to be asked, as a page reached just now.
    _S.FAILED: _REFUSED | {_S.REDIRECTED, _S.QUEUED, _S.DEPTH_EXCEEDED},
    _S.PROCESSED: _NOTHING,
    _S.DEAD_LINK: _NOTHING,
    _S.UNREACHABLE: _NOTHING,
    _S.CONTENT_MISMATCH: _NOTHING,
    _S.RATE_LIMITED: _NOTHING,
    # Only waiting pages are classified anew: a longer reach does not get a page off a list.
    _S.BLACKLISTED: _NOTHING,
    _S.STUBBED: _NOTHING,
}
"""From each state to which others, apart from staying; see `legal`."""


class IllegalTransition(Exception):  # noqa: N818 - named after what happened, as in the design
    """A change of state that no rule allows: a bug in the caller, never a user's doing."""


def legal(old: PageState | None, new: PageState, *, new_run: bool) -> bool:
    """Tell whether a page may go from `old` (None: not known before) to `new`.

    `new_run` says that this run reaches the page for the first time, so that `old` is history.
    A decision taken without asking may be taken again with the same result. An outcome of asking
    may not: that would mean the page was asked for twice in one run.
    """
    if old is None or new_run:
        return new in INITIAL
    if old is new:
        return new in INITIAL
    return new in _WITHIN_ONE_RUN[old]


def check_transition(
    old: PageState | None, new: PageState, *, new_run: bool = False, strict: bool
) -> bool:
    """Return whether the change may be written.

    An illegal one raises `IllegalTransition` when `strict` (tests), so that the bug is seen where
    it is made; otherwise it is logged and refused, so that a bug costs one page and not the crawl.
    """
    if legal(old, new, new_run=new_run):
        return True
    before = "(unknown page)" if old is None else old.value
    where = "on first reach in a run" if new_run else "within a run"
    if strict:
        raise IllegalTransition(f"{before} -> {new.value} {where}")
    logger.warning("Refused an illegal change of page state: %s -> %s %s", before, new.value, where)
    return False
