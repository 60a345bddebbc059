"""The robustness table: every way of combining under honest, turned and garbage files, recomputed.

99 organizations and a receiver with 50 points each on a sphere in ten dimensions, learners of the
exact calibration. Accuracy is averaged over receivers and draws; its standard error is below .006.
"""

from __future__ import annotations

import numpy as np
import pytest

from noren.collaboration import baselines
from noren.collaboration.auto import auto_fit
from noren.collaboration.learners import losses_of, signs
from noren.collaboration.predictor import Predictor
from noren.collaboration.weights import mirror_weights
from noren.noise.public import generator
from noren.papers.collaboration_nodes import (
    balanced,
    fit_nodes,
    labelled,
    sphere,
    tight_learners,
)

EPSILONS = (0.1, 0.5, 1.0, 2.0)
COLUMNS = ("iid", "flipped", "garbage")
LOCAL = ("local .01", "local .1", "local 1")
KNOWN = {  # at the four epsilons, from the specification
    ("mirror", "iid"): (0.834, 0.906, 0.917, 0.962),
    ("geometric median", "flipped"): (0.140, 0.299, 0.622, 0.961),
    ("geometric median", "garbage"): (0.656, 0.851, 0.921, 0.974),
    ("stack .1", "iid"): (0.951, 0.961, 0.966, 0.975),
    ("stack .1", "flipped"): (0.966, 0.965, 0.972, 0.976),
    ("stack .1", "garbage"): (0.949, 0.962, 0.973, 0.970),
    ("auto", "iid"): (0.951, 0.961, 0.964, 0.974),
    ("auto", "flipped"): (0.964, 0.963, 0.970, 0.976),
    ("auto", "garbage"): (0.951, 0.959, 0.970, 0.968),
}


def spoiled(rng, models: np.ndarray, exact: np.ndarray, column: str) -> np.ndarray:
    """Let a fifth send their model without noise, turned and ten times as long, or garbage."""
    bad = rng.permutation(len(models))[: len(models) // 5]
    changed = models.copy()
    if column == "flipped":
        changed[bad] = -10 * exact[bad]
    if column == "garbage":
        changed[bad] = 1000 * sphere(rng, len(bad), models.shape[1])
    return changed


def ways(rows: np.ndarray, labels: np.ndarray, models: np.ndarray) -> dict[str, Predictor]:
    """Combine in every way."""
    vote = Predictor(models, np.ones(len(models)), "sign")
    return {
        "mirror": Predictor(models, mirror_weights(losses_of(rows, labels, models), 3)),
        "geometric median": Predictor.of(baselines.geometric_median(models)),
        "mean": Predictor.of(baselines.mean(models)),
        "vote": vote,
        "best single": Predictor.of(models[baselines.best_single(models, rows, labels)]),
        "stack .1": Predictor.of(baselines.stack(rows, labels, models, 0.1)),
        "auto": Predictor.of(auto_fit(rows, labels, models).coefficients),
        "local .01": Predictor.of(baselines.local_fit(rows, labels, 0.01)),
        "local .1": Predictor.of(baselines.local_fit(rows, labels, 0.1)),
        "local 1": Predictor.of(baselines.local_fit(rows, labels, 1)),
    }


def accuracy_table(draws: int, receivers: int) -> dict[tuple[str, str], np.ndarray]:
    """Average accuracy by way and column, over draws and receivers: one entry an epsilon."""
    sums: dict[tuple[str, str], np.ndarray] = {}
    for draw in range(draws):
        rng = generator([43, draw])
        w = sphere(rng, 1, 10)[0]
        points, labels = labelled(rng, 100 * 50, w)
        own, sides = points.reshape(100, 50, 10), labels.reshape(100, 50)
        test, truth = balanced(rng, 500, w)
        for place, epsilon in enumerate(EPSILONS):
            models = tight_learners(rng, own, sides, epsilon)
            exact = fit_nodes(own, sides, 2 / epsilon)
            for column in COLUMNS:
                sent = spoiled(rng, models, exact, column)
                for receiver in range(receivers):
                    others = np.delete(sent, receiver, axis=0)
                    for way, made in ways(own[receiver], sides[receiver], others).items():
                        entry = sums.setdefault((way, column), np.zeros(len(EPSILONS)))
                        entry[place] += np.mean(signs(made.scores(test)) == truth)
    return {key: total / (draws * receivers) for key, total in sums.items()}


@pytest.fixture(scope="module")
def table() -> dict[tuple[str, str], np.ndarray]:
    return accuracy_table(draws=6, receivers=10)


@pytest.mark.slow
@pytest.mark.parametrize("column", COLUMNS)
def test_auto_is_within_three_points_of_the_best_way(table, column):
    best = np.max([entry for (_, c), entry in table.items() if c == column], axis=0)
    assert (table["auto", column] >= best - 0.03).all(), (table["auto", column], best)


@pytest.mark.slow
@pytest.mark.parametrize("column", COLUMNS)
def test_auto_is_never_three_points_below_the_best_local_model(table, column):
    best = np.max([table[way, column] for way in LOCAL], axis=0)
    assert (table["auto", column] >= best - 0.03).all()


@pytest.mark.slow
def test_one_bad_fifth_ruins_the_mean_and_the_median_of_noisy_files(table):
    assert (table["mean", "flipped"] < 0.4).all()
    assert table["geometric median", "flipped"][0] < 0.5
    assert (table["auto", "flipped"] > 0.9).all()


@pytest.mark.slow
@pytest.mark.parametrize("key", KNOWN, ids=" ".join)
def test_the_table_is_that_of_the_specification(table, key):
    """Within .02; the others vary more between draws, and their known figures rest on few."""
    within = 0.02 if key[0] in ("auto", "stack .1") else 0.2
    assert table[key] == pytest.approx(KNOWN[key], abs=within)
