"""The configuration that crawls the demo's web, written as a person would write it."""

import json
from collections.abc import Mapping
from pathlib import Path

DEMO_MARK = "# Written by `terrain demo`."
"""First line of the file: what begins otherwise is not the demo's to overwrite."""

_TEXT = """{mark} It is an ordinary configuration, but for [network]: the
# web it crawls runs on this machine, and only while the demo does.

[crawler]
max-depth = 2
max-concurrent-pages-open = 16
minimum-time-on-page = 150           # a web of our own need not wait a whole second
max-domain-requests = 60
max-subdomains-per-root = 4

[retry]
attempts = 1
delay = 500
timeout = 2000
timeout-step = 500

[user-agent]
crawler-name = "TerrainDemo"
contact-email = "demo@riverlibrary.example"

[output]
database-path = {database}
summary-path = {summary}
metrics-path = {metrics}

[network]
ca-file = {authority}
resolve = {{ {resolve} }}

[[quality]]
domain = "*.riverlibrary.example"    # the library and its rooms on subdomains
seeds = ["https://riverlibrary.example/"]

[[quality]]
domain = "heronwatch.example"
seeds = ["https://heronwatch.example/"]

[[quality]]
domain = "tidemill-archive.example"
seeds = ["https://tidemill-archive.example/"]

[[quality]]
domain = "wetland-atlas.example"
seeds = ["https://wetland-atlas.example/"]

[[quality]]
domain = "otterbourne-springs.example"
seeds = ["https://otterbourne-springs.example/"]
own = true                           # so it may be asked faster
minimum-time-on-page = 50
max-concurrent = 2

[[stub]]
domain = "fluvial-encyclopaedia.example"

[[stub]]
domain = "chirper.example"

[[stub]]
domain = "*.codeweir.example"

[[blacklist]]
domain = "*.banner-brook.example"

[[blacklist]]
domain = "*.clickcurrent.example"

[[blacklist]]
domain = "cheap-waders-outlet.example"
"""


def demo_config(directory: Path, authority: Path, resolve: Mapping[str, str]) -> str:
    """Return the TOML for a demo whose results go to `directory`."""
    routes = ", ".join(f"{_string(host)} = {_string(to)}" for host, to in resolve.items())
    return _TEXT.format(
        mark=DEMO_MARK,
        database=_string(directory / "terrain.db"),
        summary=_string(directory / "crawl-summary.md"),
        metrics=_string(directory / "metrics.json"),
        authority=_string(authority),
        resolve=routes,
    )


def _string(value: object) -> str:
    # A JSON string is a TOML string too, once characters beyond the BMP are left as they are.
    return json.dumps(str(value), ensure_ascii=False)
