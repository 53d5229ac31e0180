"""Writing reports so that a reader never sees half of one."""

import os
from pathlib import Path

from terrain.errors import TerrainError


def write_text(path: Path, text: str) -> None:
    """Write beside the file, then take its place; the old one stays if anything goes wrong."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            # Plain open, not tempfile: others (node_exporter, a web server) must be able to read.
            with beside.open(
                "w", encoding="utf-8", errors="backslashreplace", newline="\n"
            ) as file:
                file.write(text)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise TerrainError(
            f"{path}: cannot be written ({error.strerror}); check that its directory exists, its "
            "permissions and the room on the disk"
        ) from error
