"""Calibrations against the oracle table, and against exact densities that never exceed them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit

from noren.collaboration.gaussian_calibration import (
    gaussian_mu,
    joint_bound,
    tight_gaussian_delta,
    tight_gaussian_sigma,
)
from noren.collaboration.pure_calibration import (
    cms_calibration,
    tight_pure_epsilon,
    tight_pure_rate,
    worst_gain,
)
from noren.errors import ParameterError
from noren.privacy import gaussian_delta


@pytest.mark.parametrize("who", ["bit", "local", "zero-out"])
def test_the_pure_price_is_proved_for_two_kinds_of_neighbors_only(who):
    for asked in (tight_pure_rate, tight_pure_epsilon):
        with pytest.raises(ParameterError, match="covers no other neighbors"):
            asked(1, 1, who)


@pytest.mark.parametrize(
    ("n", "epsilon", "ridge_per_row", "ridge", "rate"),
    [
        (50, 0.1, 0.02, 9.87552082791, 0.025),
        (50, 0.5, 0.02, 1, 0.0268564486858),
        (50, 0.9, 0.02, 1, 0.226856448686),
        (50, 1.9, 0.02, 1, 0.726856448686),
        (60, 1, 0.02, 1.2, 0.310758000361),
    ],
)
def test_the_published_calibration_is_the_papers(n, epsilon, ridge_per_row, ridge, rate):
    found = cms_calibration(n, epsilon, ridge_per_row)
    assert found == pytest.approx((ridge, rate), rel=1e-11)


@pytest.mark.parametrize(
    ("rate", "ridge", "substitute", "add_remove"),
    [
        (0.5, 0.5, 1.20130467257, 0.701304672569),
        (0.25, 1, 0.617488859195, 0.367488859195),
        (0.5, 2, 1, 0.5),
        (0.05, 0.1, 1.32798169458, 1.27798169458),
    ],
)
def test_the_exact_price_of_a_rate_matches_the_oracles(rate, ridge, substitute, add_remove):
    assert tight_pure_epsilon(rate, ridge, "replace") == pytest.approx(substitute, rel=1e-11)
    assert tight_pure_epsilon(rate, ridge, "addremove") == pytest.approx(add_remove, rel=1e-11)


@pytest.mark.parametrize(
    ("epsilon", "ridge", "substitute", "add_remove"),
    [
        (1, 0.5, 0.378665830369, 0.90295421828),
        (1, 1, 0.472821789549, 1),
        (1, 2, 0.5, 1),
        (0.1, 5, 0.0331774355111, 0.0839877496527),
    ],
)
def test_the_rate_that_an_epsilon_buys_matches_the_oracles(epsilon, ridge, substitute, add_remove):
    assert tight_pure_rate(epsilon, ridge, "replace") == pytest.approx(substitute, rel=1e-11)
    assert tight_pure_rate(epsilon, ridge, "addremove") == pytest.approx(add_remove, rel=1e-11)


def test_a_rate_near_zero_does_not_hide_the_price_of_curvature():
    assert tight_pure_epsilon(1e-16, 1, "addremove") == pytest.approx(0.22314355131, rel=1e-10)


@pytest.mark.parametrize(("n", "claimed", "true"), [
    (50, 0.5, 0.263654), (50, 0.9, 0.579384), (50, 1.9, 1.467216), (50, 0.1, 0.064081),
    (50, 0.3, 0.192354),
])  # fmt: skip
def test_the_published_calibration_is_valid_and_loose(n, claimed, true):
    ridge, rate = cms_calibration(n, claimed, 0.02)
    assert tight_pure_epsilon(rate, ridge, "substitute") == pytest.approx(true, abs=6e-7)


@given(rate=st.floats(0, 50), ridge=st.floats(0.01, 50))
def test_the_formula_is_the_largest_value_of_a_fine_search(rate, ridge):
    s = np.linspace(0, 1, 4001)
    searched = float((rate * s + np.log1p(s * (1 - s) / ridge)).max())
    assert searched <= worst_gain(rate, ridge) * (1 + 1e-12) + 1e-15
    assert worst_gain(rate, ridge) <= searched + (2 / ridge + 1 / ridge**2 + rate) / 4000


@given(
    epsilon=st.floats(0.01, 10),
    ridge=st.floats(0.05, 500),
    word=st.sampled_from(["add-remove", "substitute"]),
)
def test_a_rate_given_for_an_epsilon_never_costs_more(epsilon, ridge, word):
    curvature_alone = math.log1p(0.25 / ridge)
    if curvature_alone >= epsilon * (1 - 1e-9):
        with pytest.raises(ParameterError, match="ridge is"):
            tight_pure_rate(epsilon * (1 - 1e-9), ridge, word)
    else:
        rate = tight_pure_rate(epsilon, ridge, word)
        assert rate > 0
        assert tight_pure_epsilon(rate, ridge, word) <= epsilon


@pytest.mark.parametrize(
    ("epsilon", "delta", "mu"),
    [(1, "1e-5", 0.268051123211), (0.5, "1e-6", 0.124106149031), (3, "1e-5", 0.719117435222)],
)
def test_mu_matches_the_oracles(epsilon, delta, mu):
    assert gaussian_mu(epsilon, delta) == pytest.approx(mu, rel=1e-11)


DELTAS = [
    (1, 4, 1, 9.52585691285e-05, 2.94325907032e-06),
    (1, 3.8, 10, 1.07430854262e-05, 7.37436654854e-06),
    (0.5, 8, 0.5, 0.0169845253038, 0.00271545646772),
    (0.1, 2, 0.1, 0.746572515164, 0.691124866031),
]
EXACT = [2.92427e-6, 7.32892e-6, 0.0027065, 0.69101]


@pytest.mark.parametrize(("epsilon", "sigma", "ridge", "closed", "joint"), DELTAS)
def test_deltas_match_the_oracles(epsilon, sigma, ridge, closed, joint):
    found = tight_gaussian_delta(epsilon, sigma, ridge, bound="closed")
    assert found == pytest.approx(closed, rel=1e-10)
    found = tight_gaussian_delta(epsilon, sigma, ridge)
    assert 0.98 * joint <= found <= 1.03 * joint


@pytest.mark.parametrize(("row", "exact"), list(zip(DELTAS, EXACT, strict=True)))
def test_the_bound_by_cells_lies_just_above_the_expectation(row, exact):
    epsilon, sigma, ridge = (float(x) for x in row[:3])
    assert exact * (1 - 2e-5) <= joint_bound(epsilon, sigma, ridge) <= exact * 1.004


def test_with_enough_ridge_the_joint_bound_is_the_plain_curve():
    assert tight_gaussian_delta(1, 4, 1) == gaussian_delta(1, 4)
    assert tight_gaussian_sigma(1, "1e-5", 1) == pytest.approx(3.73063163481594, rel=1e-10)
    assert tight_gaussian_sigma(1, "1e-5", "0.5") == pytest.approx(4.02, abs=0.005)


def test_a_ridge_too_small_for_epsilon_is_refused_with_the_least_that_works():
    with pytest.raises(ParameterError, match=r"above 0\.145494 for this epsilon"):
        tight_pure_rate(1, 0.1, "add-remove")
    with pytest.raises(ParameterError, match="for this epsilon"):
        tight_gaussian_sigma(1, "1e-5", 0.1)


# One feature: the output's exact density, for small data sets with and without one row.


INTEGRAL = 1e-4  # error of the integrals below
OTHERS = [[], [1.0], [-1.0], [1.0, 1.0, -1.0], [0.5] * 10, [-1.0] * 50]
SETTINGS = [
    (epsilon, factor, ridge)
    for epsilon in (0.1, 0.5, 1.0)
    for factor in (0.5, 1, 2)
    for ridge in (0.3, 0.5, 1, 2, 5, 50)
]


@pytest.mark.parametrize(("epsilon", "factor", "ridge"), SETTINGS)
def test_exact_densities_never_exceed_the_gaussian_bound(epsilon, factor, ridge):
    sigma = factor / gaussian_mu(epsilon, "1e-3")
    bound = tight_gaussian_delta(epsilon, sigma, ridge)

    for others in OTHERS:
        assert worst_delta(np.array(others), epsilon, sigma, ridge) <= bound * (1 + INTEGRAL)


def worst_delta(others, epsilon, sigma, ridge):
    """Integrate (p - e^epsilon q)+ with and without one more row of size 1, both ways."""
    reach = (len(others) + 1 + 12 * sigma) / ridge
    t = np.linspace(-reach, reach, 8_001)
    p = density_on(t, np.append(others, 1.0), sigma, ridge)
    q = density_on(t, others, sigma, ridge)
    both = [np.maximum(0, a - math.exp(epsilon) * b) for a, b in ((p, q), (q, p))]
    return max(float(np.trapezoid(excess, t)) for excess in both)


def density_on(t, rows, sigma, ridge):
    s = expit(-np.multiply.outer(t, rows))
    b = s @ rows - ridge * t
    curvature = (s * (1 - s)) @ rows**2 + ridge
    return np.exp(-((b / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi)) * curvature


def test_the_density_used_above_is_one():
    rows = np.array([1.0, -0.5, 0.25])
    total = quad(lambda t: float(density_on(np.array([t]), rows, 2.0, 0.7)[0]), -60, 60, limit=400)
    assert total[0] == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("ridge", [0.1, 0.5, 2, 20])
@pytest.mark.parametrize("rate", [0.05, 0.5, 2])
def test_exact_losses_never_exceed_the_pure_price(rate, ridge):
    claimed = tight_pure_epsilon(rate, ridge, "add-remove")
    t = np.linspace(-200, 200, 8_001)
    for others in OTHERS:
        for x in (1.0, 0.5):
            with_row = np.array([*others, x])
            loss = pure_log_density(t, with_row, rate, ridge) - pure_log_density(
                t, np.array(others), rate, ridge
            )
            assert np.abs(loss).max() <= claimed * (1 + 1e-9)


def pure_log_density(t, rows, rate, ridge):
    s = expit(-np.multiply.outer(t, rows))
    b = s @ rows - ridge * t
    return -rate * np.abs(b) + np.log((s * (1 - s)) @ rows**2 + ridge)
