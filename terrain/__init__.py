"""Terrain maps the web around a set of curated domains."""

from importlib.metadata import version

__version__ = version("terrain")
