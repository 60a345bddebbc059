"""Inversion: the thresholds are right, and every rare branch is walked with a tape."""

from __future__ import annotations

from bisect import bisect_right
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.noise.inversion import Table, in_range
from noren.noise.reals import FULL, certain_floors
from noren.noise.sources import TapeSource
from noren.noise.tails import DigitLaw, GaussianLaw, GeometricLaw, LaplaceLaw

LAWS = [
    LaplaceLaw(Fraction(1, 200)),
    LaplaceLaw(Fraction(1, 3)),
    LaplaceLaw(Fraction(1)),
    LaplaceLaw(Fraction(17, 2)),
    GaussianLaw(Fraction(1, 20)),
    GaussianLaw(Fraction(1)),
    GaussianLaw(Fraction(123, 10)),
    GeometricLaw(Fraction(1, 3)),
    GeometricLaw(Fraction(4)),
    DigitLaw(Fraction(5), 16),
    DigitLaw(Fraction(10**6), 32),
]
OPEN = [law for law in LAWS if law.size is None]
SYMMETRIC = [law for law in LAWS if law.symmetric]
PRECISION = 130


@cache
def distribution(law):
    """Give (first k, F(k), F(k+1), ..) by adding weights, as they are defined, in 130 digits."""
    with localcontext() as context:
        context.prec = PRECISION
        if isinstance(law, GaussianLaw):
            first = -int(24 * float(law.variance) ** 0.5) - 24
            exponents = [Fraction(-k * k) / (2 * law.variance) for k in range(first, 1 - first)]
        else:
            reach = law.size or int(300 * law.scale) + 10
            first = -reach if law.symmetric else 0
            exponents = [-abs(k) / law.scale for k in range(first, law.size or reach + 1)]
        weights = [(Decimal(e.numerator) / e.denominator).exp() for e in exponents]
        sums = list(accumulate(weights))
        return first, [below / sums[-1] for below in sums]


def by_definition(law, uniform):
    """Give the least k with F(k) > uniform."""
    first, below = distribution(law)
    with localcontext() as context:
        context.prec = PRECISION
        place = bisect_right(below, Decimal(uniform.numerator) / uniform.denominator)
    assert place < len(below), "beyond the reference"
    return first + place


def read(law, words):
    """Draw once from a tape, and say what was left of it."""
    source = TapeSource(words)
    return int(Table(law).draw(source, 1)[0]), source.left


def value(words):
    """Give the uniform number that words spell."""
    spelled = 0
    for word in words:
        spelled = spelled << 64 | word
    return Fraction(spelled, 1 << 64 * len(words))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_thresholds_are_the_floors_of_the_distribution_function(law):
    table = Table(law)
    first, below = distribution(law)
    start = table.lo - first
    with localcontext() as context:
        context.prec = PRECISION
        expected = [int(f * 2**64) for f in below[start : start + table.thresholds.size]]
    assert table.thresholds.tolist() == expected


@pytest.mark.parametrize(
    "law",
    [
        *LAWS,
        LaplaceLaw(Fraction(10**12, 7)),
        DigitLaw(Fraction(1 << 52), 1024),
        GaussianLaw(Fraction(4900**2)),
    ],
    ids=str,
)
def test_tails_are_right_to_the_digits_asked_for(law):
    for ours, finer in zip(law.tails(0, 12, 60), law.tails(0, 12, 150), strict=True):
        assert abs(ours - finer) < Decimal("1e-60")


@pytest.mark.parametrize("law", OPEN, ids=str)
def test_an_open_table_reaches_both_ends_and_not_further(law):
    thresholds = Table(law).thresholds
    assert thresholds[-1] == FULL
    assert thresholds[-2] < FULL
    if law.symmetric:
        assert thresholds[0] == 0
        assert thresholds[1] > 0
        assert np.array_equal(thresholds, FULL - thresholds[::-1])


@pytest.mark.parametrize("law", [law for law in LAWS if law.size], ids=str)
def test_a_closed_end_is_left_out_of_the_table(law):
    table = Table(law)
    assert table.thresholds.size == law.size - 1
    assert read(law, [FULL]) == (law.size - 1, 0)
    assert read(law, [0]) == (0, 0)


@pytest.mark.parametrize("law", LAWS, ids=str)
@settings(max_examples=20)
@given(word=st.integers(0, FULL))
def test_one_word_decides_as_the_definition_does(law, word):
    drawn, left = read(law, [word, 12345])
    assert drawn == by_definition(law, value([word, 12345]))
    assert left == 1 or word in Table(law).thresholds.tolist()


