"""Choosing K by their scores: both laws against enumeration, over all neighbours."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from noren.association.levels import Levels
from noren.association.peel_draw import peel
from noren.association.set_draw import SetLaw, draw_set
from noren.audit.enumerated import law_of
from noren.audit.exact import log_ratio
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9


def set_law(scores: tuple[int, ...], many: int, epsilon: float) -> dict[str, float]:
    """The exponential mechanism over sets, set by set."""
    weights = {
        chosen: math.exp(
            epsilon / 2 * (min(scores[i] for i in chosen) / 2
                           + sum(scores[i] for i in chosen) / (2 * many))
        )
        for chosen in itertools.combinations(range(len(scores)), many)
    }  # fmt: skip
    total = sum(weights.values())
    return {json.dumps(list(chosen)): weight / total for chosen, weight in weights.items()}


def peel_law(scores: tuple[int, ...], many: int, each: float) -> dict[str, float]:
    """Rounds of the exponential mechanism, order by order."""
    law = {}
    for order in itertools.permutations(range(len(scores)), many):
        left, mass = set(range(len(scores))), 1.0
        for chosen in order:
            total = sum(math.exp(each * scores[i] / 2) for i in left)
            mass *= math.exp(each * scores[chosen] / 2) / total
            left.remove(chosen)
        law[json.dumps(list(order))] = mass
    return law


def law(
    draw: Callable, scores: tuple[int, ...], many: int, epsilon: Fraction
) -> dict[str, Decimal]:
    return law_of(lambda noise: draw(np.array(scores), many, epsilon, noise))[0]


@settings(max_examples=30)
@given(
    scores=st.lists(st.integers(-6, 6), min_size=3, max_size=5).map(tuple),
    many=st.integers(1, 3),
    epsilon=st.fractions(Fraction(1, 10), 4),
)
def test_both_draws_have_the_law_of_their_definition(scores, many, epsilon):
    for draw, defined in ((draw_set, set_law), (peel, peel_law)):
        found = law(draw, scores, many, epsilon)
        expected = defined(scores, many, float(epsilon))
        assert set(found) == set(expected)
        for outcome, mass in expected.items():
            assert float(found[outcome]) == pytest.approx(mass, rel=1e-9)


def worst_ratio(draw: Callable, many: int, epsilon: Fraction, starts: list) -> float:
    """Every start, and every move of each score by at most one in any direction."""
    worst, laws = 0.0, {}

    def known(scores: tuple[int, ...]) -> dict[str, Decimal]:
        if scores not in laws:
            laws[scores] = law(draw, scores, many, epsilon)
        return laws[scores]

    for start in starts:
        for moves in itertools.product((-1, 0, 1), repeat=len(start)):
            other = tuple(s + d for s, d in zip(start, moves, strict=True))
            worst = max(worst, log_ratio(known(start), known(other)))
    return worst


STARTS = [(0, 0, 0, 0), (3, 3, 0, 0), (6, 2, 1, 0), (1, 1, 1, 0), (6, 6, 6, 0), (4, 3, 3, 3)]


def test_sets_cost_epsilon_whatever_their_size():
    for many, least, starts in (
        (1, 0.6, STARTS[1:3]),
        (2, 0.5, STARTS[::2]),
        (3, 0.2, STARTS[-1:]),
    ):
        worst = worst_ratio(draw_set, many, Fraction(1), starts)
        assert least < worst <= 1 + 1e-12


def test_rounds_cost_epsilon_each():
    worst = worst_ratio(peel, 2, Fraction(1, 2), STARTS[1:])
    assert 0.6 < worst <= 1 + 1e-12


def test_the_audit_can_tell_when_the_factor_two_is_dropped():
    def eager(scores, many, epsilon, noise):
        return draw_set(scores, many, 2 * epsilon, noise)

    assert worst_ratio(eager, 2, Fraction(1), STARTS[:2]) > 1.05


def test_sets_are_drawn_with_their_law_and_the_test_can_tell():
    scores, many, draws = (0, 3, 3, 1, 6), 2, 2500
    noise = seeded_noise(4)
    seen = Counter(
        json.dumps(draw_set(np.array(scores), many, Fraction(2), noise)) for _ in range(draws)
    )

    def fit(epsilon: float) -> float:
        expected = {key: mass * draws for key, mass in set_law(scores, many, epsilon).items()}
        statistic = sum((seen[key] - mean) ** 2 / mean for key, mean in expected.items())
        return float(chi2.sf(statistic, len(expected) - 1))

    assert fit(2.0) > FALSE_ALARM
    assert fit(2.6) < FALSE_ALARM
    assert fit(1.4) < FALSE_ALARM


def test_a_clear_winner_is_found_among_many():
    scores = np.zeros(50_000, int)
    scores[[7, 300, 41_000]] = [900, 850, 870]
    noise = seeded_noise(2)
    assert draw_set(scores, 3, Fraction(1), noise) == [7, 300, 41_000]
    assert peel(scores, 3, Fraction(1), noise) == [7, 41_000, 300]


def test_all_can_be_chosen():
    noise = seeded_noise(2)
    assert draw_set(np.array([5, 1, 9]), 3, Fraction(1), noise) == [0, 1, 2]
    assert sorted(peel(np.array([5, 1, 9]), 3, Fraction(1), noise)) == [0, 1, 2]


def test_weights_stay_exact_at_a_tiny_epsilon():
    """The weights of levels are differences of nearly equal powers; digits are added for that."""
    levels = Levels.of(np.array([3, 0, -1]))
    found = SetLaw(levels, 2, Fraction(1, 10**9)).lowest_level_weights(30)
    finer = SetLaw(levels, 2, Fraction(1, 10**9)).lowest_level_weights(60)
    for rough, fine in zip(found, finer, strict=True):
        assert abs(rough - fine) <= fine * Decimal("1e-28")


def test_levels_hide_what_they_hold():
    levels = Levels.of(np.array([5, 5, 77]))
    assert (levels.values, levels.sizes) == ((77, 5), [1, 2])
    assert "77" not in repr(levels)
