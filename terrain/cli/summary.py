"""`terrain summary`: what was found, to read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from terrain.cli.options import CONFIG, Command, location_of

if TYPE_CHECKING:
    from terrain.config import Config


@click.command(cls=Command)
@CONFIG
def summary(config: str) -> None:
    """Print the summary of the newest run of CONFIG, as Markdown.

    Works while a crawl is running, without disturbing it, and after a kill.

    \b
    Examples:
      terrain summary my.toml
      terrain summary my.toml | less
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"
    from terrain.config import load_config

    click.echo(text_of(load_config(config)), nl=False)


def text_of(config: Config) -> str:
    """Return the summary of the newest run, without the picture that a terminal cannot show."""
    from terrain.reports.summary import render_summary
    from terrain.store import Policy
    from terrain.store.queries import open_terrain

    with open_terrain(location_of(config)) as reader:
        return render_summary(reader, Policy.from_config(config), now=time.time())
