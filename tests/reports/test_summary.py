"""The summary of the known terrain, section by section; how each figure comes about: known.py."""

import re
from pathlib import Path

import pytest

from terrain.reports.summary import render_summary
from terrain.rules.linkrules import Action, LinkRules, Rule
from terrain.rules.traps import TrapLimits
from terrain.store import Policy, Start
from terrain.store.queries import TerrainReader, open_terrain
from tests.reports.known import LASTED, SECOND, KnownTerrain
from tests.store.terrains import make_policy, processed

GOLDEN = Path(__file__).parent.parent / "data" / "golden" / "crawl-summary.md"
NOW = SECOND + LASTED + 5


def sections(markdown: str) -> dict[str, str]:
    """The text under each heading; what stands before the first is under its title."""
    parts = re.split(r"^(?=#{1,2} )", markdown, flags=re.MULTILINE)
    return {part.splitlines()[0]: part for part in parts if part}


EXPECTED = sections(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("title", EXPECTED)
def test_golden(title: str, reader: TerrainReader, policy: Policy) -> None:
    found = sections(render_summary(reader, policy, now=NOW, picture="crawl summary.svg"))
    assert found[title] == EXPECTED[title]


def test_no_section_but_the_golden_ones(reader: TerrainReader, policy: Policy) -> None:
    found = sections(render_summary(reader, policy, now=NOW, picture="crawl summary.svg"))
    assert list(found) == list(EXPECTED)


def test_without_a_picture_none_is_shown(reader: TerrainReader, policy: Policy) -> None:
    assert "![" not in render_summary(reader, policy, now=NOW)


def test_a_run_that_has_just_begun(own_database: Path, policy: Policy) -> None:
    terrain = KnownTerrain(own_database, policy, at=SECOND + 10_000)
    terrain.store.open_run(Start.FRESH)
    with open_terrain(own_database) as reader:
        found = sections(render_summary(reader, policy, now=SECOND + 10_065))
    terrain.store.close()
    assert "| Status   | running" in found["# Crawl summary"]
    assert "| Ended    | not yet" in found["# Crawl summary"]
    assert "| Duration | 1 min 5 s so far" in found["# Crawl summary"]
    # The two seeds, which wait; what earlier runs know is not this run's.
    assert re.search(r"\| Pages reached +\| +2 \|", found["## Overall"])
    assert re.search(r"\| Pages known over all runs +\| +19 \|", found["## Overall"])
    assert re.search(r"\| waiting when this was written +\| +2 \|", found["## Not crawled"])
    assert "None was linked to." in found["## Blacklisted URLs"]
    assert found["## Errors"].split() == ["##", "Errors", "None."]
    # Newest first; run 2 left no metrics.
    rows = [line.split("|")[1:6:3] for line in found["## Earlier runs"].splitlines()[4:]]
    assert [[cell.strip() for cell in row] for row in rows] == [["2", "-"], ["1", "3"]]


def test_lists_are_cut_and_say_so(tmp_path: Path) -> None:
    policy = make_policy({"*.q.org": 1}, ["https://q.org/"], blacklist=["bad.net"])
    terrain = KnownTerrain(tmp_path / "t.db", policy)
    terrain.store.open_run()
    others = [f"https://d{number:03}.com/" for number in range(53)]
    bad = [f"https://bad.net/{number:03}" for number in range(22)]
    quality = [f"https://s{number:03}.q.org/" for number in range(104)]
    terrain.record(processed("https://q.org/", *others, *bad, *quality))
    terrain.store.close_run(completed=False)
    terrain.store.close()
    with open_terrain(tmp_path / "t.db") as reader:
        found = sections(render_summary(reader, policy, now=SECOND))
    assert found["## Other domains"].count("`d") == 50
    assert "And 3 more." in found["## Other domains"]
    assert found["## Blacklisted URLs"].count("`https://bad.net/") == 20
    assert "And 2 more." in found["## Blacklisted URLs"]
    # q.org itself and 104 below it.
    assert (
        found["## Quality domains"].count(".org`") - found["## Quality domains"].count("x") == 100
    )
    assert "And 5 more." in found["## Quality domains"]


def test_what_rules_and_guards_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    many = [Rule(f"many.com/{number}", Action.RECORD) for number in range(25)]
    rules = [Rule("re:[|`]|tag", Action.RECORD), *many]
    link_rules = LinkRules(rules, TrapLimits(repeated_segments=1))
    policy = make_policy({"q.org": 1}, ["https://q.org/"], link_rules=link_rules)
    terrain = KnownTerrain(tmp_path / "t.db", policy)
    terrain.store.open_run()
    links = [f"https://many.com/{number}" for number in range(25)]
    links += ["https://q.org/tag/1", "https://q.org/tag/2", "https://q.org/a/a"]
    terrain.record(processed("https://q.org/", *links))
    terrain.store.close_run(completed=True)
    terrain.store.close()
    with open_terrain(tmp_path / "t.db") as reader:
        found = sections(render_summary(reader, policy, now=SECOND))
    assert re.search(r"\| `discovered` +\| +28 \|", found["## Pages by state"])
    lines = found["## Not crawled"].splitlines()[4:]
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in lines]
    # A pattern may hold what would end the cell or the code around it.
    assert rows[0] == ["`recorded by a rule: re:[¦']¦tag`", "2"]
    assert rows[-1] == ["other rules and trap guards", "7"]
    assert len(rows) == 21
