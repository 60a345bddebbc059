"""The discrete Gaussian's own delta, exact, and where the Gaussian curve misleads."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.privacy import discrete_gaussian as module
from noren.privacy import (
    discrete_gaussian_delta,
    discrete_gaussian_epsilon,
    gaussian_delta,
    zcdp_delta,
)
from noren.privacy.discrete_gaussian import (
    discrete_gaussian_delta_charge,
    discrete_gaussian_shift_delta,
    discrete_gaussian_variance,
)


def summed(variance: float, epsilon: float, shift: int) -> float:
    reach = math.ceil(14 * math.sqrt(variance)) + shift + 3
    k = np.arange(-reach, reach + 1)
    p, q = (np.exp(-((k + m) ** 2) / (2 * variance)) for m in (0, shift))
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum() / p.sum())


@given(st.floats(0.1, 400), st.floats(0, 3), st.integers(1, 6))
@settings(max_examples=60)
def test_delta_is_the_sum_of_its_definition(variance, epsilon, shift):
    found = discrete_gaussian_delta(variance, epsilon, shift)
    assert found == pytest.approx(summed(variance, epsilon, shift), rel=1e-9, abs=1e-14)


def test_it_is_not_the_gaussian_curve():
    assert discrete_gaussian_delta(16, 1) > 1.04 * gaussian_delta(1, 4)
    assert discrete_gaussian_delta(1, 1) > 1.11 * gaussian_delta(1, 1)


def test_a_fine_grid_comes_close_to_the_gaussian_curve():
    ratio = discrete_gaussian_delta(Fraction(2**20), 1, 256) / gaussian_delta(1, 4)
    assert abs(ratio - 1) < 2.9e-5


def test_the_two_ways_of_summing_agree():
    exact = discrete_gaussian_delta_charge(10**6, 1, 300)
    v, step, size = Fraction(10**6), 300, Fraction(1)
    first = math.floor((2 * size * v - step**2) / (2 * step)) + 1
    gap = (2 * first * step + Fraction(step) ** 2) / (2 * v) - size
    in_floats = module._float_sum(v, step, first, gap)
    assert exact <= in_floats <= exact * (1 + Fraction(11, 10**10))


@given(st.floats(0.5, 50), st.floats(0.05, 4))
@settings(max_examples=30)
def test_rho_is_never_beaten_by_the_exact_curve(variance, epsilon):
    assert discrete_gaussian_delta(variance, epsilon) <= zcdp_delta(1 / (2 * variance), epsilon)


@pytest.mark.parametrize(("epsilon", "delta", "shift"), [(1, "1e-6", 1), ("0.3", "1e-9", 4)])
def test_a_calibrated_variance_is_enough_and_hardly_more(epsilon, delta, shift):
    variance = discrete_gaussian_variance(epsilon, delta, shift)
    assert discrete_gaussian_delta_charge(variance, epsilon, shift) <= Fraction(delta)
    assert discrete_gaussian_delta_charge(variance * Fraction(999, 1000), epsilon, shift) > (
        Fraction(delta)
    )


def test_one_answer_and_many_agree_with_their_definitions():
    epsilon = discrete_gaussian_epsilon(16, "1e-6")
    assert discrete_gaussian_delta(16, epsilon) == pytest.approx(1e-6, rel=1e-9)
    assert discrete_gaussian_epsilon(16, "1e-6", count=10) < discrete_gaussian_epsilon(
        16, "1e-6", sensitivity=10
    )


def test_the_worst_shift_of_a_vector_is_not_its_longest_coordinate():
    """Four coordinates by 1, enumerated: more than one coordinate by 2, at the same L2 length."""
    k = np.arange(-22, 23)
    pmf = np.exp(-(k**2) / 8.0)
    pmf /= pmf.sum()
    joint = np.einsum("a,b,c,d->abcd", pmf, pmf, pmf, pmf)
    sums = k[:, None, None, None] + k[:, None, None] + k[:, None] + k
    ratio = np.exp(-(2 * sums + 4) / 8.0)  # Q / P for the shift (1, 1, 1, 1)
    four = float((joint * np.maximum(0, 1 - math.e * ratio)).sum())
    assert discrete_gaussian_shift_delta(4, 1, [1, 1, 1, 1]) == pytest.approx(four, rel=1e-10)
    assert four > 1.04 * discrete_gaussian_shift_delta(4, 1, [-2])
    assert discrete_gaussian_shift_delta(4, 1, [0, 0]) == 0


def test_a_tiny_variance_and_a_huge_epsilon_still_have_a_delta():
    assert discrete_gaussian_delta("0.01", 1) == pytest.approx(1, abs=1e-12)
    assert 0 < discrete_gaussian_delta_charge(1, 40) < Fraction(1, 10**300)


@pytest.mark.parametrize("variance", [0, -1, "nan", None])
def test_a_variance_must_be_positive(variance):
    with pytest.raises(ParameterError, match="variance is"):
        discrete_gaussian_delta(variance, 1)


def test_a_grid_that_is_too_fine_is_sent_to_rho():
    with pytest.raises(ParameterError, match="Charge it in rho, or coarsen the grid"):
        discrete_gaussian_delta(10**13, 1)


def test_in_epsilon_and_delta_delta_zero_is_refused():
    for ask in (
        lambda: discrete_gaussian_epsilon(1, 0),
        lambda: discrete_gaussian_variance(1, 0),
    ):
        with pytest.raises(ParameterError, match="state it in rho instead"):
            ask()
