"""Means on a grid: the number of records is public or paid for, never used in secret."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import Noise
from noren.errors import ParameterError
from noren.mechanisms import BoundedMean, Sum, fine_grid
from noren.noise.grid import Grid
from noren.privacy import SUBSTITUTE, USER, Adjacency
from noren.testing import seeded_noise

TEN = Grid(exponent=0, low=0, high=10, missing=5)
FINE = fine_grid(-1, 1, missing=0)
PERSONS = Adjacency(SUBSTITUTE, USER, 2)


def question(grid=FINE, adjacency="add-remove", records=None, **price):
    return BoundedMean(grid=grid, adjacency=adjacency, records=records, **(price or {"epsilon": 1}))


# 1. oracle


def test_each_kind_of_neighbour_has_its_worst_change():
    assert question(TEN).worst == (10,)
    assert question(TEN, "substitute", 7).worst == (10,)
    assert question(TEN, PERSONS).worst == (20, 20)
    assert question(TEN, PERSONS).law.parameter == 40


def test_one_price_for_number_and_sum_halves_the_variance_of_two():
    noisy = question(TEN, epsilon="0.1")
    ours = noisy.law.variance
    for share in (0, 0.25, 0.5, 1):
        joint = ((1 - share) ** 2 + share**2) * ours
        half = question(TEN, epsilon="0.05").law  # its scale is 10 / 0.05, for sensitivity 10
        separate = half.variance / 4 + (10 * (share - 0.5)) ** 2 * half.variance / 100
        assert joint == pytest.approx(separate / 2, rel=1e-3)


# 2. property


@given(
    values=st.lists(st.integers(-3, 13), min_size=1, max_size=30),
    adjacency=st.sampled_from(["add-remove", "substitute", PERSONS]),
)
def test_without_noise_the_mean_is_the_mean(values, adjacency):
    public = len(values) if adjacency == "substitute" else None
    asked = question(TEN, adjacency, public)
    clamped = [min(max(value, 0), 10) for value in values]
    parts = [sum(clamped)] + ([] if public else [10 * len(values) - sum(clamped)])
    answer = asked.restore({"parts": parts})
    assert answer.mean == float(Fraction(sum(clamped), len(values)))
    assert answer.records == len(values)


@given(parts=st.tuples(st.integers(-50, 50), st.integers(-50, 50)), level=st.floats(0.5, 0.99))
def test_a_mean_and_its_interval_stay_within_the_bounds(parts, level):
    answer = question(TEN).restore({"parts": parts})
    low, high = answer.interval(level)
    assert 0 <= low <= answer.mean <= high <= 10
    assert answer.margin(level) <= 10


@given(values=st.lists(st.integers(0, 10), max_size=6), new=st.integers(0, 10))
def test_one_record_moves_the_two_parts_by_the_width_in_all(values, new):
    noise = seeded_noise(1)
    asked = question(TEN)
    drawn = asked.law.draw(seeded_noise(1), 2)
    before = np.array(asked.answer(Sum.of(values, TEN), noise).parts) - drawn
    after = np.array(
        asked.answer(Sum.of([*values, new], TEN), seeded_noise(1)).parts
    ) - drawn  # fmt: skip
    assert (after - before).tolist() == [new, 10 - new]


def test_the_margin_holds_for_every_share():
    """Add up the exact law of (1 - u) Z1 - u Z2 and compare: the bound is safe and not idle."""
    asked = question(TEN, epsilon=5)  # scale 2: few steps, so that the sum is small
    z = np.arange(-60, 61)
    masses = np.exp(-np.abs(z) / 2.0)
    joint = np.outer(masses, masses) / masses.sum() ** 2
    for inside in (0.5, 0.9, 0.99):
        m = asked.margin_in_steps(inside)
        for share in (0, 0.1, 0.3, 0.5):
            w = np.abs((1 - share) * z[:, None] - share * z[None, :])
            assert joint[w <= m].sum() > inside
        assert joint[np.abs(np.broadcast_to(z[:, None], joint.shape)) <= m - 3].sum() < inside


# 3. statistical


@pytest.mark.parametrize(("adjacency", "records"), [("add-remove", None), ("substitute", 400)])
def test_intervals_hold_as_often_as_they_say(adjacency, records):
    noise, asked = seeded_noise(31), question(FINE, adjacency, records, epsilon="0.5")
    total = Sum.of([0.5, -0.25] * 200, FINE)
    answers = [asked.answer(total, noise) for _ in range(1500)]
    spread = 6.1 * np.sqrt(0.9 * 0.1 / 1500)
    held = np.mean([low <= 0.125 <= high for low, high in (a.interval(0.9) for a in answers)])
    short = np.mean([abs(a.mean - 0.125) <= 0.5 * a.margin(0.9) for a in answers])
    assert held > 0.9 - spread
    assert short < 0.9 - spread


def test_the_forecast_tells_the_error():
    noise, asked = seeded_noise(32), question(FINE, epsilon="0.5")
    total = Sum.of([1.0] * 1000, FINE)
    errors = np.array([asked.answer(total, noise).records - 1000 for _ in range(2000)])
    width = 2 * asked.law.variance * (FINE.step / 2) ** 2
    assert errors.var() == pytest.approx(width, rel=0.3)
    forecast = asked.forecast({"records": 1000})
    assert forecast.margin_95 == pytest.approx(asked.margin_in_steps(0.95) * FINE.step / 1000)


# 4. misuse


def test_a_private_number_of_records_is_never_taken():
    with pytest.raises(ParameterError, match="private"):
        question(TEN, "add-remove", 12)
    with pytest.raises(ParameterError, match="private"):
        question(TEN, PERSONS, 12)


def test_a_public_number_of_records_must_be_stated():
    with pytest.raises(ParameterError, match="state it"):
        question(TEN, "substitute")
    with pytest.raises(ParameterError, match="counted"):
        question(TEN, "substitute", 3).answer(Sum.of([1, 2], TEN), Noise())


def test_the_released_floats_do_not_show_the_true_number():
    noise, asked = Noise(), question(TEN, epsilon="0.1")
    for values in ([5.0] * 7, [5.0] * 8):
        sums = {sum(asked.answer(Sum.of(values, TEN), noise).parts) % 10 for _ in range(400)}
        assert sums == set(range(10))


def test_seeded_noise_can_never_pass_for_private():
    answer = question().answer(Sum.of([0.5], FINE), seeded_noise(0))
    assert "NOT PRIVATE" in str(answer)
    assert answer.guarantee is None


def test_no_records_at_all_say_nothing():
    answer = question(TEN).restore({"parts": [-3, 1]})
    assert answer.mean == 5
    assert answer.interval() == (0, 10)


def test_json_and_chart_show_the_mean_and_its_uncertainty():
    answer = question(TEN, epsilon=1).answer(Sum.of([4.0] * 500, TEN), Noise())
    made = json.loads(json.dumps(answer.to_dict()))
    assert made["value"]["mean"] == answer.mean
    assert made["value"]["records"] == answer.records
    assert answer.question.restore(answer.record()).to_dict() == answer.to_dict()
    assert "95 %" in answer.headline
    [rows] = answer.chart().to_dict()["datasets"].values()
    assert {row["value"] for row in rows} == {answer.mean}
