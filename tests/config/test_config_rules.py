"""What follows from a Config: rules, limits, terms, routes, advice."""

from __future__ import annotations

import pytest

from terrain.config import HostTerms, parse_config
from terrain.rules.hosts import HostKind

ENTRIES = """
[crawler]
max-depth = 2
minimum-time-on-page = 1500
max-concurrent-pages-open = 1000

[[quality]]
domain = "fast.example.com"
seeds = ["https://fast.example.com/"]
own = true
minimum-time-on-page = 0
max-concurrent = 1000
max-depth = 0

[[quality]]
domain = "*.example.com"
seeds = ["https://www.example.com/"]
minimum-time-on-page = 100

[[quality]]
domain = "example.org"
seeds = ["https://example.org/"]
max-depth = 7
"""
config = parse_config(ENTRIES, env={})


def test_depth_limits_are_the_entrys_or_else_the_global_one():
    assert config.depth_limits == (0, 2, 7)


@pytest.mark.parametrize(
    ("host", "terms"),
    [
        ("fast.example.com", HostTerms(delay=0.0, max_in_flight=1000)),
        ("example.com", HostTerms(delay=0.1, max_in_flight=1)),
        ("blog.example.com", HostTerms(delay=0.1, max_in_flight=1)),
        ("example.org", HostTerms(delay=1.5, max_in_flight=1)),
        ("elsewhere.net", HostTerms(delay=1.5, max_in_flight=1)),
    ],
)
def test_the_first_entry_that_matches_a_host_gives_its_terms(host, terms):
    assert config.host_terms(host) == terms


def test_terms_follow_a_copy():
    reversed_entries = config.model_copy(update={"quality": config.quality[::-1]})
    assert reversed_entries.host_terms("fast.example.com") == HostTerms(0.1, 1)


def test_host_rules_know_the_lists():
    text = f'{ENTRIES}\n[[stub]]\ndomain = "*.s.net"\n[[blacklist]]\ndomain = "b.s.net"\n'
    rules = parse_config(text, env={}).host_rules()
    assert rules.classify("b.s.net") is HostKind.BLACKLISTED
    assert rules.classify("a.s.net") is HostKind.STUBBED
    assert rules.classify("example.org") is HostKind.QUALITY
    assert rules.classify("example.net") is HostKind.DISCOVERED
    assert rules.origins("fast.example.com") == (0, 1)


def test_url_rules_follow_the_configuration():
    text = 'urls.tracking-parameters = ["sid"]\nnetwork.allow-http = true\n'
    address = parse_config(text + ENTRIES, env={}).url_rules().address("http://a.net/?sid=1&ref=2")
    assert address is not None
    assert address.identity == "https://a.net/?ref=2"
    assert address.fetch_url.startswith("http://")


def test_a_seed_may_be_http_where_http_is_allowed():
    toml = '[[quality]]\ndomain = "a.net"\nseeds = ["http://a.net/"]\n'
    allowed = parse_config(f"network.allow-http = true\n{toml}", env={})
    assert allowed.quality[0].seeds == ("http://a.net/",)


class TestResolve:
    def target(self, routes: str, host: str):
        config = parse_config(f"network.resolve = {{ {routes} }}\n{ENTRIES}", env={})
        return config.network.resolve_target(host)

    ROUTES = (
        '"a.test" = "10.0.0.1", "*.test" = "10.0.0.2:8443", "*.b.test" = "[::1]:443", '
        '"c.test" = "localhost:1", "bücher.test" = "[2001:db8::1]"'
    )

    @pytest.mark.parametrize(
        ("host", "target"),
        [
            ("a.test", ("10.0.0.1", None)),  # exact before wildcard
            ("A.TEST.", ("10.0.0.1", None)),
            ("www.a.test", ("10.0.0.1", None)),  # one host with its www. form
            ("x.a.test", ("10.0.0.2", 8443)),
            ("x.b.test", ("::1", 443)),  # longer wildcard first
            ("b.test", ("::1", 443)),  # a wildcard matches its own domain
            ("test", ("10.0.0.2", 8443)),
            ("c.test", ("localhost", 1)),
            ("xn--bcher-kva.test", ("2001:db8::1", None)),
            ("contest", None),
            ("example.com", None),
        ],
    )
    def test_precedence(self, host, target):
        assert self.target(self.ROUTES, host) == target

    def test_star_is_for_all_others(self):
        routes = '"*" = "127.0.0.1:65535", "*.test" = "10.0.0.1"'
        assert self.target(routes, "example.com") == ("127.0.0.1", 65535)
        assert self.target(routes, "[2001:db8::2]") == ("127.0.0.1", 65535)
        assert self.target(routes, "a.test") == ("10.0.0.1", None)

    def test_a_host_and_its_www_form_may_go_different_ways(self):
        routes = '"a.test" = "10.0.0.1", "www.a.test" = "10.0.0.2"'
        assert self.target(routes, "a.test") == ("10.0.0.1", None)
        assert self.target(routes, "www.a.test") == ("10.0.0.2", None)

    def test_nothing_configured(self):
        assert config.network.resolve_target("a.test") is None


class TestAdvice:
    SEED = 'quality[2].seeds[0] = "https://example.org/"'

    def test_a_domain_in_two_lists(self):
        lists = '[[blacklist]]\ndomain = "a.net"\n[[stub]]\ndomain = "www.a.net"\n'
        assert parse_config(ENTRIES + lists, env={}).warnings == (
            'stub[0].domain = "a.net": also in the blacklist, which wins',
        )

    def test_a_seed_that_will_not_be_visited(self):
        lists = '[[blacklist]]\ndomain = "*.example.org"\n'
        assert parse_config(ENTRIES + lists, env={}).warnings == (
            f"{self.SEED}: its host is blacklisted, so it is recorded and not visited",
        )

    def test_a_quality_domain_in_another_list(self):
        lists = '[[stub]]\ndomain = "example.org"\n'
        assert parse_config(ENTRIES + lists, env={}).warnings == (
            'quality[2].domain = "example.org": also in the stub list, which wins',
            f"{self.SEED}: its host is stubbed, so it is recorded and not visited",
        )

    def test_nothing_to_say(self):
        assert config.warnings == ()
