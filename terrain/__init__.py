"""Terrain maps the web around a set of curated domains."""


def __getattr__(name: str) -> str:
    """Look the version up when it is asked for: the reading process does not, and is leaner so."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("terrain")
