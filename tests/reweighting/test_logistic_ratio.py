"""The logistic baseline: its worked example, its bound, its grid."""

import numpy as np
import pytest

from noren.errors import ParameterError
from noren.noise import Noise
from noren.reweighting import EncodedRows, LogisticRatio, fit_weights
from noren.reweighting.logistic_fit import TAU, separating_theta, slopes

PUBLIC = np.array([-1, -0.4, 0.1, 0.5, 0.9, 1.2, 1.6, 2.1, 2.7, 3.3])[:, None]
PRIVATE = np.array([1.1, 1.4, 1.6, 1.8, 1.9, 2, 2.1, 2.3, 2.4, 2.6, 2.8, 3.1])[:, None]


def asked(**settings):
    given = {"public": PUBLIC, "ridge": "0.1", "adjacency": "substitute", "epsilon": 1}
    return LogisticRatio(**(given | {"records": 12} | settings))


def with_ones(rows):
    return np.column_stack([np.ones(len(rows)), rows])


def test_the_worked_example():
    theta = separating_theta(with_ones(PRIVATE), with_ones(PUBLIC), 0.1)
    assert theta == pytest.approx([-0.7421039100723916, 0.559344026013051], rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_fit_ends_at_the_minimum_whatever_the_rows(seed):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-3, 3)
    private, public = (with_ones(rng.standard_normal((n, 3)) * scale) for n in (40, 30))
    ridge = 10.0 ** -rng.integers(1, 4)
    theta = separating_theta(private, public, ridge)
    gradient, _ = slopes(theta, private, public, ridge)
    assert np.linalg.norm(gradient) <= TAU


def test_no_replaced_row_moves_the_coefficients_beyond_the_bound():
    question = asked()
    public = question.features(PUBLIC)
    own = separating_theta(question.features(PRIVATE), public, 0.1)
    moves = []
    for value in (-1e9, -2.0, 0.0, 3.0, 1e9):
        changed = PRIVATE.copy()
        changed[0] = value
        other = separating_theta(question.features(changed), public, 0.1)
        moves.append(np.linalg.norm(other - own))
    assert 0 < max(moves) <= float(question.moves)


def test_the_grid_is_fine_beside_the_noise_and_the_rounding_is_paid_for():
    question = asked()
    assert float(question.step) <= float(question.moves) / 1024
    extra = float(question.law.reach - question.moves / question.step)
    assert np.sqrt(question.size) <= extra <= np.sqrt(question.size) + 1e-5


def test_weights_lean_to_the_private_rows_and_reach_others():
    rows = np.repeat(PRIVATE, 2000, axis=0)
    question = asked(records=len(rows), epsilon=10)
    release = question.answer(EncodedRows.of(rows), Noise())
    weights = fit_weights(release, PUBLIC)
    assert weights.values[-1] > weights.values[0]
    assert weights.values.mean() == pytest.approx(1)
    assert weights.predict(PUBLIC) == pytest.approx(weights.values)
    assert weights.diagnostics()["largest standard score"] == 0
    assert question.restore(release.record()).theta == pytest.approx(release.theta)
    assert release.guarantee == question.guarantee


@pytest.mark.parametrize("wrong", [{"ridge": 0}, {"adjacency": "add-remove"}, {"records": None}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ParameterError):
        asked(**wrong)
