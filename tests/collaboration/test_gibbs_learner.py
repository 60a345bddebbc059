"""Publishing one learner by a draw: its law is the exponential weights', its price is attained."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren import Guarantee, Ledger
from noren.audit.enumerated import law_of
from noren.audit.exact import log_ratio
from noren.collaboration.gibbs_learner import STEP, GibbsLearner
from noren.collaboration.learners import losses_of
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.task import Task
from noren.collaboration.weights import ewa_weights, mirror_weights
from noren.errors import ParameterError
from noren.privacy import SUBSTITUTE, USER, Adjacency
from noren.testing import seeded_noise

TASK = Task.of_bounds([-1, -1], [1, 1], classes=("no", "yes"), intercept=0, scale=1)
LEARNERS = [[3.0, 0.0], [0.0, 2.0], [-1.0, -1.0]]
POINTS = [(1.0, 0.0), (0.0, 1.0), (-0.6, 0.8), (-1.0, 0.0)]
EVERY_ROW = [(point, word) for point in POINTS for word in ("no", "yes")]


def rows_of(chosen) -> TrainingRows:
    points, words = [list(part) for part in zip(*chosen, strict=True)] if chosen else ([], [])
    matrix = np.array(points, float).reshape(-1, 2)
    return TrainingRows.of(TASK, matrix, labels=words) if chosen else TrainingRows.empty(TASK)


def ask(**settings) -> GibbsLearner:
    own = {"task": TASK, "learners": LEARNERS, "epsilon": "1/3", "adjacency": "add-remove"}
    return GibbsLearner(**own | settings)


def law(question, chosen) -> dict[int, Decimal]:
    statistic = rows_of(chosen)
    found = law_of(lambda noise: question.answer(statistic, noise).chosen.tolist())[0]
    return {json.loads(key)[0]: mass for key, mass in found.items()}


def test_the_law_is_that_of_the_exponential_weights():
    chosen = EVERY_ROW[:3]
    statistic = rows_of(chosen)
    rows, labels, _ = statistic.parts[0]
    weights = ewa_weights(losses_of(rows, labels, np.array(LEARNERS), "unit"), 3)
    found = law(ask(), chosen)
    assert [float(found[m]) for m in range(3)] == pytest.approx(weights, rel=1e-8)


def test_the_law_of_mirror_draws_is_that_of_mirror_averaging():
    chosen = EVERY_ROW[:4]
    rows, labels, _ = rows_of(chosen).parts[0]
    weights = mirror_weights(losses_of(rows, labels, np.array(LEARNERS), "unit"), 3, True)
    found = law(ask(epsilon="2/3", adjacency="substitute", weights="mirror"), chosen)
    assert [float(found[m]) for m in range(3)] == pytest.approx(weights, rel=1e-8)


@pytest.mark.parametrize(
    ("adjacency", "epsilon"), [("add-remove", Fraction(1, 3)), ("substitute", Fraction(2, 3))]
)
def test_temperature_three_costs_a_third_or_two(adjacency, epsilon):
    question = ask(epsilon=epsilon, adjacency=adjacency)
    assert question.beta == pytest.approx(3, rel=1e-12)
    assert question.guarantee.epsilon == epsilon


def test_no_added_row_moves_the_law_by_more_than_its_price():
    question, worst = ask(epsilon=1), 0.0
    for before in ([], EVERY_ROW[:1], EVERY_ROW[2:4]):
        for row in EVERY_ROW:
            p, q = law(question, before), law(question, [*before, row])
            worst = max(worst, log_ratio(p, q), log_ratio(q, p))
    assert 0.3 < worst <= 1


@pytest.mark.parametrize("weights", ["ewa", "mirror"])
def test_no_replaced_row_moves_the_law_by_more_than_its_price(weights):
    question = ask(epsilon=1, adjacency="substitute", weights=weights)
    worst = 0.0
    for other in EVERY_ROW[:2]:
        laws = [law(question, [row, other]) for row in EVERY_ROW]
        worst = max(worst, *(log_ratio(p, q) for p in laws for q in laws))
    assert 0.25 < worst <= 1


def test_the_price_is_nearly_attained_by_the_farthest_losses():
    """Signs: one learner right, the others wrong, and M large: the ratio nears e**epsilon."""
    learners = [[1.0, 0.0]] + [[-1.0, 0.0]] * 2000
    question = ask(learners=learners, form="sign", epsilon=1)
    few, more = [], [((1.0, 0.0), "yes")]

    def chance(chosen) -> float:
        sums = -question.steps(rows_of(chosen)).sum(axis=1).astype(float)
        powers = np.exp((sums - sums.max()) * float(question.each) / question.spread)
        return powers[0] / powers.sum()

    assert 0.999 < math.log(chance(more) / chance(few)) <= 1


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), form=st.sampled_from(["unit", "sign", "score"]))
def test_every_loss_lies_within_its_bounds(seed, form):
    rng = np.random.default_rng(seed)
    bound = {"bound": "2.5"} if form == "score" else {}
    question = ask(learners=rng.normal(scale=100, size=(4, 2)), form=form, **bound)
    points = rng.uniform(-1, 1, (6, 2))
    steps = question.steps(TrainingRows.of(TASK, points, labels=["yes", "no"] * 3))
    assert steps.min() >= 0
    assert steps.max() <= question.width == math.ceil(question.reach / STEP)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 40))
def test_a_row_counts_the_same_wherever_it_stands(seed, cut):
    """Another row must not move this one's loss even in its last bit."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (41, 2))
    question = ask(learners=rng.normal(size=(5, 2)))
    whole = question.steps(TrainingRows.of(TASK, points, labels=["yes"] * 41))
    alone = question.steps(TrainingRows.of(TASK, points[cut : cut + 1], labels=["yes"]))
    assert (whole[:, cut : cut + 1] == alone).all()


