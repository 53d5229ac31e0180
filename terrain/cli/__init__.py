"""The `terrain` command: one file per command, and one place where errors become exit codes.

0 finished · 2 bad configuration or usage · 3 interrupted · 1 anything else.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from terrain import __version__
from terrain.cli.check import check
from terrain.cli.completion import completion
from terrain.cli.crawl import crawl
from terrain.cli.demo import demo
from terrain.cli.exports import edges, nodes
from terrain.cli.init import init
from terrain.cli.stats import stats
from terrain.cli.summary import summary
from terrain.errors import Interrupted, TerrainError

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = 2
"""Exit code for a command line that cannot be followed."""


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with `terrain demo`, which needs nothing and no network.",
)
@click.version_option(__version__, prog_name="terrain")
def terrain() -> None:
    """Map the web around a set of curated domains.

    \b
    Examples:
      terrain demo                                   a first look, offline
      terrain init my.toml --domain "*.example.com"  write a configuration
      terrain check my.toml                          what would be crawled, and how long
      terrain crawl my.toml                          crawl, or go on where it stopped
      terrain summary my.toml                        what was found
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"


for command in (crawl, check, stats, summary, nodes, edges, init, demo, completion):
    terrain.add_command(command)


def main(arguments: Sequence[str] | None = None) -> Any:
    """Run the command and exit; what is the user's doing is said without a traceback."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    try:
        code = terrain.main(args=arguments, prog_name="terrain", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return USAGE
    except click.UsageError as error:
        click.echo(_one_line(error), err=True)
        return USAGE
    except click.ClickException as error:
        click.echo(f"terrain: {error.format_message()}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("terrain: interrupted", err=True)
        return Interrupted.exit_code
    except TerrainError as error:
        click.echo(str(error), err=True)
        return error.exit_code
    except BrokenPipeError:
        # `terrain summary | head`: the reader has what it wanted. Python must not find out again
        # when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return TerrainError.exit_code
    return code if isinstance(code, int) else 0


def _one_line(error: click.UsageError) -> str:
    where = error.ctx.command_path if error.ctx is not None else "terrain"
    message = " ".join(error.format_message().split()).rstrip(".")
    return f"{where}: {message[:1].lower()}{message[1:]} (see {where} --help)"
