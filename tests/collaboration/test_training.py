"""Every way to train keeps the pattern: a price that can be recomputed, charged once, sent once."""

import dataclasses
import json
import re
import sys
from fractions import Fraction

import numpy as np
import pytest

from noren import Guarantee, Noise
from noren.collaboration import PrivateModel, Task, TrainingRows
from noren.collaboration import solver as solver_module
from noren.collaboration.as_published import PublishedTraining
from noren.collaboration.choice import choose_training
from noren.collaboration.claims import recompute_claim
from noren.collaboration.descent import GradientDescent
from noren.collaboration.logistic import LogisticTraining
from noren.collaboration.moments import MomentLearner
from noren.collaboration.output import OutputPerturbation
from noren.collaboration.regression import GramRegression
from noren.collaboration.softmax import SoftmaxTraining
from noren.collaboration.tuned import TunedTraining
from noren.data import DROP, Boolean, Categorical, Numeric, Schema, fill
from noren.errors import DrawRefused, NorenError, NotPrivate, ParameterError
from noren.ledger import Ledger
from noren.privacy import ADD_REMOVE, SUBSTITUTE, USER, Adjacency
from noren.question import Answer, Forecast, Question, identity
from noren.testing import seeded_noise

N = 240
RNG = np.random.default_rng(3)
X = RNG.uniform(0, 1, (N, 3))
COLUMNS = {f"x{j}": X[:, j] for j in range(3)}
FEATURES = Schema([Numeric(name=f"x{j}", lower=0, upper=1, missing=fill(0.5)) for j in range(3)])
TWO = Task(FEATURES, Boolean(name="y", missing=fill(False)))
THREE = Task(FEATURES, Categorical(name="y", categories=("a", "b", "c"), missing=fill("a")))
NUMBER = Task(FEATURES, Numeric(name="y", lower=-4, upper=4, missing=fill(0)))
LABELS = X @ [2, -1, 0.5] > 0.75
ROWS = {
    "two": TrainingRows.of(TWO, {**COLUMNS, "y": LABELS}),
    "three": TrainingRows.of(THREE, {**COLUMNS, "y": np.array(list("abc"))[X.argmax(axis=1)]}),
    "number": TrainingRows.of(NUMBER, {**COLUMNS, "y": 3 * X[:, 0] - 2 * X[:, 1]}),
}
ADDED = {"epsilon": 1, "adjacency": "add-remove", "size": N}
SWAPPED = {"epsilon": 1, "adjacency": "substitute", "size": N}
PEOPLE = ADDED | {"adjacency": Adjacency(ADD_REMOVE, USER, 3)}
APPROXIMATE = {"delta": "1e-5"}
TRIED = [("objective", 3), ("objective", None), ("moments", None)]
PARTS_OF = "tuned, parts by position"
ASKED = {
    "pure": (LogisticTraining(task=TWO, **ADDED), "two"),
    "pure, substitute": (LogisticTraining(task=TWO, **SWAPPED, ridge="0.7"), "two"),
    "gaussian": (LogisticTraining(task=TWO, **ADDED, **APPROXIMATE), "two"),
    "gaussian, less ridge": (LogisticTraining(task=TWO, ridge=0.5, **ADDED, **APPROXIMATE), "two"),
    "gaussian, substitute": (LogisticTraining(task=TWO, **SWAPPED, **APPROXIMATE), "two"),
    "gaussian, people": (LogisticTraining(task=TWO, **PEOPLE, **APPROXIMATE, weight=2), "two"),
    "pure, people": (LogisticTraining(task=TWO, **PEOPLE, weight="0.3"), "two"),
    "softmax": (SoftmaxTraining(task=THREE, **SWAPPED), "three"),
    "softmax gaussian": (SoftmaxTraining(task=THREE, **PEOPLE, **APPROXIMATE), "three"),
    "cms": (PublishedTraining(task=TWO, variant="cms", **SWAPPED), "two"),
    "kst": (PublishedTraining(task=TWO, variant="kst", **ADDED), "two"),
    "kst gaussian": (PublishedTraining(task=TWO, variant="kst", **ADDED, **APPROXIMATE), "two"),
    "descent": (GradientDescent(task=TWO, **ADDED, **APPROXIMATE, weight=2), "two"),
    "descent, pure": (GradientDescent(task=TWO, **SWAPPED, steps=10), "two"),
    "descent, classes": (GradientDescent(task=THREE, **SWAPPED, **APPROXIMATE), "three"),
    "output": (OutputPerturbation(task=TWO, ridge=20, **ADDED, **APPROXIMATE), "two"),
    "output, pure": (OutputPerturbation(task=TWO, ridge=20, **SWAPPED), "two"),
    "tuned": (TunedTraining(task=TWO, **ADDED, **APPROXIMATE, candidates=TRIED), "two"),
    "tuned, shared": (
        TunedTraining(task=TWO, **SWAPPED, candidates=TRIED[:2], sharing="shared", weight=2),
        "two",
    ),
    PARTS_OF: (TunedTraining(task=TWO, **SWAPPED, candidates=TRIED), "two"),
    "moments": (MomentLearner(task=TWO, **PEOPLE, **APPROXIMATE), "two"),
    "moments, pure": (MomentLearner(task=TWO, **SWAPPED), "two"),
    "gram": (GramRegression(task=NUMBER, **SWAPPED, **APPROXIMATE), "number"),
    "gram, pure": (GramRegression(task=NUMBER, **ADDED), "number"),
}
every = pytest.mark.parametrize(("question", "name"), ASKED.values(), ids=list(ASKED))


