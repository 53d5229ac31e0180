"""What came from the web, made harmless for the place where a person reads it.

Titles, URLs and messages are written by strangers. Here they lose everything that is more than
text: control characters and terminal escapes, direction overrides, line breaks, and length. For
Markdown they are then put into a code span that they cannot end, where no markup, HTML, autolink,
mention or formula is looked for; that is one rule to check, and it reads well in a terminal too.
"""

import unicodedata
from typing import Final
from urllib.parse import quote

MAX_TEXT: Final = 60
"""Characters of a title or message that a report shows."""

MAX_URL: Final = 100
"""Characters of a URL that a report shows."""

CUT: Final = "…"
"""Stands where something was cut off."""

UNSHOWABLE: Final = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that must not reach the reader."""

_NEVER: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories that are not text: controls, formats (bidi, invisible), surrogates, private
use, unassigned."""

_SAFE_IN_URL: Final = "!\"#$%&'()*+,-./:;<=>?@[]^_{}~"
"""Printable ASCII that stands for itself: not the backtick that ends a code span, not the pipe that
ends a table cell, not the backslash that some programs read as an escape for them."""


def plain(text: str, most: int = MAX_TEXT) -> str:
    """Return one line of visible text, for terminals and log lines."""
    # White space and what must not be shown can only shrink it, so a longer start never helps.
    words = " ".join(text[: 20 * most].split())
    shown = "".join(
        UNSHOWABLE if unicodedata.category(character) in _NEVER else character
        for character in words[: most + 1]
    )
    return shown if len(shown) <= most and len(text) <= 20 * most else shown[: most - 1] + CUT


def code(text: str, most: int = MAX_TEXT) -> str:
    """Return a Markdown code span with the text, safe in a table cell; "" for no text."""
    shown = (
        plain(text, most)
        .replace("`", "'")
        .replace("|", "¦")
        .replace("\\", "\N{REVERSE SOLIDUS OPERATOR}")
    )
    return f"`{shown}`" if shown else ""


def code_url(url: str, most: int = MAX_URL) -> str:
    """Return a Markdown code span with the URL; percent-escapes stand for what could do harm."""
    shown = quote(url[: most + 1], safe=_SAFE_IN_URL, errors="replace")
    if len(shown) > most:
        shown = shown[: most - 1] + CUT
    return f"`{shown}`" if shown else ""
