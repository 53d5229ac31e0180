"""`terrain nodes` and `terrain edges`: filters, formats, files, and being used wrongly."""

import csv
import io
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from terrain.cli import run
from terrain.config import load_config
from terrain.store import Policy, Store
from tests.cli.terminals import TERRAIN, Terminal
from tests.store.terrains import processed

CONFIG = """
[crawler]
max-depth = 2
[output]
database-path = "{database}"
[[quality]]
domain = "*.trusted.test"
seeds = ["https://trusted.test/"]
[[blacklist]]
domain = "bad.test"
[[stub]]
domain = "wiki.test"
"""

# from trusted.test: two pages of found.test, one of each list; found.test: back, and further on
HOME = "https://trusted.test/"
FOUND = "https://found.test/"

NODES = {
    # domain: kind, visits, description
    "trusted.test": ("quality", 2, "=1+1"),
    "blog.trusted.test": ("quality", 0, None),
    "found.test": ("discovered", 1, "Found, a site"),
    "far.test": ("discovered", 0, None),
    "bad.test": ("blacklisted", 0, None),
    "wiki.test": ("stubbed", 0, None),
}
EDGES = {
    ("trusted.test", "found.test"): 3,  # both pages of trusted.test, one of them twice
    ("trusted.test", "blog.trusted.test"): 1,
    ("trusted.test", "bad.test"): 1,
    ("trusted.test", "wiki.test"): 1,
    ("found.test", "trusted.test"): 1,
    ("found.test", "far.test"): 1,
}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("exports")
    file = directory / "c.toml"
    file.write_text(CONFIG.format(database=directory / "terrain.db"))
    store = Store(directory / "terrain.db", Policy.from_config(load_config(file, {})))
    store.open_run()
    pages = [
        processed(
            HOME, f"{HOME}page", FOUND, f"{FOUND}two", "https://bad.test/", "https://wiki.test/",
            "https://blog.trusted.test/", title="Trusted", description="=1+1",
        ),
        processed(f"{HOME}page", FOUND),
        processed(FOUND, HOME, "https://far.test/", title="Found, a site"),
    ]  # fmt: skip
    for page in pages:
        store.record_all([page]).result()
    store.close_run(completed=False)
    store.close()
    return file


Said = Callable[..., str]


@pytest.fixture
def said(config: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    def say(command: str, *options: str) -> str:
        assert run([command, str(config), *options]) == 0
        return capsys.readouterr().out

    return say


def objects(text: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(text)
    return found


def names(said: Said, *options: str) -> list[object]:
    return [node["domain_name"] for node in objects(said("nodes", "--format", "json", *options))]


def pairs(said: Said, *options: str) -> list[tuple[object, object]]:
    found = objects(said("edges", "--format", "json", *options))
    return [(edge["from_domain"], edge["to_domain"]) for edge in found]


def test_all_nodes_with_what_is_known_of_them(said: Said) -> None:
    found = objects(said("nodes", "--format", "json"))
    assert {
        node["domain_name"]: (node["kind"], node["crawl_count"], node["description"])
        for node in found
    } == NODES
    assert [node["domain_name"] for node in found] == sorted(NODES)
    assert all(isinstance(node["node_id"], str) for node in found)


def test_all_edges_heaviest_first(said: Said) -> None:
    found = objects(said("edges", "--format", "json"))
    assert {(e["from_domain"], e["to_domain"]): e["weight"] for e in found} == EDGES
    assert found[0]["weight"] == 3
    ids = {node["domain_name"]: node["node_id"] for node in objects(said("nodes", "--format=json"))}
    for edge in found:
        assert edge["from_node_id"] == ids[edge["from_domain"]]
        assert edge["to_node_id"] == ids[edge["to_domain"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--kind", "quality"], ["blog.trusted.test", "trusted.test"]),
        (["--kind", "stubbed", "--kind", "blacklisted"], ["bad.test", "wiki.test"]),
        (["--match", "*.trusted.test"], ["blog.trusted.test", "trusted.test"]),
        (["--match", "trusted.test"], ["trusted.test"]),
        (["--match", "f*"], ["far.test", "found.test"]),
        (["--visited"], ["found.test", "trusted.test"]),
        (["--unvisited", "--kind", "discovered"], ["far.test"]),
        (["--sort", "visits", "--limit", "2"], ["trusted.test", "found.test"]),
        (["--kind", "discovered", "--limit", "1"], ["far.test"]),
        (["--match", "nobody.test"], []),
    ],
)
def test_filters_of_nodes(said: Said, options: list[str], expected: list[str]) -> None:
    assert names(said, *options) == expected


def test_nodes_in_the_order_of_discovery(said: Said) -> None:
    order = names(said, "--sort", "created")
    assert order[0] == "trusted.test"
    assert order[-1] == "far.test"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--min-weight", "2"], [("trusted.test", "found.test")]),
        (["--from", "found.test"], [("found.test", "far.test"), ("found.test", "trusted.test")]),
        (["--to", "*.trusted.test", "--sort", "to"],
         [("trusted.test", "blog.trusted.test"), ("found.test", "trusted.test")]),
        (["--match", "far.test"], [("found.test", "far.test")]),
        (["--from-kind", "quality", "--to-kind", "discovered"], [("trusted.test", "found.test")]),
        (["--to-kind", "stubbed", "--to-kind", "blacklisted", "--sort", "from"],
         [("trusted.test", "bad.test"), ("trusted.test", "wiki.test")]),
        (["--from", "trusted.test", "--to", "trusted.test"], []),
        (["--limit", "1"], [("trusted.test", "found.test")]),
    ],
)  # fmt: skip
def test_filters_of_edges(said: Said, options: list[str], expected: list[tuple[str, str]]) -> None:
    assert pairs(said, *options) == expected


