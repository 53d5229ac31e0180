"""Config: the whole configuration, checked and frozen, and what follows from it."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from terrain.config.advice import advice_on
from terrain.config.environment import NESTED, PREFIX
from terrain.config.hashes import config_hash, terrain_hash
from terrain.config.sections import (
    Crawler,
    Listed,
    Network,
    Output,
    Quality,
    Retry,
    Robots,
    Traps,
    UrlRule,
    Urls,
    UserAgent,
)
from terrain.config.wording import Entry
from terrain.rules.defaultrules import DEFAULT_RULES, exempt
from terrain.rules.hosts import HostRules
from terrain.rules.linkrules import Action, LinkRules, Rule
from terrain.rules.urls import UrlRules

# TOML and JSON give tables and lists; strict mode would want finished objects.
_FROM_TABLE = Field(strict=False)
_ListEntry = Annotated[Listed, _FROM_TABLE, Entry()]


def _fit_together(rules: tuple[UrlRule, ...]) -> tuple[UrlRule, ...]:
    try:
        LinkRules(Rule(rule.match, Action(rule.action)) for rule in rules)
    except ValueError as error:
        raise ValueError(f"{error}; make fewer or shorter ones") from None
    return rules


class HostTerms(NamedTuple):
    """How a host may be asked, before robots.txt has its say."""

    delay: float
    """Seconds from the end of one exchange to the start of the next."""

    max_in_flight: int
    """Requests to the host at the same time."""


class Config(BaseSettings):
    """The configuration of a crawl; made by `load_config`, which checks more than types."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=NESTED,
        frozen=True,
        strict=True,
        extra="forbid",
        use_attribute_docstrings=True,
    )

    rules_defaults: bool = True
    """Whether the default set of rules holds behind your own: links of advertising, analytics and
    sharing are skipped."""

    crawler: Annotated[Crawler, _FROM_TABLE] = Crawler()
    """How far the crawl goes and how hard it works."""

    retry: Annotated[Retry, _FROM_TABLE] = Retry()
    """What happens after a timeout, a broken transfer or a 5xx answer."""

    robots: Annotated[Robots, _FROM_TABLE] = Robots()
    """What robots.txt means to the crawl."""

    user_agent: Annotated[UserAgent, _FROM_TABLE] = UserAgent()
    """Who the crawler says it is."""

    output: Annotated[Output, _FROM_TABLE] = Output()
    """Where the results go."""

    urls: Annotated[Urls, _FROM_TABLE] = Urls()
    """How addresses become identities."""

    network: Annotated[Network, _FROM_TABLE] = Network()
    """How hosts are reached."""

    traps: Annotated[Traps, _FROM_TABLE] = Traps()
    """When an address looks like one of a site without an end: it is recorded, with the reason, and
    not asked for. Seeds are never judged."""

    quality: Annotated[
        tuple[Annotated[Quality, _FROM_TABLE, Entry()], ...], Field(strict=False, min_length=1)
    ]
    """The origins, at least one; the first that matches a host gives its terms."""

    blacklist: Annotated[tuple[_ListEntry, ...], _FROM_TABLE] = ()
    """Domains to ignore: recorded, never visited."""

    stub: Annotated[tuple[_ListEntry, ...], _FROM_TABLE] = ()
    """Domains worth noting and not visiting."""

    rules: Annotated[
        tuple[Annotated[UrlRule, _FROM_TABLE, Entry()], ...],
        _FROM_TABLE,
        AfterValidator(_fit_together),
    ] = ()
    """What becomes of links to certain addresses; the first rule that matches counts."""

    @classmethod
    def settings_customise_sources(cls, *_: Any, **sources: Any) -> tuple[Any, ...]:
        """Take only what is given: the loader has laid the environment over the file already."""
        return (sources["init_settings"],)

    @property
    def config_hash(self) -> str:
        """Hash over what changes the meaning of a run; paths and connections do not."""
        return config_hash(self)

    @property
    def terrain_hash(self) -> str:
        """Hash over what a run starts from and how far it goes; a change there needs a new one."""
        return terrain_hash(self)

    @property
    def depth_limits(self) -> tuple[int, ...]:
        """Depth limit of each quality entry, its own or else the global one."""
        common = self.crawler.max_depth
        return tuple(common if q.max_depth is None else q.max_depth for q in self.quality)

    @property
    def by_domain(self) -> bool:
        """Whether a host is one page, its home."""
        return self.crawler.granularity == "domain"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Lines about what is allowed and probably not meant."""
        return tuple(advice_on(self))

    def host_rules(self) -> HostRules:
        """Return the lists as rules about hosts."""
        lists = (self.blacklist, self.stub, self.quality)
        return _host_rules(*(tuple(entry.domain for entry in entries) for entries in lists))

    def url_rules(self) -> UrlRules:
        """Return the rules that turn links into addresses."""
        return UrlRules(
            self.urls.tracking_parameters,
            allow_http=self.network.allow_http,
            by_host=self.by_domain,
        )

    def link_rules(self) -> LinkRules:
        """Return the rules about addresses, your own before the default set, and the guards."""
        rules = tuple((rule.match, rule.action) for rule in self.rules)
        listed = tuple(entry.domain for entry in (*self.blacklist, *self.stub))
        return _link_rules(rules, listed if self.rules_defaults else None, self.traps)

    def host_terms(self, host: str) -> HostTerms:
        """Return how a host may be asked; the first quality entry that matches it decides."""
        origins = self.host_rules().origins(host)
        entry = self.quality[origins[0]] if origins else None
        delay = entry.minimum_time_on_page if entry else None
        return HostTerms(
            delay=(self.crawler.minimum_time_on_page if delay is None else delay) / 1000,
            max_in_flight=entry.max_concurrent if entry else 1,
        )


@lru_cache(maxsize=8)
def _host_rules(
    blacklist: tuple[str, ...], stub: tuple[str, ...], quality: tuple[str, ...]
) -> HostRules:
    # Kept by content and not on the Config, whose copies with other lists must not inherit it.
    return HostRules(blacklist=blacklist, stub=stub, quality=quality)


@lru_cache(maxsize=8)
def _link_rules(
    own: tuple[tuple[str, str], ...], listed: tuple[str, ...] | None, traps: Traps
) -> LinkRules:
    """Return the rules; `listed` are the hosts to keep the default set away from, None: no set."""
    # Kept, so that spider and store share what they remember of addresses.
    rules = [Rule(match, Action(action)) for match, action in own]
    if listed is not None:
        rules += [*exempt(listed), *DEFAULT_RULES]
    return LinkRules(rules, traps.limits)
