"""What a page's body says, under one configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from terrain.rules.extract import extract

if TYPE_CHECKING:
    from terrain.config import Config
    from terrain.rules.extract import PageFacts
    from terrain.rules.linkrules import LinkRules
    from terrain.rules.urls import UrlRules


@dataclass(frozen=True)
class FactsOf:
    """Extraction with all that the configuration says about it; the same in every process.

    It is sent to the reading process in place of the configuration, which would take more memory
    there than all the rest.
    """

    rules: UrlRules
    link_rules: LinkRules
    max_links: int | None

    @classmethod
    def configured(cls, config: Config) -> Self:
        """Take from the configuration what matters here."""
        return cls(config.url_rules(), config.link_rules(), config.crawler.max_outbound_links)

    def __call__(
        self, body: bytes, content_type: str | None, fetch_url: str, identity: str
    ) -> PageFacts:
        """Read one HTML document."""
        return extract(
            body,
            content_type=content_type,
            fetch_url=fetch_url,
            identity=identity,
            rules=self.rules,
            link_rules=self.link_rules,
            max_links=self.max_links,
        )
