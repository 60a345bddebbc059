"""Adding up released sums, and averaging models of any task."""

from __future__ import annotations

import numpy as np
import pytest

from noren import Noise
from noren.collaboration.merging import Merged, merge
from noren.collaboration.model import PrivateModel
from noren.collaboration.moments import MomentLearner
from noren.collaboration.precision import precision_weights
from noren.collaboration.regression import GramRegression
from noren.collaboration.softmax import SoftmaxTraining
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.task import Task
from noren.data import Numeric, Schema, fill
from noren.errors import ParameterError

NUMBER = Task(
    Schema([Numeric(name=f"x{j}", lower=-1, upper=1, missing=fill(0)) for j in range(3)]),
    Numeric(name="y", lower=-2, upper=2, missing=fill(0)),
    intercept=0,
    scale=2,
)
TWO = Task.of_bounds([-1, -1], [1, 1])
THREE = Task.of_bounds([-1, -1], [1, 1], classes=("a", "b", "c"))


def regressions(many: int = 5, rows: int = 400) -> tuple[list[PrivateModel], np.ndarray]:
    rng, models = np.random.default_rng(2), []
    true = np.array([1.0, -0.5, 0.25])
    for _ in range(many):
        x = rng.uniform(-1, 1, (rows, 3))
        given = TrainingRows.of(NUMBER, x, labels=(x @ true).tolist())
        asked = GramRegression(
            task=NUMBER, epsilon=1, delta="1e-5", adjacency="add-remove", size=rows
        )
        models.append(asked.answer(given, Noise()).model)
    return models, true


def test_merged_sums_predict_better_than_the_average_of_models():
    models, true = regressions()
    x = np.random.default_rng(3).uniform(-1, 1, (500, 3))

    def error(found: Merged) -> float:
        return float(np.mean((found.predict(x) - x @ true) ** 2))

    summed, averaged = merge(models), merge(models, "mean")
    assert summed.method == "sums"
    assert error(summed) < error(averaged)


def test_moments_add_up_by_their_declared_sizes():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (50, 2))
    labels = np.where(x[:, 0] > 0, "yes", "no")
    made = [
        MomentLearner(task=TWO, epsilon=1, delta="1e-5", adjacency="add-remove", size=size)
        .answer(TrainingRows.of(TWO, x, labels=labels), Noise()).model for size in (50, 150)
    ]  # fmt: skip
    total = made[0].sums["moments"] + made[1].sums["moments"]
    assert merge(made).coefficients == pytest.approx(2 * 3 * total / 200)


@pytest.mark.parametrize("method", ["mean", "clipped-mean", "coordinate-median", None])
def test_models_of_three_classes_are_averaged_as_whole_matrices(method):
    x = np.random.default_rng(1).uniform(-1, 1, (60, 2))
    labels = np.where(x[:, 0] > 0.3, "a", np.where(x[:, 1] > 0, "b", "c"))
    asked = SoftmaxTraining(task=THREE, epsilon=20, adjacency="add-remove", size=60)
    models = [asked.answer(TrainingRows.of(THREE, x, labels=labels), Noise()).model] * 3
    found = merge(models, method)
    assert found.coefficients == pytest.approx(models[0].coefficients, rel=1e-9)
    assert set(found.predict(x)) <= {"a", "b", "c"}


def test_a_merged_model_is_read_back():
    found = merge(regressions(2, 50)[0])
    again = Merged.from_dict(found.to_dict())
    assert np.array_equal(again.coefficients, found.coefficients)
    assert again.task.identity == found.task.identity


def test_what_cannot_be_merged_is_refused():
    models, _ = regressions(2, 50)
    with pytest.raises(ParameterError):
        merge([])
    with pytest.raises(ParameterError):
        merge(models, "auto")
    other = SoftmaxTraining(task=THREE, epsilon=1, adjacency="add-remove", size=1)
    stranger = other.answer(TrainingRows.empty(THREE), Noise()).model
    with pytest.raises(ParameterError, match="several tasks"):
        merge([*models, stranger])
    with pytest.raises(ParameterError, match="Sums need files"):
        merge([stranger], "sums")


def test_precision_weights_favor_the_organization_with_less_noise():
    x = np.random.default_rng(1).uniform(-1, 1, (50, 2))
    given = TrainingRows.of(TWO, x, labels=["yes"] * 50)

    def model(way, epsilon, **settings) -> PrivateModel:
        asked = way(task=TWO, epsilon=epsilon, adjacency="add-remove", size=50, **settings)
        return asked.answer(given, Noise()).model

    for settings in ({}, {"delta": "1e-5"}):
        weights = precision_weights([model(MomentLearner, e, **settings) for e in (1, 2)])
        assert weights.sum() == pytest.approx(1)
        assert weights[1] > 2 * weights[0]
    with pytest.raises(ParameterError, match="several mechanisms"):
        precision_weights([model(MomentLearner, 1), model(MomentLearner, 1, delta="1e-5"),
                           merge_free()])  # fmt: skip


def merge_free() -> PrivateModel:
    from noren.collaboration.logistic import LogisticTraining

    asked = LogisticTraining(task=TWO, epsilon=1, adjacency="add-remove", size=1)
    return asked.answer(TrainingRows.empty(TWO), Noise()).model
