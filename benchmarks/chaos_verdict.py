"""What a disturbed crawl must not have done, counted."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from terrain.sampleweb.log import Exchange, by_host, gaps, max_in_flight
from tests.blackbox.crawls import CLOCK_SLACK, DELAY
from tests.blackbox.dumps import dump

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.chaos_webs import ChaosWeb

LEFT_SLACK = 0.05
"""Seconds by which the server may notice late that a client hung up (see sampleweb/log.py)."""

SHOWN, LENGTH = 5, 400
"""Examples printed of each kind of trouble, and how much of each."""

TWICE = (
    "SELECT url, count(*) FROM pages GROUP BY url HAVING count(*) > 1",
    "SELECT page_id, count(*) FROM visits GROUP BY page_id, run_id HAVING count(*) > 1",
    "SELECT from_page_id, to_page_id FROM links GROUP BY 1, 2 HAVING count(*) > 1",
)


@dataclass
class Verdict:
    """Counts that must all be zero at the end, each with a few examples."""

    lost: list[str] = field(default_factory=list)
    """Pages of the unaffected terrain that are missing or still wait, and committed pages gone."""
    twice: list[str] = field(default_factory=list)
    """Pages, visits or links stored more than once, or outcomes that came a second time."""
    impolite: list[str] = field(default_factory=list)
    """Requests too soon after, or at the same time as, another to the same host."""
    differences: list[str] = field(default_factory=list)
    """Lines of the dump that only one of the two crawls has, and wrong states of broken pages."""
    endings: list[str] = field(default_factory=list)
    """Exit codes and words nobody should have got; crawls that hung."""

    @property
    def good(self) -> bool:
        """Tell whether nothing was found."""
        return not any((self.lost, self.twice, self.impolite, self.differences, self.endings))

    def judge_run(self, web: ChaosWeb, calm: Path, disturbed: Path) -> None:
        """Compare the unaffected pages after the disturbed run, and look at the broken ones."""
        self._missing(web, calm, disturbed)
        self._compare(
            "disturbed", dump(calm, web.is_unaffected), dump(disturbed, web.is_unaffected)
        )
        states = _states(disturbed)
        for url, expected in web.expected.items():
            if states.get(url) != expected:
                self.differences.append(f"{url}: {states.get(url)}, not {expected}")
        with closing(sqlite3.connect(disturbed)) as connection:
            for query in TWICE:
                self.twice += [str(row) for row in connection.execute(query)]
            runs = connection.execute("SELECT status FROM runs").fetchall()
        if runs != [("completed",)]:
            self.endings.append(f"runs after the disturbed crawl: {runs}")

    def judge_healing(self, calm: Path, healed: Path) -> None:
        """After the trouble one more run, on the healthy web: everything is as it should be."""
        self._compare("healed", dump(calm), dump(healed))

    def judge_manners(self, web: ChaosWeb, log: Sequence[Exchange]) -> None:
        """Look at the gaps between requests to a host, over all processes of the crawl.

        A TLS hello to a host that just then knows no TLS is illegible, so nobody's.
        """
        log = [exchange for exchange in log if exchange.host]
        for gap in gaps(log):
            # What robots.txt asks for is known after it only, and after a kill from the store.
            asked_for = DELAY if gap.before.kind == "robots" else web.delays.get(gap.key, DELAY)
            left = gap.before.outcome in {"left", "stopped"}
            if gap.seconds < asked_for - (LEFT_SLACK if left else CLOCK_SLACK):
                before, after = gap.before, gap.after
                self.impolite.append(
                    f"{gap.key}: {gap.seconds:.3f} s between {before.method} {before.target} "
                    f"({before.outcome}) and {after.method} {after.target}"
                )
        for host, exchanges in by_host(log).items():
            if max_in_flight(exchanges) > 1:
                self.impolite.append(f"{host}: several requests at once")

    def judge_commits(
        self, before: dict[str, tuple[str, str | None]], after: dict[str, tuple[str, str | None]]
    ) -> None:
        """What was committed when a process died is there when the next one has died."""
        self.lost += [
            f"{url}: was {state}, now {after.get(url)}"
            for url, state in before.items()
            if after.get(url) != state
        ]

    def report(self) -> list[str]:
        """Return the lines to print."""
        counts = {
            "pages lost": self.lost,
            "pages stored twice": self.twice,
            "politeness violations": self.impolite,
            "differences from the undisturbed graph": self.differences,
            "wrong endings": self.endings,
        }
        lines = []
        for name, found in counts.items():
            lines.append(f"{name:<40}{len(found):>8}")
            lines += [f"    {example[:LENGTH]}" for example in found[:SHOWN]]
        return lines

    def _missing(self, web: ChaosWeb, calm: Path, disturbed: Path) -> None:
        states = _states(disturbed)
        for url in _states(calm):
            host = url.split("/")[2]
            if states.get(url) in {None, "queued", "fetching"} and web.is_unaffected(host):
                self.lost.append(f"{url}: {states.get(url)}")
        self.lost += [f"{url}: {s}" for url, s in states.items() if s in {"queued", "fetching"}]

    def _compare(self, which: str, calm: list[str], other: list[str]) -> None:
        ours, theirs = Counter(other), Counter(calm)
        self.differences += [f"{which}, only undisturbed: {line}" for line in (theirs - ours)]
        self.differences += [f"{which}, only here: {line}" for line in (ours - theirs)]


def _states(database: Path) -> dict[str, str]:
    with closing(sqlite3.connect(database)) as connection:
        return dict(connection.execute("SELECT url, state FROM pages").fetchall())