def test_many_draws_cost_their_sum_and_share_the_price():
    one, three = ask(epsilon="0.2"), ask(epsilon="0.6", draws=3)
    assert three.each == one.epsilon
    assert three.beta == one.beta
    assert three.guarantee.rho == 3 * one.guarantee.rho


def test_a_person_with_many_rows_makes_the_draw_softer():
    person = Adjacency(SUBSTITUTE, USER, 4)
    assert ask(adjacency=person).beta == pytest.approx(4 * ask(adjacency="substitute").beta)


def test_drawn_frequencies_follow_the_law():
    question = ask(epsilon=6, draws=1)
    statistic, noise = rows_of(EVERY_ROW[:2]), seeded_noise(8)
    drawn = [int(question.answer(statistic, noise).chosen[0]) for _ in range(4000)]
    expected = [float(law(question, EVERY_ROW[:2])[m]) for m in range(3)]
    seen = np.bincount(drawn, minlength=3) / 4000
    assert np.abs(seen - expected).max() < 6.2 * 0.5 / math.sqrt(4000)  # false alarm 1e-9


def test_a_ledger_stores_the_draw_and_gives_it_again(tmp_path):
    ledger = Ledger.open(tmp_path / "budget.sqlite")
    ledger.create_account("here", Guarantee("add-remove", epsilon=1))
    question, statistic = ask(), rows_of(EVERY_ROW[:3])
    first = ledger.ask("here", question, statistic, request_id="publish")
    again = ledger.ask("here", question, statistic, request_id="publish")
    assert first.chosen.tolist() == again.chosen.tolist()
    assert 0 <= ledger.balance("here").spent.epsilon - Fraction(1, 3) < Fraction(1, 10**11)


def test_an_answer_of_seeded_noise_is_marked_and_shows_its_draw():
    answer = ask(draws=2).answer(rows_of(EVERY_ROW[:3]), seeded_noise(1))
    assert "NOT PRIVATE" in str(answer)
    assert answer.guarantee is None
    assert answer.learners.shape == (2, 2)
    assert len(answer.to_dict()["learners"]) == 2
    assert answer.chart().to_dict()["encoding"]["x"]["field"] == "learner"


@pytest.mark.parametrize(
    "settings",
    [
        {"form": "score"},
        {"form": "unit", "bound": 1},
        {"form": "raw"},
        {"form": "score", "bound": 10**6},
        {"weights": "mirror"},
        {"weights": "median"},
        {"epsilon": 0},
        {"draws": 0},
        {"learners": [[1.0]]},
        {"learners": [[math.nan, 1.0]]},
        {"adjacency": "bit"},
    ],
)
def test_questions_that_make_no_sense_are_refused(settings):
    with pytest.raises(ParameterError):
        ask(**settings)


def test_rows_of_another_task_are_refused_before_anything_is_drawn():
    other = Task.of_bounds([-2, -2], [2, 2], intercept=0, scale=1)
    with pytest.raises(ParameterError, match="another task"):
        ask().check(TrainingRows.of(other, np.zeros((1, 2)), labels=["no"]))


def test_the_forecast_says_how_far_from_the_best():
    question = ask(epsilon=1)
    assert question.margin() == pytest.approx(math.log(2 / 0.05), rel=1e-9)
    assert question.forecast(100).margin_95 == pytest.approx(question.margin() / 100)
    assert ask(learners=[[1.0, 0.0]]).margin() == 0
