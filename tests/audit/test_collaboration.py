"""The audit of collaboration: what it says of our claims, of printed ones, and of faults."""

import math

import numpy as np
import pytest

from noren import audit
from noren.audit.collaboration_densities import (
    gaussian_law,
    log_density,
    pure_law,
    softmax_worst_delta,
    softmax_worst_loss,
    worst_delta,
)
from noren.collaboration.counterexamples import kst_log_ratio, pair_log_ratio
from noren.collaboration.pure_calibration import tight_pure_epsilon
from noren.privacy import gaussian_delta


@pytest.fixture(scope="module")
def rows():
    return audit.run("collaboration", quick=True)


def test_every_row_is_as_expected(rows):
    assert [row for row in rows if not row.ok] == []
    assert {row.method for row in rows} >= {"exact", "statistical", "mutant"}


def test_the_printed_claim_for_a_substituted_row_fails_and_the_true_price_holds(rows):
    failed = [
        r for r in rows if "published-training, rate" in r.mechanism and r.expected == "fails"
    ]
    assert len(failed) == 3
    assert all(row.measured > row.claimed for row in failed)
    held = [row for row in rows if "true price" in row.mechanism]
    assert all(row.measured <= row.claimed for row in held)


def test_every_fault_in_training_is_caught(rows):
    faults = [row for row in rows if row.method == "mutant" and "gibbs" not in row.mechanism]
    assert len(faults) >= 9
    assert all(row.measured > row.claimed for row in faults)


@pytest.mark.parametrize(("epsilon", "distance", "angle", "count", "expected"), [
    (1, 2000, 0.01, 200_000, 1.2007306264),
    (1, 400, 0.03, 20_000, 1.09124641604),
    (0.1, 2000, 0.01, 200_000, 0.126940838829),
])  # fmt: skip
def test_the_counterexample_matches_the_oracles(epsilon, distance, angle, count, expected):
    found = kst_log_ratio(epsilon, distance, angle, count)
    assert found == pytest.approx(expected, rel=2e-10)


@pytest.mark.parametrize(("claimed", "true"), [
    (0.1, 0.1270660543), (0.5, 0.6174888592), (1, 1.2013046725), (2, 2.3113969880),
])  # fmt: skip
def test_the_true_price_of_the_printed_numbers_matches_the_oracles(claimed, true):
    found = tight_pure_epsilon(claimed / 2, 1 / (2 * claimed), "substitute")
    assert found == pytest.approx(true, rel=1e-9)


@pytest.mark.parametrize(("rate", "ridge"), [(0.5, 0.5), (0.5, 2), (1, 0.3), (0.05, 0.1)])
def test_the_tight_price_is_nearly_attained_with_two_features(rate, ridge):
    claimed = tight_pure_epsilon(rate, ridge, "substitute")
    measured = pair_log_ratio(rate, ridge, 6000, 0.01, 2_000_000)
    assert 0.999 * claimed < measured <= claimed


def test_the_densities_have_mass_one():
    t = np.linspace(-300, 300, 400_001)
    for law in (pure_law(0.5), gaussian_law(4.0)):
        density = np.exp(log_density(t, np.array([1.0, -0.7, 0.2]), 0.6, law))
        assert np.trapezoid(density, t) == pytest.approx(1, abs=1e-4)


def test_the_plain_curve_is_attained_by_one_row_against_none():
    assert worst_delta(1.0, 2.5, 1.0) >= 0.97 * gaussian_delta(1, 2.5)


def test_the_softmax_audit_can_tell_prices_without_curvature_or_slope():
    assert softmax_worst_loss(0.2, 0.5) > math.sqrt(2) * 0.2
    assert softmax_worst_loss(1.0, 50.0) > 1.0
    assert softmax_worst_delta(1.0, 3.0, 0.5) > gaussian_delta(1, 3)
