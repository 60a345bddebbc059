"""Counts in cells: price, error, law, misuse."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import Noise
from noren.audit.law import integer_p_value, laplace_tail
from noren.errors import ParameterError
from noren.mechanisms import CellCounts, Counts
from noren.privacy import ADD_REMOVE, SUBSTITUTE, USER, Adjacency
from noren.question import as_json, identity
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9
CELLS = ("a", "b", "c")
SECRET = 987_654_321


def ask(values, adjacency="add-remove", noise=None, **price):
    cells = tuple(f"cell {j}" for j in range(len(values)))
    question = CellCounts(cells=cells, adjacency=adjacency, **price)
    return question.answer(Counts(np.asarray(values)), noise or Noise())


# 1. oracle


@pytest.mark.parametrize(
    ("adjacency", "cells", "sensitivity", "rho"),
    [
        (Adjacency(ADD_REMOVE), 3, 1, np.tanh(0.5)),
        (Adjacency(SUBSTITUTE), 3, 2, np.tanh(0.25)),
        (Adjacency(SUBSTITUTE), 1, 1, np.tanh(0.5)),
        (Adjacency(ADD_REMOVE, USER, 2), 3, 2, 0.3934693403),
        (Adjacency(SUBSTITUTE, USER, 3), 3, 6, None),
        (Adjacency(SUBSTITUTE, USER, 3), 1, 3, None),
    ],
)
def test_sensitivity_follows_from_the_neighbours(adjacency, cells, sensitivity, rho):
    question = CellCounts(cells=CELLS[:cells], adjacency=adjacency, epsilon=1)
    assert question.law.parameter == sensitivity
    assert question.guarantee.epsilon == 1
    assert question.mechanisms[0].sensitivity == sensitivity
    assert question.mechanisms[0].draws == cells
    if rho is not None:
        assert float(question.guarantee.rho) == pytest.approx(rho, rel=1e-9)


def test_a_price_in_rho_draws_gaussian_noise():
    question = CellCounts(cells=CELLS, adjacency="substitute", rho="0.01")
    assert question.law.parameter == 100  # two cells move by one: 2 / (2 rho)
    assert question.guarantee.epsilon is None
    assert question.forecast().margin_95 == 20


# 2. property


@given(
    codes=st.lists(st.integers(-3, 5), max_size=30), cut=st.integers(0, 30), cells=st.integers(1, 4)
)
def test_counts_merge_in_any_partition(codes, cut, cells):
    whole = Counts.of(np.array(codes, int), cells).values
    parts = Counts.of(np.array(codes[:cut], int), cells) + Counts.of(
        np.array(codes[cut:], int), cells
    )
    assert whole.tolist() == parts.values.tolist()
    assert whole.tolist() == [codes.count(cell) for cell in range(cells)]


@given(values=st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=5))
def test_an_answer_comes_back_from_its_record(values):
    answer = ask(values, epsilon="0.5")
    again = answer.question.restore(json.loads(json.dumps(as_json(answer.record()))))
    assert again.values.tolist() == answer.values.tolist()
    assert again.to_dict() == answer.to_dict()


# 3. statistical


@pytest.mark.parametrize(("adjacency", "scale"), [("add-remove", 1.25), ("substitute", 2.5)])
def test_noise_follows_its_law_and_the_test_can_tell(adjacency, scale):
    drawn = ask(np.zeros(20_000, int), adjacency, seeded_noise(11), epsilon="0.8").values
    assert integer_p_value(drawn, laplace_tail(scale), 60) > FALSE_ALARM
    assert integer_p_value(drawn, laplace_tail(scale * 1.25), 60) < FALSE_ALARM
    assert integer_p_value(drawn, laplace_tail(scale * 0.75), 60) < FALSE_ALARM


def test_margins_hold_as_often_as_they_say():
    answer = ask(np.zeros(40_000, int), noise=seeded_noise(12), epsilon="0.3")
    for confidence in (0.5, 0.9, 0.99):
        margin = answer.margin(confidence)
        inside = (np.abs(answer.values) <= margin).mean()
        spread = 6.1 * np.sqrt(confidence * (1 - confidence) / 40_000)  # 1e-9 two-sided
        assert inside > confidence - spread
        assert (np.abs(answer.values) <= margin - 1).mean() < confidence + spread


# 4. misuse


def test_seeded_noise_can_never_pass_for_private():
    answer = ask([3, 4], epsilon=1, noise=seeded_noise(0))
    assert "NOT PRIVATE" in str(answer)
    assert answer.guarantee is None
    assert answer.to_dict()["guarantee"] is None


def test_an_answer_carries_price_and_uncertainty():
    answer = ask([30, 40], epsilon=1)
    made = json.loads(json.dumps(answer.to_dict()))
    assert made["guarantee"]["epsilon"] == 1
    assert made["guarantee"]["adjacency"] == "one record is added or removed"
    assert made["uncertainty"]["margin_95"] == 3
    assert "the cells" in made["assumed_public"][0]
    assert "charged to no ledger" in str(answer)
    assert "+-3" in answer.headline
    assert answer["cell 1"] == answer.values[1]


@pytest.mark.parametrize("adjacency", ["local", "bit", "zero-out", None, "neighbours"])
def test_other_neighbours_are_refused(adjacency):
    with pytest.raises(ParameterError, match="adjacency"):
        CellCounts(cells=CELLS, adjacency=adjacency, epsilon=1)


@pytest.mark.parametrize("cells", [(), "abc", ("a", "a"), (1, 2)])
def test_cells_are_distinct_names(cells):
    with pytest.raises(ParameterError, match="distinct names"):
        CellCounts(cells=cells, adjacency="add-remove", epsilon=1)


def test_no_private_number_shows_in_an_error_or_a_repr():
    counts = Counts(np.array([SECRET, 1]))
    question = CellCounts(cells=CELLS, adjacency="add-remove", epsilon=1)
    with pytest.raises(ParameterError, match="cells") as refusal:
        question.answer(counts, Noise())
    assert str(SECRET) not in str(refusal.value) + repr(counts) + str(counts)


def test_price_neighbours_and_cells_make_the_identity():
    base = {"cells": CELLS, "adjacency": "add-remove", "epsilon": 1}
    others = [{"cells": ("a", "b")}, {"adjacency": "substitute"}, {"epsilon": 2}]
    names = {identity(CellCounts(**(base | other))) for other in ({}, *others)}
    assert len(names) == 4
    assert identity(CellCounts(**base)) == identity(CellCounts(**(base | {"epsilon": "1.0"})))


def test_the_chart_shows_every_cell_with_its_margin():
    answer = ask([30, 40], epsilon=1)
    made = answer.chart().to_dict()
    [rows] = made["datasets"].values() if "datasets" in made else [made["data"]["values"]]
    assert [row["cell"] for row in rows] == ["cell 0", "cell 1"]
    assert all(row["high"] - row["low"] == 6 for row in rows)
