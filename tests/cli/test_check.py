"""`terrain check` and `crawl --dry-run`: what would be done, in words, and for how long."""

import re
from pathlib import Path

import pytest

from terrain.cli import run
from terrain.cli.estimate import EXCHANGE, LOOPBACK_EXCHANGE, estimate
from terrain.config import load_config, parse_config
from terrain.store import Policy, Start, Store
from terrain.store.history import PastRun, newest_runs
from tests.cli.demo_run import DemoRun
from tests.cli.terminals import piped

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "sample-config.toml"

ONE = """
[crawler]
minimum-time-on-page = 2000
max-domain-requests = 100
[output]
database-path = "{database}"
[[quality]]
domain = "a.example"
seeds = ["https://a.example/"]
"""


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        "is valid.",
        "Starts from 2 origins:",
        "example.com         3 links outward; 1 s between requests",
        "from https://example.com/, https://example.com/blog/",
        "blacklisted: ads.example.net, *.tracking-service.com, known-spam-site.org",
        "stubbed: github.com, *.wikipedia.org, twitter.com",
        (
            "Introduces itself as SumiRipple/1.0 (+https://example.com/about-our-crawler; "
            "crawler-admin@example.com)"
        ),
        "by rules: no rule of your own, the default set for advertising, analytics and sharing",
        "addresses that look like a trap: as [traps] says",
        "robots.txt is obeyed",
        "at most 500 requests to one host in a run",
        "up to 10 requests at once over all hosts",
        "Writes sumi-ripple.db, crawl-summary.md, metrics.json",
        # 500 times a second and an exchange
        (
            "Takes about 10 min 50 s: hosts are asked side by side, and example.com gets up to "
            "500 requests."
        ),
    ],
)
def test_check_says(words: str, capsys: pytest.CaptureFixture[str]):
    assert words in said(["check", str(SAMPLE)], capsys)


def test_check_says_what_is_probably_not_meant(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "c.toml"
    file.write_text(
        ONE.format(database=tmp_path / "t.db") + '[[blacklist]]\ndomain = "a.example"\n'
    )
    text = said(["check", str(file)], capsys)
    assert "But " in text
    assert "its host is blacklisted, so it is recorded and not visited" in text


BY_DOMAIN = """
[crawler]
granularity = "domain"
[output]
database-path = "{database}"
[[quality]]
domain = "*.a.example"
seeds = ["https://www.a.example/deep/page", "https://a.example/", "https://b.a.example/?x=1"]
"""


@pytest.mark.parametrize(
    "words",
    [
        "Maps domains: the home page of each host stands for it.",
        "the first 10 links to other hosts, one for each, are followed",
        "a host is visited once in a run, 3 times over all runs",
        "*.a.example  5 links outward; 1 s between requests",
        # The home pages of the seeds, each once.
        "from https://www.a.example/, https://b.a.example/\n",
        "at most 3 hosts under one registrable domain",
        # robots.txt, HEAD and GET, each 0.3 s in one of 10 places.
        "Visits up to about 666 hosts a minute; how many there are, a first run tells.",
    ],
)
def test_by_domain_check_says(words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "c.toml"
    file.write_text(BY_DOMAIN.format(database=tmp_path / "t.db"))
    assert words in said(["check", str(file)], capsys)


class TestEstimate:
    def test_it_is_the_budget_at_the_pace_of_the_slowest_quality_host(self):
        config = parse_config(ONE.format(database="t.db"), {})
        assert estimate(config, []).seconds == pytest.approx(100 * (2 + EXCHANGE))

    def test_a_host_on_this_machine_answers_at_once(self):
        local = '[network]\nresolve = { "*" = "127.0.0.1:8443" }\n'
        config = parse_config(ONE.format(database="t.db") + local, {})
        assert estimate(config, []).seconds == pytest.approx(100 * (2 + LOOPBACK_EXCHANGE))

    def test_an_own_site_is_asked_in_several_places_at_once(self):
        own = "own = true\nmax-concurrent = 4\n"
        config = parse_config(ONE.format(database="t.db") + own, {})
        assert estimate(config, []).seconds == pytest.approx(100 * (2 + EXCHANGE) / 4)

    def test_more_hosts_than_places_take_turns(self):
        entries = "".join(
            f'[[quality]]\ndomain = "h{n}.example"\nseeds = ["https://h{n}.example/"]\n'
            for n in range(99)
        )
        config = parse_config(ONE.format(database="t.db") + entries, {})
        assert estimate(config, []).seconds == pytest.approx(100 * 100 * EXCHANGE / 10)

    def test_a_complete_run_under_the_same_configuration_is_the_better_measure(self):
        config = parse_config(ONE.format(database="t.db"), {})

        def past(number: int, seconds: float | None, config_hash: str) -> PastRun:
            return PastRun(number, "completed", "", config_hash, "", seconds)

        runs = [past(3, None, config.config_hash), past(2, 17.0, config.config_hash)]
        assert estimate(config, runs).seconds == 17.0
        assert estimate(config, [past(1, 17.0, "other")]).run is None


def test_the_estimate_for_the_demo_is_within_a_factor_of_two(demo: DemoRun):
    # Before the first crawl, when nothing is known of the sites.
    unknown = {"TERRAIN_OUTPUT__DATABASE_PATH": str(demo.directory / "nothing-yet.db")}
    text = piped("check", demo.config, env=unknown).stdout
    told = re.search(r"Takes about (\d+) s: ", text)
    assert told is not None, text
    estimated = float(told[1])
    took = newest_runs(demo.database)[0].seconds
    assert took is not None
    print(f"estimated {estimated:.1f} s, took {took:.1f} s")  # noqa: T201 - shown with -s
    assert took / 2 <= estimated <= took * 2


def test_after_a_crawl_check_knows_better(demo: DemoRun, capsys: pytest.CaptureFixture[str]):
    assert "as long as run 1 took" in said(["check", str(demo.config)], capsys)


class TestDryRun:
    @pytest.fixture
    def config(self, tmp_path: Path) -> Path:
        file = tmp_path / "c.toml"
        file.write_text(ONE.format(database=tmp_path / "t.db"))
        return file

    def leave_an_unfinished_run(self, config: Path) -> None:
        settings = load_config(config, {})
        assert settings.output.database_path is not None
        store = Store(settings.output.database_path, Policy.from_config(settings))
        store.open_run(Start.AUTO)
        store.close_run(completed=False)
        store.close()

    def test_nothing_is_asked_and_nothing_is_written(
        self, config: Path, capsys: pytest.CaptureFixture[str]
    ):
        before = sorted(config.parent.iterdir())
        text = said(["crawl", str(config), "--dry-run"], capsys)
        assert text.startswith("Would start run 1.")
        assert "Starts from 1 origin:" in text
        assert sorted(config.parent.iterdir()) == before

    def test_an_unfinished_run_would_be_gone_on_with(
        self, config: Path, capsys: pytest.CaptureFixture[str]
    ):
        self.leave_an_unfinished_run(config)
        assert "Would go on with run 1" in said(["crawl", str(config), "--dry-run"], capsys)
        assert "Would start run 2." in said(["crawl", str(config), "--dry-run", "--fresh"], capsys)

    def test_a_change_of_depth_starts_a_new_run_instead(
        self, config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ):
        self.leave_an_unfinished_run(config)
        monkeypatch.setenv("TERRAIN_CRAWLER__MAX_DEPTH", "1")
        text = said(["crawl", str(config), "--dry-run"], capsys)
        assert "Would start run 2: quality entries or depth limits differ from run 1" in text
