"""From a file to a Config: what users have loads, what is absent has its default."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from pydantic import ValidationError

from terrain import __version__
from terrain.config import load_config, parse_config
from terrain.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
MINIMAL = '[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/"]\n'


def problems_of(path: str | Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_config(path, env={})
    return caught.value.problems


class TestWhatLoads:
    def test_the_file_users_have(self):
        config = load_config(ROOT / "tests/data/sample-config.toml", env={})
        assert config.crawler.max_depth == 3
        assert config.crawler.minimum_time_on_page == 1000
        assert [entry.domain for entry in config.quality] == ["example.com", "*.another-site.org"]
        assert config.quality[0].seeds == ("https://example.com/", "https://example.com/blog/")
        assert [entry.domain for entry in config.stub] == [
            "github.com",
            "*.wikipedia.org",
            "twitter.com",
        ]
        assert len(config.blacklist) == 3
        assert config.output.database_path == Path("sumi-ripple.db")
        assert config.warnings == ()

    def test_the_starter_file(self):
        config = load_config(ROOT / "examples/starter.toml", env={})
        assert config.quality[0].domain == "*.example.com"
        assert config.warnings == ()

    def test_the_starter_file_with_every_comment_taken_away(self, tmp_path, monkeypatch):
        # Its commented-out keys are documentation, and must be as right as the others.
        text = (ROOT / "examples/starter.toml").read_text(encoding="utf-8")
        lines = [
            line.removeprefix("# ")
            for line in text.splitlines()
            if not line.startswith("#") or " = " in line or line.startswith("# [")
        ]
        lines = [line for line in lines if not line.startswith("ca-file")]
        monkeypatch.chdir(tmp_path)
        config = parse_config("\n".join(lines), env={})
        assert config.robots.mode == "respect"
        assert config.user_agent.contact_email == "crawler@example.com"
        assert config.network.resolve_target("a.test") == ("127.0.0.1", 8443)

    def test_many_dots_in_comments_and_strings_are_no_long_key(self):
        labels = "a." * 60
        text = f"# {'.' * 100} {labels}\n{MINIMAL}"
        text += f"[[stub]]\ndomain = '{labels}com'\n[[blacklist]]\ndomain = \"*.{labels}org\"\n"
        config = parse_config(text, env={})
        assert config.stub[0].domain == f"{labels}com"
        assert config.blacklist[0].domain == f"*.{labels}org"

    def test_a_byte_order_mark_and_dos_line_ends(self, tmp_path):
        path = tmp_path / "config.toml"
        path.write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())
        assert load_config(path, env={}).quality[0].domain == "example.com"


class TestDefaults:
    config = parse_config(MINIMAL, env={})

    def test_of_the_crawler(self):
        crawler = self.config.crawler
        assert crawler.max_depth == 3
        assert crawler.max_concurrent_pages_open == 10
        assert crawler.minimum_time_on_page == 1000
        assert crawler.max_domain_requests == 500
        assert crawler.max_subdomains_per_root is None
        assert crawler.max_outbound_links is None
        assert crawler.head_probe == "always"
        assert crawler.max_body_bytes == 10 * 1024 * 1024

    def test_of_retry_and_robots(self):
        retry = self.config.retry
        assert (retry.attempts, retry.delay) == (3, 5000)
        assert (retry.timeout, retry.timeout_step) == (30000, 2000)
        assert retry.connect_timeout == 10000
        assert self.config.robots.mode == "respect"
        assert self.config.robots.unreachable == "allow"

    def test_of_output(self):
        output = self.config.output
        assert output.database_path == Path("./terrain.db")
        assert output.database_url is None
        assert output.summary_path == Path("./crawl-summary.md")
        assert output.metrics_path == Path("./metrics.json")
        assert output.prometheus_path is None

    def test_of_network_and_urls(self):
        network = self.config.network
        assert (network.ca_file, network.allow_http, network.allow_private) == (None, False, False)
        assert network.resolve == ()
        assert self.config.urls.tracking_parameters == (
            "utm_*",
            "fbclid",
            "gclid",
            "mc_eid",
            "ref",
            "source",
        )


class TestPaths:
    def test_home_is_expanded(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        config = parse_config(f'output.database-path = "~/mine.db"\n{MINIMAL}', env={})
        assert config.output.database_path == tmp_path / "mine.db"

    def test_a_path_of_a_million_directories_is_refused_without_a_look(self):
        with pytest.raises(ConfigError, match="must be at most 4096 characters long"):
            parse_config(f'output.summary-path = "{"a/" * 1_000_000}"\n{MINIMAL}', env={})

    def test_a_database_url_takes_the_place_of_the_file(self):
        url = "postgresql://me:secret@db/terrain"
        config = parse_config(f'output.database-url = "{url}"\n{MINIMAL}', env={})
        assert config.output.database_path is None
        assert config.output.database_url == url
        assert "secret" not in repr(config)


class TestFrozen:
    config = parse_config(MINIMAL, env={})

    def test_nothing_can_be_set(self):
        with pytest.raises(ValidationError, match="frozen"):
            self.config.crawler = None
        with pytest.raises(ValidationError, match="frozen"):
            self.config.quality[0].domain = "example.org"

    def test_it_is_a_value(self):
        again = parse_config(MINIMAL, env={})
        assert again == self.config
        assert hash(again) == hash(self.config)
        assert pickle.loads(pickle.dumps(self.config)) == self.config


class TestUserAgent:
    def header(self, toml: str = "") -> str:
        return parse_config(f"[user-agent]\n{toml}\n{MINIMAL}", env={}).user_agent.header

    def test_everything(self):
        text = self.header(
            'crawler-name = "Ripple"\ncrawler-version = "1.0"\n'
            'contact-url = "https://example.com/bot"\ncontact-email = "bot@example.com"'
        )
        assert text == "Ripple/1.0 (+https://example.com/bot; bot@example.com)"

    def test_what_is_absent_is_left_out(self):
        product = f"Terrain/{__version__}"
        assert self.header() == product
        assert self.header('contact-url = "http://a.b"') == f"{product} (+http://a.b)"
        assert self.header('contact-email = "me@localhost"') == f"{product} (me@localhost)"


class TestFilesThatCannotBeRead:
    def test_missing(self, tmp_path):
        path = tmp_path / "none.toml"
        assert problems_of(path) == [f"{path}: there is no such file"]

    def test_directory(self, tmp_path):
        assert problems_of(tmp_path) == [
            f"{tmp_path}: is a directory; give the name of a TOML file"
        ]

    def test_no_permission(self, tmp_path, monkeypatch):
        # Refused by hand: to the superuser every file is readable.
        def refuse(*_args, **_options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)
        assert problems_of("config.toml") == ["config.toml: cannot be read: Permission denied"]

    def test_not_a_file_name(self):
        assert problems_of("a\0b\nc") == [
            "a\\u0000b\\u000ac: cannot be read: embedded null byte",
        ]

    def test_empty(self, tmp_path):
        path = tmp_path / "config.toml"
        path.touch()
        assert problems_of(path) == [f"{path}: is empty; start from examples/starter.toml"]

    def test_another_encoding(self, tmp_path):
        path = tmp_path / "config.toml"
        path.write_bytes(b'[user-agent]\ncrawler-name = "Caf\xe9"\n')
        assert problems_of(path) == [
            f"{path}:2: byte 0xe9 is not UTF-8; save the file as UTF-8",
        ]

    def test_endless(self):
        assert problems_of("/dev/zero") == [
            "/dev/zero: is larger than 4 MiB; give the name of a TOML file",
        ]

    def test_nested_without_end(self, tmp_path):
        path = tmp_path / "config.toml"
        path.write_text("a = " + "[" * 100_000)
        assert problems_of(path) == [
            f"{path}: not valid TOML: a value is nested too deep or too long",
        ]
