"""`terrain demo`: a first terrain, offline, in half a minute."""

from __future__ import annotations

from pathlib import Path

import click

from terrain.cli.options import (
    Command,
    check_loudness,
    loudness,
    progress_mode,
    stop_early_on_signals,
)
from terrain.cli.summary import text_of
from terrain.errors import ConfigError


@click.command(cls=Command)
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    default="terrain-demo",
    show_default=True,
    help="Where database, summary and picture go; made if it is not there.",
)
@loudness
def demo(directory: Path, *, verbose: int, quiet: bool) -> int:
    """Crawl a sample web on this machine.

    A river, its birds and the people who write about them: a few dozen sites with every kind of
    page the crawler knows. The web runs only while the demo does; it needs no network and no
    rights, and nothing is left running.

    \b
    Examples:
      terrain demo
      terrain demo --dir /tmp/river
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"
    level = check_loudness(verbose, quiet=quiet)
    stop_early_on_signals()
    from terrain.config import load_config
    from terrain.process import run_crawl
    from terrain.sampleweb.demo import demo_config, demo_web
    from terrain.sampleweb.process import ServedWeb

    path = _prepare(directory)
    web = demo_web()
    with ServedWeb(web, directory / "web") as served:
        path.write_text(demo_config(directory, served.ca_file, served.resolve), encoding="utf-8")
        config = load_config(path, {})
        if not quiet:
            click.echo(f"A web of {len(web.hosts)} hosts is up on this machine; crawling it.")
        code = run_crawl(
            config,
            start="fresh",
            log_level=level,
            progress=progress_mode(quiet=quiet, verbose=verbose),
        )
    if code == 0 and not quiet:
        click.echo(text_of(config), nl=False)
        click.echo(_places(directory))
    return code


def _prepare(directory: Path) -> Path:
    """Make the directory; refuse one that holds somebody else's configuration."""
    from terrain.sampleweb.demo import DEMO_MARK

    path = directory / "config.toml"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        strange = path.exists() and not path.read_text(encoding="utf-8").startswith(DEMO_MARK)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise ConfigError(f"--dir {directory}: cannot be used: {reason}") from None
    if strange:
        raise ConfigError(f"{path}: is not the demo's; name another directory with --dir")
    return path


def _places(directory: Path) -> str:
    """Say where everything is."""
    database = directory / "terrain.db"
    return (
        f"\nDatabase  {database}\n"
        f"Summary   {directory / 'crawl-summary.md'}\n"
        f"Picture   {directory / 'crawl-summary.svg'}\n"
        f"Figures   {directory / 'metrics.json'}\n"
        f"Next      terrain stats {directory / 'config.toml'}, or: sqlite3 {database}"
    )
