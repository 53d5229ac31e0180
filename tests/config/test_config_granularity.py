"""`crawler.granularity`, and the defaults that depend on it."""

import pytest

from terrain.config import Config, parse_config
from terrain.errors import ConfigError

QUALITY = '[[quality]]\ndomain = "a.example"\nseeds = ["https://a.example/deep/page"]\n'


def config(*crawler: str, **env: str) -> Config:
    return parse_config("\n".join(["[crawler]", *crawler, QUALITY]), env)


DOMAIN = 'granularity = "domain"'
BY_PAGE = {"max_depth": 3, "max_subdomains_per_root": None, "max_outbound_links": None}
BY_DOMAIN = {"max_depth": 5, "max_subdomains_per_root": 3, "max_outbound_links": 10}


@pytest.mark.parametrize(("lines", "expected"), [([], BY_PAGE), ([DOMAIN], BY_DOMAIN)])
def test_defaults(lines: list[str], expected: dict[str, int | None]) -> None:
    crawler = config(*lines).crawler
    assert crawler.model_dump(include=set(expected)) == expected
    assert crawler.max_crawls_per_domain == 3


@pytest.mark.parametrize("key", ["max-depth", "max-subdomains-per-root", "max-outbound-links"])
def test_what_is_said_goes_before_the_default(key: str) -> None:
    field = key.replace("-", "_")
    assert getattr(config(DOMAIN, f"{key} = 7").crawler, field) == 7
    variable = f"TERRAIN_CRAWLER__{field.upper()}"
    assert getattr(config(DOMAIN, **{variable: "8"}).crawler, field) == 8


def test_the_environment_may_choose_it() -> None:
    assert config(TERRAIN_CRAWLER__GRANULARITY="domain").crawler.max_depth == 5


def test_the_depth_of_an_entry_goes_before_both() -> None:
    text = f"[crawler]\n{DOMAIN}\n{QUALITY}max-depth = 1\n"
    assert parse_config(text, {}).depth_limits == (1,)
    assert config(DOMAIN).depth_limits == (5,)


def test_one_wrong_word_is_one_problem() -> None:
    with pytest.raises(ConfigError) as error:
        config('granularity = "site"')
    assert error.value.problems == [
        'config.toml:2: crawler.granularity = "site": must be "page" or "domain"'
    ]


def test_seeds_are_the_homes_of_their_hosts() -> None:
    seed = "https://a.example/deep/page"
    by_page, by_domain = (
        config().url_rules().address(seed),
        config(DOMAIN).url_rules().address(seed),
    )
    assert by_page is not None
    assert by_domain is not None
    assert (by_page.fetch_url, by_domain.fetch_url) == (seed, "https://a.example/")


class TestHashes:
    def test_the_granularity_needs_a_new_run(self) -> None:
        one, other = config(), config(DOMAIN, "max-depth = 3")
        assert one.config_hash != other.config_hash
        assert one.terrain_hash != other.terrain_hash

    def test_the_number_of_visits_decides_where_a_run_starts(self) -> None:
        one, other = config(DOMAIN), config(DOMAIN, "max-crawls-per-domain = 2")
        assert one.config_hash != other.config_hash
        assert one.terrain_hash != other.terrain_hash

    def test_by_page_it_means_nothing(self) -> None:
        one, other = config(), config("max-crawls-per-domain = 2")
        assert one.config_hash == other.config_hash
        assert one.terrain_hash == other.terrain_hash

    @pytest.mark.parametrize("key", ["max-subdomains-per-root = 9", "max-outbound-links = 9"])
    def test_other_limits_are_said_and_the_run_goes_on(self, key: str) -> None:
        one, other = config(DOMAIN), config(DOMAIN, key)
        assert one.config_hash != other.config_hash
        assert one.terrain_hash == other.terrain_hash

    def test_a_default_spelt_out_changes_nothing(self) -> None:
        spelt = config(DOMAIN, "max-depth = 5", "max-outbound-links = 10")
        assert spelt.config_hash == config(DOMAIN).config_hash


def test_a_key_without_effect_is_said() -> None:
    (line,) = config("max-crawls-per-domain = 2").warnings
    assert line == (
        'crawler.max-crawls-per-domain = 2: means nothing without crawler.granularity = "domain"'
    )
    assert config(DOMAIN, "max-crawls-per-domain = 2").warnings == ()
