"""`terrain completion`: the script that teaches a shell to complete `terrain`."""

from __future__ import annotations

import click

from terrain.cli.options import Command

SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
def completion(shell: str) -> None:
    """Print the completion script for SHELL: bash, zsh or fish.

    \b
    Examples:
      eval "$(terrain completion bash)"                              in ~/.bashrc
      eval "$(terrain completion zsh)"                               in ~/.zshrc
      terrain completion fish > ~/.config/fish/completions/terrain.fish
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"
    from click.shell_completion import ShellComplete, get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    complete = made(click.get_current_context().find_root().command, {}, "terrain", VARIABLE)
    # Not BashComplete.source, which runs a bash only to warn about old ones.
    click.echo(ShellComplete.source(complete))


VARIABLE = "_TERRAIN_COMPLETE"
"""What the script sets to ask `terrain` for completions; click looks for this name."""
