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
from terrain.rules.defaultrules import DEFAULT_SKIPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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

## The top of the file

These stand before the first `[section]`.
"""

SECTIONS = """
## Sections
"""

PRECEDENCE = """
## Lists

A host is looked for in the blacklist, then in the stub list, then among the quality entries; the
first list that has it decides. `*.example.com` matches `example.com` and every host below;
`example.com` matches only itself. A leading `www.` does not count, here and everywhere.
"""

PATTERNS = """
## Patterns

A rule is matched against a page's identity without `https://`, that is `host/path?query` as
`pages.url` has it: no `www.`, no fragment, no tracking parameters, no trailing slash, query
parameters sorted by name, other ports than 443 behind the host. Case counts in path and query.

A glob has one special character: `*` is any number of any characters. `?` is the mark before a
query. The part before the first `/` is a host, and there `*.` at the start means that host and all
below, as in the lists. A host without a port is meant with any port. A pattern without `/` is all
pages of the host.

`re:` starts a regular expression in RE2's syntax, found anywhere in the text unless `^` and `$` say
otherwise. RE2 takes time in proportion to the length of the address, whatever the expression is;
for that it has no look-around and no back-references.

| pattern | matches | does not match |
|---|---|---|
{examples}

What is wrong with a pattern is said when the file is read.

## What rules do

The first rule that matches an address decides, your own in their order and then the default set. If
none does, the page is crawled. So `crawl` exempts from a later rule, and `match = "*"` with
`record` at the end visits only what the rules before it name.

- `skip`: the link is not there. No page, no link, no host, no edge, and it takes no place among
  `crawler.max-outbound-links`. A page that redirects to such an address is `redirected`, and its
  `error_message` names the rule.
- `record`: the page is there with the links to it, in state `discovered`, and its `error_message`
  names the rule. It is never asked for, however it is reached: links, redirects, `canonical`.
- Hosts of the blacklist and the stub list come before `record`: they keep their states. The default
  set does not touch them, so that what points there is counted.
- A seed that a rule skips or records is an error. Requests for robots.txt are no pages.
- When rules change between two starts, pages that wait are judged anew as they are loaded; what
  was asked for or recorded stays until the next run. A link that is skipped from now on is like a
  link that is gone: its page was read again without it.

## The default set

Skipped unless `rules-defaults = false`:

{defaults}

## Trap guards

A page whose address goes beyond a limit of `[traps]` is `discovered` like one that a rule records,
with the limit in its `error_message`. Seeds are not judged; a `crawl` rule does not lift the
limits. They end what grows: sessions in paths, queries that add to themselves, `/a/a/a`. What only
counts (`?month=1234`) is ended by `crawler.max-domain-requests` and by the depth, or by a rule.
"""

EXAMPLES = (
    ("*.example.com", "https://docs.example.com/a?b", "https://example.org/"),
    ("example.com", "https://www.example.com/any/page", "https://docs.example.com/"),
    ("example.com/", "https://example.com/", "https://example.com/a"),
    ("example.com/tag/*", "https://example.com/tag/birds", "https://example.com/tag"),
    (
        "*.example.com/*?*sort=*",
        "https://example.com/list?page=2&sort=name",
        "https://example.com/sort",
    ),
    ("*/wp-login.php*", "https://any.test/wp-login.php?x=1", "https://any.test/blog/wp-login.php"),
    ("example.com:8443/*", "https://example.com:8443/a", "https://example.com/a"),
    ("*", "https://any.test/a", ""),
    (r"re:^[^/]*\.gov/", "https://data.gov/sets", "https://example.com/x.gov/"),
    (r"re:/\d{4}/\d{2}(/|$)", "https://example.com/blog/2024/05", "https://example.com/2024-05"),
)
"""Pattern, an address that it matches and one that it does not; a test holds the page to it."""


def reference() -> str:
    """Render the whole page."""
    parts = [INTRODUCTION]
    fields = Config.model_fields.items()
    alone = {name: field for name, field in fields if _stands_alone(field)}
    parts += ["\n", *_rows(alone, prefix=""), SECTIONS]
    for name, field in fields:
        section = model_of(field_shape(field))
        if section is not None:
            parts.append(_table(f"[{kebab(name)}]", field, section, prefix=f"{kebab(name)}."))
    parts.append(PRECEDENCE)
    for name, field in fields:
        entry = model_of(item_shape(field_shape(field)))
        if entry is not None:
            parts.append(_table(f"[[{kebab(name)}]]", field, entry, prefix=""))
    parts.append(PATTERNS.format(examples=_examples(), defaults=_defaults()))
    return "".join(parts)


def _stands_alone(field: FieldInfo) -> bool:
    shape = field_shape(field)
    return model_of(shape) is None and item_shape(shape) is None


def _examples() -> str:
    rows = [[f"`{cell}`" if cell else "" for cell in example] for example in EXAMPLES]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows
    )


def _defaults() -> str:
    return "\n\n".join(
        f"**{title}:** " + ", ".join(f"`{pattern}`" for pattern in patterns)
        for title, patterns in DEFAULT_SKIPS.items()
    )


def _table(title: str, field: FieldInfo, section: type[BaseModel], *, prefix: str) -> str:
    rows = [
        f"\n### `{title}`\n\n{_sentence(field)}\n\n",
        *_rows(section.model_fields, prefix=prefix),
    ]
    return "".join(rows)


def _rows(fields: Mapping[str, FieldInfo], *, prefix: str) -> Iterator[str]:
    yield "| key | what is allowed | default | meaning |\n|---|---|---|---|\n"
    for name, inner in fields.items():
        key = kebab(name)
        cells = (f"`{prefix}{key}`", _allowed(inner), _default(name, inner), _sentence(inner))
        yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |\n"


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
