"""`terrain nodes` and `terrain edges`: the terrain by domain, to read or to take elsewhere."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from terrain.cli.options import CONFIG, Command, location_of
from terrain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

    from terrain.config import Config
    from terrain.reports.domains import Chosen
    from terrain.reports.exports import Column, Row

KINDS = ("quality", "discovered", "blacklisted", "stubbed")
FORMATS = ("table", "csv", "json")

_KIND = click.Choice(KINDS)
_HOST = "HOST"


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--limit`, `--format` and `--output`."""
    options = (
        click.option("--limit", type=click.IntRange(min=1), help="At most so many rows."),
        click.option(
            "--format", "form", type=click.Choice(FORMATS),
            help="How they are written; by default a table, or as the name of --output ends.",
        ),
        click.option(
            "-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
            help="Write to a file, which is replaced when all is written.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    cls=Command,
    epilog="A CSV field that a spreadsheet would take for a formula gets an apostrophe before it. "
    "JSON is an array with one object to a line; ids are strings.",
)
@CONFIG
@click.option("--kind", "kinds", type=_KIND, multiple=True,
              help="Only domains of this kind, as CONFIG has it now. May be repeated.")  # fmt: skip
@click.option("--match", metavar=_HOST,
              help="Only these: *.example.com for it and all below, * for anything.")  # fmt: skip
@click.option("--visited/--unvisited", default=None,
              help="Only domains of which a page was asked for, or only the others.")  # fmt: skip
@click.option("--sort", type=click.Choice(("name", "visits", "created")), default="name",
              show_default=True,
              help="By name, by most visits, or in the order of discovery.")  # fmt: skip
@output_options
def nodes(
    config: str,
    *,
    kinds: tuple[str, ...],
    match: str | None,
    visited: bool | None,
    sort: str,
    limit: int | None,
    form: str | None,
    output: Path | None,
) -> None:
    """Print or export the domains of CONFIG.

    All domains that any run met: what they are to the configuration, how often their pages were
    visited over all runs, and the description of the home page, else its title. Works while a
    crawl is running, without disturbing it, and after a kill.

    \b
    Examples:
      terrain nodes my.toml --kind quality
      terrain nodes my.toml --unvisited --match "*.org" --limit 20
      terrain nodes my.toml -o nodes.csv
      terrain nodes my.toml --format json | jq length
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"
    from terrain.config import load_config
    from terrain.reports.domains import NODE_COLUMNS, node_rows
    from terrain.reports.exports import limited
    from terrain.store import Policy
    from terrain.store.queries import NodeQuery, open_terrain

    settings = load_config(config)
    chosen = _chosen("--match", match, kinds)
    with open_terrain(location_of(settings)) as reader:
        wanted = NodeQuery(visited=visited, sort=sort)
        rows = node_rows(reader, Policy.from_config(settings), wanted, chosen)
        _write(NODE_COLUMNS, limited(rows, limit), form, output, (config, settings))


@click.command(
    cls=Command,
    epilog="A CSV field that a spreadsheet would take for a formula gets an apostrophe before it. "
    "JSON is an array with one object to a line; ids are strings.",
)
@CONFIG
@click.option("--from", "source", metavar=_HOST, help="Only edges from these hosts.")
@click.option("--to", "target", metavar=_HOST, help="Only edges to these hosts.")
@click.option("--match", metavar=_HOST,
              help="Only edges with one of these hosts at either end.")  # fmt: skip
@click.option("--from-kind", "source_kinds", type=_KIND, multiple=True,
              help="Only edges from hosts of this kind. May be repeated.")  # fmt: skip
@click.option("--to-kind", "target_kinds", type=_KIND, multiple=True,
              help="Only edges to hosts of this kind. May be repeated.")  # fmt: skip
@click.option("--min-weight", type=click.IntRange(min=1), default=1, show_default=True,
              help="Only edges of at least this weight.")  # fmt: skip
@click.option("--sort", type=click.Choice(("weight", "from", "to")), default="weight",
              show_default=True,
              help="By weight, heaviest first, or by the name of an end.")  # fmt: skip
@output_options
def edges(
    config: str,
    *,
    source: str | None,
    target: str | None,
    match: str | None,
    source_kinds: tuple[str, ...],
    target_kinds: tuple[str, ...],
    min_weight: int,
    sort: str,
    limit: int | None,
    form: str | None,
    output: Path | None,
) -> None:
    """Print or export which domains of CONFIG link to which.

    HOST is a host, *.example.com for it and all below, or has * for anything. Works while a
    crawl is running, without disturbing it, and after a kill.

    \b
    Examples:
      terrain edges my.toml --limit 20
      terrain edges my.toml --from-kind quality --to-kind discovered --min-weight 3
      terrain edges my.toml --to "*.example.org" --sort from
      terrain edges my.toml -o edges.csv
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"
    from terrain.config import load_config
    from terrain.reports.domains import EDGE_COLUMNS, edge_rows
    from terrain.reports.exports import limited
    from terrain.store import Policy
    from terrain.store.queries import EdgeQuery, open_terrain

    settings = load_config(config)
    sources = _chosen("--from", source, source_kinds)
    targets = _chosen("--to", target, target_kinds)
    either = _chosen("--match", match, ()).matches
    with open_terrain(location_of(settings)) as reader:
        rows = edge_rows(
            reader,
            Policy.from_config(settings),
            EdgeQuery(min_weight=min_weight, sort=sort),
            source=sources,
            target=targets,
            either=either,
        )
        _write(EDGE_COLUMNS, limited(rows, limit), form, output, (config, settings))


def _chosen(option: str, match: str | None, kinds: Sequence[str]) -> Chosen:
    from terrain.reports.domains import Chosen
    from terrain.rules.hosts import HostKind
    from terrain.rules.patterns import host_matcher

    wanted = frozenset(map(HostKind, kinds))
    if match is None:
        return Chosen(wanted)
    try:
        return Chosen(wanted, host_matcher(match))
    except ValueError as error:
        raise click.UsageError(f"{option} {match!r}: {error}") from None


def _write(
    columns: Sequence[Column],
    rows: Iterator[Row],
    form: str | None,
    output: Path | None,
    configured: tuple[str, Config],
) -> None:
    from terrain.reports.exports import WRITERS

    if form is None and output is not None:
        form = output.suffix.lower().removeprefix(".")
        if form not in FORMATS:
            raise click.UsageError(f"--output {output}: say with --format what to write there")
    if output is not None:
        _refuse_to_replace(output, *configured)
    with _opened(output) as out:
        WRITERS[form or "table"](columns, rows, out)


@contextmanager
def _opened(output: Path | None) -> Iterator[TextIO]:
    from terrain.reports.files import written

    if output is None:
        # A terminal that cannot show a character gets its escape and no traceback.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        yield sys.stdout
    else:
        with written(output) as file:
            yield file


def _refuse_to_replace(output: Path, file: str, config: Config) -> None:
    taken = {"the configuration": Path(file), "the database": config.output.database_path}
    for name, path in taken.items():
        if path is not None and path.resolve() == output.resolve():
            raise ConfigError(f"--output {output}: is {name}; name another file")
