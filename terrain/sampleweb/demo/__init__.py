"""The sample web of `terrain demo`: a river, its birds, and the people who write about them.

A few dozen small sites, always the same, with every kind of page the crawler knows:

trusted.py       what the quality list names (one of them with more pages than its budget allows)
neighbours.py    what is found by walking outward
oddities.py      slow, limited, private, moved, circular, broken, unreachable; ads and stubs
config.py        the configuration that crawls it
"""

from terrain.sampleweb.demo.config import DEMO_MARK, demo_config
from terrain.sampleweb.demo.neighbours import neighbouring_sites
from terrain.sampleweb.demo.oddities import listed_sites, troubled_sites
from terrain.sampleweb.demo.trusted import trusted_sites
from terrain.sampleweb.web import Web

__all__ = ["DEMO_MARK", "demo_config", "demo_web"]


def demo_web() -> Web:
    """Return the web; the same every time."""
    return Web({**trusted_sites(), **neighbouring_sites(), **troubled_sites(), **listed_sites()})
