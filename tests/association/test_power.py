"""What a test of level 0.05 finds in 400 people, by the threshold inside the score."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from noren.association import Tables, cut_off, significance_probability
from noren.association.distance import scores

GROUP = 200
COMMON, RARE = (0.5, 0.3), (0.1, 0.02)  # carrier rates of cases and controls


def power(tau, epsilon, cut, rates):
    """Add up Pr[s + Z >= cut] over all tables."""
    a, b = (grid.ravel() for grid in np.mgrid[0 : GROUP + 1, 0 : GROUP + 1])
    gap, t = cut - scores(Tables(a, b, GROUP, GROUP), tau), math.exp(-epsilon)
    tail = np.where(gap > 0, t ** np.maximum(gap, 0), 1 + t - t ** (np.maximum(-gap, 0) + 1))
    return float(tail / (1 + t) @ (binom.pmf(a, GROUP, rates[0]) * binom.pmf(b, GROUP, rates[1])))


@pytest.mark.parametrize(
    ("epsilon", "tau", "found", "cut"),
    [
        (0.1, 1, 0.664, 25), (0.1, 2, 0.570, 24), (0.1, 3.8415, 0.461, 23),
        (0.2, 1, 0.906, 16), (0.2, 2, 0.898, 12), (0.2, 3.8415, 0.818, 11),
        (0.5, 1, 0.974, 12), (0.5, 2, 0.972, 8), (0.5, 3.8415, 0.960, 4),
        (1.0, 1, 0.977, 12), (1.0, 2, 0.981, 7), (1.0, 3.8415, 0.978, 2),
    ],
)  # fmt: skip
def test_the_guaranteed_cut_off_and_its_power_are_those_of_the_table(epsilon, tau, found, cut):
    assert cut_off(0.05, GROUP, GROUP, tau, epsilon, "common_rate") == cut
    assert power(tau, epsilon, cut, COMMON) == pytest.approx(found, abs=6e-4)


@pytest.mark.parametrize(("tau", "found"), [(1, 0.446), (2, 0.608), (3.8415, 0.727)])
def test_rare_carriers_want_a_larger_threshold(tau, found):
    cut = cut_off(0.05, GROUP, GROUP, tau, 0.5, "common_rate")
    assert power(tau, 0.5, cut, RARE) == pytest.approx(found, abs=6e-4)


def test_small_epsilon_wants_a_smaller_threshold_than_large():
    at = {
        (epsilon, tau): power(
            tau, epsilon, cut_off(0.05, GROUP, GROUP, tau, epsilon, "common_rate"), COMMON
        )
        for epsilon in (0.1, 1)
        for tau in (1, 2)
    }
    assert at[0.1, 1] > at[0.1, 2]
    assert at[1, 2] > at[1, 1]


RATES = (0.001, 0.01, 0.05, 0.1, 0.3, 0.5)
FALSE_CALLS = {
    (0.1, "unit-circle"): (0.499, 0.490, 0.452, 0.411, 0.292, 0.243),
    (0.1, "distance"): (0.364, 0.407, 0.339, 0.284, 0.208, 0.190),
    (1, "unit-circle"): (0.490, 0.412, 0.207, 0.111, 0.058, 0.055),
    (1, "distance"): (0.023, 0.104, 0.067, 0.056, 0.053, 0.053),
    (3, "unit-circle"): (0.473, 0.294, 0.079, 0.056, 0.051, 0.051),
    (3, "distance"): (0.000, 0.045, 0.049, 0.049, 0.050, 0.051),
}


@pytest.mark.parametrize(("epsilon", "method"), FALSE_CALLS)
def test_decisions_at_the_usual_threshold_have_no_level(epsilon, method):
    a, b = (grid.ravel() for grid in np.mgrid[0 : GROUP + 1, 0 : GROUP + 1])
    tables = Tables(a, b, GROUP, GROUP)
    chance = significance_probability(tables, 3.841458820694124, epsilon, method)
    found = [float(chance @ (binom.pmf(a, GROUP, p) * binom.pmf(b, GROUP, p))) for p in RATES]
    assert found == pytest.approx(FALSE_CALLS[epsilon, method], abs=6e-4)
    assert max(found) > 0.0504  # above the level of the plain test
