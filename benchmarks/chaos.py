"""Crawls of faulty webs, killed, stopped, starved of disk, locked out and told the wrong time.

    python -m benchmarks.chaos [--kills 100] [--seed 1] [--lock-seconds 30]

Round after round a web is drawn (chaos_webs.py) and crawled once undisturbed, without its faults;
then with all its faults by a crawl that is troubled again and again until it ends by itself; then,
healthy again, by one more run of the same database. What is compared, precisely (chaos_verdict.py):

* after the disturbed run, every page of steady and transient hosts with its state and facts, every
  link out of such a page, and its depths, against the undisturbed crawl; the state of every broken
  page; that one run was made of it all, and completed;
* after the healthy run, the whole dump against the undisturbed crawl's, unsteady and broken hosts
  included;
* after every troubled process, that the database is sound and no committed page is gone;
* over the request logs of all processes, the gap before every request to a host.

The same seed draws the same webs and the same troubles at the same request counts; when exactly a
process is hit is still the machine's doing. Exits with 1 if anything is not zero.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).absolute().parent.parent))

from benchmarks.chaos_crawl import (
    FAKETIME,
    Clock,
    Crawl,
    Stuck,
    committed,
    full,
    held,
    small_file_system,
)
from benchmarks.chaos_verdict import Verdict
from benchmarks.chaos_webs import ATTEMPTS, ChaosWeb, chaos_web
from terrain.sampleweb.process import ServedWeb
from tests.blackbox.crawls import write_config
from tests.blackbox.running import Requests

TROUBLES = {
    "kill": 55,
    "kill early": 14,
    "terminate": 10,
    "terminate and kill": 8,
    "stop": 8,
    "file size limit": 4,
    "file system full": 4,
    "locked by a writer": 2,
    "locked by a reader": 2,
}
"""What happens to a process of the crawl, by weight."""

TROUBLES_PER_ROUND = 30
"""After so many the crawl is left in peace, so that a round ends."""

JUMPS = (-86_400 * 40, -7_200, -90, 90, 7_200, 86_400 * 3)
"""Seconds by which the wall clock is wrong, or suddenly goes wrong."""


@dataclass
class Options:
    """How much of it."""

    kills: int = 100
    seed: int = 1
    lock_seconds: float = 30.0
    pages: int = 12
    """Per host."""
    steady: int = 10
    """Hosts without faults, at least four."""
    transient: int = 4
    """Hosts whose pages fail at first."""
    slow: bool = True
    """Broken pages that cost five timeouts each, too."""
    timeout: int = 2000
    """`retry.timeout`: short, for slow faults cost it, but not so that a busy machine does too."""
    script: tuple[str, ...] = ()
    """Troubles in this order, instead of drawing them."""


@dataclass
class Tally:
    """What was done to the crawl."""

    rounds: int = 0
    pages: int = 0
    """Pages in the undisturbed graphs."""
    processes: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    """What the servers did wrong, by what their logs say of it."""

    @property
    def kills(self) -> int:
        """SIGKILLs that hit."""
        return self.troubles["SIGKILL"]

    def report(self) -> list[str]:
        """Return the lines to print."""
        others = {name: n for name, n in sorted(self.troubles.items()) if name != "SIGKILL"}
        lines = [f"{'kills':<40}{self.kills:>8}"]
        lines += [f"  {name:<38}{number:>8}" for name, number in others.items()]
        lines.append(f"{'faults':<40}{self.faults.total():>8}")
        lines += [f"  {name:<38}{number:>8}" for name, number in sorted(self.faults.items())]
        return lines


class Round:
    """One web, from the undisturbed crawl to the healed one."""

    def __init__(
        self, options: Options, seed: int, directory: Path, tally: Tally, verdict: Verdict
    ) -> None:
        self._options = options
        self._random = Random(seed)
        self._directory = directory
        self._tally = tally
        self._verdict = verdict
        self._web: ChaosWeb = chaos_web(
            seed,
            pages=options.pages,
            steady=options.steady,
            transient=options.transient,
            slow=options.slow,
        )

    def run(self) -> None:
        """Do all of it."""
        with ExitStack() as stack:
            stable = stack.enter_context(ServedWeb(self._web.healthy, self._directory / "stable"))
            unsteady = stack.enter_context(
                ServedWeb(self._web.unsteady, self._directory / "unsteady")
            )
            self._unsteady = unsteady
            calm = self._config(self._directory / "calm", [stable])
            self._crawl_in_peace(calm)
            self._tally.pages += len(committed(calm.parent / "terrain.db"))
            requests = len(stable.log())
            stable.update(self._web.faulty)
            counters = [Requests(stable), Requests(unsteady)]
            self._answered = lambda: sum(counter.count() for counter in counters)
            terrain = self._directory / "terrain"
            self._mounted = stack.enter_context(small_file_system(terrain))
            self._terrain = terrain
            stack.callback(self._keep_if_bad)
            config = self._config(terrain, [stable, unsteady])
            self._database = terrain / "terrain.db"
            begun = stable.log()[-1].start
            self._disturb(config, requests)
            self._verdict.judge_run(self._web, calm.parent / "terrain.db", self._database)
            log = [each for each in stable.log() if each.start > begun] + unsteady.log()
            self._verdict.judge_manners(self._web, log)
            for each in log:
                if each.outcome == "cut" or (each.status or 0) >= 500:
                    what = "broken off" if each.outcome == "cut" else f"status {each.status}"
                    self._tally.faults[what] += 1
                elif each.outcome == "left":
                    self._tally.faults["client gave up or was killed"] += 1
            stable.update(self._web.healthy)
            unsteady.update(self._web.unsteady)
            self._crawl_in_peace(config, "-q", "--fresh")
            self._verdict.judge_healing(calm.parent / "terrain.db", self._database)
        self._tally.rounds += 1

    def _keep_if_bad(self) -> None:
        """What is on a file system of its own is gone with it."""
        if self._mounted and not self._verdict.good:
            shutil.copytree(self._terrain, self._directory / "terrain-kept")

    def _config(self, directory: Path, served: list[ServedWeb]) -> Path:
        directory.mkdir(exist_ok=True)
        authorities = directory / "ca.pem"
        authorities.write_bytes(b"".join(each.ca_file.read_bytes() for each in served))
        resolve = dict(served[0].resolve)
        for other in served[1:]:
            resolve |= {name: to for name, to in other.resolve.items() if name != "*"}
        return write_config(
            directory,
            served[0],
            self._web.quality,
            crawler={
                "max-depth": 4,
                "max-concurrent-pages-open": 20,
                # A kill forfeits requests reserved ahead; here no budget may bite.
                "max-domain-requests": 1_000_000,
            },
            network={"ca-file": str(authorities), "resolve": resolve},
            retry={
                "attempts": ATTEMPTS,
                "delay": 100,
                "timeout": self._options.timeout,
                "timeout-step": 200,
                "connect-timeout": self._options.timeout,
            },
        )

    def _crawl_in_peace(self, config: Path, *options: str) -> None:
        with Crawl(config, *options) as crawl:
            code, said = crawl.wait()
        if code or said:
            self._verdict.endings.append(f"undisturbed: {code}, {said!r}")

    # ---- troubles ---------------------------------------------------------------------------

    def _disturb(self, config: Path, requests: int) -> None:
        drawn = self._drawn_troubles()
        clock = Clock(self._directory / "clock")
        before = committed(self._database)
        for trouble in drawn:
            if self._tally.kills >= self._options.kills:
                break
            if trouble == "file system full" and not self._mounted:
                trouble = "file size limit"  # noqa: PLW2901 - the next best thing
            wrong_clock = self._random.random() < 0.4 and bool(FAKETIME)
            clock.set(self._random.choice(JUMPS) if wrong_clock else 0)
            self._weather()
            with Crawl(config, clock=clock if wrong_clock else None) as crawl:
                code, said = self._trouble(trouble, crawl, clock, requests)
            self._tally.processes += 1
            self._tally.troubles["clock jumps"] += clock.jumps if wrong_clock else 0
            clock.jumps = 0
            after = committed(self._database)
            self._verdict.judge_commits(before, after)
            before = after
            self._judge_ending(trouble, code, said)
            if code == 0:
                return
        self._weather()
        self._crawl_in_peace(config)

    def _drawn_troubles(self) -> list[str]:
        """Return what is to happen in this round: each thing by its weight, or as it was asked."""
        if self._options.script:
            return list(self._options.script)
        names, weights = zip(*TROUBLES.items(), strict=True)
        return self._random.choices(names, weights, k=TROUBLES_PER_ROUND)

    def _trouble(self, name: str, crawl: Crawl, clock: Clock, requests: int) -> tuple[int, str]:
        """Do one thing to a process of the crawl, and see it end."""
        random = self._random
        target = self._answered() + random.randint(1, max(2, requests // 8))
        if name == "kill early":
            time.sleep(random.uniform(0, 1.5))
        elif not crawl.wait_for(self._answered, target):
            return crawl.wait()
        if random.random() < 0.5:
            clock.set(random.choice(JUMPS))
        if random.random() < 0.5:
            self._weather()
        time.sleep(random.uniform(0, 0.05))
        if name.startswith("terminate"):
            self._signal(crawl, signal.SIGTERM)
            if name == "terminate":
                return crawl.wait()
            time.sleep(random.uniform(0, 0.4))
        elif name == "stop":
            self._tally.troubles["SIGSTOP"] += 1
            crawl.stop_for(random.uniform(0.5, 4))
            crawl.wait_for(self._answered, self._answered() + 10)
        elif name == "file size limit":
            self._tally.troubles[name] += 1
            crawl.fill()
            return crawl.wait()
        elif name == "file system full":
            self._tally.troubles[name] += 1
            with full(self._terrain):
                return crawl.wait()
        elif name.startswith("locked"):
            self._tally.troubles[name] += 1
            begin = "BEGIN" if name.endswith("reader") else "BEGIN IMMEDIATE"
            with held(self._database, begin, self._options.lock_seconds) as holder:
                holder.wait()
            if not crawl.wait_for(self._answered, self._answered() + 20):
                return crawl.wait()
        self._signal(crawl, signal.SIGKILL)
        return crawl.wait()

    def _signal(self, crawl: Crawl, number: signal.Signals) -> None:
        if not crawl.ended:
            crawl.signal(number)
            self._tally.troubles[number.name] += 1

    def _weather(self) -> None:
        now = self._web.weather(self._random)
        self._tally.troubles["hosts vanished or back"] += sum(
            now.hosts[name] != host for name, host in self._web.unsteady.hosts.items()
        )
        self._unsteady.update(now)

    def _judge_ending(self, trouble: str, code: int, said: str) -> None:
        endings = self._verdict.endings
        if trouble.startswith("file") and code:
            # One line for the database; a report that has no room either gets a line of its own.
            lines = [line for line in said.splitlines() if "cannot be written" not in line]
            if code != 1 or len(lines) != 1 or "the disk is full" not in lines[0]:
                endings.append(f"{trouble}: {code}, {said!r}")
            return
        # Before its handlers are in place a signal ends a process as it ends any.
        allowed = {"terminate": {0, 3, -signal.SIGTERM}}.get(trouble, {0, -signal.SIGKILL})
        if trouble == "terminate and kill":
            allowed |= {3, -signal.SIGTERM}
        if code not in allowed or said:
            endings.append(f"{trouble}: {code}, {said!r}")
        self._verdict.twice += [line for line in said.splitlines() if "second outcome" in line]


def run(options: Options, directory: Path, *, loud: bool = True) -> tuple[Tally, Verdict]:
    """Do rounds until the kills are reached."""
    tally, verdict = Tally(), Verdict()
    while tally.kills < options.kills and not verdict.endings:
        place = directory / f"round-{tally.rounds}"
        place.mkdir()
        try:
            Round(options, options.seed * 1000 + tally.rounds, place, tally, verdict).run()
        except Stuck as stuck:
            verdict.endings.append(str(stuck))
        if loud:
            print(f"round {tally.rounds}: {tally.kills} kills, {tally.pages} pages", flush=True)
        if verdict.good:
            shutil.rmtree(place)
    return tally, verdict


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100, help="SIGKILLs in all (100)")
    parser.add_argument("--seed", type=int, default=1, help="of webs and troubles (1)")
    parser.add_argument("--lock-seconds", type=float, default=30.0, help="(30)")
    arguments = parser.parse_args()
    options = Options(arguments.kills, arguments.seed, arguments.lock_seconds)
    directory = Path(tempfile.mkdtemp(prefix="terrain-chaos-"))
    # Also when it is terminated nothing stays served or mounted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    begun = time.monotonic()
    tally, verdict = run(options, directory)
    print(f"\nseed {options.seed}: {tally.rounds} rounds, {tally.pages} pages, ", end="")
    print(f"{tally.processes} troubled processes, {time.monotonic() - begun:.0f} s\n")
    print("\n".join([*tally.report(), *verdict.report()]))
    if verdict.good:
        shutil.rmtree(directory)
        return 0
    print(f"\nleft for inspection: {directory}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