@pytest.fixture(autouse=True)
def same_draws_in_any_order():
    global RNG
    RNG = np.random.default_rng(3)


@every
def test_it_is_a_frozen_question_of_public_parameters(question, name):
    assert isinstance(question, Question)
    assert type(question).__dataclass_params__.frozen
    with pytest.raises(dataclasses.FrozenInstanceError):
        question.epsilon = 2
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", question.kind)
    assert len(identity(question)) == 64
    text = sys.modules[type(question).__module__].__doc__
    assert text.find("\nMaths") > 0
    assert text.find("\nPrivacy") > 0


@every
def test_the_claim_recomputed_from_the_parameters_is_what_was_asked(question, name):
    found = recompute_claim(question.mechanism, question.parameters)
    asked = question.guarantee
    assert found.adjacency == asked.adjacency
    assert Fraction(99, 100) * asked.epsilon <= found.epsilon <= asked.epsilon
    assert Fraction(97, 100) * asked.delta <= found.delta <= asked.delta


@every
def test_the_claim_survives_the_way_through_a_file(question, name):
    model = question.answer(ROWS[name], Noise()).model
    read = PrivateModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert read.guarantee == question.guarantee
    assert np.array_equal(read.coefficients, model.coefficients)
    found = recompute_claim(read.mechanism, read.parameters)
    assert found == recompute_claim(question.mechanism, question.parameters)


@every
def test_less_noise_than_claimed_is_seen_or_refused(question, name):
    given = question.parameters
    for quantity, factor in (
        ("rate", 2), ("sigma", 0.5), ("noise", Fraction(1, 2)), ("lattice", 0), ("weight", 2),
        ("max_records", 5), ("tolerance", 100), ("steps", 3), ("choice_epsilon", 2),
    ):  # fmt: skip
        if quantity not in given or (quantity == "max_records" and given["unit"] == "record"):
            continue
        value = int(given[quantity] * factor) if quantity == "lattice" else given[quantity] * factor
        if quantity == "tolerance" and given["tolerance"] * 100 < 1e-5 and "law" in given:
            continue  # below what moves the price of output perturbation
        try:
            found = recompute_claim(question.mechanism, {**given, quantity: value})
        except NorenError:
            continue
        worse = found.epsilon > question.epsilon * (1 + Fraction(1, 10**9))
        assert worse or found.delta > question.delta * (1 + Fraction(1, 10**6)), quantity


