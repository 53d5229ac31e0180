"""What must hold across several keys.

These look at the document, not at a finished Config, so that they also find what is wrong beside a
key that is wrong by itself. What has not the right type is left to the sections.
"""

from __future__ import annotations

import re
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, TypeGuard

from terrain.config.fields import LONGEST_PATH
from terrain.config.keys import kebab
from terrain.config.problems import Path, Problem, show_value
from terrain.config.sections import Output
from terrain.rules.defaultrules import DEFAULT_RULES, exempt
from terrain.rules.hosts import HostPattern
from terrain.rules.linkrules import Action, LinkRules, Rule
from terrain.rules.patterns import UrlPattern
from terrain.rules.urls import UrlRules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

POLITE_DELAY = 100
"""Milliseconds; a shorter delay needs `own = true`."""

POLITE_PAGES_OPEN = 100
"""Requests in flight; more need a site with `own = true`."""

_CREDENTIALS = re.compile(r"https?://[^/?#]*@", re.IGNORECASE)


def cross_checks(document: Mapping[str, Any], file: str) -> Iterator[Problem]:
    """Yield every problem between the keys of a document (kebab-case) read from `file`."""
    entries = _entries(document)
    yield from _pages_open(document, entries)
    yield from _one_database(document)
    yield from _separate_outputs(document, file)
    yield from _repeated_domains(entries)
    allow_http = _section(document, "network").get("allow-http") is True
    for path, entry in entries:
        yield from _politeness(path, entry)
        yield from _seeds(path, entry, allow_http=allow_http)
    yield from _ruled_out_seeds(document, entries)


def _pages_open(
    document: Mapping[str, Any], entries: list[tuple[Path, dict[str, Any]]]
) -> Iterator[Problem]:
    pages = _section(document, "crawler").get("max-concurrent-pages-open")
    if _is_number(pages) and pages > POLITE_PAGES_OPEN and not any(_own(e) for _, e in entries):
        yield Problem(
            ("crawler", "max-concurrent-pages-open"),
            f"must be at most {POLITE_PAGES_OPEN} unless a [[quality]] entry says own = true",
            pages,
        )


def _one_database(document: Mapping[str, Any]) -> Iterator[Problem]:
    output = _section(document, "output")
    if "database-path" in output and "database-url" in output:
        yield Problem(
            ("output", "database-url"),
            "not together with database-path; remove one of the two",
            output["database-url"],
        )


def _separate_outputs(document: Mapping[str, Any], file: str) -> Iterator[Problem]:
    """Refuse to write two files over each other, or one over the configuration."""
    output = _section(document, "output")
    taken = {_absolute(file): "the configuration itself"}
    for name, field in Output.model_fields.items():
        key = kebab(name)
        if name == "database_url" or (name == "database_path" and "database-url" in output):
            continue
        text = output.get(key, field.default)
        place = _absolute(text)
        if place is None:
            continue
        if place in taken:
            yield Problem(("output", key), f"is {taken[place]}; give each its own file", str(text))
        taken.setdefault(place, f"output.{key} too")


def _repeated_domains(entries: list[tuple[Path, dict[str, Any]]]) -> Iterator[Problem]:
    first: dict[str, Path] = {}
    for path, entry in entries:
        pattern = _pattern(entry)
        if pattern is None:
            continue
        if pattern.text in first:
            number = first[pattern.text][1]
            yield Problem(
                (*path, "domain"),
                f"the same as quality[{number}].domain; make one entry of the two",
                entry["domain"],
            )
        first.setdefault(pattern.text, path)


def _politeness(path: Path, entry: dict[str, Any]) -> Iterator[Problem]:
    if _own(entry):
        return
    delay, requests = entry.get("minimum-time-on-page"), entry.get("max-concurrent")
    if _is_number(delay) and 0 <= delay < POLITE_DELAY:
        yield Problem(
            (*path, "minimum-time-on-page"),
            f"must be at least {POLITE_DELAY} milliseconds unless the entry says own = true",
            delay,
        )
    if _is_number(requests) and requests > 1:
        yield Problem(
            (*path, "max-concurrent"), "must be 1 unless the entry says own = true", requests
        )


