"""Claims from strangers: whatever the parameters say, the answer is a guarantee or a refusal."""

import json
from fractions import Fraction
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren import Guarantee, Noise
from noren.collaboration import (
    GradientDescent,
    GramRegression,
    LogisticTraining,
    MomentLearner,
    OutputPerturbation,
    PrivateModel,
    PublishedTraining,
    SoftmaxTraining,
    Task,
    TrainingRows,
    TunedTraining,
    recompute_claim,
)
from noren.collaboration.parameters import MECHANISMS, parameters_from_text, parameters_to_text
from noren.data import Numeric, Schema, fill
from noren.errors import NorenError, NotPrivate, ParameterError, SchemaError

TWO = Task.of_bounds([0, 0], [1, 1])
THREE = Task.of_bounds([0, 0], [1, 1], classes=("a", "b", "c"))
NUMBER = Task(TWO.features, Numeric(name="y", lower=-1, upper=1, missing=fill(0)))
PRICE = {"epsilon": 1, "adjacency": "add-remove", "size": 80}
BOTH = PRICE | {"delta": "1e-6"}
QUESTIONS = [
    LogisticTraining(task=TWO, **PRICE),
    LogisticTraining(task=TWO, **BOTH, ridge="0.6"),
    SoftmaxTraining(task=THREE, **PRICE),
    SoftmaxTraining(task=THREE, **BOTH),
    PublishedTraining(task=TWO, variant="cms", **{**PRICE, "adjacency": "substitute"}),
    PublishedTraining(task=TWO, variant="kst", **PRICE),
    PublishedTraining(task=TWO, variant="kst", **BOTH),
    OutputPerturbation(task=TWO, ridge=9, **BOTH),
    GradientDescent(task=THREE, **BOTH),
    MomentLearner(task=TWO, **PRICE),
    GramRegression(task=NUMBER, **BOTH),
    TunedTraining(task=TWO, **BOTH, candidates=[("objective", 3), ("moments", None)]),
]
STRANGE = [
    -1, 0, 1, 10**30, -0.5, 1e-300, 1e300, float("nan"), float("inf"), Fraction(0), Fraction(-1),
    Fraction(10**40), "", "add-remove", "[]", None, True,
]  # fmt: skip


def test_every_mechanism_is_among_the_questions_tried_here():
    assert {question.mechanism for question in QUESTIONS} | {"gibbs"} >= set(MECHANISMS)


@settings(max_examples=400, deadline=None)
@given(question=st.sampled_from(QUESTIONS), data=st.data())
def test_strange_parameters_give_a_guarantee_or_a_refusal_in_words(question, data):
    given_ = dict(question.parameters)
    for name in data.draw(st.lists(st.sampled_from(sorted(given_)), min_size=1, max_size=3)):
        given_[name] = data.draw(st.sampled_from(STRANGE))
    assert isinstance(claim_or_refusal(question.mechanism, given_), Guarantee | str)


def claim_or_refusal(mechanism, parameters):
    try:
        return recompute_claim(mechanism, parameters)
    except NorenError as refused:
        return str(refused)


EXTREMES = ["9" * 400, "-" + "9" * 399, "1e9999", "1e-9999", "1000", "-1000", "1e308", "5e-324",
            "1/" + "9" * 390, "9" * 4000]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.mechanism)
def test_no_parameter_of_a_stranger_s_claim_keeps_its_receiver_busy(question):
    written = parameters_to_text(question.mechanism, question.parameters)
    for name in written:
        for extreme in EXTREMES:
            started = process_time()
            read_and_recomputed(question.mechanism, {**written, name: extreme})
            assert process_time() - started < 5


def read_and_recomputed(mechanism, written):
    try:
        return recompute_claim(mechanism, parameters_from_text(mechanism, written))
    except NorenError as refused:
        return str(refused)


@pytest.mark.parametrize("exponent", [1001, -1001, 10**12, -(10**12)])
def test_a_grid_that_no_float_has_is_refused_before_it_is_raised_to_a_power(exponent):
    for question in QUESTIONS:
        if "exponent" in question.parameters:
            with pytest.raises(NotPrivate, match="those of any run"):
                recompute_claim(question.mechanism, {**question.parameters, "exponent": exponent})


def test_a_claim_of_endless_candidates_or_digits_is_refused_before_it_is_recomputed():
    tuned = QUESTIONS[-1]
    written = parameters_to_text("tuned", tuned.parameters)
    one = json.loads(written["candidates"])[0]
    many = {**written, "candidates": json.dumps([one] * 65)}
    assert "more candidates than 64" in read_and_recomputed("tuned", many)
    long = {**one[1], "lattice": "9" * 401}
    digits = {**written, "candidates": json.dumps([[one[0], long]])}
    assert "number that is none" in read_and_recomputed("tuned", digits)
    with pytest.raises(ParameterError, match="at most 64"):
        TunedTraining(task=TWO, **BOTH, candidates=[("moments", None)] * 65)


def test_a_claim_for_another_mechanism_is_refused():
    with pytest.raises(SchemaError, match="lack"):
        recompute_claim("moments", QUESTIONS[0].parameters)
    with pytest.raises(SchemaError, match="not one that this version knows"):
        recompute_claim("pickle", {})
    pure = {**QUESTIONS[5].parameters, "delta": Fraction(1, 10)}
    with pytest.raises(NotPrivate):
        recompute_claim("published-kst-pure", pure)


def test_a_claim_about_fewer_classes_or_coordinates_than_the_task_has_is_refused():
    rows = TrainingRows.of(THREE, np.zeros((4, 2)), np.array(list("abca")))
    form = QUESTIONS[8].answer(rows, Noise()).model.to_dict()
    for name, value in (("classes", "2"), ("dimension", "1")):
        with pytest.raises(SchemaError, match="another number of coordinates or classes"):
            PrivateModel.from_dict({**form, "parameters": {**form["parameters"], name: value}})


def test_coefficients_that_run_away_are_cut_at_the_largest_number():
    question = GradientDescent(
        task=TWO, epsilon="1e-5", delta="1e-9", adjacency="add-remove", size=1
    )
    model = question.answer(TrainingRows.empty(TWO), Noise()).model
    assert np.abs(model.coefficients).max() <= 1e6


def test_a_schema_of_other_columns_has_another_identity():
    other = Task(Schema([*TWO.features.columns][::-1]), TWO.label)
    assert other.identity != TWO.identity
    assert Task.from_dict(TWO.to_dict()).identity == TWO.identity
