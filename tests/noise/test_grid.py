"""The grid: exact steps, exact sensitivities, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from noren.errors import DrawRefused, ParameterError
from noren.noise.grid import Grid, grid_exponent, l1_steps, l2_steps, power_of_two
from noren.privacy import SUBSTITUTE, USER, ZERO_OUT, Adjacency

finite = st.floats(-1e6, 1e6)


def steps_of(x, exponent):
    """Give floor(x / g + 1/2) by exact arithmetic."""
    return math.floor(Fraction(x) / power_of_two(exponent) + Fraction(1, 2))


@given(x=finite, exponent=st.integers(-30, 25))
def test_a_value_becomes_its_nearest_step_with_ties_up(x, exponent):
    grid = Grid(exponent=exponent, low=-1e6, high=1e6, missing=0)
    assert grid.quantise([x]).tolist() == [steps_of(x, exponent)]
    assert grid.quantise(x).shape == ()


@given(k=st.integers(-(2**40), 2**40), exponent=st.integers(-10, 10), nudge=st.integers(-2, 2))
def test_values_beside_a_tie_are_told_apart(k, exponent, nudge):
    x = (k + 0.5) * 2.0**exponent
    for _ in range(abs(nudge)):
        x = math.nextafter(x, math.copysign(math.inf, nudge))
    bound = 2.0 ** (45 + exponent)
    grid = Grid(exponent=exponent, low=-bound, high=bound, missing=0)
    assert grid.quantise([x]).tolist() == [steps_of(x, exponent)]


def test_floor_of_y_plus_a_half_would_be_wrong_where_ours_is_right():
    grid = Grid(exponent=0, low=-(2.0**52), high=2.0**52, missing=0)
    assert grid.quantise([0.49999999999999994, -0.5, 0.5, 2.0**52]).tolist() == [0, 0, 1, 2**52]


def test_quantising_never_raises_for_what_a_value_is():
    grid = Grid(exponent=-2, low=-1, high=3, missing=2)
    given_ = [math.nan, math.inf, -math.inf, 1e308, -0.0, 5e-324]
    assert grid.quantise(given_).tolist() == [8, 12, -4, 12, 0, 0]
    assert grid.quantise(np.array([7, -9])).tolist() == [12, -4]
    assert given_[1] == math.inf


@given(values=st.lists(finite, max_size=30), parts=st.integers(1, 5))
def test_totals_are_exact_and_add_up_over_partitions(values, parts):
    grid = Grid(exponent=-20, low=-1e5, high=1e6, missing=0)
    expected = sum(steps_of(min(max(x, -1e5), 1e6), -20) for x in values)
    assert grid.total(values) == expected
    assert sum(grid.total(values[i::parts]) for i in range(parts)) == expected


def test_a_total_beyond_64_bits_is_still_exact():
    grid = Grid(exponent=0, low=-(2.0**52), high=2.0**52, missing=0)
    assert grid.total(np.full(5000, 2.0**52)) == 5000 * 2**52
    assert grid.total(np.full(5000, -(2.0**52))) == -5000 * 2**52


@given(
    low=finite,
    width=st.floats(0.01, 1e6),
    exponent=st.integers(-15, 5),
    rows=st.lists(finite, max_size=3),
    other=st.lists(finite, min_size=1, max_size=3),
)
def test_no_neighbor_changes_a_total_by_more_than_the_sensitivity(
    low, width, exponent, rows, other
):
    grid = Grid(exponent=exponent, low=low, high=low + width, missing=low)
    total = grid.total
    for word in ("add-remove", "zero-out"):
        assert abs(total(other[:1])) <= grid.sensitivity(word)
    assert abs(total(other[:1]) - total(rows[:1] or [low])) <= grid.sensitivity("substitute")
    whole_person = Adjacency(SUBSTITUTE, unit=USER, max_records=3)
    assume(rows)
    assert abs(total(rows) - total(other)) <= grid.sensitivity(whole_person)


@pytest.mark.parametrize(
    ("low", "high", "added", "replaced", "person"),
    [(0, 10, 80, 80, 240), (-3, 10, 80, 104, 312), (10, 11, 88, 8, 184), (-11, -10, 88, 8, 184)],
)
def test_sensitivities_are_attained(low, high, added, replaced, person):
    grid = Grid(exponent=-3, low=low, high=high, missing=low)
    assert grid.sensitivity("add-remove") == added
    assert grid.sensitivity(Adjacency(ZERO_OUT)) == added
    assert grid.sensitivity("substitute") == replaced
    assert grid.sensitivity("local") == replaced
    assert max(abs(grid.total([x])) for x in (low, high)) == added
    assert abs(grid.total([high]) - grid.total([low])) == replaced
    three_rows = [[x] * n for x in (low, high) for n in (1, 2, 3)]
    worst = max(abs(grid.total(a) - grid.total(b)) for a in three_rows for b in three_rows)
    assert grid.sensitivity(Adjacency(SUBSTITUTE, unit=USER, max_records=3)) == worst == person


def test_a_person_with_several_rows_counts_several_times():
    grid = Grid(exponent=0, low=-2, high=5, missing=0)
    person = Adjacency.read("add-remove").relation
    assert grid.sensitivity(Adjacency(person, unit=USER, max_records=4)) == 20


@given(
    sensitivity=st.fractions(Fraction(1, 10**6), 10**6),
    scale=st.fractions(Fraction(1, 10**6), 10**6),
)
def test_the_step_is_the_coarsest_power_of_two_that_is_fine_enough(sensitivity, scale):
    least = min(sensitivity, scale) / 1024
    step = power_of_two(grid_exponent(sensitivity, scale))
    assert step <= least < 2 * step


@given(
    start=st.lists(st.fractions(-50, 50, max_denominator=97), min_size=3, max_size=3),
    move=st.lists(st.fractions(-5, 5, max_denominator=97), min_size=3, max_size=3),
    exponent=st.integers(-6, 3),
)
def test_a_vector_moves_by_no_more_steps_than_its_bound(start, move, exponent):
    assume(any(move))
    moved = sum(x != 0 for x in move)
    steps = [
        steps_of(x + d, exponent) - steps_of(x, exponent) for x, d in zip(start, move, strict=True)
    ]
    assert sum(map(abs, steps)) <= l1_steps(sum(map(abs, move)), exponent, moved)
    length = Fraction(math.isqrt(int(sum(d * d for d in move) * 10**20)) + 1, 10**10)
    assert sum(s * s for s in steps) <= l2_steps(length, exponent, moved) ** 2


def test_the_bound_on_steps_is_attained():
    assert l1_steps(Fraction(1, 10), 0, 1) == 1  # 0.45 to 0.55
    assert steps_of(Fraction(55, 100), 0) - steps_of(Fraction(45, 100), 0) == 1
    assert l1_steps(Fraction(3, 10), 0, 3) == 3  # three such coordinates
    assert l2_steps(3, 0, 4) == 5
    assert l2_steps(3, 0, 2) > Fraction(3) + Fraction(1414213562373095048, 10**18)


def test_a_release_is_exact_and_refused_beyond_the_integers_of_floats():
    grid = Grid(exponent=-5, low=0, high=1, missing=0)
    assert grid.release([3, -64]).tolist() == [0.09375, -2.0]
    assert float(grid.release(2**53 - 1)) == (2**53 - 1) / 32
    for noisy in (2**53, -(2**53), [0, 2**70]):
        with pytest.raises(DrawRefused, match="charge stays") as refused:
            grid.release(noisy)
        assert str(2**53) not in str(refused.value)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"low": 1, "high": 1}, "low"),
        ({"low": math.nan}, "low"),
        ({"high": math.inf}, "high"),
        ({"missing": 11}, "missing"),
        ({"missing": None}, "missing"),
        ({"exponent": -60}, "step"),
        ({"exponent": 0.5}, "exponent"),
        ({"exponent": 2000}, "exponent"),
    ],
)
def test_a_grid_that_cannot_be_is_refused_when_it_is_made(wrong, named):
    right = {"exponent": -3, "low": 0, "high": 10, "missing": 0}
    with pytest.raises(ParameterError) as refused:
        Grid(**{**right, **wrong})
    assert refused.value.name == named


def test_the_largest_bound_on_a_step_is_2_to_the_52():
    Grid(exponent=0, low=0, high=2.0**52, missing=0)
    with pytest.raises(ParameterError, match="2\\*\\*52"):
        Grid(exponent=0, low=0, high=2.0**52 + 1, missing=0)
    with pytest.raises(ParameterError, match="bits"):
        Grid(exponent=0, low=0, high=1, missing=0).sensitivity("bit")


@pytest.mark.parametrize("noisy", [[0.5], ["a"], [math.nan]])
def test_only_integers_are_released(noisy):
    with pytest.raises(ParameterError, match="integer noise"):
        Grid(exponent=0, low=0, high=1, missing=0).release(noisy)
