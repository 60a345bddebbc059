"""The laws meet the oracle table and independent sums."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from noren.errors import ParameterError
from noren.noise import laws
from noren.noise.reals import precision

ORACLES = json.loads((Path(__file__).parents[1] / "oracles" / "primitives.json").read_text())
MEASURED = {
    "discrete_gaussian_pmf": lambda variance, point: laws.discrete_gaussian_pmf(
        Fraction(variance), point
    ),
    "discrete_gaussian_variance": lambda variance: laws.discrete_gaussian_variance(
        Fraction(variance)
    ),
    "discrete_laplace_pmf": lambda scale, point: laws.discrete_laplace_pmf(scale, point),
    "discrete_laplace_variance": laws.discrete_laplace_variance,
    "exponential_mechanism": laws.exponential_mechanism_law,
    "permute_and_flip": laws.permute_and_flip_law,
    "exponential_mechanism_score_loss": lambda scores, **price: laws.expected_loss(
        laws.exponential_mechanism_law(scores, **price), scores
    ),
    "permute_and_flip_score_loss": lambda scores, **price: laws.expected_loss(
        laws.permute_and_flip_law(scores, **price), scores
    ),
    "randomized_response_p": laws.randomized_response_keep,
}
ROWS = [oracle for oracle in ORACLES if oracle["function"] in MEASURED]


@pytest.mark.parametrize("oracle", ROWS, ids=lambda o: f"{o['row']} {o['function']}")
def test_the_oracle_table_is_met(oracle):
    measured = MEASURED[oracle["function"]](**oracle["arguments"])
    expected = oracle["value"]
    pairs = zip(measured, expected, strict=True) if isinstance(expected, list) else [
        (measured, expected)
    ]  # fmt: skip
    for ours, theirs in pairs:
        assert float(ours) == pytest.approx(float(theirs), rel=10.0 ** -oracle["digits"])


def test_all_rows_of_noise_laws_are_covered():
    assert {oracle["row"] for oracle in ROWS} == set(range(45, 54))


@given(scale=st.fractions(Fraction(1, 20), 50, max_denominator=100))
def test_discrete_laplace_agrees_with_scipy(scale):
    other = stats.dlaplace(float(1 / scale))
    assert laws.discrete_laplace_variance(scale) == pytest.approx(other.var(), rel=1e-9)
    for k in (0, 1, 7, -3):
        assert float(laws.discrete_laplace_pmf(scale, k)) == pytest.approx(other.pmf(k), rel=1e-9)


@pytest.mark.parametrize("variance", ["0.1", 1, "9.5", 99, 101, 4000])
def test_discrete_gaussian_agrees_with_a_plain_sum(variance):
    v = float(variance)
    k = np.arange(-1000, 1001)
    weights = np.exp(-(k**2) / (2 * v))
    masses = weights / weights.sum()
    assert laws.discrete_gaussian_variance(variance) == pytest.approx(
        (masses * k**2).sum(), rel=1e-11
    )
    for at in (0, 1, -4, 40):
        expected = masses[1000 + at]
        assert float(laws.discrete_gaussian_pmf(variance, at)) == pytest.approx(expected, rel=1e-11)


def test_a_small_variance_and_poissons_formula_give_one_total():
    variance = Fraction(100)
    with precision(70):
        by_poisson = (200 * laws.PI).sqrt()
        assert abs(laws.gaussian_total(variance) / by_poisson - 1) < Decimal("1e-60")


def test_a_discrete_gaussian_is_narrower_than_its_parameter():
    assert laws.discrete_gaussian_variance(Fraction(1, 4)) < 0.25


@pytest.mark.parametrize(
    ("scale", "margin"), [(1, 3), (10, 30), ("1e-9", 0), ("0.25", 0), (10**9, 2995732274)]
)
def test_the_margin_of_discrete_laplace_noise(scale, margin):
    assert laws.discrete_laplace_margin(scale) == margin


@given(
    scale=st.fractions(Fraction(1, 10), 20, max_denominator=50),
    confidence=st.fractions(0, Fraction(999, 1000), max_denominator=1000),
)
def test_a_margin_is_the_least_that_holds(scale, confidence):
    margin = laws.discrete_laplace_margin(scale, confidence)
    outside = lambda m: 2 * stats.dlaplace(float(1 / scale)).sf(m)  # noqa: E731
    assert outside(margin) <= 1 - confidence + 1e-9
    assert margin == 0 or outside(margin - 1) > 1 - confidence - 1e-9


@pytest.mark.parametrize("variance", [Fraction(1, 10), 1, 50, 10**6, 10**8])
def test_the_margin_of_discrete_gaussian_noise(variance):
    reach = math.ceil(9 * math.sqrt(variance)) + 3
    weights = np.exp(-(np.arange(reach) ** 2) / (2 * float(variance)))
    masses = weights / (2 * weights.sum() - 1)
    for confidence in ("0.5", "0.95", "0.999"):
        margin = laws.discrete_gaussian_margin(variance, confidence)
        allowed = 1 - float(confidence)
        least = next(m for m in range(reach) if 2 * masses[m + 1 :].sum() <= allowed + 1e-12)
        assert least <= margin <= least + (variance > 10**6)


@pytest.mark.parametrize(
    "call",
    [
        lambda: laws.discrete_laplace_margin(1, 1),
        lambda: laws.discrete_gaussian_margin(1, 1),
        lambda: laws.discrete_laplace_pmf(0, 1),
        lambda: laws.discrete_laplace_pmf(1, 0.5),
        lambda: laws.discrete_gaussian_variance(-1),
        lambda: laws.randomized_response_keep(1, 1),
        lambda: laws.exponential_mechanism_law([1], 0),
    ],
)
def test_a_law_that_cannot_be_is_refused(call):
    with pytest.raises(ParameterError):
        call()


def test_a_large_epsilon_keeps_its_small_probabilities():
    law = laws.exponential_mechanism_law([0, 1], 400)
    assert law[0].adjusted() == -87  # e**-200 = 1.38e-87
    assert float(law[0].ln()) == pytest.approx(-200)
    assert laws.randomized_response_keep(2, 100) < 1