def _seeds(path: Path, entry: dict[str, Any], *, allow_http: bool) -> Iterator[Problem]:
    seeds = entry.get("seeds")
    if not isinstance(seeds, list):
        return
    pattern = _pattern(entry)
    for index, seed in enumerate(seeds):
        if isinstance(seed, str):
            message = _wrong_seed(seed, pattern, allow_http=allow_http)
            if message:
                yield Problem((*path, "seeds", index), message, seed)


def _wrong_seed(seed: str, pattern: HostPattern | None, *, allow_http: bool) -> str | None:
    scheme = seed.lower().partition("://")[0]
    if scheme == "http" and not allow_http:
        return "must start with https:// (http:// needs network.allow-http = true)"
    if scheme not in {"https", "http"}:
        return "must start with https://"
    if _CREDENTIALS.match(seed):
        return "must not contain a user name or a password"
    address = UrlRules().address(seed)
    if address is None:
        return "is not an address that a browser would accept"
    if pattern is None or pattern.matches(address.host):
        return None
    off = f'is not on the domain "{pattern.text}"'
    if pattern.below is None and address.host.endswith(f".{pattern.host}"):
        return f'{off}; write domain = "*.{pattern.host}" to have the hosts below it too'
    return f"{off}; give it a [[quality]] entry of its own"


def _ruled_out_seeds(
    document: Mapping[str, Any], entries: list[tuple[Path, dict[str, Any]]]
) -> Iterator[Problem]:
    """Refuse seeds that the rules forbid to visit: the crawl would end where it begins."""
    own = dict(_rules(document))
    rules = list(own.values())
    if document.get("rules-defaults") is not False:
        rules += [*exempt(_listed(document)), *DEFAULT_RULES]
    try:
        links, urls = LinkRules(rules), _urls(document)
    except ValueError:  # too large together, said by the section
        return
    for path, entry in entries:
        seeds = entry.get("seeds")
        for index, seed in enumerate(seeds if isinstance(seeds, list) else ()):
            address = urls.address(seed) if isinstance(seed, str) else None
            rule = links.first(address.identity) if address else None
            if rule is None or rule.action is Action.CRAWL:
                continue
            place = next((f"rules[{n}]" for n, mine in own.items() if mine is rule), "the defaults")
            message = (
                f"{rule.action}, by {place}: match = {show_value(rule.match)}; "
                'put a [[rules]] entry with action = "crawl" for it before'
            )
            yield Problem((*path, "seeds", index), message, seed)


def _rules(document: Mapping[str, Any]) -> Iterator[tuple[int, Rule]]:
    """Yield the rules that are right by themselves, with their places."""
    entries = document.get("rules")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        try:
            pattern = UrlPattern.parse(entry["match"])
            yield index, Rule(pattern.text, Action(entry["action"]))
        except (AttributeError, KeyError, TypeError, ValueError):  # said by the section
            continue


def _listed(document: Mapping[str, Any]) -> Iterator[str]:
    for key in ("blacklist", "stub"):
        entries = document.get(key)
        for entry in entries if isinstance(entries, list) else ():
            pattern = _pattern(entry) if isinstance(entry, dict) else None
            if pattern is not None:
                yield pattern.text


def _urls(document: Mapping[str, Any]) -> UrlRules:
    """Return what makes identities, under the file's tracking parameters if they are right."""
    try:
        return UrlRules(_section(document, "urls")["tracking-parameters"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return UrlRules()


def _entries(document: Mapping[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    entries = document.get("quality")
    if not isinstance(entries, list):
        return []
    numbered = enumerate(entries)
    return [(("quality", index), entry) for index, entry in numbered if isinstance(entry, dict)]


def _section(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    section = document.get(key)
    return section if isinstance(section, dict) else {}


def _pattern(entry: dict[str, Any]) -> HostPattern | None:
    domain = entry.get("domain")
    if not isinstance(domain, str):
        return None
    try:
        return HostPattern.parse(domain)
    except ValueError:  # said by the section
        return None


def _absolute(path: object) -> FilePath | None:
    if not path or not isinstance(path, str | FilePath) or len(str(path)) > LONGEST_PATH:
        return None
    try:
        return FilePath(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # said by the section
        return None


def _own(entry: dict[str, Any]) -> bool:
    return entry.get("own") is True


def _is_number(value: Any) -> TypeGuard[int]:
    return type(value) is int