@every
def test_price_and_error_are_known_before_anything_is_spent(question, name):
    assert isinstance(question.forecast(), Forecast)
    assert isinstance(question.forecast(10_000), Forecast)
    json.dumps(question.forecast().to_dict(), allow_nan=False)
    assert question.assumed_public
    assert question.mechanisms


def test_rows_that_no_task_encodes_are_refused_and_not_quoted():
    asked = LogisticTraining(task=TWO, **ADDED)
    for spoiled in (3.5, np.nan, np.inf):
        table = np.zeros((9, TWO.dimension))
        table[5, 0] = spoiled
        with pytest.raises(ParameterError, match="of length at most 1") as refused:
            asked.answer(TrainingRows(TWO, ((table, np.ones(9), None),)), Noise())
        assert not re.search("3.5|nan|inf", str(refused.value))


@pytest.mark.parametrize("way", [
    lambda: LogisticTraining(task=TWO, epsilon=50, ridge=1e-20, adjacency="add-remove", size=9),
    lambda: LogisticTraining(task=TWO, epsilon="1e-12", adjacency="add-remove", size=9),
    lambda: LogisticTraining(task=TWO, epsilon="1e-12", delta="1e-9", adjacency="add-remove",
                             size=9),
    lambda: SoftmaxTraining(task=THREE, epsilon="1e-12", adjacency="substitute", size=9),
    lambda: PublishedTraining(task=TWO, variant="cms", epsilon="1e-12", adjacency="substitute",
                              size=9),
    lambda: OutputPerturbation(task=TWO, epsilon=1, ridge=1e-20, adjacency="add-remove", size=9),
])  # fmt: skip
def test_noise_that_would_leave_nothing_is_refused_before_anything_is_charged(way):
    with pytest.raises(ParameterError, match="longer than any model"):
        way()


# parts cost what one of them does, and which rows each uses the question's parameters say
ADDED_UP = [asked for name, (asked, _) in ASKED.items() if name not in ("tuned", PARTS_OF)]


@pytest.mark.parametrize("question", ADDED_UP)
def test_an_accountant_outside_derives_the_price_from_the_mechanisms(question):
    epsilon = rho = Fraction(0)
    for law in question.mechanisms:
        if law.variance is not None:
            rho += law.rounds * law.sensitivity / (2 * law.variance)
        elif law.scale is not None:
            epsilon += law.rounds * law.sensitivity / law.scale
        else:
            epsilon += law.rounds * law.epsilon
    if rho:
        assert rho == question.guarantee.rho
    else:
        assert Fraction(99, 100) * question.epsilon <= epsilon <= question.epsilon


@every
def test_an_answer_says_its_price_and_shows_no_row(question, name):
    answer = question.answer(ROWS[name], Noise())
    assert isinstance(answer, Answer)
    assert answer.guarantee == question.guarantee
    made = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert made["kind"] == question.kind
    assert answer.headline in str(answer)
    assert answer.chart().to_dict()
    assert str(N) not in repr(ROWS[name])


@every
def test_a_ledger_charges_it_once_and_sends_the_same_model_again(question, name):
    asked = question.guarantee
    budget = Guarantee(asked.adjacency, 3 * asked.epsilon, 3 * asked.delta)
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("rows", budget, filter="pure")
        first = ledger.ask("rows", question, ROWS[name], request_id="v1").model
        spent = ledger.balance("rows")
        again = ledger.ask("rows", question, ROWS[name], request_id="v1").model
        assert again.to_dict() == first.to_dict()
        assert again.receipt is not None
        assert ledger.balance("rows") == spent
        anew = ledger.ask("rows", question, ROWS[name], request_id="v2").model
        assert not np.array_equal(anew.coefficients, first.coefficients)
        assert ledger.balance("rows") != spent


