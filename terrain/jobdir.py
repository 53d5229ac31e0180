"""JOBDIR: a directory that names a run.

Scrapy's own JOBDIR holds pickled queues. Here the database holds everything, and the directory
only a token that the run carries too: the same directory is the same run.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from terrain.errors import RunRefused

FILE_NAME = "terrain.job"


def read_job(jobdir: str | None) -> str | None:
    """Return the token of a JOBDIR, writing a new one if it has none; None without JOBDIR."""
    if not jobdir:
        return None
    path = Path(jobdir) / FILE_NAME
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            return path.read_text(encoding="ascii").strip()
        token = uuid.uuid4().hex
        # Written beside and moved: a kill leaves a whole token or none.
        draft = path.with_suffix(".new")
        draft.write_text(f"{token}\n", encoding="ascii")
        draft.replace(path)
    except (OSError, UnicodeDecodeError) as error:
        raise RunRefused(
            f"{jobdir}: cannot be used as JOBDIR ({error}); name a directory that can be written"
        ) from error
    return token
