"""The `terrain` command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from terrain import __version__
from terrain.errors import TerrainError

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIG = click.argument("config", type=click.Path(path_type=str), metavar="CONFIG")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="terrain")
def terrain() -> None:
    """Map the web around a set of curated domains."""


@terrain.command()
@CONFIG
@click.option("--fresh", is_flag=True, help="Start a new run, whatever the last one left.")
@click.option("--resume", is_flag=True, help="Go on with the last run; refuse if it finished.")
@click.option("-v", "--verbose", count=True, help="Say more; twice for everything.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def crawl(config: str, *, fresh: bool, resume: bool, verbose: int, quiet: bool) -> None:
    """Walk outward from the quality domains of CONFIG.

    Goes on with the last run if that did not finish.
    """
    if fresh and resume:
        raise click.UsageError("--fresh and --resume exclude each other; leave one out")
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other; leave one out")
    from terrain.config import load_config
    from terrain.process import run_crawl

    start = "fresh" if fresh else "resume" if resume else "auto"
    level = "ERROR" if quiet else ("WARNING", "INFO", "DEBUG")[min(verbose, 2)]
    sys.exit(run_crawl(load_config(config), start=start, log_level=level))


def main(arguments: Sequence[str] | None = None) -> Any:
    """Run the command; what is the user's doing is said in one line each, without a traceback."""
    try:
        return terrain.main(args=arguments, prog_name="terrain")
    except TerrainError as error:
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)
