"""The TOML file and the environment → one validated, frozen Config.

load_config(path)      read, merge, check; ConfigError lists everything that is wrong
  positions.py         on which line a key stands
  environment.py       TERRAIN_… variables, laid over the file
  keys.py              unknown keys, with "did you mean"
  sections.py          the sections, their ranges and defaults (fields.py: the types)
  checks.py            what only holds across several keys
  problems.py          one line for each problem (wording.py: what is allowed, in words)
Config                 the result, and what follows from it (model.py, hashes.py, advice.py)
"""

from terrain.config.loader import load_config, parse_config
from terrain.config.model import Config, HostTerms
from terrain.config.routes import Route
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

__all__ = [
    "Config",
    "Crawler",
    "HostTerms",
    "Listed",
    "Network",
    "Output",
    "Quality",
    "Retry",
    "Robots",
    "Route",
    "Traps",
    "UrlRule",
    "Urls",
    "UserAgent",
    "load_config",
    "parse_config",
]