@every
def test_seeded_noise_can_never_pass_for_private(question, name):
    model = question.answer(ROWS[name], seeded_noise(4)).model
    assert model.guarantee is None
    assert model.seeded
    assert "NOT PRIVATE" in repr(model)
    assert any("NOT PRIVATE" in mark for mark in model.marks)


@every
def test_released_numbers_are_the_same_for_any_partition(question, name):
    if question.kind == "tuned-training" and question.sharing == "parts":
        return  # there a row's part goes by its position, or is drawn
    whole = ROWS[name]
    ((x, y, w),) = whole.parts
    parts = [TrainingRows(whole.task, ((x[i::3], y[i::3], w),)) for i in range(3)]
    one = question.answer(whole, seeded_noise(8)).coefficients
    other = question.answer(parts[0] + parts[1] + parts[2], seeded_noise(8)).coefficients
    assert np.abs(one - other).max() <= 2.0**-29


@pytest.mark.parametrize("name", ["pure", "gaussian", "descent", "kst"])
def test_with_much_epsilon_each_way_learns(name):
    question = dataclasses.replace(ASKED[name][0], epsilon=200, **FRESH.get(name, {}))
    model = question.answer(ROWS["two"], Noise()).model
    assert np.mean((model.predict(COLUMNS) == "true") == LABELS) > 0.9


FRESH = {"pure": {"ridge": 0.05}, "gaussian": {"ridge": 0.05}}


def test_three_classes_are_learned():
    for question in (
        SoftmaxTraining(task=THREE, epsilon=200, adjacency="add-remove", size=N),
        GradientDescent(task=THREE, epsilon=200, delta="1e-5", adjacency="add-remove", size=N),
    ):
        predicted = question.answer(ROWS["three"], Noise()).model.predict(COLUMNS)
        assert np.mean(predicted == np.array(list("abc"))[X.argmax(axis=1)]) > 0.85


def test_a_number_is_learned():
    question = GramRegression(task=NUMBER, epsilon=500, adjacency="add-remove", size=N)
    predicted = question.answer(ROWS["number"], Noise()).model.predict(COLUMNS)
    assert np.abs(predicted - (3 * X[:, 0] - 2 * X[:, 1])).mean() < 0.15


def test_under_add_remove_no_parameter_depends_on_the_true_number_of_rows():
    question = ASKED["gaussian"][0]
    few = TrainingRows.of(TWO, {**{k: v[:5] for k, v in COLUMNS.items()}, "y": LABELS[:5]})
    sent = [question.answer(rows, Noise()).model for rows in (few, ROWS["two"])]
    assert dict(sent[0].parameters) == dict(sent[1].parameters)


@pytest.mark.parametrize("rows", [TrainingRows.empty(TWO), TrainingRows.counted(TWO, [])])
def test_no_rows_at_all_are_answered_like_any_others(rows):
    assert ASKED["gaussian"][0].answer(rows, Noise()).coefficients.shape == (4,)
    assert ASKED["descent"][0].answer(rows, Noise()).coefficients.shape == (4,)


def test_one_class_alone_and_unreadable_cells_are_answered():
    table = {"x0": [0.1, np.nan, np.inf], "x1": [0.2] * 3, "x2": [-1e300] * 3, "y": [True] * 3}
    answer = ASKED["pure"][0].answer(TrainingRows.of(TWO, table), Noise())
    assert np.isfinite(answer.coefficients).all()


def test_under_substitute_another_number_of_rows_is_refused_without_being_named():
    question = dataclasses.replace(ASKED["cms"][0], size=N + 1)
    with pytest.raises(ParameterError, match="that number exactly") as refused:
        question.answer(ROWS["two"], Noise())
    assert not re.search(r"\d{2,}", str(refused.value))


def test_rows_that_may_disappear_are_refused_under_substitute():
    task = Task(Schema([Numeric(name="x0", lower=0, upper=1, missing=DROP)]), TWO.label)
    with pytest.raises(ParameterError, match="could disappear"):
        LogisticTraining(task=task, **SWAPPED)


