"""The exact minimum: oracles, agreement with SciPy, and no result at all when it is not reached."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from noren.collaboration import solver
from noren.collaboration.fitting import fit_logistic
from noren.collaboration.logistic_loss import LogisticObjective
from noren.collaboration.statistic import TrainingRows
from noren.errors import DrawRefused, ParameterError

N, D = 12, 3
I_, J = np.arange(1, N + 1)[:, None], np.arange(1, D + 1)[None]
X = np.sin(0.7 * I_ * J + 0.3 * J)
X = X / np.maximum(1, np.linalg.norm(X, axis=1))[:, None]
Y = np.where(np.cos(1.1 * I_[:, 0]) > 0, 1, -1)
B = np.array([0.5, -1.25, 0.75])


def objective(rows, labels, ridge, linear, weights=None):
    parts = ((rows, labels.astype(float), weights),)
    return LogisticObjective(TrainingRows(None, parts), ridge, linear)


@pytest.mark.parametrize(("linear", "expected"), [
    (None, [-0.189070590249, 0.538048177865, 0.0224463557199]),
    (B, [-0.566862117755, 1.36453446085, -0.511530262451]),
    (-0.8 * B, [0.0805943812483, -0.0695631405852, 0.406164112582]),
])  # fmt: skip
def test_fits_match_the_oracles(linear, expected):
    assert fit_logistic(X, Y, 0.8, linear) == pytest.approx(expected, rel=1e-10)


def test_the_gradient_and_the_hessian_are_those_of_the_value():
    target = objective(X, Y, 0.8, B, np.linspace(0, 1, N))
    point, step = np.array([0.3, -0.2, 0.9]), 1e-5
    slope, curvature = target.slope(point)[1], target.curvature(point)
    for j, e in enumerate(np.eye(D) * step):
        up, down = target.slope(point + e), target.slope(point - e)
        assert (up[0] - down[0]) / (2 * step) == pytest.approx(slope[j], abs=1e-8)
        assert (up[1] - down[1]) / (2 * step) == pytest.approx(curvature[j], abs=1e-8)


def test_many_rows_start_from_a_sample_and_reach_the_same_minimum(monkeypatch):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(9000, 8)) / 4
    labels = np.where(rng.random(9000) < 1 / (1 + np.exp(-4 * rows[:, 0])), 1, -1)
    target = objective(rows, labels, 1.2, rng.normal(size=8))
    plain = solver.minimize(target, 1e-9)
    monkeypatch.setattr(solver, "MANY_ROWS", 1000)
    monkeypatch.setattr(solver, "SAMPLE_ROWS", 700)
    sampled = solver.minimize(target, 1e-9)
    assert np.abs(sampled - plain).max() < 2e-9 / 1.2
    assert np.linalg.norm(target.slope(sampled)[1]) <= 1e-9
    other = scipy_minimize(lambda t: target.slope(t), plain * 0, jac=True, tol=1e-12).x
    assert np.abs(other - plain).max() < 1e-4


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e9])
def test_the_tolerance_is_reached_for_long_linear_terms(scale):
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(2000, 50)) / 8
    labels = np.where(rng.random(2000) < 0.5, 1, -1)
    linear = rng.normal(size=50) * scale / 7
    tolerance = 0.5e-8 * max(1, scale / 1e6)
    target = objective(rows, labels, max(1.2, scale / 100), linear)
    assert np.linalg.norm(target.slope(solver.minimize(target, tolerance))[1]) <= tolerance


def test_the_hard_case_of_small_epsilon_is_solved_for_every_draw():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(20_000, 50)) / 8
    labels = np.where(rng.random(20_000) < 0.5, 1, -1)
    for _ in range(5):
        direction = rng.normal(size=50)
        linear = direction / np.linalg.norm(direction) * rng.gamma(50) / 0.0005
        solver.minimize(objective(rows, labels, 260, linear), 0.5e-8)


def test_extended_precision_goes_where_floats_do_not(monkeypatch):
    if np.finfo(np.longdouble).eps >= np.finfo(float).eps:
        pytest.skip("this machine has no extended precision")
    target = objective(X, Y, 0.8, B * 1e4)
    _, gradient = solver.newton(target, np.zeros(D), 1e-14, 60)
    assert np.linalg.norm(gradient) > 1e-14
    found = solver.minimize(target, 4e-12)
    assert np.linalg.norm(target.slope(found.astype(np.longdouble))[1]) <= 4e-12


def test_a_solver_that_stops_early_gives_nothing(monkeypatch):
    monkeypatch.setattr(solver, "NEWTON_STEPS", 2)
    monkeypatch.setattr(solver, "REFINEMENTS", 1)
    with pytest.raises(DrawRefused, match="so nothing is released"):
        solver.minimize(objective(X, Y, 0.8, B * 10), 1e-12)


def test_a_tolerance_beyond_all_precision_gives_nothing():
    with pytest.raises(DrawRefused, match="not reached"):
        solver.minimize(objective(X, Y, 0.8, B * 1e6), 1e-25)


def test_rows_that_do_not_fit_are_refused_without_being_quoted():
    with pytest.raises(ParameterError, match="one label -1 or 1"):
        fit_logistic(X, Y + 5, 1)
    with pytest.raises(ParameterError, match="finite"):
        fit_logistic(X * np.nan, Y, 1)
