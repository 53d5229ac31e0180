"""`terrain crawl`: walk the terrain."""

from __future__ import annotations

import gc

import click

from terrain.cli.options import (
    CONFIG,
    Command,
    check_loudness,
    location_of,
    loudness,
    progress_mode,
    stop_early_on_signals,
)


@click.command(
    cls=Command,
    epilog="A run that was stopped or killed goes on with the same command. "
    "Exit codes: 0 finished, 2 bad configuration or usage, 3 interrupted, 1 anything else.",
)
@CONFIG
@click.option("--fresh", is_flag=True, help="Start a new run, whatever the last one left.")
@click.option("--resume", is_flag=True, help="Go on with the last run; refuse if it finished.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; ask and write nothing.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=10.0,
    show_default=True,
    help="Seconds between two lines of progress, where there is no terminal.",
)
@loudness
def crawl(
    config: str,
    *,
    fresh: bool,
    resume: bool,
    dry_run: bool,
    interval: float,
    verbose: int,
    quiet: bool,
) -> int:
    """Walk outward from the quality domains of CONFIG.

    Goes on with the last run if that did not finish.

    \b
    Examples:
      terrain crawl my.toml
      terrain crawl my.toml --fresh -q        from cron: silent unless something is wrong
      terrain crawl my.toml --dry-run
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"
    if fresh and resume:
        raise click.UsageError("--fresh and --resume exclude each other; leave one out")
    level = check_loudness(verbose, quiet=quiet)
    stop_early_on_signals()
    # What is imported now stays for good; run_crawl has the collector look at the rest.
    gc.disable()
    from terrain.config import load_config

    start = "fresh" if fresh else "resume" if resume else "auto"
    settings = load_config(config)
    for warning in () if quiet else settings.warnings:
        click.echo(f"{config}: {warning}", err=True)
    if dry_run:
        from terrain.cli.plan import next_run, plan
        from terrain.store.history import newest_runs

        past = newest_runs(location_of(settings))
        click.echo(next_run(settings, past, start))
        click.echo(plan(settings, past))
        return 0
    from terrain.process import run_crawl

    return run_crawl(
        settings,
        start=start,
        log_level=level,
        progress=progress_mode(quiet=quiet, verbose=verbose),
        interval=interval,
    )
