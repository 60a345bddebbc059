"""Sums on a grid: exact, clamped, priced by public bounds alone."""

import json
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import Noise
from noren.audit.law import integer_p_value, laplace_tail
from noren.errors import DrawRefused, ParameterError
from noren.mechanisms import BoundedSum, Sum, fine_grid
from noren.noise.grid import Grid
from noren.privacy import ADD_REMOVE, SUBSTITUTE, USER, Adjacency
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9
UNIT = fine_grid(0, 1, missing=0)
COARSE = Grid(exponent=0, low=-2, high=3, missing=0)


def ask(values, grid=UNIT, adjacency="add-remove", noise=None, **price):
    question = BoundedSum(grid=grid, adjacency=adjacency, **price)
    return question.answer(Sum.of(values, grid), noise or Noise())


# 1. oracle


@pytest.mark.parametrize(
    ("adjacency", "low", "high", "steps"),
    [
        (Adjacency(ADD_REMOVE), -2, 3, 3),
        (Adjacency(ADD_REMOVE), -4, 3, 4),
        (Adjacency(SUBSTITUTE), -2, 3, 5),
        (Adjacency(SUBSTITUTE), 2, 3, 1),
        (Adjacency(ADD_REMOVE, USER, 3), 2, 3, 9),
        (Adjacency(SUBSTITUTE, USER, 3), 2, 3, 7),  # from one row of 2 to three of 3
        (Adjacency(SUBSTITUTE, USER, 3), -2, 3, 15),
    ],
)
def test_sensitivity_is_the_exact_range_of_a_person(adjacency, low, high, steps):
    grid = Grid(exponent=0, low=low, high=high, missing=low)
    question = BoundedSum(grid=grid, adjacency=adjacency, epsilon=1)
    assert question.worst == (steps,)
    rows = range(1, adjacency.max_records + 1)
    sums = [
        sum(own) for n in rows for own in combinations_with_replacement(range(low, high + 1), n)
    ]
    moves = [abs(s) for s in sums] + (
        [] if adjacency.relation is ADD_REMOVE else [abs(s - t) for s in sums for t in sums]
    )
    if adjacency.relation is SUBSTITUTE:
        moves = moves[len(sums) :]
    assert max(moves) == steps


def test_noise_on_a_fine_grid_is_priced_like_continuous_noise():
    question = BoundedSum(grid=UNIT, adjacency="add-remove", epsilon=1)
    assert float(question.guarantee.rho) == pytest.approx(0.367879441171, rel=1e-9)
    assert question.forecast().variance == pytest.approx(2, rel=1e-9)


def test_a_fine_grid_is_fine_for_every_usual_epsilon():
    for low, high in ((0, 1), (-40, 7), (1000, 1001), (0, 1e-9)):
        grid = fine_grid(low, high, missing=low)
        assert grid.step <= (high - low) / 2**20 < 2 * grid.step


# 2. property


@given(values=st.lists(st.floats(allow_nan=True), max_size=20), cut=st.integers(0, 20))
def test_sums_are_exact_and_merge_in_any_partition(values, cut):
    whole, parts = Sum.of(values, UNIT), Sum.of(values[:cut], UNIT) + Sum.of(values[cut:], UNIT)
    assert whole == parts
    assert whole.steps == sum(Sum.of([value], UNIT).steps for value in values)
    clamped = [Fraction(0) if v != v else Fraction(min(max(v, 0.0), 1.0)) for v in values]
    assert (
        abs(whole.steps * Fraction(UNIT.step) - sum(clamped))
        <= len(values) * Fraction(UNIT.step) / 2
    )


def test_the_order_of_hard_floats_does_not_matter():
    grid = fine_grid(-1, 1, missing=0)
    values = [1.0, 1e-17, -1.0, 0.1, 0.2, 0.3] * 50
    assert Sum.of(values, grid) == Sum.of(values[::-1], grid) == Sum.of(sorted(values), grid)


