"""Settings for `scrapy crawl terrain`: they only switch the add-on on (terrain/addon.py)."""

ADDONS = {"terrain.addon.TerrainAddon": 0}
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
