"""`terrain init`: a commented configuration to start from."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click

import terrain
from terrain.cli.options import Command
from terrain.errors import ConfigError

ENTRY = re.compile(r"^\[\[quality\]\]\n(?:.+\n)+", re.MULTILINE)
"""The starter's one quality entry: up to the next empty line."""


@click.command(cls=Command)
@click.argument("path", type=click.Path(path_type=Path), default="terrain.toml")
@click.option(
    "--domain", "domains", multiple=True, metavar="DOMAIN",
    help='A domain to trust; "*.example.com" takes in all hosts below it. May be repeated.',
)  # fmt: skip
@click.option(
    "--seed", "seeds", multiple=True, metavar="URL",
    help="An address to start from; by default the home page of each domain. May be repeated.",
)  # fmt: skip
@click.option("--email", metavar="ADDRESS", help="Where those who are visited can reach you.")
@click.option("--force", is_flag=True, help="Overwrite the file if there is one.")
def init(
    path: Path, *, domains: tuple[str, ...], seeds: tuple[str, ...], email: str | None, force: bool
) -> None:
    """Write a commented configuration.

    PATH is terrain.toml by default. Asks for the domain if none is given and somebody is there.

    \b
    Examples:
      terrain init
      terrain init my.toml --domain example.com --domain "*.example.org"
      terrain init my.toml --seed https://example.com/blog/ --email me@example.com
    """  # noqa: D301 - \b is click's mark for "leave these lines alone"
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists already; --force overwrites it")
    if not domains and not seeds and sys.stdin.isatty():
        domains = (click.prompt("Domain to start from (*.example.com for all its hosts)"),)
        email = email or click.prompt("Your e-mail for those visited", default="") or None
    text = starter(path.name)
    if domains or seeds:
        text = ENTRY.sub(lambda _: _entries(domains, seeds), text, count=1)
    if email is not None:
        text = re.sub(r"^# contact-email = .*$", lambda _: f"contact-email = {_string(email)}",
                      text, count=1, flags=re.MULTILINE)  # fmt: skip
    _validate(text, path)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from None
    click.echo(f"Wrote {path}. Next: terrain check {path}, then terrain crawl {path}")


def starter(name: str) -> str:
    """Return the starter file, which names itself in its first lines."""
    text = starter_path().read_text(encoding="utf-8")
    return text.replace("starter.toml", name)


def starter_path() -> Path:
    """Return where examples/starter.toml is: inside an installed package, or beside it."""
    package = Path(terrain.__file__).parent
    installed = package / "examples" / "starter.toml"
    return installed if installed.is_file() else package.parent / "examples" / "starter.toml"


def _entries(domains: tuple[str, ...], seeds: tuple[str, ...]) -> str:
    """Write an entry for each domain with the seeds on it; a seed elsewhere gets its own."""
    from terrain.rules.hosts import HostPattern
    from terrain.rules.urls import UrlRules

    found: dict[str, list[str]] = {domain: [] for domain in domains}
    patterns: dict[str, HostPattern] = {}
    for domain in domains:
        try:
            patterns[domain] = HostPattern.parse(domain)
        except ValueError as error:
            raise ConfigError(f"--domain {_string(domain)}: not a host pattern: {error}") from None
    for seed in seeds:
        address = UrlRules().address(seed)
        if address is None:
            raise ConfigError(f"--seed {_string(seed)}: is not an https:// address")
        home = next((d for d, pattern in patterns.items() if pattern.matches(address.host)), None)
        found.setdefault(home or address.host, []).append(seed)
    return "\n".join(
        f"[[quality]]\ndomain = {_string(domain)}\n"
        f"seeds = [{', '.join(map(_string, own or [_home(domain)]))}]\n"
        for domain, own in found.items()
    )


def _home(domain: str) -> str:
    return f"https://{domain.removeprefix('*.')}/"


def _validate(text: str, path: Path) -> None:
    """Refuse to write what `terrain crawl` would refuse to read."""
    from terrain.config import parse_config

    parse_config(text, {}, file=path)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
