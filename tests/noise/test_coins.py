"""Exact coins: the words that one comparison cannot decide, walked with a tape."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.noise.coins import FILTER, exponential, toss, toss_each, toss_packed
from noren.noise.reals import FULL, Computable, Rational, precision
from noren.noise.sources import SeededTestSource, TapeSource

HALF = 1 << 63


def tossed(number, words):
    """Toss one coin from a tape, and say how many words were left."""
    source = TapeSource(words)
    return bool(toss(number, 1, source)[0]), source.left


@pytest.mark.parametrize(
    ("p", "words", "up", "left"),
    [
        ("1/2", [HALF - 1], True, 0),
        ("1/2", [HALF, 5], False, 1),  # equal, and no digit of p is left: decided
        ("1/3", [FULL // 3 - 1, 5], True, 1),
        ("1/3", [FULL // 3 + 1, 5], False, 1),
        ("1/3", [FULL // 3, FULL // 3 - 1], True, 0),
        ("1/3", [FULL // 3, FULL // 3 + 1], False, 0),
        ("1/3", [FULL // 3, FULL // 3, 0], True, 0),
        ("1/3", [FULL // 3, FULL // 3, FULL], False, 0),
        (Fraction(3, 1 << 66), [0, (1 << 63) + (1 << 62) - 1], True, 0),
        (Fraction(3, 1 << 66), [0, (1 << 63) + (1 << 62)], False, 0),
    ],
)
def test_a_rational_coin_keeps_its_word_and_appends_others(p, words, up, left):
    assert tossed(Rational(Fraction(p)), words) == (up, left)


@pytest.mark.parametrize(
    ("words", "up"),
    [
        ([HALF - 2], True),
        ([HALF + 1], False),
        ([HALF - 1, 5], True),
        ([HALF, 5], False),
        ([HALF - 1, FULL, FULL - 1], True),
        ([HALF, 0, 1], False),
    ],
)
def test_a_binary_fraction_in_disguise_is_still_decided(words, up):
    assert tossed(Computable(lambda digits: Decimal("0.5")), words) == (up, 0)


@pytest.mark.parametrize(
    ("p", "up"),
    [("0", False), ("1", True), ("1." + "0" * 57 + "1", True), ("-1e-58", False)],
)
def test_certainty_in_disguise_is_kept(p, up):
    for word in (0, 1, HALF, FULL - 1, FULL):
        assert tossed(Computable(lambda digits: Decimal(p)), [word, 77])[0] is up
    packed = toss_packed(Computable(lambda digits: Decimal(p)), 1, TapeSource([5] * 200))
    assert int(packed[0]) == (FULL if up else 0)


@given(rate=st.fractions(Fraction(1, 100), 40), step=st.integers(-3, 3), last=st.integers(0, FULL))
def test_an_exponential_coin_agrees_with_its_definition(rate, step, last):
    with precision(100):
        p = (-Decimal(rate.numerator) / rate.denominator).exp()
        word = min(max(int(p * 2**64) + step, 0), FULL)
        uniform = (Decimal(word) + Decimal(last) / 2**64) / 2**64
        expected = uniform < p
    assert tossed(exponential(rate), [word, last])[0] is expected


@given(
    p=st.fractions(0, 1),
    offset=st.integers(-(1 << 20), 1 << 20),
    error=st.floats(-(2.0**-50), 2.0**-50),
    last=st.integers(0, FULL),
)
def test_the_filter_changes_no_coin(p, offset, error, last):
    """Near p, where floats cannot decide, the same word decides as exact arithmetic does."""
    word = min(max(p.numerator * 2**64 // p.denominator + offset, 0), FULL)
    source = TapeSource([last, 0, 1])
    number = Rational(p)
    coin = toss_each(np.array([float(p) + error]), lambda i: number, np.array([word], np.uint64),
                     source)  # fmt: skip
    spelled = Fraction(word, 1 << 64) + Fraction(last, 1 << 128) + Fraction(1, 1 << 256)
    assert bool(coin[0]) == (spelled < p)


def test_the_filter_is_passed_only_by_what_it_can_decide():
    words = np.array([0, HALF, HALF + (1 << 20), FULL], np.uint64)
    asked = []

    def exact(i):
        asked.append(i)
        return Rational(Fraction(1, 2))

    coins = toss_each(np.full(4, 0.5), exact, words, TapeSource([]))
    assert coins.tolist() == [True, False, False, False]
    assert asked == [1]
    assert FILTER == 2.0**-45


def by_digits(p, lanes, words):
    """Toss 64 packed coins one by one: the words are the digits of the 64 uniforms."""
    coins = 0
    for lane in range(lanes):
        digits = [word >> lane & 1 for word in words]
        uniform = sum(Fraction(d, 2 << i) for i, d in enumerate(digits))
        coins |= (uniform < p) << lane
    return coins


@given(p=st.fractions(0, 1, max_denominator=2**20), seed=st.integers(0, 2**32))
def test_packed_coins_compare_digit_by_digit(p, seed):
    words = np.random.default_rng(seed).integers(0, 2**64, 64, dtype=np.uint64).tolist()
    packed = toss_packed(Rational(p), 1, TapeSource(words))
    assert int(packed[0]) == by_digits(p, 64, words)


def test_packed_coins_settle_uniforms_that_agree_with_every_digit():
    third = [FULL if digit else 0 for digit in [0, 1] * 32]  # all 64 uniforms begin as 1/3 does
    low, high = FULL // 3 - 1, FULL // 3 + 1
    words = [*third, *([low] * 63), high]  # then 63 lie below, the last above
    source = TapeSource(words)
    assert int(toss_packed(Rational(Fraction(1, 3)), 1, source)[0]) == FULL >> 1
    assert source.left == 0


def test_packed_coins_of_a_disguised_fraction_are_tossed_one_by_one():
    tossed_ = toss_packed(
        Computable(lambda digits: Decimal("0.5")),
        1,
        TapeSource([HALF - 1, 5] * 32 + [HALF, 5] * 32),
    )
    assert int(tossed_[0]) == (1 << 32) - 1


def test_packed_coins_come_up_as_often_as_they_should():
    source = SeededTestSource(21)
    for number, p in ((Rational(Fraction(3, 10)), 0.3), (exponential(Fraction(2)), np.exp(-2))):
        packed = toss_packed(number, 40_000, source)
        lanes = np.unpackbits(packed.view(np.uint8)).reshape(-1, 64).sum(axis=0)
        z = (lanes - 40_000 * p) / np.sqrt(40_000 * p * (1 - p))
        assert np.abs(z).max() < 7.5  # chance 1e-11 for 128 lanes
        assert np.abs(z.mean()) < 7 / 8
