"""The live view on a terminal."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from terrain.extensions.figures import ERROR_STATES, in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from terrain.extensions.figures import Figures

BAR_WIDTH = 28
MOST_STATES = 8
"""States with a bar of their own, so that the view fits a terminal of 24 lines."""

STYLES = {
    "processed": "green",
    "redirected": "cyan",
    "queued": "blue",
    "fetching": "blue",
    "stubbed": "yellow",
    "blacklisted": "bright_black",
    **dict.fromkeys(ERROR_STATES, "red"),
}


class LiveView:
    """Draws figures in place; log lines that come meanwhile go above them."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(file=sys.stderr)
        self._fancy = speaks_unicode(self.console.encoding)
        # The crawl's own loop says when to draw: a drawing thread would compete with it.
        self._live = Live(
            console=self.console,
            auto_refresh=False,
            redirect_stdout=False,
            vertical_overflow="crop",
        )
        self._streams: list[tuple[logging.StreamHandler[Any], Any]] = []

    def start(self) -> None:
        """Take over the bottom of the terminal."""
        self._live.start()
        # Rich puts itself before sys.stderr; handlers that hold on to the old one would draw
        # right across the view.
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and _is_terminal(handler.stream):
                self._streams.append((handler, handler.stream))
                handler.setStream(sys.stderr)

    def show(self, figures: Figures) -> None:
        """Draw the figures."""
        self._live.update(render(figures, fancy=self._fancy), refresh=True)

    def stop(self) -> None:
        """Leave the last figures standing and give the terminal back."""
        for handler, stream in self._streams:
            handler.setStream(stream)
        self._streams.clear()
        self._live.stop()


def speaks_unicode(encoding: str) -> bool:
    """Tell whether block characters will come out: Python may write UTF-8 where nobody reads it."""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    return encoding.lower().startswith("utf") and "utf" in locale.lower()


def render(figures: Figures, *, fancy: bool) -> RenderableType:
    """Lay the figures out."""
    counts = figures.counts
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="bold", no_wrap=True)
    rows.add_column(overflow="ellipsis", no_wrap=True)
    rate, out = f"{figures.per_second:.1f} per second", f"{counts.in_flight} in flight"
    rows.add_row("pages", f"{figures.done:,} done, {rate}, {figures.requests:,} requests")
    rows.add_row(
        "frontier", f"{figures.queued:,} waiting on {figures.waiting_hosts:,} hosts, {out}"
    )
    rows.add_row(
        "hosts", f"{counts.ready} ready, {counts.waiting} waiting, {counts.suspended} suspended"
    )
    rows.add_row("errors", _errors(figures))
    rows.add_row(
        *(("time left", _left(figures)) if figures.ended is None else ("run", figures.ended))
    )
    dash = "─" if fancy else "-"
    title = Text(f"terrain  run {figures.run}  {in_words(figures.elapsed)}", style="bold")
    rule = Text(dash * 60, style="bright_black", overflow="crop", no_wrap=True)
    return Group(title, rule, rows, rule, _states(figures, fancy=fancy))


def _errors(figures: Figures) -> Text:
    errors = figures.errors
    if not errors:
        return Text("none", style="green")
    words = (f"{n:,} {state.replace('_', ' ')}" for state, n in errors.items())
    return Text(", ".join(words), style="red")


def _left(figures: Figures) -> str:
    if figures.seconds_left is None:
        return "not known" if figures.waiting is None else "a moment"
    whose = f", the longest wait is for {figures.slowest}" if figures.slowest else ""
    return f"at least {in_words(figures.seconds_left)}{whose}"


def _states(figures: Figures, *, fancy: bool) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, overflow="crop")
    ranked = sorted(figures.states.items(), key=lambda item: (-item[1], item[0]))
    if len(ranked) > MOST_STATES:
        rest = ranked[MOST_STATES - 1 :]
        ranked = [*ranked[: MOST_STATES - 1], ("others", sum(n for _, n in rest))]
    most = max((n for _, n in ranked), default=1)
    for state, number in ranked:
        style = STYLES.get(state, "magenta")
        length = max(1, round(number / most * BAR_WIDTH))
        bar = ("█" if fancy else "#") * length
        table.add_row(state.replace("_", " "), f"{number:,}", Text(bar, style=style))
    return table


def _is_terminal(stream: Any) -> bool:
    return bool(getattr(stream, "isatty", bool)())
