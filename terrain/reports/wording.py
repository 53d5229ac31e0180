"""Numbers, times and durations as people read them."""

from datetime import UTC, datetime
from typing import Final

_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


def number(value: float) -> str:
    """Return a count with separators: 1,234,567."""
    return f"{value:,.0f}"


def moment(iso: str) -> str:
    """Return a stored time to the second: 2024-05-01 12:00:00 UTC."""
    return f"{parsed(iso):%Y-%m-%d %H:%M:%S} UTC"


def parsed(iso: str) -> datetime:
    """Return a stored time."""
    return datetime.fromisoformat(iso).astimezone(UTC)


def duration(seconds: float) -> str:
    """Return a duration in its two largest units: 2 d 3 h, 4 min 5 s."""
    left = max(0, round(seconds))
    parts: list[str] = []
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        amount, left = divmod(left, length)
        if amount or (parts and len(parts) < 2):
            parts.append(f"{amount} {unit}")
    return " ".join(parts[:2]) or "0 s"


def size(length: float) -> str:
    """Return bytes in the unit that leaves few digits: 12.3 MB."""
    for unit in _UNITS:
        if length < 1_000 or unit == _UNITS[-1]:
            break
        length /= 1_000
    return f"{length:,.0f} {unit}" if unit == "B" else f"{length:,.1f} {unit}"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: 1 page, 2 pages."""
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {noun}s"
