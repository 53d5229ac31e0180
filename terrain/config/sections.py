"""The sections of the configuration: every key with its range, its default and its meaning.

The docstring under a field is its sentence in docs/configuration.md, so it says the meaning, the
unit and what absence means.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from terrain import __version__
from terrain.config import fields
from terrain.config.routes import Route, find_route, parse_routes
from terrain.config.wording import Allowed, ByGranularity
from terrain.rules import traps
from terrain.rules.urls import DEFAULT_TRACKING_PARAMETERS


class Section(BaseModel):
    """A table of the file: frozen, and strict about types, because TOML has types."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", use_attribute_docstrings=True
    )


class Crawler(Section):
    """How far the crawl goes and how hard it works."""

    # First, because the defaults of others depend on it.
    granularity: Literal["page", "domain"] = "page"
    """What the terrain is made of; domain: the home page of each host, and links between hosts."""

    max_depth: fields.Natural = Field(default_factory=ByGranularity(3, 5))
    """Links to follow outward from a quality domain; 0 stays on its pages."""

    max_concurrent_pages_open: Annotated[
        int,
        Field(ge=1, le=1000),
        Allowed("a whole number from 1 to 100, or up to 1000 with a site of your own"),
    ] = 10
    """Requests in flight over all hosts; more than 100 only if a quality entry is `own`."""

    minimum_time_on_page: fields.PoliteMilliseconds = 1000
    """Milliseconds between two requests to one host; robots.txt may ask for more."""

    max_domain_requests: fields.Positive = 500
    """Requests of any kind to one host in one run; further pages are `request_limit_hit`."""

    max_subdomains_per_root: fields.Positive | None = Field(default_factory=ByGranularity(None, 3))
    """Hosts visited under one registrable domain, itself and quality hosts not counted; further
    ones are `subdomain_limit_hit`; absent: all of them."""

    max_outbound_links: fields.Positive | None = Field(default_factory=ByGranularity(None, 10))
    """Links taken from one page, in document order; by domain the first link to each other host
    counts; absent: all of them."""

    max_crawls_per_domain: fields.Positive = 3
    """By domain, visits of one host over all runs: a new run visits those again, from depth 0, that
    have had fewer; by page it means nothing."""

    head_probe: Literal["always", "auto", "never"] = "always"
    """When a HEAD request comes before the GET; auto: only for addresses that look like files."""

    max_body_bytes: fields.Bytes = 10 * 1024 * 1024
    """Bytes of a body, decompressed; a page with more is `failed`."""


class Retry(Section):
    """What happens after a timeout, a broken transfer or a 5xx answer."""

    attempts: fields.Natural = 3
    """Further tries after the first; 0 gives up at once."""

    delay: fields.Milliseconds = 5000
    """Milliseconds before the next try; a Retry-After answer may ask for more."""

    timeout: fields.PositiveMilliseconds = 30000
    """Milliseconds the first try may take, from the request to the last byte."""

    timeout_step: fields.Milliseconds = 2000
    """Milliseconds by which the timeout grows with each further try."""

    connect_timeout: fields.PositiveMilliseconds = 10000
    """Milliseconds to connect, TLS included."""


class Robots(Section):
    """What robots.txt means to the crawl."""

    mode: Literal["respect", "ignore", "report"] = "respect"
    """Whether robots.txt is obeyed; report: asked for and recorded, not obeyed."""

    unreachable: Literal["allow", "disallow"] = "allow"
    """What holds for a host whose robots.txt cannot be fetched."""


class UserAgent(Section):
    """Who the crawler says it is: `Name/Version (+url; email)`."""

    crawler_name: fields.Token = "Terrain"
    """First word of the user agent, and the name looked for in robots.txt."""

    crawler_version: fields.Token = __version__
    """Version after the name; absent: the version of terrain."""

    contact_url: fields.ContactUrl | None = None
    """Page that explains the crawl to those who are visited; absent: left out."""

    contact_email: fields.ContactEmail | None = None
    """Address where those who are visited reach you; absent: left out."""

    @property
    def header(self) -> str:
        """Value of the User-Agent header; parts that are absent are left out."""
        contacts = [f"+{self.contact_url}"] if self.contact_url else []
        contacts += [self.contact_email] if self.contact_email else []
        product = f"{self.crawler_name}/{self.crawler_version}"
        return f"{product} ({'; '.join(contacts)})" if contacts else product


