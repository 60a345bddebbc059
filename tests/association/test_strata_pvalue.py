"""The numerical supremum of the chance of a stratified score, and what it does not promise."""

import math
from fractions import Fraction

import numpy as np
import pytest

from noren.association import stratified_p_value
from noren.association.strata_pvalue import chance, score_box, tails_of
from noren.errors import ParameterError

BOTH = ((10, 40), (30, 20))


@pytest.mark.parametrize(
    ("rates", "known"),
    [
        ((0, 0), (0.26894, 0.03640, 0.00493)),
        ((0.0225, 0), (0.2103, 0.0285, 0.0039)),
        ((0.3, 0.3), (0.0802, 0.0158, 0.0024)),
    ],
)
def test_chances_at_given_rates_are_those_of_the_oracle(rates, known):
    scores = score_box(BOTH, Fraction("3.84"))
    for y, expected in zip((1, 3, 5), known, strict=True):
        within = 5e-6 if rates == (0, 0) else 5e-5
        found = chance(tails_of(scores, y, 1.0), BOTH, rates)
        assert found == pytest.approx(expected, abs=within)


def test_the_best_rates_may_lie_on_a_ray():
    found = stratified_p_value(1, (10, 30), (40, 20), 1, 1)
    assert found.value == pytest.approx(0.4465, abs=5e-5)
    assert found.rates[1] in (0, 1) or found.rates[0] in (0, 1)
    assert "no level is guaranteed" in str(found)


def test_no_rates_of_a_grid_beat_it_by_much():
    both = ((3, 5), (6, 4))
    tails = tails_of(score_box(both, Fraction(1)), 2, 0.7)
    grid = np.linspace(0, 1, 26)
    highest = max(chance(tails, both, (one, two)) for one in grid for two in grid)
    found = stratified_p_value(2, (3, 6), (5, 4), 1, 0.7).value
    assert highest <= found * 1.02
    assert found <= 1 / (1 + math.exp(-0.7))


def test_large_strata_are_refused():
    with pytest.raises(ParameterError, match="table sets"):
        stratified_p_value(1, (100, 100), (100, 100), 4, 1)
