"""Writing reports so that a reader never sees half of one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from terrain.errors import TerrainError


@contextmanager
def written(path: Path) -> Iterator[TextIO]:
    """Write beside the file, then take its place; the old one stays if anything goes wrong."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            # Plain open, not tempfile: others (node_exporter, a web server) must be able to read.
            with beside.open(
                "w", encoding="utf-8", errors="backslashreplace", newline="\n"
            ) as file:
                yield file
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise TerrainError(
            f"{path}: cannot be written ({error.strerror}); check that its directory exists, its "
            "permissions and the room on the disk"
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write a report that is finished."""
    with written(path) as file:
        file.write(text)
