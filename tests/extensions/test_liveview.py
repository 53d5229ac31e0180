import io
import logging

import pytest
from rich.console import Console

from terrain.extensions.figures import Figures
from terrain.extensions.liveview import LiveView, render, speaks_unicode
from terrain.frontier import Counts

COUNTS = Counts(
    hosts=30, ready=3, waiting=4, suspended=1, in_flight=5, queued=20, follow_ups=0, leased=6
)
FIGURES = Figures(
    run=2,
    elapsed=75,
    done=1370,
    per_second=12.44,
    requests=3001,
    counts=COUNTS,
    waiting=56,
    waiting_hosts=7,
    states={"processed": 1200, "failed": 6, "dead_link": 2},
    seconds_left=75,
    slowest="slow.test",
)


def drawn(figures: Figures, *, width: int = 100, fancy: bool = True) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(render(figures, fancy=fancy))
    return capture.get()


@pytest.mark.parametrize(
    "words",
    [
        "run 2  1 min 15 s",
        "1,370 done, 12.4 per second, 3,001 requests",
        "50 waiting on 7 hosts, 5 in flight",
        "3 ready, 4 waiting, 1 suspended",
        "6 failed, 2 dead link",
        "at least 1 min 15 s, the longest wait is for slow.test",
        "1,200",
    ],
)
def test_the_view_shows(words: str):
    assert words in drawn(FIGURES)


def test_the_last_view_says_how_the_run_ended_and_no_time_left():
    from dataclasses import replace

    text = drawn(replace(FIGURES, ended="completed"))
    assert "completed" in text
    assert "time left" not in text


@pytest.mark.parametrize("width", [10, 20, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int):
    lines = drawn(FIGURES, width=width).splitlines()
    assert max(map(len, lines)) <= width


def test_a_terminal_that_knows_no_unicode_gets_ascii():
    assert drawn(FIGURES, fancy=False).isascii()


def test_many_states_do_not_make_the_view_taller_than_a_small_terminal():
    from dataclasses import replace

    many = replace(FIGURES, states={f"state_{n:02}": n + 1 for n in range(15)})
    text = drawn(many)
    assert len(text.splitlines()) <= 20
    assert "others" in text


@pytest.mark.parametrize(
    ("encoding", "locale", "fancy"),
    [
        ("utf-8", {"LANG": "en_GB.UTF-8"}, True),
        ("utf-8", {"LANG": "C.utf8"}, True),
        ("utf-8", {"LANG": "C"}, False),
        ("utf-8", {}, False),
        ("utf-8", {"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, False),
        ("iso-8859-1", {"LANG": "en_GB.UTF-8"}, False),
        ("ascii", {}, False),
    ],
)
def test_block_characters_need_an_encoding_and_a_locale_that_have_them(
    encoding: str, locale: dict[str, str], fancy: bool, monkeypatch: pytest.MonkeyPatch
):
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    assert speaks_unicode(encoding) is fancy


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_log_lines_go_above_the_view_and_the_handler_gets_its_stream_back():
    screen = _Screen()
    handler = logging.StreamHandler(screen)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        view = LiveView(Console(file=screen, force_terminal=True, width=80))
        view.start()
        view.show(FIGURES)
        assert handler.stream is not screen
        root.warning("the disk is nearly full")
        view.show(FIGURES)
        view.stop()
        assert handler.stream is screen
    finally:
        root.removeHandler(handler)
    written = screen.getvalue()
    before, _, after = written.partition("the disk is nearly full")
    assert "run 2" in before
    assert "run 2" in after
    # Hidden while drawing, shown again at the end.
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1
