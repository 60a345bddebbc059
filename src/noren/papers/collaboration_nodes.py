"""Many organizations at once, simulated: data on a sphere, fits of all nodes together, aggregation.

The reproduction needs some ten thousand small fits. Here a node is one slice of an array, and
Newton's steps are taken for all nodes together. The linear terms are drawn from a public generator
(`noren.noise.public`): simulated. A test holds the fits against the trainer that answers questions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from noren.collaboration import cms_calibration, tight_pure_rate
from noren.collaboration.learners import signs
from noren.collaboration.weights import mirror_weights

Floats = npt.NDArray[np.float64]
STEPS, TOLERANCE = 200, 1e-9
BETA = 3.0  # as published
MARGIN = 0.03  # points this near the boundary are left out
RIDGE_PER_ROW = 0.02  # twice the published lambda
FREE = 1e-9  # the ridge of an intercept that is not regularized


def sphere(rng: Any, many: int, width: int) -> Floats:
    """Draw points evenly on the unit sphere."""
    points: Floats = rng.normal(size=(many, width))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points


def labelled(rng: Any, many: int, w: Floats) -> tuple[Floats, Floats]:
    """Draw points with a margin, labelled by the side of w they lie on."""
    kept = np.zeros((0, len(w)))
    while len(kept) < many:
        more = sphere(rng, many, len(w))
        kept = np.vstack([kept, more[np.abs(more @ w) > MARGIN]])
    return kept[:many], signs(kept[:many] @ w)


def balanced(rng: Any, each: int, w: Floats) -> tuple[Floats, Floats]:
    """Draw as many of each class."""
    rows, labels = labelled(rng, 8 * each, w)
    chosen = np.concatenate([np.flatnonzero(labels == side)[:each] for side in (-1, 1)])
    return rows[chosen], labels[chosen]


def gamma_spheres(rng: Any, many: int, width: int, rate: float) -> Floats:
    """Draw linear terms of density proportional to exp(-rate |b|)."""
    terms: Floats = sphere(rng, many, width) * rng.gamma(width, 1 / rate, (many, 1))
    return terms


def fit_nodes(rows: Floats, labels: Floats, ridge: Any, linear: Any = 0.0) -> Floats:
    """Minimize sum log(1 + exp(-y x t)) + t diag(ridge) t / 2 + linear t at every node.

    `rows` is (nodes, rows, features); `ridge` one number, or one for each feature.
    """
    signed = rows * labels[..., None]
    many, _, width = rows.shape
    weights = np.broadcast_to(np.asarray(ridge, np.float64), (width,))
    tilt = np.broadcast_to(np.asarray(linear, np.float64), (many, width))
    points = np.zeros((many, width))
    for _ in range(STEPS):
        value, slope, shares = state(signed, points, weights, tilt)
        if np.all(np.linalg.norm(slope, axis=1) <= TOLERANCE * (1 + np.linalg.norm(tilt, axis=1))):
            return points
        curved = np.einsum("mni,mn,mnj->mij", signed, shares * (1 - shares), signed, optimize=True)
        step = -np.linalg.solve(curved + np.diag(weights), slope[..., None])[..., 0]
        points = points + lengths(signed, points, weights, tilt, step, value, slope)[:, None] * step
    raise RuntimeError("the fits of the reproduction did not end")


def state(
    signed: Floats, points: Floats, ridge: Floats, tilt: Floats
) -> tuple[Floats, Floats, Floats]:
    """Give objective, gradient and slopes of all nodes."""
    margins = np.einsum("mnd,md->mn", signed, points)
    shares: Floats = expit(-margins)
    penalty = (0.5 * ridge * points**2 + tilt * points).sum(axis=1)
    value = np.logaddexp(0.0, -margins).sum(axis=1) + penalty
    slope = ridge * points + tilt - np.einsum("mnd,mn->md", signed, shares)
    return value, slope, shares


def lengths(
    signed: Floats, points: Floats, ridge: Floats, tilt: Floats, step: Floats, value: Floats,
    slope: Floats,
) -> Floats:  # fmt: skip
    """Halve each node's step until its objective, or its gradient, has fallen."""
    found = np.ones(len(points))
    for _ in range(40):
        reached, steep, _ = state(signed, points + found[:, None] * step, ridge, tilt)
        fell = reached <= value + 1e-4 * found * (slope * step).sum(axis=1)
        calm = np.linalg.norm(steep, axis=1) <= (1 - found / 4) * np.linalg.norm(slope, axis=1)
        if (fell | calm).all():
            break
        found = np.where(fell | calm, found, found / 2)
    return found


def published_learners(rng: Any, rows: Floats, labels: Floats, epsilon: float) -> Floats:
    """Train every node as published (CMS)."""
    ridge, rate = cms_calibration(rows.shape[1], epsilon, RIDGE_PER_ROW)
    return fit_nodes(rows, labels, ridge, gamma_spheres(rng, len(rows), rows.shape[2], rate))


def tight_learners(rng: Any, rows: Floats, labels: Floats, epsilon: float) -> Floats:
    """Train every node by the exact calibration, with the default ridge 2 / epsilon."""
    ridge = 2 / epsilon
    rate = tight_pure_rate(epsilon, ridge, "substitute")
    return fit_nodes(rows, labels, ridge, gamma_spheres(rng, len(rows), rows.shape[2], rate))


def proper_local(rows: Floats, labels: Floats, ridge: float = 1.0) -> Floats:
    """Fit each node's own model as one should."""
    return fit_nodes(rows, labels, ridge)


def weak_local(
    rows: Floats, labels: Floats, strength: float = 0.01, intercept: float = FREE
) -> Floats:
    """Fit each node with an inverse strength of 0.01: a ridge of 100; the intercept comes last."""
    ones = np.ones((*rows.shape[:2], 1))
    ridge = np.full(rows.shape[2] + 1, 1 / strength)
    ridge[-1] = intercept
    return fit_nodes(np.concatenate([rows, ones], axis=2), labels, ridge)


def with_intercept(rows: Floats) -> Floats:
    """Append the column of ones that `weak_local` has."""
    return np.column_stack([rows, np.ones(len(rows))])


def accuracies(models: Floats, rows: Floats, labels: Floats) -> Floats:
    """Give each model's accuracy."""
    right: Floats = (labels == signs(rows @ models.T).T).mean(axis=1)
    return right


def aggregates(rows: Floats, labels: Floats, models: Floats, form: str, test: Floats) -> Floats:
    """Let every node combine all others by mirror averaging; give its scores of test rows."""
    nodes = len(rows)
    used = models / np.linalg.norm(models, axis=1, keepdims=True) if form == "unit" else models
    of_test = test @ used.T
    of_test = signs(of_test) if form == "sign" else of_test
    found = np.zeros((nodes, len(test)))
    for node in range(nodes):
        others = np.delete(np.arange(nodes), node)
        scores = rows[node] @ used[others].T
        scores = signs(scores) if form == "sign" else scores
        losses = np.logaddexp(0.0, -scores.T * labels[node])
        found[node] = of_test[:, others] @ mirror_weights(losses, BETA)
    return found
