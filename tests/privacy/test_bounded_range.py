"""Adaptive selections: never charged less than they cost, and not much more."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from noren.errors import ParameterError
from noren.privacy import bounded_range_delta, share_bounded_range
from noren.privacy.bounded_range import _delta

MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("total", "rounds", "each"), [(1, 5, 0.2302), (1, 10, 0.1511), (1, 20, 0.1046), (3, 20, 0.2887)]
)
def test_rounds_of_selection_get_the_shares_of_the_oracle_table(total, rounds, each):
    found = float(share_bounded_range(total, rounds, MILLIONTH))
    assert each <= found < each + 1e-4  # the table is rounded down


def test_without_delta_the_share_is_an_equal_part_rounded_down():
    assert share_bounded_range(1, 4) == Fraction(1, 4)
    assert share_bounded_range(1, 3) == Fraction("0.333333333333")


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


@pytest.mark.parametrize(
    "given", [{"epsilon": 0}, {"epsilon": math.inf}, {"delta": 1}, {"count": 0}, {"count": 1.5}]
)
def test_a_total_that_is_none_is_refused(given):
    with pytest.raises(ParameterError, match=next(iter(given))):
        share_bounded_range(**{"epsilon": 1, "count": 3, "delta": MILLIONTH} | given)


def test_shares_shrink_as_rounds_grow():
    found = [share_bounded_range(1, count, MILLIONTH) for count in (1, 2, 5, 11, 40)]
    assert all(a > b for a, b in itertools.pairwise(found))


@pytest.mark.parametrize(("total", "count", "delta"), [
    ("1", 2, "1e-6"), ("1", 20, "1e-6"), ("3", 7, "1e-9"), ("0.01", 3, "1e-6"), ("2", 4, "0.01"),
])  # fmt: skip
def test_a_share_keeps_its_delta_and_hardly_less_is_given_than_may_be(total, count, delta):
    share = share_bounded_range(Fraction(total), count, Fraction(delta))
    assert share > Fraction(total) / count
    assert bounded_range_delta(share, count, Fraction(total)) <= float(delta)
    assert bounded_range_delta(share * Fraction("1.00001"), count, Fraction(total)) > float(delta)


def test_a_delta_that_the_grid_cannot_use_leaves_the_equal_part():
    assert share_bounded_range(1, 3, "1e-300") == Fraction("0.333333333333")
