"""Progress as it is seen: on a terminal of any size and encoding, and where there is none."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from terrain.sampleweb.pages import Html, Tree, to
from terrain.sampleweb.process import ServedWeb
from terrain.sampleweb.web import Host, Web
from tests.blackbox.crawls import write_config
from tests.cli.demo_run import DemoRun
from tests.cli.terminals import Terminal, piped

ALLOWED = {"\n"}
"""The one control character that belongs into a log."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWeb]:
    """Two hosts of a dozen pages: a second or two of crawling."""
    hosts = {"a.test": Host(otherwise=Tree((3, 3))), "b.test": Host({"/": Html("B", to("/gone"))})}
    with ServedWeb(Web(hosts), tmp_path_factory.mktemp("web")) as web:
        yield web


@pytest.fixture
def config(served: ServedWeb, tmp_path: Path) -> Path:
    quality = [{"domain": host, "seeds": [f"https://{host}/"]} for host in ("a.test", "b.test")]
    return write_config(tmp_path, served, quality, crawler={"head-probe": "never"})


class TestTerminal:
    """The demo's live view, whose window was dragged about while it ran."""

    @pytest.mark.parametrize(
        "pattern",
        [
            r"terrain  run 1  \d+ s",
            r"pages +[1-9]\d* done, \d+\.\d per second, \d+ requests",
            r"frontier +\d+ waiting on \d+ hosts, \d+ in flight",
            r"hosts +\d+ ready, \d+ waiting, 1 suspended",
            r"errors +.*\d+ failed",
            r"time left +at least \d+ s",
            r"processed +\d+  █+",
            r"run +completed",
        ],
    )
    def test_it_shows(self, demo: DemoRun, pattern: str):
        assert re.search(pattern, demo.text), demo.text[-3000:]

    def test_the_cursor_is_given_back(self, demo: DemoRun):
        assert demo.raw.count(b"\x1b[?25l") == demo.raw.count(b"\x1b[?25h") == 1

    def test_it_is_drawn_four_times_a_second_at_most(self, demo: DemoRun):
        assert demo.text.count("terrain  run 1") <= 4 * demo.seconds

    def test_no_traceback(self, demo: DemoRun):
        assert "Traceback" not in demo.text


@pytest.mark.parametrize(
    "env",
    [
        {"LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LANG": "C", "LC_ALL": "C"},
        {"PYTHONIOENCODING": "iso-8859-1"},
    ],
    ids=["C", "C-taken-for-UTF-8", "latin-1"],
)
def test_a_terminal_that_knows_no_unicode_gets_ascii(config: Path, env: dict[str, str]):
    with Terminal(["crawl", str(config)], env=env) as terminal:
        assert terminal.wait() == 0, terminal.text
    assert terminal.raw.isascii()
    assert re.search(r"processed +\d+  #+", terminal.text)


def test_a_dumb_terminal_gets_lines(config: Path):
    with Terminal(["crawl", str(config)], env={"TERM": "dumb"}) as terminal:
        assert terminal.wait() == 0, terminal.text
    assert b"\x1b" not in terminal.raw
    assert "; completed" in terminal.text


def test_the_terminal_is_given_back_after_an_interruption(config: Path):
    with Terminal(["crawl", str(config)]) as terminal:
        terminal.until("frontier")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.wait() == 3
    assert terminal.raw.count(b"\x1b[?25l") == terminal.raw.count(b"\x1b[?25h") == 1
    assert re.search(r"run +interrupted", terminal.text)


class TestPipe:
    def test_lines_come_at_a_steady_interval_and_hold_no_control_character(self, config: Path):
        done = piped("crawl", config, "--interval", "0.2")
        assert done.returncode == 0
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
        assert all(re.match(rf"{stamp} run 1, \d+ s: \d+ pages; ", line) for line in lines), lines
        assert len(lines) >= 4
        assert lines[-1].endswith("; completed")
        assert not [c for c in done.stderr if not c.isprintable() and c not in ALLOWED]

    def test_quiet_says_nothing_at_all(self, config: Path):
        done = piped("crawl", config, "-q")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_verbose_adds_the_log(self, config: Path):
        done = piped("crawl", config, "-v")
        assert done.returncode == 0
        assert "Spider opened" in done.stderr
        assert "; completed" in done.stderr

    def test_scrapy_users_find_it_in_their_log(self, config: Path):
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "crawl", "terrain", "-a", f"config={config}"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=Path(__file__).resolve().parents[2],
        )
        assert re.search(r"\[terrain.extensions.progress\] INFO: run 1, .*; completed", done.stderr)