class Output(Section):
    """Where the results go. Relative paths start at the current directory, `~` is your home."""

    database_path: fields.OutputPath | None = Path("terrain.db")
    """SQLite file, made if there is none; not together with database-url."""

    database_url: Annotated[fields.DatabaseUrl | None, Field(repr=False)] = None
    """Database as an SQLAlchemy URL, instead of database-path; absent: the SQLite file."""

    summary_path: fields.OutputPath = Path("crawl-summary.md")
    """Markdown summary of the run, written when it ends."""

    metrics_path: fields.OutputPath = Path("metrics.json")
    """Figures of the run as JSON, written when it ends."""

    prometheus_path: fields.OutputPath | None = None
    """Figures as a Prometheus text file for node_exporter; absent: not written."""

    @model_validator(mode="before")
    @classmethod
    def _url_replaces_the_default_path(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("database_url") is not None:
            return {"database_path": None, **data}
        return data


class Urls(Section):
    """How addresses become identities."""

    tracking_parameters: Annotated[tuple[fields.TrackingParameter, ...], Field(strict=False)] = (
        DEFAULT_TRACKING_PARAMETERS
    )
    """Query parameters that do not belong to a page's identity; `*` at the end is a prefix."""


class Network(Section):
    """How hosts are reached."""

    ca_file: fields.CertificateFile | None = None
    """PEM file of authorities to trust besides the system's; absent: only the system's."""

    allow_http: bool = False
    """Whether pages may be asked for without TLS."""

    allow_private: bool = False
    """Whether loopback, private, link-local and reserved addresses may be connected to."""

    resolve: Annotated[
        tuple[Route, ...],
        BeforeValidator(parse_routes),
        Allowed('a table of host = target, such as "*.test" = "127.0.0.1:8443"'),
    ] = ()
    """Where to connect instead of DNS, host pattern = target, with Host and SNI kept; an exact
    host before a wildcard, a longer wildcard before a shorter, `*` for all."""

    def resolve_target(self, host: str) -> tuple[str, int | None] | None:
        """Return where to connect for a host, as host and port; None: as DNS says."""
        route = find_route(self.resolve, host)
        return (route.host, route.port) if route else None


class Traps(Section):
    """When an address looks like one of a site without an end; seeds are never judged."""

    enabled: bool = True
    """Whether the guards are on; false: such pages are asked for like any other."""

    max_path_length: fields.Positive = traps.MAX_PATH_LENGTH
    """Characters of a path, as escaped; a page with more is known and not asked for."""

    max_path_segments: fields.Positive = traps.MAX_PATH_SEGMENTS
    """Parts of a path between slashes."""

    max_repeated_segments: fields.Positive = traps.MAX_REPEATED_SEGMENTS
    """How often the same part may stand in a path, as in /a/a/a."""

    max_query_length: fields.Positive = traps.MAX_QUERY_LENGTH
    """Characters of a query, as escaped, without tracking parameters."""

    max_query_parameters: fields.Positive = traps.MAX_QUERY_PARAMETERS
    """Parameters of a query, tracking parameters not counted."""

    @property
    def limits(self) -> traps.TrapLimits | None:
        """The limits as a rule; None if the guards are off."""
        if not self.enabled:
            return None
        return traps.TrapLimits(
            path_length=self.max_path_length,
            path_segments=self.max_path_segments,
            repeated_segments=self.max_repeated_segments,
            query_length=self.max_query_length,
            query_parameters=self.max_query_parameters,
        )


class UrlRule(Section):
    """What becomes of links to certain addresses."""

    match: fields.UrlPattern
    """Addresses that the rule is about; see [patterns](#patterns)."""

    action: Literal["crawl", "record", "skip"]
    """crawl: as if there were no rules; record: keep the page and the links to it, never ask for
    it; skip: leave no trace of the link."""


class Listed(Section):
    """An entry of a list of domains."""

    domain: fields.Domain
    """Hosts that the entry is about."""


class Quality(Listed):
    """An origin: a domain you trust, where the crawl starts."""

    seeds: Annotated[
        tuple[str, ...],
        Field(strict=False, min_length=1),
        Allowed("a list of https:// addresses, at least one"),
    ]
    """Addresses to start from, at least one, each https and on the domain."""

    max_depth: fields.Natural | None = None
    """Links to follow outward from this domain; absent: crawler.max-depth."""

    own: bool = False
    """Whether the site is yours; only then may it be asked faster than others."""

    minimum_time_on_page: fields.Milliseconds | None = None
    """Milliseconds between two requests to one of its hosts, under 100 only if `own`; absent:
    crawler.minimum-time-on-page."""

    max_concurrent: Annotated[int, Field(ge=1, le=1000)] = 1
    """Requests in flight to one of its hosts, more than 1 only if `own`."""
