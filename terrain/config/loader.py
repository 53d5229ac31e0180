"""Read the file, lay the environment over it, check everything, tell everything that is wrong."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from terrain.config.checks import cross_checks
from terrain.config.environment import Environment, Setting
from terrain.config.keys import KeyReader
from terrain.config.model import Config
from terrain.config.positions import key_lines
from terrain.config.problems import Path, Sources, printable
from terrain.config.refusals import refusals
from terrain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_FILE = 4 * 1024 * 1024
"""Bytes; whatever is larger is not a configuration and is not read to its end."""

MOST_KEY_PARTS = 32
"""Parts of a dotted key; the longest that means something has three.

tomllib takes time and memory by the square of them: seconds for a line of 30 kB.
"""

_KEY_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*+(?:{_KEY_PART}){{{MOST_KEY_PARTS}}}", re.MULTILINE)

_POSITION = re.compile(r" \((?:at line (?P<line>\d+), column (?P<column>\d+)|at end of document)\)")

# Where tomllib tells what it could not do rather than what is wrong with the file.
_PLAINER = {
    "Invalid value": "not a value; strings stand in quotes",
    "Cannot overwrite a value": "the key is there already",
}


def load_config(path: str | FilePath, env: Mapping[str, str] | None = None) -> Config:
    """Read and check a configuration file.

    `env` is the environment to lay over it, by default that of the process.

    Raises:
        ConfigError: with one line for each problem.

    """
    return parse_config(_read(path), env, file=path)


def parse_config(
    text: str, env: Mapping[str, str] | None = None, *, file: str | FilePath = "config.toml"
) -> Config:
    """Check a configuration given as text; `file` is how messages call it."""
    name = printable(str(file))
    document = _parse(text, name)
    environment = Environment(Config, os.environ if env is None else env)
    variables = _lay_over(document, environment.settings)
    reader = KeyReader(Config)
    values = reader.read(document)
    problems = [*reader.problems, *cross_checks(document, str(file))]
    config: Config | None = None
    try:
        config = Config(**values)
    except ValidationError as error:
        # What a section says about a key goes before what the keys say about each other.
        problems = [*refusals(Config, error, variables), *problems]
    if config is None or problems or environment.problems:
        sources = Sources(name, _lines(text), variables)
        raise ConfigError([*sources.render_all(problems), *environment.problems])
    return config


def _read(path: str | FilePath) -> str:
    name = printable(str(path))
    try:
        with FilePath(path).open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise ConfigError(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise ConfigError(f"{name}: is a directory; give the name of a TOML file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{name}: cannot be read: {reason}") from None
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"{name}: is larger than 4 MiB; give the name of a TOML file")
    try:
        return content.decode("utf-8-sig")  # Windows editors write a byte order mark
    except UnicodeDecodeError as error:
        # Counted in what was decoded, where the byte order mark is gone and has no line.
        line = error.object.count(b"\n", 0, error.start) + 1
        wrong = error.object[error.start]
        message = f"byte 0x{wrong:02x} is not UTF-8; save the file as UTF-8"
        raise ConfigError(f"{name}:{line}: {message}") from None


def _parse(text: str, name: str) -> dict[str, Any]:
    if long_key := _LONG_KEY.search(text):
        line = text.count("\n", 0, long_key.end()) + 1
        message = f"a key has more than {MOST_KEY_PARTS} parts"
        raise ConfigError(f"{name}:{line}: {message}")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_toml_problem(str(error), name)) from None
    except (RecursionError, ValueError):  # nested too deep; a number of thousands of digits
        raise ConfigError(
            f"{name}: not valid TOML: a value is nested too deep or too long"
        ) from None
    if not document:
        raise ConfigError(f"{name}: is empty; start from examples/starter.toml")
    return document


def _toml_problem(said: str, name: str) -> str:
    position = _POSITION.search(said)
    reason = said[: position.start()] if position else said
    reason = _PLAINER.get(reason, reason[:1].lower() + reason[1:])
    if position is None or position["line"] is None:
        return f"{name}: not valid TOML at the end of the file: {printable(reason)}"
    place = f"{name}:{position['line']}:{position['column']}"
    return f"{place}: not valid TOML: {printable(reason)}"


def _lay_over(document: dict[str, Any], settings: list[Setting]) -> dict[Path, str]:
    """Put the environment's values into the document; return which variable set which key."""
    variables: dict[Path, str] = {}
    for setting in settings:
        section, *key = setting.path
        target = document.setdefault(section, {} if key else setting.value)
        if not key and isinstance(setting.value, dict) and isinstance(target, dict):
            target.update(setting.value)
            variables.update({(section, name): setting.variable for name in setting.value})
        elif not key:
            document[section] = setting.value
            variables[setting.path] = setting.variable
        elif isinstance(target, dict):  # if not, the section itself is refused
            target[key[0]] = setting.value
            variables[setting.path] = setting.variable
    return variables


def _lines(text: str) -> dict[Path, int]:
    try:
        return key_lines(text)
    except RecursionError:  # tomllib got through and this did not: a message without its line
        return {}
