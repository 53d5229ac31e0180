"""The small parts: tables, files, kinds of errors."""

import os
import stat
from pathlib import Path

import pytest

from terrain.errors import TerrainError
from terrain.reports import errors
from terrain.reports.errors import ErrorKind, gather, kind_of
from terrain.reports.files import write_text
from terrain.reports.tables import table
from terrain.rules.retries import FailureKind, failure_reason
from terrain.store.queries import Failure


class TestTables:
    def test_columns_are_padded_and_numbers_stand_right(self) -> None:
        assert table(("Name", "Pages"), [("a", "1"), ("longer", "1,234,567")], right=" >") == [
            "| Name   |     Pages |",
            "| ------ | --------: |",
            "| a      |         1 |",
            "| longer | 1,234,567 |",
        ]

    def test_wide_characters_take_two_places(self) -> None:
        lines = table(("Title", "N"), [("\u4e2d\u6587", "1"), ("abcde", "2")])
        assert lines[2] == "| \u4e2d\u6587  | 1   |"

    def test_no_rows(self) -> None:
        assert table(("A", "B"), []) == ["| A   | B   |", "| --- | --- |"]


class TestFiles:
    def test_writes_and_replaces(self, tmp_path: Path) -> None:
        path = tmp_path / "summary.md"
        write_text(path, "one\n")
        write_text(path, "zwei \u00e9 \ud800\n")
        assert path.read_bytes() == b"zwei \xc3\xa9 \\ud800\n"
        assert list(tmp_path.iterdir()) == [path]

    def test_others_may_read_it(self, tmp_path: Path) -> None:
        mask = os.umask(0o022)
        try:
            write_text(tmp_path / "terrain.prom", "x 1\n")
        finally:
            os.umask(mask)
        assert stat.S_IMODE((tmp_path / "terrain.prom").stat().st_mode) == 0o644

    def test_a_failure_leaves_the_old_file_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "summary.md"
        write_text(path, "old\n")

        def full(self: Path, target: Path) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", full)
        with pytest.raises(TerrainError, match=r"summary.md: cannot be written \(No space left"):
            write_text(path, "new\n")
        assert path.read_text() == "old\n"
        assert list(tmp_path.iterdir()) == [path]

    def test_no_directory(self, tmp_path: Path) -> None:
        with pytest.raises(TerrainError, match="No such file or directory"):
            write_text(tmp_path / "none" / "summary.md", "x")


class TestErrorKinds:
    @pytest.mark.parametrize(
        ("state", "message", "kind"),
        [
            ("failed", "HTTP 500", "HTTP 500"),
            ("failed", "HTTP 503 with Retry-After over 300 s", "HTTP 503"),
            (
                "failed",
                "HTTP 301: redirect without a usable Location",
                "redirect without a usable Location",
            ),
            ("unreachable", "TLS error: certificate verify failed: expired", "TLS error"),
            ("failed", "timeout", "timeout"),
            ("failed", "redirect cycle", "redirect cycle"),
            ("failed", "robots denied: robots.txt could not be read", "robots denied"),
            ("dead_link", None, "HTTP 404 or 410"),
            ("unreachable", "", "unreachable, no reason given"),
            ("failed", None, "other"),
            ("failed", ": nothing before the colon", "other"),
        ],
    )
    def test_particulars_are_left_out(self, state: str, message: str | None, kind: str) -> None:
        assert kind_of(Failure(state, message)) == kind

    @pytest.mark.parametrize("kind", FailureKind)
    def test_every_reason_the_crawl_gives_is_a_kind(self, kind: FailureKind) -> None:
        assert kind_of(Failure("failed", failure_reason(kind, "1.2.3.4:443 said: no"))) == kind

    def test_counted_most_frequent_first_and_robots_apart(self) -> None:
        found = gather(
            [
                Failure("failed", "timeout: after 30 s"),
                Failure("failed", "robots denied"),
                Failure("unreachable", "DNS failure: x"),
                Failure("failed", "timeout: after 32 s"),
            ]
        )
        assert found.kinds == [
            ErrorKind("timeout", "failed", 2),
            ErrorKind("DNS failure", "unreachable", 1),
        ]
        assert found.robots_denied == 1

    def test_a_text_that_differs_each_time_does_not_fill_the_memory(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(errors, "MAX_KINDS", 3)
        found = gather(Failure("failed", f"strange {number}") for number in range(100))
        assert {kind.kind: kind.pages for kind in found.kinds} == {
            "other": 97,
            "strange 0": 1,
            "strange 1": 1,
            "strange 2": 1,
        }
