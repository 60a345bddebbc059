"""A total shared out: never above what it allows, and not far below it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.privacy import bounded_range_delta, share_bounded_range, share_epsilon
from noren.privacy.bounded_range import _delta
from noren.privacy.composition import optimal_composition_delta_charge
from noren.privacy.sharing import composed_delta

MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize(("total", "each"), [(1, 0.01348), (3, 0.03696), (10, 0.10564)])
def test_311_questions_get_the_shares_of_the_oracle_table(total, each):
    assert float(share_epsilon(total, 311, MILLIONTH)) == pytest.approx(each, abs=5e-6)


@pytest.mark.parametrize(
    ("total", "rounds", "each"), [(1, 5, 0.2302), (1, 10, 0.1511), (1, 20, 0.1046), (3, 20, 0.2887)]
)
def test_rounds_of_selection_get_the_shares_of_the_oracle_table(total, rounds, each):
    found = float(share_bounded_range(total, rounds, MILLIONTH))
    assert each <= found < each + 1e-4  # the table is rounded down


@settings(max_examples=40)
@given(
    total=st.fractions(Fraction(1, 20), 12),
    count=st.integers(1, 400),
    delta=st.integers(1, 59).map(lambda n: Fraction(1, 2**n)),
)
def test_shares_never_cost_more_than_the_total_and_little_less(total, count, delta):
    each = share_epsilon(total, count, delta)
    spent = optimal_composition_delta_charge(each, count, total)
    assert each * count <= total or spent <= delta
    more = each * (1 + Fraction(1, 10**6))
    assert more > total or (
        more * count > total and optimal_composition_delta_charge(more, count, total) > delta
    )


@pytest.mark.parametrize(("count", "total"), [(2000, "0.5"), (20_000, 3)])
def test_the_sum_in_doubles_agrees_with_decimals(count, total):
    each = share_epsilon(total, count, MILLIONTH)
    exact = float(optimal_composition_delta_charge(each, count, Fraction(total)))
    assert composed_delta(float(each), count, float(Fraction(total))) == pytest.approx(
        exact, rel=1e-9
    )


def test_without_delta_the_share_is_an_equal_part_rounded_down():
    assert share_epsilon(1, 4) == Fraction(1, 4)
    third = share_epsilon(1, 3)
    assert third == Fraction("0.333333333333")
    assert share_bounded_range(1, 3) == third


def equal_rounds(each: float, t: float, count: int, epsilon: float) -> float:
    """Give the exact delta of rounds that all have the same range [t - each, t]."""
    chance = math.expm1(t - each) / math.expm1(-each)
    total = 0.0
    for ups in range(count + 1):
        loss = ups * t + (count - ups) * (t - each)
        mass = math.comb(count, ups) * chance**ups * (1 - chance) ** (count - ups)
        total += mass * max(0.0, -math.expm1(epsilon - loss))
    return total


@pytest.mark.parametrize(("each", "count"), [(0.3, 1), (0.3, 4), (0.8, 3), (0.15, 12)])
def test_adaptive_rounds_are_never_charged_less_than_equal_ones(each, count):
    for epsilon in (0.1, 0.4, 0.5 * each * count):
        bound = bounded_range_delta(each, count, epsilon)
        worst = max(equal_rounds(each, each * i / 64, count, epsilon) for i in range(65))
        assert bound >= worst
        assert bound <= 1.15 * worst + 0.02  # and the bound means something


def test_one_round_has_its_closed_form():
    each, epsilon = 0.5, 0.25
    exact = math.expm1((epsilon - each) / 2) ** 2 / -math.expm1(-each)
    assert exact <= bounded_range_delta(each, 1, epsilon) <= 1.05 * exact


def test_an_adversary_who_looks_back_is_covered():
    """Two rounds, the second range chosen by the first outcome: the worst over all choices."""
    each, epsilon = 0.6, 0.3
    ranges = [each * i / 24 for i in range(25)]

    def chance(t):
        return math.expm1(t - each) / math.expm1(-each)

    def one(x):
        return max(
            chance(t) * max(0, -math.expm1(x - t))
            + (1 - chance(t)) * max(0, -math.expm1(x - t + each))
            for t in ranges
        )

    worst = max(
        chance(t) * one(epsilon - t) + (1 - chance(t)) * one(epsilon - t + each) for t in ranges
    )
    blind = max(equal_rounds(each, t, 2, epsilon) for t in ranges)
    assert blind <= worst * (1 + 1e-12)
    assert worst <= bounded_range_delta(each, 2, epsilon)


def test_a_finer_grid_gives_a_smaller_bound():
    coarse, fine = (_delta(0.2, 6, 0.5, points) for points in (20, 100))
    assert fine < coarse


@pytest.mark.parametrize("share", [share_epsilon, share_bounded_range])
@pytest.mark.parametrize(
    "given", [{"epsilon": 0}, {"epsilon": math.inf}, {"delta": 1}, {"count": 0}, {"count": 1.5}]
)
def test_a_total_that_is_none_is_refused(share, given):
    with pytest.raises(ParameterError, match=next(iter(given))):
        share(**{"epsilon": 1, "count": 3, "delta": MILLIONTH} | given)


def test_shares_shrink_as_questions_grow():
    for share in (share_epsilon, share_bounded_range):
        found = [share(1, count, MILLIONTH) for count in (1, 2, 5, 11, 40)]
        assert all(a > b for a, b in itertools.pairwise(found))
