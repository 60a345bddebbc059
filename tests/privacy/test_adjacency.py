"""Who is protected, and how a number is read."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.privacy import (
    ADD_REMOVE,
    BIT,
    LOCAL,
    RECORD,
    SUBSTITUTE,
    USER,
    ZERO_OUT,
    Adjacency,
)
from noren.privacy.numbers import exact, probability, read_delta, read_epsilon, whole

ROWS = st.lists(st.integers(0, 3), max_size=6)


@given(ROWS, ROWS)
def test_add_remove_counts_single_steps(first, second):
    distance = Adjacency(ADD_REMOVE).distance(first, second)
    common = sum(min(first.count(value), second.count(value)) for value in range(4))
    assert distance == len(first) + len(second) - 2 * common


@given(ROWS, st.integers(0, 3))
def test_one_more_record_is_one_step(rows, row):
    assert Adjacency(ADD_REMOVE).distance(rows, [*rows, row]) == 1
    assert Adjacency(SUBSTITUTE).distance(rows, [*rows, row]) == math.inf


def test_positions_and_cells():
    first, second = [(0, 1, 1), (0, 0, 0)], [(1, 1, 0), (0, 0, 0)]
    assert Adjacency(SUBSTITUTE).distance(first, second) == 1
    assert Adjacency(ZERO_OUT).distance(first, second) == 1
    assert Adjacency(SUBSTITUTE, BIT).distance(first, second) == 2
    assert Adjacency(LOCAL).distance(first, second) == 1
    assert Adjacency(LOCAL).distance(first, first) == 0


def test_persons_with_several_rows():
    first = [("ann", 1), ("bob", 2), ("ann", 3)]
    without_ann, other_ann = [("bob", 2)], [("bob", 2), ("ann", 3), ("ann", 9)]
    added = Adjacency(ADD_REMOVE, USER, max_records=2)
    assert added.distance(first, without_ann) == 1
    assert added.distance(first, other_ann) == 2
    assert Adjacency(SUBSTITUTE, USER, max_records=2).distance(first, other_ann) == 1
    assert Adjacency(ADD_REMOVE, USER, max_records=1).distance(first, without_ann) == math.inf


@pytest.mark.parametrize(
    ("word", "adjacency"),
    [
        ("add-remove", Adjacency(ADD_REMOVE)),
        ("S2", Adjacency(ADD_REMOVE)),
        (" Replace ", Adjacency(SUBSTITUTE)),
        ("bit", Adjacency(SUBSTITUTE, BIT)),
        ("local", Adjacency(LOCAL, USER)),
    ],
)
def test_words_of_the_field_are_understood(word, adjacency):
    assert Adjacency.read(word) == adjacency
    assert Adjacency.read(adjacency.word) == adjacency


@pytest.mark.parametrize(
    "make",
    [
        lambda: Adjacency.read(None),
        lambda: Adjacency.read("unbounded"),
        lambda: Adjacency("add-remove"),
        lambda: Adjacency(ADD_REMOVE, BIT),
        lambda: Adjacency(ADD_REMOVE, RECORD, max_records=2),
        lambda: Adjacency(ADD_REMOVE, USER, max_records=0),
    ],
)
def test_nothing_else_is_an_adjacency(make):
    with pytest.raises(ParameterError):
        make()


@pytest.mark.parametrize(
    ("given_", "number"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(3), Fraction(3)),
        ("1/3", Fraction(1, 3)),
        (Decimal("2.50"), Fraction(5, 2)),
        (Fraction(1, 7), Fraction(1, 7)),
    ],
)
def test_a_number_is_the_one_that_was_written(given_, number):
    assert exact("x", given_) == number


@pytest.mark.parametrize("given_", [None, True, "much", "inf", float("nan"), [], 1j])
def test_what_is_no_finite_number_is_refused(given_):
    with pytest.raises(ParameterError, match="x is"):
        exact("x", given_)


@pytest.mark.parametrize(
    "given_",
    ["1e99999999999", "1e-99999999999", "1e9_9_9_9_9_9_9_9_9_9", Decimal("1e999999"), "1e301",
     10**301, Fraction(-(10**301)), "9" * 400],
)  # fmt: skip
def test_a_number_of_astronomical_length_is_refused_at_once_and_in_few_words(given_):
    with pytest.raises(ParameterError, match="x is") as refused:
        exact("x", given_)
    assert len(str(refused.value)) < 400


def test_a_whole_number_too_long_to_write_is_refused_in_few_words():
    with pytest.raises(ParameterError, match="x is very long, but"):
        exact("x", 10**5000)


def test_ranges_are_held():
    for read, wrong in [(read_epsilon, 0), (read_epsilon, -1), (read_delta, 1), (read_delta, -1)]:
        with pytest.raises(ParameterError):
            read(wrong)
    for name, read in (("p", lambda v: probability("p", v)), ("n", lambda v: whole("n", v, 1))):
        with pytest.raises(ParameterError, match=f"{name} is 1.5"):
            read(1.5)
    assert whole("n", "3.0", 1) == 3
