"""Write docs/commands.md from the commands' own --help; `--check` only tells if it is stale."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import click

from terrain.cli import terrain

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"

INTRODUCTION = """\
<!-- Written by scripts/write_command_reference.py from the commands themselves; do not edit. -->

# Commands

Every command says what it does with `--help`; this page is that text. `python -m terrain` is the
same as `terrain`.

| exit code | meaning |
|---|---|
| 0 | finished |
| 1 | anything that is neither of the others: the database cannot be used, the disk is full, … |
| 2 | bad configuration or usage: one line for each problem, on standard error |
| 3 | interrupted by SIGINT or SIGTERM; the same command goes on |

Results go to standard output, progress and problems to standard error. `scrapy crawl terrain -a
config=my.toml` runs the same crawl under Scrapy's own command, with Scrapy's options and exit
codes.
"""


def reference() -> str:
    """Render the whole page."""
    root = _context(terrain, "terrain", None)
    parts = [INTRODUCTION, _section("terrain", terrain, root)]
    for name in terrain.list_commands(root):
        command = terrain.get_command(root, name)
        assert command is not None
        parts.append(_section(f"terrain {name}", command, _context(command, name, root)))
    return "\n".join(parts)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        # The page must not depend on the terminal it is written from.
        terminal_width=88,
        max_content_width=88,
        **command.context_settings,
    )


def _section(title: str, command: click.Command, context: click.Context) -> str:
    lines = (line.rstrip() for line in command.get_help(context).splitlines())
    return f"## `{title}`\n\n```\n" + "\n".join(lines) + "\n```\n"


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 if the page is stale")
    wanted = reference()
    if parser.parse_args().check:
        if REFERENCE.exists() and REFERENCE.read_text(encoding="utf-8") == wanted:
            return 0
        print(f"{REFERENCE.name} is stale; run: python scripts/{Path(__file__).name}")
        return 1
    REFERENCE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
