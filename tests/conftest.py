"""Hypothesis without deadlines: on a busy machine they fail what is right."""

from hypothesis import settings

settings.register_profile("terrain", deadline=None)
settings.load_profile("terrain")
