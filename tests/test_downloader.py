"""What the downloader frees."""

import gc
import weakref

import pytest
from scrapy.exceptions import IgnoreRequest

from terrain.downloader import _let_go


class Megabytes(bytearray):
    """Something that can be watched."""


def unpack(watched: list[weakref.ref[Megabytes]]) -> None:
    unpacked = Megabytes(1024)
    watched.append(weakref.ref(unpacked))
    raise ValueError("too much")


def refuse(watched: list[weakref.ref[Megabytes]]) -> None:
    try:
        unpack(watched)
    except ValueError as error:
        raise IgnoreRequest("a bomb") from error


def test_a_refused_bomb_is_let_go_of_while_the_refusal_lives_on() -> None:
    watched: list[weakref.ref[Megabytes]] = []
    gc.disable()
    try:
        with pytest.raises(IgnoreRequest) as refused:
            refuse(watched)
        assert watched[0]() is not None
        _let_go(refused.value)
        assert watched[0]() is None
    finally:
        gc.enable()
    assert str(refused.value) == "a bomb"


def test_other_errors_are_left_alone() -> None:
    _let_go(None)
    _let_go(ValueError("no cause"))
    _let_go(IgnoreRequest("no cause"))
