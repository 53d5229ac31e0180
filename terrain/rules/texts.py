"""Texts that strangers wrote, made fit to be stored and shown."""

from __future__ import annotations

import re
from typing import Final

_RAW_EXCESS: Final = 20
"""A text is cut to this many times its limit before its white space is collapsed."""

# What neither SQLite nor PostgreSQL should be given, nor a terminal: C0 and C1 controls that are
# no white space, and surrogates, which have no UTF-8 form.
_UNSTORABLE: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")


def longest_raw(limit: int) -> int:
    """Return how much of a text `clean` looks at."""
    return _RAW_EXCESS * limit


def clean(text: str | None, limit: int) -> str:
    """Collapse white space, drop what no database should be given, cut to `limit` characters."""
    if not text:
        return ""
    # Printable means neither controls nor any white space but the blank: most texts are clean.
    if len(text) <= limit and text.isprintable() and "  " not in text and text == text.strip():
        return text
    if len(text) > _RAW_EXCESS * limit:
        text = text[: _RAW_EXCESS * limit]
    text = " ".join(_UNSTORABLE.sub("", text).split())
    return text if len(text) <= limit else text[:limit].rstrip()
