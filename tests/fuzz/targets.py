"""All fuzz targets by name."""

from tests.fuzz import target_headers, target_html, target_robots, target_toml, target_urls
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    module.TARGET.name: module.TARGET
    for module in (target_urls, target_html, target_headers, target_robots, target_toml)
}
