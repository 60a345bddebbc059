"""Every generic question keeps the pattern: protocol, proof, price before the draw, a way back."""

import dataclasses
import json
import re
import sys
from fractions import Fraction

import numpy as np
import pytest

from noren import Guarantee, Noise
from noren.ledger import Ledger
from noren.mechanisms import (
    Alternatives,
    BestCandidate,
    BestOfPrivate,
    BoundedMean,
    BoundedSum,
    CellCounts,
    Counts,
    RandomizedResponse,
    Responses,
    Scores,
    Sum,
    fine_grid,
)
from noren.question import Answer, Forecast, Question, identity

GRID = fine_grid(0, 1, missing=0)
TOTAL = Sum.of([0.5, 1.0], GRID)
PUBLIC = {"adjacency": "add-remove", "epsilon": "0.5"}
ASKED = {
    "counts": (CellCounts(cells=("a", "b"), **PUBLIC), Counts(np.array([40, 2]))),
    "gaussian counts": (
        CellCounts(cells=("a", "b"), adjacency="add-remove", rho="0.1"),
        Counts(np.array([40, 2])),
    ),
    "sum": (BoundedSum(grid=GRID, **PUBLIC), TOTAL),
    "mean": (BoundedMean(grid=GRID, **PUBLIC), TOTAL),
    "best": (
        BestCandidate(candidates=("x", "y"), bounds=(0, 1), **PUBLIC),
        Scores(np.array([3, 90]), (0, 1)),
    ),
    "response": (
        RandomizedResponse(categories=("no", "yes"), adjacency="local", epsilon="0.5"),
        Responses([0, 1, 1]),
    ),
    "best of private": (
        BestOfPrivate(candidates=[BoundedSum(grid=GRID, **PUBLIC)] * 2, score="total", g="0.5"),
        Alternatives((TOTAL, TOTAL)),
    ),
}
every = pytest.mark.parametrize(("question", "statistic"), ASKED.values(), ids=list(ASKED))


@every
def test_it_is_a_frozen_question_of_public_parameters(question, statistic):
    assert isinstance(question, Question)
    assert type(question).__dataclass_params__.frozen
    assert "__slots__" in vars(type(question))
    assert type(statistic + statistic) is type(statistic)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(question, dataclasses.fields(question)[0].name, None)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", question.kind)
    assert len(identity(question)) == 64


@every
def test_its_module_begins_with_maths_privacy_and_accuracy(question, statistic):
    text = sys.modules[type(question).__module__].__doc__
    assert [text.find(f"\n{part}") > 0 for part in ("Maths", "Privacy", "Accuracy")] == [True] * 3


@every
def test_price_and_error_are_known_before_anything_is_spent(question, statistic):
    assert isinstance(question.guarantee, Guarantee)
    assert question.guarantee.rho is not None
    assert isinstance(question.forecast(), Forecast)
    assert question.assumed_public
    json.dumps(question.forecast().to_dict(), allow_nan=False)


@every
def test_only_noise_is_taken_for_noise(question, statistic):
    with pytest.raises(ValueError, match="Noise"):
        question.answer(statistic, np.random.default_rng(1))


@every
@pytest.mark.parametrize("thing", [None, [1, 2], 3])
def test_what_is_no_statistic_is_refused_in_words_before_it_is_charged(question, statistic, thing):
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("people", Guarantee(question.guarantee.adjacency, rho=10))
        with pytest.raises(ValueError, match="the statistic is a"):
            ledger.ask("people", question, thing)
        assert ledger.balance("people").entries == 1


@every
def test_an_answer_says_its_price_and_shows_no_statistic(question, statistic):
    answer = question.answer(statistic, Noise())
    assert isinstance(answer, Answer)
    assert answer.guarantee == question.guarantee
    made = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert made["kind"] == question.kind
    assert made["guarantee"]["adjacency"] == str(question.guarantee.adjacency)
    assert answer.headline in str(answer)
    assert answer.chart().to_dict()


@every
def test_a_ledger_charges_it_once_and_gives_the_same_answer_again(question, statistic):
    budget = Guarantee(question.guarantee.adjacency, rho=10)
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("people", budget)
        first = ledger.ask("people", question, statistic, request_id="one")
        spent = ledger.balance("people")
        again = ledger.ask("people", question, statistic, request_id="one")
        assert again.to_dict() == first.to_dict()
        assert again.headline == first.headline
        assert ledger.balance("people") == spent


@every
def test_its_own_rho_is_never_above_the_generic_one(question, statistic):
    price = question.guarantee
    if price.epsilon is not None:
        epsilon = float(price.epsilon)
        assert float(price.rho) <= epsilon * np.tanh(epsilon / 2) * (1 + 1e-12)
        assert isinstance(price.rho, Fraction)


def test_a_public_number_of_records_is_assumed_in_words_where_neighbours_share_it():
    substituted = PUBLIC | {"adjacency": "substitute"}
    for asked in (
        CellCounts(cells=("a", "b"), **substituted),
        BoundedSum(grid=GRID, **substituted),
        BoundedMean(grid=GRID, records=2, **substituted),
        BestCandidate(candidates=("x", "y"), bounds=(0, 1), **substituted),
    ):
        assert any("none is left out" in fact for fact in asked.assumed_public)
    assert not any("left out" in fact for fact in ASKED["sum"][0].assumed_public)
