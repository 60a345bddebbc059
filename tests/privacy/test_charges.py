"""Rho of each mechanism: against enumerated laws, and never below them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.privacy.charges import (
    discrete_gaussian_rho_charge,
    discrete_laplace_rho_charge,
    exponential_mechanism_rho_charge,
    laplace_rho_charge,
    pure_to_zcdp_charge,
    randomized_response_rho_charge,
)

ORDERS = np.concatenate([1 + np.geomspace(1e-4, 1, 40), np.geomspace(2, 400, 60)])
EPSILONS = st.fractions(Fraction(1, 100), Fraction(8))


def largest_rho(p: np.ndarray, q: np.ndarray) -> float:
    """Maximize D_a(P, Q) / a over many orders, by enumeration."""
    log_p, log_q = np.log(p), np.log(q)
    exponents = ORDERS[:, None] * log_p + (1 - ORDERS[:, None]) * log_q
    top = exponents.max(axis=1, keepdims=True)
    logs = top[:, 0] + np.log(np.exp(exponents - top).sum(axis=1))
    return float(np.max(logs / (ORDERS - 1) / ORDERS))


def response(epsilon: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    low = 1 / (math.exp(epsilon) + k - 1)
    p = np.full(k, low)
    p[0] = math.exp(epsilon) * low
    return p, np.roll(p, 1)


def discrete_laplace(epsilon: float, shift: int) -> tuple[np.ndarray, np.ndarray]:
    reach = math.ceil(40 * shift / epsilon) + shift
    k = np.arange(-reach, reach + 1)
    p, q = (np.exp(-np.abs(k - m) * epsilon / shift) for m in (0, shift))
    return p / p.sum(), q / p.sum()


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1, 3, 6])
@pytest.mark.parametrize("k", [2, 3, 6, 7, 10, 100, 1024])
def test_randomized_response_is_charged_its_largest_divergence(epsilon, k):
    found, enumerated = (
        float(randomized_response_rho_charge(epsilon, k)),
        largest_rho(*response(epsilon, k)),
    )
    assert enumerated <= found * (1 + 1e-9)
    assert found <= enumerated * 1.002  # the grid of orders is coarse, and begins above 1


def test_the_divergence_at_order_one_is_too_little_from_seven_categories_on():
    kullback_leibler = (math.e - 1) / (math.e + 9)
    assert float(randomized_response_rho_charge(1, 10)) > 1.01 * kullback_leibler
    assert largest_rho(*response(1, 1024)) > 22 * (math.e - 1) / (math.e + 1023)


@pytest.mark.parametrize("k", [7, 10, 200])
def test_the_search_meets_the_closed_form_where_it_begins_to_hold(k):
    border = 2 * math.log((k - 2) / 4)
    kullback_leibler = border * math.expm1(border) / (math.exp(border) + k - 1)
    for epsilon in (border - 1e-9, border + 1e-9):
        assert float(randomized_response_rho_charge(epsilon, k)) == pytest.approx(
            kullback_leibler, rel=1e-8
        )


@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 8])
def test_no_mechanism_of_bounded_range_costs_more_than_the_exponential_mechanism(epsilon):
    """Losses t and t - epsilon, all t: the worst laws whose loss spans epsilon."""
    largest = 0.0
    for t in np.linspace(0.002, 0.998, 499) * epsilon:
        q = -math.expm1(t - epsilon) / (math.exp(t) - math.exp(t - epsilon))
        laws = np.array([q, 1 - q])
        largest = max(largest, largest_rho(laws * np.exp([t, t - epsilon]), laws))
    found = float(exponential_mechanism_rho_charge(epsilon))
    assert largest <= found * (1 + 1e-9)
    assert found <= largest * 1.001


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("shift", [1, 2, 5, 40])
def test_discrete_laplace_is_charged_its_largest_divergence(epsilon, shift):
    found = float(discrete_laplace_rho_charge(epsilon, shift))
    enumerated = largest_rho(*discrete_laplace(epsilon, shift))
    assert enumerated <= found * (1 + 1e-8)
    assert found <= enumerated * 1.001


@given(EPSILONS)
def test_every_charge_lies_between_the_laplace_limit_and_the_textbook(epsilon):
    laplace, pure = laplace_rho_charge(epsilon), pure_to_zcdp_charge(epsilon)
    assert laplace <= discrete_laplace_rho_charge(epsilon, 7) <= pure <= epsilon**2 / 2
    assert discrete_laplace_rho_charge(epsilon, 1) == pytest.approx(float(pure), rel=1e-14)
    assert exponential_mechanism_rho_charge(epsilon) <= epsilon**2 / 8
    assert randomized_response_rho_charge(epsilon, 9) <= pure


@given(EPSILONS, st.fractions(Fraction(1, 1000), Fraction(1)))
def test_charges_rise_with_epsilon(epsilon, more):
    for charge in (pure_to_zcdp_charge, laplace_rho_charge, exponential_mechanism_rho_charge):
        assert charge(epsilon) < charge(epsilon + more)


@pytest.mark.parametrize("power", [6, 12, 20, 29, 31, 60])
@pytest.mark.parametrize(
    ("charge", "factor"),
    [
        (pure_to_zcdp_charge, 2),
        (laplace_rho_charge, 2),
        (discrete_laplace_rho_charge, 2),
        (exponential_mechanism_rho_charge, 8),
    ],
)
def test_tiny_epsilons_do_not_cancel(charge, factor, power):
    epsilon = Fraction(1, 10**power)
    ratio = charge(epsilon) / (epsilon**2 / factor)
    assert abs(ratio - 1) <= epsilon


def test_charges_are_not_below_the_true_value():
    """tanh by its continued fraction in exact arithmetic: odd convergents lie below tanh."""
    for epsilon in (Fraction(1, 3), Fraction(1), Fraction(7, 2)):
        x, below = epsilon / 2, Fraction(0)
        for odd in range(81, 0, -2):
            below = x / (odd + x * below)
        charge = pure_to_zcdp_charge(epsilon)
        assert 0 <= charge - epsilon * below <= charge * Fraction(1, 10**38)


def test_the_discrete_gaussian_is_charged_exactly():
    assert discrete_gaussian_rho_charge(variance=16, sensitivity_squared=4) == Fraction(1, 8)


def test_large_epsilons_cost_what_they_are():
    assert 1000 - pure_to_zcdp_charge(1000) < Fraction(1, 10**30)
    assert laplace_rho_charge(10**6) == pytest.approx(999_999, rel=1e-12)


@pytest.mark.parametrize("epsilon", [-1, "nan", float("inf"), None, True])
def test_an_epsilon_that_is_not_a_finite_amount_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon is"):
        pure_to_zcdp_charge(epsilon)
