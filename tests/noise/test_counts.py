"""Binomial and hypergeometric counts: exact at every boundary, and in the far tails."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noren.noise import Noise
from noren.noise.counts import binomial_law, draw_binomial, draw_hypergeometric
from noren.noise.reals import FULL, Computable, Rational, precision
from noren.noise.sources import TapeSource
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9 / 30
MANY = 200_000


def binomial_distribution(n, p):
    masses = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    return list(accumulate(masses))


def hypergeometric_distribution(good, bad, taken):
    whole = math.comb(good + bad, taken)
    masses = [
        Fraction(math.comb(good, k) * math.comb(bad, taken - k), whole) for k in range(taken + 1)
    ]
    return list(accumulate(masses))


def by_definition(distribution, words):
    """Give the least k with F(k) > U."""
    spelled = sum(Fraction(word, 1 << 64 * (i + 1)) for i, word in enumerate(words))
    return next(k for k, below in enumerate(distribution) if below > spelled)


def near(distribution, place, offset):
    """Give a word near one of the values of a distribution function."""
    return min(max(int(distribution[place % len(distribution)] * 2**64) + offset, 0), FULL)


@settings(max_examples=150)
@given(
    n=st.integers(1, 40),
    p=st.fractions(0, 1, max_denominator=1000),
    place=st.integers(0, 100),
    offset=st.integers(-3, 3) | st.integers(-(1 << 40), 1 << 40),
    last=st.integers(0, FULL),
)
def test_a_binomial_draw_is_the_inverse_of_its_distribution(n, p, place, offset, last):
    distribution = binomial_distribution(n, p)
    words = [near(distribution, place, offset), last, 1 << 63, 9]
    if p > Fraction(1, 2):  # drawn as the coins that fail
        expected = n - by_definition(binomial_distribution(n, 1 - p), words)
    else:
        expected = by_definition(distribution, words)
    assert draw_binomial(n, Rational(p), 1, TapeSource(words)).tolist() == [expected]


@settings(max_examples=100)
@given(
    good=st.integers(0, 25),
    bad=st.integers(0, 25),
    share=st.floats(0, 1),
    place=st.integers(0, 100),
    offset=st.integers(-3, 3) | st.integers(-(1 << 40), 1 << 40),
    last=st.integers(0, FULL),
)
def test_a_hypergeometric_draw_is_the_inverse_of_its_distribution(
    good, bad, share, place, offset, last
):
    taken = round(share * (good + bad))
    distribution = hypergeometric_distribution(good, bad, taken)
    words = [near(distribution, place, offset), last, 1 << 63, 9]
    drawn = draw_hypergeometric(good, bad, taken, 1, TapeSource(words))
    assert drawn.tolist() == [by_definition(distribution, words)]


@pytest.mark.parametrize(
    "words",
    [[0, 0, 1, 5], [0, 1 << 20, 3], [0, 0, 0, 0, 7], [FULL, FULL, 1], [FULL, FULL, FULL, 1 << 60]],
)
def test_the_far_tails_of_a_binomial_are_reached(words):
    n, p = 300, Fraction(3, 10)
    expected = by_definition(binomial_distribution(n, p), words)
    assert draw_binomial(n, Rational(p), 1, TapeSource(words)).tolist() == [expected]
    assert abs(expected - 90) > 70  # nine standard deviations and more


def test_the_window_leaves_out_less_than_its_margin():
    for n, p in ((10, 0.3), (10**4, 0.5), (10**6, 1e-6), (10**6, 0.2)):
        first, weights = binomial_law(n, lambda digits, p=p: Decimal(repr(p))).window()
        left_out = stats.binom.cdf(first - 1, n, p) + stats.binom.sf(first + weights.size - 1, n, p)
        assert left_out < 2.0**-49
        masses = stats.binom.pmf(np.arange(first, first + weights.size), n, p)
        assert np.allclose(weights / weights.sum(), masses, rtol=1e-8, atol=1e-300)


@pytest.mark.parametrize(("n", "p"), [(5, 0.5), (100, 0.03), (1000, 0.97), (10**6, 0.4)])
def test_binomial_draws_follow_their_law(fit, n, p):
    draws = seeded_noise(1).binomial(n, p, MANY)
    masses = stats.binom.pmf(np.arange(n + 1), n, p)
    assert fit(draws, 0, masses) > FALSE_ALARM
    shift = 0.05 * math.sqrt(p * (1 - p) / n)  # a twentieth of a standard deviation is seen
    assert fit(draws, 0, stats.binom.pmf(np.arange(n + 1), n, p + shift)) < FALSE_ALARM


@pytest.mark.parametrize(("good", "bad", "taken"), [(5, 7, 4), (300, 200, 100), (900, 10**5, 5000)])
def test_hypergeometric_draws_follow_their_law(fit, good, bad, taken):
    draws = seeded_noise(2).hypergeometric(good, bad, taken, MANY)
    law = stats.hypergeom(good + bad, good, taken)
    assert fit(draws, 0, law.pmf(np.arange(taken + 1))) > FALSE_ALARM
    with_replacement = stats.binom.pmf(np.arange(taken + 1), taken, good / (good + bad))
    assert fit(draws, 0, with_replacement) < FALSE_ALARM


def test_a_probability_may_be_a_function_of_the_digits(fit):
    def chance(digits):
        with precision(digits):
            return 1 - Decimal(-2).exp()

    draws = seeded_noise(3).binomial(50, chance, MANY)
    assert fit(draws, 0, stats.binom.pmf(np.arange(51), 50, 1 - math.exp(-2))) > FALSE_ALARM
    one_half = seeded_noise(4).binomial(20, lambda digits: Decimal("0.5"), MANY)
    assert fit(one_half, 0, stats.binom.pmf(np.arange(21), 20, 0.5)) > FALSE_ALARM


def test_certain_counts_take_no_chances():
    noise = Noise()
    assert noise.binomial(7, 0) == 0
    assert noise.binomial(7, 1) == 7
    assert noise.binomial(0, "0.3", 2).tolist() == [0, 0]
    assert noise.hypergeometric(0, 9, 4) == 0
    assert noise.hypergeometric(9, 0, 4) == 4
    assert noise.hypergeometric(4, 9, 13) == 4
    assert noise.hypergeometric(0, 0, 0) == 0
    for p, count in ((Decimal(0), 0), (Decimal(1), 9), (Decimal(1) - Decimal("1e-27"), 9)):
        assert draw_binomial(9, Computable(lambda d, p=p: p), 1, TapeSource([77, 1]))[0] == count
