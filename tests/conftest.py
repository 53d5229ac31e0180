"""Hypothesis without deadlines: on a busy machine they fail what is right."""

import pytest
from hypothesis import settings

# It is no test module; what differs is to be told all the same.
pytest.register_assert_rewrite("tests.rollup")

settings.register_profile("terrain", deadline=None)
settings.load_profile("terrain")
