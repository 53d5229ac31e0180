"""The errors a user meets and their exit codes (design 4.1)."""

from __future__ import annotations

import inspect
import pickle

import pytest

from terrain import errors
from terrain.errors import ConfigError, StoreError, TerrainError

ALL = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, TerrainError)
]


@pytest.mark.parametrize("error", ALL, ids=lambda error: error.__name__)
def test_exit_codes(error):
    expected = {"ConfigError": 2, "Interrupted": 3}
    assert error.exit_code == expected.get(error.__name__, 1)


def test_the_tree_at_the_top_of_the_file_is_complete():
    drawn = errors.__doc__.split()
    assert {error.__name__ for error in ALL} <= set(drawn)


def test_what_the_store_raises_is_a_store_error():
    store = {error.__name__ for error in ALL if issubclass(error, StoreError)}
    others = {"TerrainError", "ConfigError", "Interrupted"}
    assert store == {error.__name__ for error in ALL} - others


def test_a_config_error_keeps_its_problems_apart():
    error = ConfigError(["a: b", "c: d"])
    assert error.problems == ["a: b", "c: d"]
    assert str(error) == "a: b\nc: d"
    assert ConfigError("only one").problems == ["only one"]


def test_a_config_error_survives_the_way_to_another_process():
    again = pickle.loads(pickle.dumps(ConfigError(["a", "b"])))
    assert again.problems == ["a", "b"]
