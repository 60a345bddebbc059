"""Minimize a smooth, strictly convex objective until its gradient is as small as asked, or fail.

Maths
    The objective has curvature at least `ridge`, so |gradient| <= tolerance at t means that t lies
    within tolerance / ridge of the minimizer. Many rows: a start from a sample of them, then
    quasi-Newton steps (L-BFGS) whose first metric is the sample's Hessian, while each halves the
    gradient. Then Newton steps; one of length a is accepted when the gradient's norm falls by the
    factor 1 - a / 4 or the objective falls. If floats cannot reach the tolerance, the
    gradient is computed in extended precision. If that fails too, nothing is given: an unfinished
    minimum has no proof. The linear term stays the same all along.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from noren.errors import DrawRefused

MANY_ROWS = 60_000  # from here on a sample gives the start
SAMPLE_ROWS = 20_000
QUASI_STEPS, NEWTON_STEPS, HALVINGS, REFINEMENTS = 25, 60, 40, 30
MEMORY = 10
HALVED = 0.5
NEAR = 0.01  # of the sampling error: a sample's minimum need not be nearer than that

Floats = npt.NDArray[Any]


class Objective(Protocol):
    """What can be minimized."""

    @property
    def dimension(self) -> int:
        """How many numbers are sought."""

    def slope(self, t: Floats) -> tuple[Any, Floats]:
        """Give value and gradient."""

    def curvature(self, t: Floats) -> npt.NDArray[np.float64]:
        """Give the Hessian."""


def minimize(objective: Any, tolerance: float) -> npt.NDArray[np.float64]:
    """Give a point where the computed gradient's norm is at most the tolerance, or raise."""
    start = np.zeros(objective.dimension)
    if objective.rows.records > MANY_ROWS:
        start = from_sample(objective, tolerance)
    point, gradient = newton(objective, start, tolerance, NEWTON_STEPS)
    if norm(gradient) > tolerance:
        point = refined(objective, point, tolerance / 2).astype(np.float64)
        gradient = objective.slope(point.astype(np.longdouble))[1]
    if not norm(gradient) <= tolerance:
        raise DrawRefused(
            "The minimum was not reached to the precision that the proof needs, so nothing is "
            "released. The charge stays. Use a larger ridge, or a smaller linear term (a larger "
            "epsilon)."
        )
    return point


def norm(vector: Floats) -> float:
    """Give the length, infinite where a number is none."""
    found = float(np.sqrt(vector @ vector))
    return found if np.isfinite(found) else np.inf


def from_sample(objective: Any, tolerance: float) -> Floats:
    """Start at a sample's minimum and go on with its Hessian as the metric."""
    sample = objective.rows.sample(SAMPLE_ROWS)
    factor = objective.factor * objective.rows.records / sample.records
    small = replace(objective, rows=sample, factor=factor)
    enough = max(tolerance, NEAR * factor * sample.records**0.5)
    start, gradient = newton(small, np.zeros(objective.dimension), enough, NEWTON_STEPS)
    if not np.isfinite(norm(gradient)):
        return np.zeros(objective.dimension)
    return quasi_newton(objective, start, cho_factor(small.curvature(start)), tolerance)


def quasi_newton(objective: Objective, point: Floats, metric: Any, tolerance: float) -> Floats:
    """Take L-BFGS steps in a given metric while each halves the gradient's norm."""
    gradient = objective.slope(point)[1]
    past: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for _ in range(QUASI_STEPS):
        if norm(gradient) <= tolerance:
            break
        step = -two_loops(gradient, past, metric)
        after = objective.slope(point + step)[1]
        if not norm(after) <= HALVED * norm(gradient):
            break
        change = after - gradient
        past.append((step, change, 1 / float(step @ change)))
        point, gradient = point + step, after
    return point


def two_loops(gradient: Floats, past: Any, metric: Any) -> Floats:
    """Apply the inverse Hessian that past steps teach (Nocedal's recursion)."""
    found, shares = gradient.copy(), []
    for step, change, inverse in reversed(past):
        share = inverse * float(step @ found)
        found -= share * change
        shares.append(share)
    found = cho_solve(metric, found)
    for (step, change, inverse), share in zip(past, reversed(shares), strict=True):
        found += step * (share - inverse * float(change @ found))
    return np.asarray(found)


def newton(
    objective: Objective, point: Floats, tolerance: float, steps: int
) -> tuple[Floats, Floats]:
    """Take Newton steps with a line search until the gradient is small or no step helps."""
    value, gradient = objective.slope(point)
    for _ in range(steps):
        if norm(gradient) <= tolerance:
            break
        direction = -cho_solve(cho_factor(objective.curvature(point)), gradient)
        found = searched(objective, point, direction, value, gradient)
        if found is None:
            break
        point, value, gradient = found
    return point, gradient


def searched(
    objective: Objective, point: Floats, direction: Floats, value: Any, gradient: Floats
) -> tuple[Floats, Any, Floats] | None:
    """Halve the step until the gradient's norm or the objective falls; None if neither does."""
    length = 1.0
    for _ in range(HALVINGS):
        ahead = point + length * direction
        below, after = objective.slope(ahead)
        if norm(after) <= (1 - length / 4) * norm(gradient) or below < value:
            return ahead, below, after
        length /= 2
    return None


def refined(objective: Objective, point: Floats, tolerance: float) -> Floats:
    """Go on from a point with gradients in extended precision."""
    metric = cho_factor(objective.curvature(point))
    best = point.astype(np.longdouble)
    gradient = objective.slope(best)[1]
    for _ in range(REFINEMENTS):
        ahead = best - cho_solve(metric, gradient.astype(np.float64))
        after = objective.slope(ahead)[1]
        if not norm(after) < norm(gradient):
            break
        best, gradient = ahead, after
        if norm(gradient) <= tolerance:
            break
    return best
