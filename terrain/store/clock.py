"""Times as the database keeps them: ISO 8601 UTC text, which sorts as it should."""

from datetime import UTC, datetime


def iso(epoch: float) -> str:
    """Return epoch seconds as ISO 8601 UTC with milliseconds."""
    moment = datetime.fromtimestamp(epoch, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
