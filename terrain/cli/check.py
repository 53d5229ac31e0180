"""`terrain check`: whether the configuration is right, and what it would do."""

from __future__ import annotations

import click

from terrain.cli.options import CONFIG, Command, location_of


@click.command(cls=Command)
@CONFIG
def check(config: str) -> None:
    """Validate CONFIG and say in words what would be crawled.

    Tells the origins with their seeds and delays, what is left out, where the results go, and how
    long it may take. Nothing is asked of any host and nothing is written.

    \b
    Examples:
      terrain check my.toml
      TERRAIN_CRAWLER__MAX_DEPTH=1 terrain check my.toml
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"
    from terrain.cli.plan import conflict, plan
    from terrain.config import load_config
    from terrain.store.history import newest_runs

    settings = load_config(config)
    click.echo(f"{config} is valid.")
    past = newest_runs(location_of(settings))
    problem = conflict(settings, past)
    for warning in (*settings.warnings, *([problem] if problem else [])):
        click.echo(f"But {warning}")
    click.echo()
    click.echo(plan(settings, past))
