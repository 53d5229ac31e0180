"""Inputs drawn by hypothesis, which shrinks what is wrong to the least that still is.

The hunt for millions of inputs is benchmarks/fuzz.py; these are its first few thousand.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

quick = settings(max_examples=400, deadline=None)
every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))


def sentences(target: Target) -> st.SearchStrategy[bytes]:
    """Words of the target's grammar with a little noise between them."""
    words = st.sampled_from(target.words) | st.binary(max_size=6)
    return st.lists(words, max_size=24).map(b"".join)


def endless(target: Target) -> st.SearchStrategy[bytes]:
    """A piece again and again between two others: what costs by the square shows here."""
    piece = st.lists(st.sampled_from(target.words), min_size=1, max_size=3).map(b"".join)
    size = min(target.largest, 32_768)
    return st.builds(
        lambda start, middle, end: start + middle * (size // len(middle)) + end,
        sentences(target),
        piece,
        sentences(target),
    )


def changed_seeds(target: Target) -> st.SearchStrategy[bytes]:
    """A seed with a few bytes cut out and others put there."""
    return st.builds(
        lambda seed, at, cut, other: seed[:at] + other + seed[at + cut :],
        st.sampled_from(target.seeds()),
        st.integers(0, 400),
        st.integers(0, 8),
        sentences(target),
    )


@every_target
def test_any_sentence_of_its_words(target: Target) -> None:
    quick(given(sentences(target))(target.check))()


@every_target
def test_any_change_of_a_seed(target: Target) -> None:
    quick(given(changed_seeds(target))(target.check))()


@every_target
def test_any_piece_repeated(target: Target) -> None:
    few = settings(quick, max_examples=20)
    few(given(endless(target))(target.check))()
