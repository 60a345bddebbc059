"""Row vectors stay within their bounds on the grid, and regression sums add up as measured."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noren import Noise
from noren.collaboration import Task, TrainingRows
from noren.collaboration.descent import gradient_bounds, row_gradients
from noren.collaboration.moments import moment_bounds
from noren.collaboration.regression import (
    GramRegression,
    gram_bounds,
    gram_of,
    gram_vectors,
    merged_regression,
    solved,
)
from noren.collaboration.summed import SummedNoise, root_above
from noren.data import Numeric, Schema, fill
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency

TASK = Task.of_bounds([-1] * 3, [1] * 3, intercept=0, scale=1)
cells = arrays(float, (2, 3), elements=st.floats(-1, 1))
signs = st.sampled_from([-1.0, 1.0])


def plan(bounds, relation):
    price = (Fraction(1), Fraction(1, 10**5))
    return SummedNoise.planned(Adjacency(relation), bounds, Fraction(1), 1, price)


@given(cells=cells, y=arrays(float, 2, elements=st.floats(-1, 1)), point=cells)
def test_no_row_moves_a_sum_farther_than_the_bound(cells, y, point):
    x = TASK.rows(cells)
    label = np.where(y < 0, -1.0, 1.0)
    for bounds, vectors in (
        (gram_bounds(3, Fraction(1)), gram_vectors(x, y, None)),
        (moment_bounds(3, Fraction(1)), label[:, None] * x),
        (gradient_bounds(3, 1, Fraction(1)), row_gradients(x, label, None, point[:1] * 90)),
        (
            gradient_bounds(3, 2, Fraction(1)),
            row_gradients(x, (y > 0).astype(int), None, point * 90),
        ),
    ):
        added, replaced = plan(bounds, ADD_REMOVE), plan(bounds, SUBSTITUTE)
        steps = [added.steps(row[None]).astype(object) for row in vectors]
        assert all((row**2).sum() <= added.l2**2 for row in steps)
        assert ((steps[0] - steps[1]) ** 2).sum() <= replaced.l2**2
        assert np.abs(steps[0]).sum() <= added.l1


@given(square=st.fractions(0, 10**6))
def test_a_root_is_rounded_up_and_little(square):
    root = root_above(square)
    assert square <= root**2
    assert float(root) == pytest.approx(math.sqrt(square), rel=1e-15, abs=1e-17)


def test_the_gram_matrix_comes_back_from_its_vector():
    rng = np.random.default_rng(1)
    x, u = rng.normal(size=(7, 4)), rng.normal(size=7)
    gram, cross = gram_of(gram_vectors(x, u, None).sum(axis=0), 4)
    assert np.allclose(gram, x.T @ x)
    assert np.allclose(cross, x.T @ u)
    assert np.allclose(solved(gram, cross, 0.0), np.linalg.solve(x.T @ x, x.T @ u))


def test_merged_sums_are_better_than_averaged_models_and_those_than_one():
    rng = np.random.default_rng(7)
    d, organizations, n = 10, 10, 500
    columns = [Numeric(name=f"x{j}", lower=-1, upper=1, missing=fill(0)) for j in range(d)]
    label = Numeric(name="y", lower=-1, upper=1, missing=fill(0))
    task = Task(Schema(columns), label, intercept=0, scale=1)
    single, averaged, merged = [], [], []
    for _ in range(6):
        truth = rng.normal(size=d)
        truth /= 1.2 * np.linalg.norm(truth)
        models, question = (
            [],
            GramRegression(task=task, epsilon=1, delta="1e-5", adjacency="add-remove", size=n),
        )
        for _ in range(organizations):
            x = rng.normal(size=(n, d))
            x /= np.linalg.norm(x, axis=1)[:, None]
            y = np.clip(x @ truth + 0.05 * rng.normal(size=n), -1, 1)
            models.append(question.answer(TrainingRows.of(task, x, y), Noise()).model)
        each = np.array([model.coefficients for model in models])
        single.append(((each[0] - truth) ** 2).mean())
        averaged.append(((each.mean(axis=0) - truth) ** 2).mean())
        found = merged_regression([model.sums for model in models], question.noise.spread)
        merged.append(((found - truth) ** 2).mean())
    assert np.mean(merged) < np.mean(averaged) < np.mean(single)
    assert np.mean(single) < 0.05
    assert np.mean(merged) < 0.006