@given(steps=st.integers(-(2**52), 2**52))
def test_an_answer_comes_back_from_its_record(steps):
    question = BoundedSum(grid=UNIT, adjacency="add-remove", epsilon=1)
    answer = question.restore({"steps": steps})
    assert question.restore(json.loads(json.dumps(answer.record()))).total == answer.total
    assert Fraction(answer.total) == steps * Fraction(UNIT.step)


# 3. statistical


def test_noise_follows_its_law_and_the_test_can_tell():
    noise = seeded_noise(21)
    drawn = np.array([ask([2], COARSE, noise=noise, epsilon="0.5").steps for _ in range(4000)]) - 2
    assert integer_p_value(drawn, laplace_tail(6), 300) > FALSE_ALARM
    assert integer_p_value(drawn, laplace_tail(6 * 1.25), 300) < FALSE_ALARM
    assert integer_p_value(drawn, laplace_tail(6 * 0.75), 300) < FALSE_ALARM


def test_intervals_hold_as_often_as_they_say():
    noise, values = seeded_noise(22), [0.25, 0.5, 1.0]
    answers = [ask(values, noise=noise, epsilon=1) for _ in range(1500)]
    held = np.mean([low <= 1.75 <= high for low, high in (a.interval(0.9) for a in answers)])
    short = np.mean([abs(a.total - 1.75) <= 0.7 * a.margin(0.9) for a in answers])
    spread = 6.1 * np.sqrt(0.9 * 0.1 / 1500)
    assert held > 0.9 - spread
    assert short < 0.9 - spread


# 4. misuse


def test_seeded_noise_can_never_pass_for_private():
    answer = ask([0.5], noise=seeded_noise(0), epsilon=1)
    assert "NOT PRIVATE" in str(answer)
    assert answer.guarantee is None


def test_what_floats_cannot_hold_is_refused_after_the_draw():
    grid = Grid(exponent=-30, low=0, high=2**22, missing=0)
    large = Sum(grid, 2**53, 2)
    question = BoundedSum(grid=grid, adjacency="add-remove", epsilon=1)

    def until_above() -> None:
        while True:  # the noisy sum falls on either side of the limit
            question.answer(large, Noise())

    with pytest.raises(DrawRefused, match="coarser grid") as refusal:
        until_above()
    assert str(2**53) not in str(refusal.value)


def test_a_statistic_must_be_counted_on_the_grid_of_the_question():
    with pytest.raises(ParameterError, match="grid"):
        BoundedSum(grid=COARSE, adjacency="add-remove", epsilon=1).answer(
            Sum.of([1], UNIT), Noise()
        )
    with pytest.raises(ParameterError, match="grid"):
        Sum.of([1], UNIT) + Sum.of([1], COARSE)


def test_real_values_need_a_grid_and_a_grid_needs_two_points():
    with pytest.raises(ParameterError, match="fine_grid"):
        BoundedSum(grid=(0, 1), adjacency="add-remove", epsilon=1)
    with pytest.raises(ParameterError, match="smaller exponent"):
        BoundedSum(
            grid=Grid(exponent=3, low=0, high=1, missing=0), adjacency="add-remove", epsilon=1
        )
    with pytest.raises(ParameterError, match="below high"):
        fine_grid(1, 1, missing=1)


def test_a_sum_shows_no_value():
    total = Sum.of([7.0] * 7, fine_grid(0, 10, missing=0))
    assert repr(total) == str(total) == "Sum(grid of step 2**-17)"


def test_json_and_chart_show_the_sum_and_its_uncertainty():
    answer = ask([0.5], epsilon=1)
    made = json.loads(json.dumps(answer.to_dict()))
    assert made["value"]["total"] == answer.total
    assert made["uncertainty"]["margin_95"] == answer.margin()
    assert f"{answer.total:.6g}" in answer.headline
    [rows] = answer.chart().to_dict()["datasets"].values()
    assert [row["confidence"] for row in rows] == ["95%", "80%", "50%"]
