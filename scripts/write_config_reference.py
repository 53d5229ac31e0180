"""Write docs/configuration.md from the sections themselves; `--check` only tells if it is stale."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from terrain.config import Config
from terrain.config.keys import kebab
from terrain.config.wording import (
    LARGEST,
    ByGranularity,
    allowed,
    field_shape,
    item_shape,
    model_of,
)

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "configuration.md"

INTRODUCTION = f"""\
<!-- Written by scripts/write_config_reference.py from terrain/config; do not edit. -->

# Configuration

One TOML file, keys in kebab-case. A commented file to start from is
[examples/starter.toml](../examples/starter.toml). Everything but the `[[quality]]` entries may be
left out. An unknown key is an error, and all errors are told at once, one line each:

```
config.toml:4: crawler.max-depht = 2: unknown key; did you mean "max-depth"?
```

Relative paths start at the current directory, and `~` is your home. No number may be over
{LARGEST}.

## Environment

Every key may be overridden by a variable: `TERRAIN_`, the section, two underscores, the key, in
capitals and with underscores for hyphens. Tables and lists are given as JSON, and replace what the
file says. An empty variable counts as absent.

```
TERRAIN_CRAWLER__MAX_DEPTH=2
TERRAIN_USER_AGENT__CONTACT_EMAIL=crawler@example.com
TERRAIN_NETWORK__RESOLVE='{{"*.test": "127.0.0.1:8443"}}'
TERRAIN_STUB='[{{"domain": "github.com"}}]'
```

## Changing it between two starts

What says where results go (`output`) and where to connect (`network.ca-file`, `network.resolve`)
may change at any time, and so may `user-agent.crawler-version`. Any other change is said aloud and
recorded, and the run goes on under it. A change of quality domains, of their seeds or of a depth
limit starts a new run, and so does one of `crawler.max-crawls-per-domain` where it counts. A
database keeps its `crawler.granularity`: the other one needs another database.

## Sections
"""

PRECEDENCE = """
## Lists

A host is looked for in the blacklist, then in the stub list, then among the quality entries; the
first list that has it decides. `*.example.com` matches `example.com` and every host below;
`example.com` matches only itself. A leading `www.` does not count, here and everywhere.
"""


def reference() -> str:
    """Render the whole page."""
    parts = [INTRODUCTION]
    fields = Config.model_fields.items()
    for name, field in fields:
        section = model_of(field_shape(field))
        if section is not None:
            parts.append(_table(f"[{kebab(name)}]", field, section, prefix=f"{kebab(name)}."))
    parts.append(PRECEDENCE)
    for name, field in fields:
        entry = model_of(item_shape(field_shape(field)))
        if entry is not None:
            parts.append(_table(f"[[{kebab(name)}]]", field, entry, prefix=""))
    return "".join(parts)


def _table(title: str, field: FieldInfo, section: type[BaseModel], *, prefix: str) -> str:
    rows = [
        f"\n### `{title}`\n\n{_sentence(field)}\n",
        "| key | what is allowed | default | meaning |",
        "|---|---|---|---|",
    ]
    for name, inner in section.model_fields.items():
        key = kebab(name)
        cells = (f"`{prefix}{key}`", _allowed(inner), _default(name, inner), _sentence(inner))
        rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def _allowed(field: FieldInfo) -> str:
    shape = field_shape(field)
    items = item_shape(shape)
    text = allowed(shape)
    if items is not None and text == "a list of strings":
        text = f"a list, each {allowed(items)}"
    return text.replace("*", r"\*").replace("<", "&lt;").replace("`", r"\`").replace("_", r"\_")


def _default(name: str, field: FieldInfo) -> str:
    factory = field.default_factory
    if isinstance(factory, ByGranularity):
        return f"{_number(factory.page)}; by domain {_number(factory.domain)}"
    if field.is_required():
        return "required"
    if name == "crawler_version":
        return "terrain's version"
    default = field.default
    if default is None:
        return "absent"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, Path):
        return f'`"./{default}"`'
    if isinstance(default, tuple):
        if item_shape(field_shape(field)) is None or not default:
            return "none"
        return "`" + json.dumps(default) + "`"
    return f'`"{default}"`' if isinstance(default, str) else f"`{default}`"


def _number(value: int | None) -> str:
    return "absent" if value is None else f"`{value}`"


def _sentence(field: FieldInfo) -> str:
    assert field.description, "every field has a docstring"
    return " ".join(field.description.split())


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
