"""Compositions against exact enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from noren.errors import ParameterError
from noren.privacy import (
    advanced_composition_epsilon,
    advanced_filter_epsilon,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sigma,
    gdp_delta,
    laplace_delta,
    laplace_epsilon,
    optimal_composition_delta,
    optimal_composition_epsilon,
    randomized_response_delta,
)
from noren.privacy.composition import (
    optimal_composition_delta_charge,
    optimal_composition_epsilon_charge,
)


def enumerated_delta(epsilon0: float, count: int, epsilon: float) -> float:
    """Run count-fold randomized response through all its outputs."""
    true, lie = math.exp(epsilon0) / (1 + math.exp(epsilon0)), 1 / (1 + math.exp(epsilon0))
    total = 0.0
    for output in itertools.product((0, 1), repeat=count):
        ones = sum(output)
        p, q = true**ones * lie ** (count - ones), lie**ones * true ** (count - ones)
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


@pytest.mark.parametrize("epsilon0", [0.1, 0.7, 2])
@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_optimal_composition_is_that_of_randomized_response(epsilon0, count):
    for epsilon in (0, 0.3, 1, 1.9):
        found = optimal_composition_delta(epsilon0, count, epsilon)
        assert found == pytest.approx(enumerated_delta(epsilon0, count, epsilon), abs=1e-14)


@settings(max_examples=40)
@given(
    st.fractions(Fraction(1, 50), 3),
    st.integers(1, 60),
    st.integers(1, 30).map(lambda n: Fraction(1, 2**n)),
)
def test_optimal_epsilon_undoes_optimal_delta(epsilon0, count, delta):
    epsilon = optimal_composition_epsilon_charge(epsilon0, count, delta)
    rounding = 1 + Fraction(1, 10**36)
    assert optimal_composition_delta_charge(epsilon0, count, epsilon) <= delta * rounding
    if epsilon:
        back = optimal_composition_delta_charge(epsilon0, count, epsilon * (1 - Fraction(1, 10**9)))
        assert back > delta * (1 - Fraction(1, 10**6))
    assert epsilon <= count * epsilon0


@given(st.fractions(Fraction(1, 50), 1), st.integers(1, 60))
def test_optimal_is_never_above_advanced_or_basic(epsilon0, count):
    optimal = optimal_composition_epsilon(epsilon0, count, "1e-6")
    advanced = advanced_composition_epsilon([epsilon0] * count, "1e-6")
    assert optimal <= advanced * (1 + 1e-12)
    assert advanced <= count * epsilon0 * (1 + 1e-12)


def test_deltas_of_the_parts_multiply():
    alone = optimal_composition_delta_charge("0.5", 4, 1)
    joint = optimal_composition_delta_charge("0.5", 4, 1, delta0="0.01")
    assert joint == 1 - Fraction(99, 100) ** 4 * (1 - alone)
    epsilon = optimal_composition_epsilon_charge("0.5", 4, joint, delta0="0.01")
    assert float(epsilon) == pytest.approx(1, abs=1e-12)
    with pytest.raises(ParameterError, match="which the parts already have"):
        optimal_composition_epsilon_charge("0.5", 4, "0.01", delta0="0.01")


def test_at_delta_zero_epsilons_add():
    assert optimal_composition_epsilon_charge("0.1", 7, 0) == Fraction(7, 10)
    assert optimal_composition_delta("0.1", 7, "0.7") == 0


def test_ten_questions_of_one_are_better_added_up_than_advanced():
    assert advanced_composition_epsilon([1] * 10, "1e-6") == 10
    assert optimal_composition_epsilon(1, 10, "1e-6") < 10


@pytest.mark.parametrize("k", [2, 3, 12])
def test_the_profile_of_randomized_response_is_its_hockey_stick(k):
    low = 1 / (math.exp(1.5) + k - 1)
    for epsilon in (0, 0.4, 1.49, 1.5, 2):
        exact = max(0.0, (math.exp(1.5) - math.exp(epsilon)) * low)
        assert randomized_response_delta(1.5, epsilon, k) == pytest.approx(exact, abs=1e-15)


def test_one_laplace_answer_has_its_textbook_curve():
    for epsilon in (0, 0.2, 0.9):
        assert laplace_delta(1, epsilon) == pytest.approx(1 - math.exp((epsilon - 1) / 2))
    assert laplace_delta(1, 1) == 0


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.7])
def test_two_laplace_answers_agree_with_numerical_integration(epsilon):
    def loss(x: float) -> float:
        return abs(x - 1) - abs(x)

    def inner(x: float) -> float:
        # the second answer's curve at the epsilon that is left; total variation below zero
        left = epsilon - loss(x)
        if left >= 0:
            return max(0.0, -math.expm1((left - 1) / 2)) if left < 1 else 0.0
        # delta(-e) = 1 - e^-e (1 - delta(e)) for a symmetric pair
        return 1 - math.exp(left) * (1 - max(0.0, -math.expm1((-left - 1) / 2)))

    pieces = [(-40, 0), (0, 0.5), (0.5, 1), (1, 41)]
    total = sum(
        quad(lambda x: math.exp(-abs(x)) / 2 * inner(x), a, b, limit=200)[0] for a, b in pieces
    )
    assert laplace_delta(1, epsilon, 2) == pytest.approx(total, abs=1e-9)


def test_laplace_epsilon_undoes_laplace_delta():
    assert laplace_delta("0.5", laplace_epsilon("0.5", "1e-3", 3), 3) == pytest.approx(1e-3)
    assert laplace_epsilon("0.5", 0, 3) == 1.5
    assert laplace_epsilon("0.01", "0.5", 2) == 0
    with pytest.raises(ParameterError, match="Use the accountant"):
        laplace_delta("0.1", 1, 61)


@given(st.floats(0.05, 30), st.floats(0, 12))
@settings(max_examples=50)
def test_the_gaussian_curve_is_a_hockey_stick_integral(sigma, epsilon):
    mu = 1 / sigma
    start = epsilon / mu + mu / 2

    def density(x: float) -> float:
        p = math.exp(-((x - mu) ** 2) / 2)
        return (p - math.exp(epsilon - x * x / 2)) / math.sqrt(2 * math.pi)

    exact = (
        quad(density, start, start + 12, epsabs=1e-13, limit=200)[0]
        + (quad(density, start + 12, start + 60)[0])
    )
    if start < 25:
        assert gaussian_delta(epsilon, sigma) == pytest.approx(exact, abs=1e-9)


@given(st.floats(0.01, 10), st.integers(1, 20).map(lambda n: 10.0**-n))
def test_gaussian_sigma_and_epsilon_are_inverse_and_safe(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta)
    assert gdp_delta(1 / sigma, epsilon) <= delta * (1 + 1e-9)
    assert gaussian_epsilon(sigma, delta) == pytest.approx(epsilon, rel=1e-6, abs=1e-9)
    assert gaussian_epsilon(sigma * math.sqrt(7), delta, count=7) == pytest.approx(
        epsilon, rel=1e-6, abs=1e-9
    )


def test_gaussian_noise_has_no_pure_form():
    for ask in (lambda: gaussian_sigma(1, 0), lambda: gaussian_epsilon(1, 0)):
        with pytest.raises(ParameterError, match="state it in rho instead"):
            ask()
    with pytest.raises(ParameterError, match="sigma is 0"):
        gaussian_delta(1, 0)


def test_numpy_scalars_are_read_as_numbers():
    assert optimal_composition_delta(np.float64(0.1), np.int64(10), np.float64(0.5)) == (
        optimal_composition_delta("0.1", 10, "0.5")
    )


def test_the_advanced_filter_needs_a_delta_of_its_own():
    with pytest.raises(ParameterError, match="delta is 0"):
        advanced_filter_epsilon(1, 0)
    assert advanced_filter_epsilon(1, "1e-400") > advanced_filter_epsilon(1, "1e-300")
