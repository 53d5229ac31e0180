"""`TERRAIN_…` variables: pydantic-settings reads them, one at a time so that each can be blamed."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from pydantic_settings import EnvSettingsSource
from pydantic_settings.exceptions import SettingsError

from terrain.config.keys import known_keys
from terrain.config.problems import Path, show_name, show_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_settings import BaseSettings

PREFIX = "TERRAIN_"
"""What the names of all variables start with."""

NESTED = "__"
"""What stands between section and key in a variable's name."""


@dataclass(frozen=True)
class Setting:
    """A key that the environment sets."""

    variable: str
    """Name of the variable, as it is in the environment."""

    path: tuple[str, ...]
    """The key: section or list, or section and key."""

    value: Any
    """Its value, read by the type of the key; the text itself where that fails."""


class Environment:
    """The variables that set a key, and lines about those that look as if they were meant to."""

    def __init__(self, model: type[BaseSettings], variables: Mapping[str, str]) -> None:
        self._source = EnvSettingsSource(model)
        self._paths = {variable_name(path): path for path in known_keys(model)}
        self.settings: list[Setting] = []
        """In the order in which they apply: a whole section before its single keys."""
        self.problems: list[str] = []
        """Lines about unknown variables."""
        # An empty variable counts as absent: that is what `X=` means to cron and to compose files.
        ours = {name: text for name, text in variables.items() if text and _is_ours(name)}
        for name, text in sorted(ours.items()):
            path = self._paths.get(name.upper())
            if path is not None:
                self.settings.append(Setting(name, path, self._read(name, text, path)))
            else:
                self.problems.extend(self._unknown(name, text))
        self.settings.sort(key=lambda setting: len(setting.path))

    def _read(self, name: str, text: str, path: tuple[str, ...]) -> Any:
        self._source.env_vars = {name.lower(): text}
        try:
            value: Any = self._source()
        except SettingsError:  # not JSON where JSON is needed
            return text
        for key in path:
            value = value[key.replace("-", "_")]
        # A path is text until its section reads it: `~`, and the checks that compare paths.
        return text if isinstance(value, FilePath) else value

    def _unknown(self, name: str, text: str) -> Iterator[str]:
        rest = name.upper().removeprefix(PREFIX)
        known = [key.removeprefix(PREFIX) for key in self._paths]
        if NESTED in rest:
            near = get_close_matches(rest, known, n=1)
        else:
            # Without a section it may belong to something else (Kubernetes sets TERRAIN_PORT for a
            # service called terrain), unless it is plainly one of ours with the section left out.
            near = [
                key
                for key in known
                if rest in {key.rpartition(NESTED)[2], key.replace(NESTED, "_")}
            ]
            if not near:
                return
        advice = f"did you mean {PREFIX}{near[0]}?" if near else "see docs/configuration.md"
        yield f"environment: {show_name(name)} = {show_value(text)}: unknown key; {advice}"


def variable_name(path: Path) -> str:
    """Return the variable that sets a key."""
    return PREFIX + NESTED.join(str(key).replace("-", "_").upper() for key in path)


def _is_ours(name: str) -> bool:
    return name.upper().startswith(PREFIX)
