"""What a page's body says, under one configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from terrain.rules.extract import extract

if TYPE_CHECKING:
    from terrain.config import Config
    from terrain.rules.extract import PageFacts


class FactsOf:
    """Extraction with all that the configuration says about it; the same in every process."""

    def __init__(self, config: Config) -> None:
        self._rules = config.url_rules()
        self._link_rules = config.link_rules()
        self._max_links = config.crawler.max_outbound_links

    def __call__(
        self, body: bytes, content_type: str | None, fetch_url: str, identity: str
    ) -> PageFacts:
        """Read one HTML document."""
        return extract(
            body,
            content_type=content_type,
            fetch_url=fetch_url,
            identity=identity,
            rules=self._rules,
            link_rules=self._link_rules,
            max_links=self._max_links,
        )