def test_a_table_is_what_a_person_gets(config: Path) -> None:
    with Terminal(["nodes", str(config), "--kind", "quality"]) as terminal:
        assert terminal.wait() == 0
        lines = terminal.text.splitlines()
    assert [line.split() for line in lines] == [
        ["domain", "kind", "visits", "description"],
        ["-" * 17, "-" * 7, "-" * 6, "-" * 11],
        ["blog.trusted.test", "quality", "0"],
        ["trusted.test", "quality", "2", "=1+1"],
    ]


def test_csv_by_the_name_of_the_file(said: Said, tmp_path: Path) -> None:
    assert said("nodes", "-o", str(tmp_path / "nodes.csv"), "--visited") == ""
    rows = list(csv.DictReader(io.StringIO((tmp_path / "nodes.csv").read_text())))
    assert [(row["domain_name"], row["description"]) for row in rows] == [
        ("found.test", "Found, a site"),
        ("trusted.test", "'=1+1"),
    ]
    assert said("edges", "-o", str(tmp_path / "edges.json")) == ""
    assert len(objects((tmp_path / "edges.json").read_text())) == len(EDGES)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


WRONG = [
    (["nodes", "{config}", "-o", "{here}/nodes.txt"], 2, "say with --format what to write there"),
    (["nodes", "{config}", "-o", "{config}", "--format", "csv"], 2, "is the configuration; name"),
    (["nodes", "{config}", "-o", "{database}", "--format", "csv"], 2, "is the database; name"),
    (["nodes", "{config}", "-o", "{here}/no/x.csv"], 1, "cannot be written (No such file or"),
    (["nodes", "{config}", "--match", "a b"], 2, "must not be empty or contain white space"),
    (["edges", "{config}", "--from", "https://a.test/"], 2, "is about a host; leave out what"),
    (["edges", "{config}", "--to", "exa mple"], 2, "--to 'exa mple'"),
    (["edges", "{config}", "--min-weight", "0"], 2, "0 is not in the range x>=1"),
    (["edges", "{config}", "--sort", "name"], 2, "'name' is not one of 'weight', 'from', 'to'"),
    (["nodes", "{config}", "--kind", "good"], 2, "'good' is not one of 'quality'"),
    (["nodes", "{here}/none.toml"], 2, "there is no such file"),
]


@pytest.mark.parametrize(("arguments", "code", "says"), WRONG)
def test_used_wrongly_it_says_so_in_one_line(
    config: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    says: str,
) -> None:
    before = config.read_bytes()
    database = config.parent / "terrain.db"
    filled = [a.format(config=config, here=tmp_path, database=database) for a in arguments]
    assert run(filled) == code
    told = capsys.readouterr()
    assert says in told.err
    assert len(told.err.splitlines()) == 1
    assert told.out == ""
    assert config.read_bytes() == before
    assert database.read_bytes().startswith(b"SQLite format 3")


def test_before_the_first_crawl_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.toml").write_text(CONFIG.format(database=tmp_path / "none.db"))
    assert run(["edges", str(tmp_path / "c.toml")]) == 1
    assert "run a crawl first" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_reader_that_leaves_early_gets_no_traceback(config: Path, form: str) -> None:
    with subprocess.Popen(
        [*TERRAIN, "nodes", str(config), "--format", form],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        done.stdout.close()
        assert done.stderr.read() == b""


def test_a_terminal_that_cannot_show_a_character_gets_no_traceback(config: Path) -> None:
    done = subprocess.run(
        [*TERRAIN, "nodes", str(config)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    assert done.stdout.isascii()
