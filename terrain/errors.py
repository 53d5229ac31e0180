"""Errors a user can cause or meet, each with the exit code of the `terrain` command.

TerrainError                 1
  ├─ ConfigError             2   the configuration does not hold; one line per problem
  ├─ Interrupted             3   a signal ended the run; everything committed is kept
  └─ StoreError              1
       ├─ DatabaseInUse          another crawl holds the database
       ├─ NotADatabase           the file is something else
       ├─ NewerSchema            a newer terrain wrote the database
       ├─ DatabaseUnwritable     read-only file or directory, no permission
       ├─ DiskFull               no room left for the next transaction
       ├─ RunRefused             the run that was asked for cannot be resumed
       └─ IdentityCollision      two identities with one page id

None of these is a defect of the program, so none of them needs a traceback: `str(error)` is written
for the user. Anything that is not a TerrainError is a defect.
"""

# ruff: noqa: N818 - each name says what happened; "Error" at the end would add nothing

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class TerrainError(Exception):
    """Base of every error that is the user's or the machine's, not the program's."""

    exit_code: ClassVar[int] = 1
    """What the `terrain` command returns to the shell for it."""


class ConfigError(TerrainError):
    """The configuration cannot be used; every problem found, not only the first."""

    exit_code = 2

    problems: list[str]
    """One line each: where, key, value, what is allowed or what to do."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[type[ConfigError], tuple[list[str]]]:
        # Exception pickles its joined text; the list must survive the way to another process.
        return type(self), (self.problems,)


class Interrupted(TerrainError):
    """SIGINT or SIGTERM ended the run before it was finished; it can be resumed."""

    exit_code = 3


class StoreError(TerrainError):
    """The database cannot be opened, read or written as asked."""


class DatabaseInUse(StoreError):
    """Another crawl works on the database; the message names its pid."""


class NotADatabase(StoreError):
    """The file exists and is not a database, or is a database of another program."""


class NewerSchema(StoreError):
    """The database was written by a newer terrain, so this one must not touch it."""


class DatabaseUnwritable(StoreError):
    """The database or its directory cannot be written to."""


class DiskFull(StoreError):
    """The file system has no room; what was committed stays as it is."""


class RunRefused(StoreError):
    """The run that was asked for cannot be gone on with; the message says why."""


class IdentityCollision(StoreError):
    """Two identities have one page id; refused, because merging them would corrupt the graph."""