@pytest.mark.parametrize(("change", "words"), [
    ({"epsilon": 0}, "epsilon is 0"), ({"epsilon": float("inf")}, "epsilon is inf"),
    ({"epsilon": None}, "epsilon is left out"), ({"delta": 1}, "delta is 1"),
    ({"size": 0}, "size is 0"), ({"adjacency": None}, "no default"),
    ({"adjacency": "bit"}, "adjacency is 'bit'"), ({"weight": 0}, "weight is 0"),
    ({"ridge": 0.1}, "ridge is 0.1"), ({"task": THREE}, "the task is multiclass"),
])  # fmt: skip
def test_bad_settings_are_refused_in_words(change, words):
    with pytest.raises(ParameterError, match=words):
        LogisticTraining(**{"task": TWO, **ADDED, **change})


def test_published_claims_are_refused_for_neighbours_they_do_not_hold_for():
    with pytest.raises(ParameterError, match="not valid, or not proved"):
        PublishedTraining(task=TWO, variant="kst", **SWAPPED)
    with pytest.raises(ParameterError, match="not valid, or not proved"):
        PublishedTraining(task=TWO, variant="cms", **ADDED)
    with pytest.raises(NotPrivate, match="prints for these numbers"):
        recompute_claim("published-kst-pure", {
            **ASKED["kst"][0].parameters, "adjacency": "substitute"
        })  # fmt: skip


def test_a_large_price_is_marked():
    question = LogisticTraining(task=TWO, **{**ADDED, "epsilon": 11}, delta="0.01")
    assert any("epsilon above 10" in note for note in question.notes)
    assert any("one over the declared size" in note for note in question.notes)
    assert "law of the linear term idealized" in question.notes


def test_a_solver_stopped_early_releases_nothing_and_the_charge_stays(monkeypatch):
    monkeypatch.setattr(solver_module, "NEWTON_STEPS", 1)
    monkeypatch.setattr(solver_module, "REFINEMENTS", 0)
    question = ASKED["gaussian"][0]
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("rows", question.guarantee, filter="pure")
        with pytest.raises(DrawRefused, match="nothing is released"):
            ledger.ask("rows", question, ROWS["two"])
        with pytest.raises(NorenError, match="epsilon 0 left"):
            ledger.ask("rows", question, ROWS["two"])


def test_weights_are_bounded_by_the_public_number_and_rows_of_weight_nothing_count_nothing():
    question = LogisticTraining(task=TWO, **ADDED, weight=2)
    half = np.where(np.arange(N) < 120, 5.0, np.nan)
    first = TrainingRows.of(TWO, {**COLUMNS, "y": LABELS}, weights=half)
    table = {**{k: v[:120] for k, v in COLUMNS.items()}, "y": LABELS[:120]}
    second = TrainingRows.of(TWO, table, weights=np.full(120, 2.0))
    one, other = (question.answer(rows, seeded_noise(2)) for rows in (first, second))
    assert np.abs(one.coefficients - other.coefficients).max() <= 2.0**-29


def test_the_choice_looks_at_public_numbers_alone():
    def chosen(task, **changes):
        return choose_training(task, **{**ADDED, **changes}).kind

    assert chosen(TWO) == "logistic-training"
    assert chosen(TWO, delta="1e-5") == "logistic-training"
    assert chosen(TWO, delta="1e-5", size=301) == "descent-training"
    assert chosen(THREE) == "softmax-training"
    assert chosen(THREE, delta="1e-5") == "descent-training"
    assert chosen(NUMBER, delta="1e-5") == "gram-regression"


def test_persons_with_several_substituted_rows_keep_their_number_in_words():
    question = LogisticTraining(
        task=TWO, epsilon=1, size=N, adjacency=Adjacency(SUBSTITUTE, USER, 2)
    )
    assert "as many rows as before" in str(question.guarantee)
