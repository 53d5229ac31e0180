"""What several commands share: their argument, their reading of it, and how they stop."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from terrain.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from terrain.config import Config


class Command(click.Command):
    """A command whose usage errors all know which command they are about."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; an option without its value is the one error that click leaves nameless."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


CONFIG = click.argument("config", type=click.Path(path_type=str), metavar="CONFIG")

_VERBOSE = click.option("-v", "--verbose", count=True, help="Say more; twice for everything.")
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")

LOG_LEVELS = ("WARNING", "INFO", "DEBUG")
"""By the number of -v."""


def loudness(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `-v` and `-q`."""
    return _VERBOSE(_QUIET(command))


def check_loudness(verbose: int, *, quiet: bool) -> str:
    """Return the log level; raises UsageError for both at once."""
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other; leave one out")
    return "ERROR" if quiet else LOG_LEVELS[min(verbose, 2)]


def progress_mode(*, quiet: bool, verbose: int) -> str:
    """Choose how progress is shown: live on a terminal, unless log lines would cover it."""
    if quiet:
        return "none"
    capable = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return "live" if capable and not verbose else "lines"


def stop_early_on_signals() -> None:
    """Exit with the code of an interruption while modules load; a crawl then has its own way."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupted)


def location_of(config: Config) -> str:
    """Return where the database is: a path or a URL."""
    return str(config.output.database_url or config.output.database_path)


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    sys.exit(Interrupted.exit_code)
