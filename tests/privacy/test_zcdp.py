"""Out of rho: against brute force over orders, and safe on either side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.privacy import gaussian_delta, zcdp_delta, zcdp_epsilon, zcdp_rho
from noren.privacy.zcdp import (
    zcdp_delta_charge,
    zcdp_epsilon_charge,
    zcdp_epsilon_simple,
    zcdp_rho_budget,
)

RHOS = st.fractions(Fraction(1, 10**6), Fraction(20))
DELTAS = st.integers(1, 40).map(lambda power: Fraction(1, 3**power))


def brute_delta(rho: float, epsilon: float) -> float:
    b = np.geomspace(1e-4, 1e7, 400_001)
    logs = b * ((1 + b) * rho - epsilon) - (1 + b) * np.log1p(1 / b) - np.log(b)
    return math.exp(min(0.0, float(logs.min())))


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.5, 3])
@pytest.mark.parametrize("epsilon", [0, 0.05, 1, 8])
def test_delta_is_the_smallest_over_all_orders(rho, epsilon):
    assert zcdp_delta(rho, epsilon) == pytest.approx(brute_delta(rho, epsilon), rel=1e-6)
    assert zcdp_delta(rho, epsilon) <= brute_delta(rho, epsilon) * (1 + 1e-9)


@given(RHOS, DELTAS)
def test_epsilon_and_delta_undo_each_other_on_the_safe_side(rho, delta):
    epsilon = zcdp_epsilon_charge(rho, delta)
    if epsilon:
        back = zcdp_delta_charge(rho, epsilon)
        assert float(back) == pytest.approx(float(delta), rel=1e-9)
    assert epsilon <= zcdp_epsilon_simple(rho, delta) + 1e-12


@given(RHOS, DELTAS)
def test_a_budget_of_rho_never_implies_more_than_was_asked(epsilon, delta):
    rho = zcdp_rho_budget(epsilon, delta)
    assert zcdp_epsilon_charge(rho, delta) <= epsilon * (1 + Fraction(1, 10**12))
    assert zcdp_delta_charge(rho * Fraction(999, 1000), epsilon) < delta


@given(RHOS, DELTAS, st.fractions(Fraction(1, 100), 1))
def test_conversions_are_monotone(rho, delta, more):
    assert zcdp_epsilon_charge(rho, delta) <= zcdp_epsilon_charge(rho * (1 + more), delta)
    assert zcdp_epsilon_charge(rho, delta) >= zcdp_epsilon_charge(rho, min(1, 2 * delta) * 9 / 10)
    assert zcdp_delta_charge(rho, more) >= zcdp_delta_charge(rho, 2 * more)


@pytest.mark.parametrize("sigma", [0.7, 2, 11])
def test_the_gaussian_mechanism_stays_below_its_own_rho(sigma):
    for epsilon in (0.1, 1, 4):
        assert gaussian_delta(epsilon, sigma) <= zcdp_delta(1 / (2 * sigma**2), epsilon)


def test_a_delta_that_rho_already_has_is_taken_off_first():
    left = (Fraction("1e-6") - Fraction("2e-7")) / (1 - Fraction("2e-7"))
    assert zcdp_epsilon_charge("0.1", "1e-6", "2e-7") == zcdp_epsilon_charge("0.1", left)
    with pytest.raises(ParameterError, match="above the delta 2e-07"):
        zcdp_epsilon_charge("0.1", "2e-7", "2e-7")


def test_delta_zero_has_no_epsilon():
    with pytest.raises(ParameterError, match="At delta 0, rho has no finite epsilon"):
        zcdp_epsilon(1, 0)
    with pytest.raises(ParameterError, match="above 0"):
        zcdp_rho(1, 0)


def test_nothing_spent_costs_nothing_and_delta_is_at_most_one():
    assert zcdp_epsilon(0, "1e-6") == zcdp_delta(0, 1) == 0
    assert zcdp_delta(50, 0) == 1
    assert zcdp_epsilon("1e-9", "0.5") == 0


def test_extreme_deltas_still_convert():
    assert zcdp_epsilon("0.1", Fraction(1, 10**400)) == pytest.approx(
        0.1 + 2 * math.sqrt(0.1 * 400 * math.log(10)), rel=0.02
    )