@pytest.mark.parametrize("law", LAWS[1:], ids=str)  # the first has no threshold inside
@pytest.mark.parametrize("further", [[0], [1 << 63], [FULL - 1], [77, 1]])
def test_a_tie_is_decided_by_the_next_word(law, further):
    thresholds = [t for t in Table(law).thresholds.tolist() if 0 < t < FULL]
    for tied in {thresholds[0], thresholds[len(thresholds) // 2], thresholds[-1]}:
        words = [tied, *further]
        drawn, left = read(law, words)
        assert drawn == by_definition(law, value(words))
        assert left == len(further) - 1


@pytest.mark.parametrize("law", LAWS[1:], ids=str)
@pytest.mark.parametrize(("last", "step"), [(0, 0), (FULL, 1)])
def test_a_second_tie_takes_a_third_word(law, last, step):
    k = 0 if law.size is None else law.size // 2
    first, below = distribution(law)
    with localcontext() as context:
        context.prec = PRECISION
        digits = int(below[k - first] * 2**128)
    words = [digits >> 64, digits & FULL, last]
    drawn, left = read(law, words)
    assert (drawn, left) == (k + step, 0)
    assert drawn == by_definition(law, value(words))


@pytest.mark.parametrize("law", OPEN, ids=str)
@pytest.mark.parametrize("second", [0, 1, 1 << 40, 1 << 63, FULL - (1 << 30), FULL - 1])
def test_the_upper_tail_is_extended_and_never_clamped(law, second):
    words = [FULL, second, 3]
    assert read(law, words)[0] == by_definition(law, value(words))


@pytest.mark.parametrize("law", SYMMETRIC, ids=str)
@pytest.mark.parametrize("second", [1, 1 << 30, 1 << 63, FULL])
def test_the_lower_tail_is_extended_and_never_clamped(law, second):
    words = [0, second, 3]
    assert read(law, words)[0] == by_definition(law, value(words))


@pytest.mark.parametrize("law", OPEN, ids=str)
def test_an_open_tail_is_extended_a_second_time(law):
    words = [FULL, FULL, 1 << 60, 3]
    assert read(law, words)[0] == by_definition(law, value(words))
    if law.symmetric:
        words = [0, 0, 1 << 60, 3]
        assert read(law, words)[0] == by_definition(law, value(words))


def test_a_chance_of_one_in_e_to_the_200_is_kept():
    law = LaplaceLaw(Fraction(1, 200))  # P(X = -1) is about 2**-288.5
    assert read(law, [0, 0, 0, 0, 1]) == (-1, 0)
    assert read(law, [0, 0, 0, 0, FULL]) == (0, 0)


@settings(max_examples=25)
@given(
    scale=st.fractions(Fraction(1, 50), 30, max_denominator=60),
    seed=st.integers(0, 2**32),
)
def test_the_guide_and_the_search_agree(scale, seed):
    words = np.random.default_rng(seed).integers(0, 2**64, 500, dtype=np.uint64)
    words[:40] >>= np.uint64(20)  # the lower tail
    words[40:80] |= np.uint64(FULL - (1 << 44) + 1)  # the upper tail
    table = Table(LaplaceLaw(scale))
    words = words[~np.isin(words, table.thresholds)]
    together = table.draw(TapeSource(words), words.size)
    singly = [table.draw(TapeSource([word]), 1)[0] for word in words.tolist()]
    assert together.tolist() == singly


@pytest.mark.parametrize(
    ("value", "floor"),
    [
        (Decimal("5." + "0" * 44 + "1"), 5),
        (Decimal("4." + "9" * 45), 4),
        (Decimal("1e-45"), 0),
        (Decimal("0." + "9" * 75), 0),
    ],
)
def test_a_floor_near_a_whole_number_asks_for_more_digits(value, floor):
    asked = []

    def at(digits):
        asked.append(digits)
        with localcontext() as context:
            context.prec = digits
            return [+((+value) / 2**64)]

    with localcontext() as context:
        context.prec = 200
        assert certain_floors(at, 64) == [floor]
    assert len(asked) > 1 or value < Decimal("0.5")


def test_a_draw_beyond_64_bits_is_refused_not_wrapped():
    with pytest.raises(ValueError, match="64-bit"):
        in_range(1 << 63)
