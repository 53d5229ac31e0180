"""`terrain stats`: the terrain in figures."""

from __future__ import annotations

import time

import click

from terrain.cli.options import CONFIG, Command, location_of


@click.command(cls=Command)
@CONFIG
def stats(config: str) -> None:
    """Print the figures of the newest run of CONFIG.

    Works while a crawl is running, without disturbing it, and after a kill.

    \b
    Example:
      terrain stats my.toml
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"
    from terrain.config import load_config
    from terrain.reports.stats import render_stats
    from terrain.store.queries import open_terrain

    with open_terrain(location_of(load_config(config))) as reader:
        click.echo(render_stats(reader, now=time.time()), nl=False)
