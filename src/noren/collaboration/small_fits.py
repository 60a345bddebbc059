"""Many ridge-regularised logistic fits on the same few rows at once.

Maths
    Each problem c has a prior factor R_c (S_c = R_c R_c') and a mask of rows. With t = R w,

        minimise  sum over masked rows of ln(1 + exp(-y x . R w)) + |w|**2 / 2.

    Newton: gradient R' X' s + w, curvature R' X' diag(D) X R + I. S_c may be singular (ridge
    stacking: t stays in the span of the learners). A step is halved until the objective falls
    enough, or the gradient does: near the end differences of objectives drown in rounding.

No privacy: these are the receiver's own fits on its own rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from noren.errors import DrawRefused

Floats = npt.NDArray[np.float64]
TOLERANCE = 1e-10
STEPS = 100
HALVINGS = 30
OUTER_CELLS = 2**22  # up to here the outer products of all rows are kept


def prior_factor(own: float, received: float, units: Floats) -> Floats:
    """Give R with R R' = own I + received U' U, U having the learners as unit rows."""
    width = units.shape[1]
    values, vectors = np.linalg.eigh(own * np.eye(width) + received * (units.T @ units))
    factor: Floats = vectors * np.sqrt(np.clip(values, 0.0, None))
    return factor


class Problems:
    """Rows shared by many fits: margins' moments under per-problem row weights."""

    def __init__(self, rows: Floats, labels: Floats) -> None:
        self.signed: Floats = rows * labels[:, None]
        many, width = rows.shape
        small = many * width * width <= OUTER_CELLS
        outer = (rows[:, :, None] * rows[:, None, :]).reshape(many, width * width)
        self.outer: Floats | None = outer if small else None

    def curvature(self, weights: Floats) -> Floats:
        """Give X' diag(weights) X for each problem."""
        width = self.signed.shape[1]
        if self.outer is not None:
            sums: Floats = (weights @ self.outer).reshape(-1, width, width)
            return sums
        return np.stack([(self.signed * own[:, None]).T @ self.signed for own in weights])


def fit_many(rows: Floats, labels: Floats, factors: Floats, masks: Floats) -> Floats:
    """Fit every problem; row c of the result is t = R_c w_c.

    Parameters
    ----------
    rows, labels
        The receiver's encoded rows; labels are -1 and 1.
    factors
        R for each problem: (problems, features, features).
    masks
        1 where a problem uses a row, else 0: (problems, rows).
    """
    problems = Problems(rows, labels)
    points = np.zeros((len(factors), rows.shape[1]))
    active = np.arange(len(factors))
    for _ in range(STEPS):
        value, gradient, shares = evaluate(problems, points, factors, masks, active)
        steep = np.linalg.norm(gradient, axis=1) > TOLERANCE * (1 + masks[active].sum(axis=1))
        if not steep.any():
            found: Floats = np.einsum("cij,cj->ci", factors, points)
            return found
        active, value, gradient, shares = (
            active[steep],
            value[steep],
            gradient[steep],
            shares[steep],
        )
        own = factors[active]
        middle = problems.curvature(masks[active] * shares * (1 - shares))
        hessian = np.swapaxes(own, 1, 2) @ middle @ own + np.eye(rows.shape[1])
        direction = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        points[active] += searched(
            problems, points, factors, masks, active, direction, value, gradient
        )
    raise DrawRefused(
        "A fit on the receiver's own rows did not end. Check that the features were encoded by the "
        "schema, and report this if they were."
    )


def evaluate(
    problems: Problems, points: Floats, factors: Floats, masks: Floats, active: npt.NDArray[np.intp]
) -> tuple[Floats, Floats, Floats]:
    """Give objective, gradient and sig(-margin) of some problems."""
    own = points[active]
    margins = np.einsum("cij,cj->ci", factors[active], own) @ problems.signed.T
    shares: Floats = expit(-margins)
    losses = (masks[active] * np.logaddexp(0.0, -margins)).sum(axis=1)
    value = losses + 0.5 * (own * own).sum(axis=1)
    pull = (masks[active] * shares) @ problems.signed
    gradient = own - np.einsum("cij,ci->cj", factors[active], pull)
    return value, gradient, shares


def searched(
    problems: Problems, points: Floats, factors: Floats, masks: Floats,
    active: npt.NDArray[np.intp], direction: Floats, value: Floats, gradient: Floats,
) -> Floats:  # fmt: skip
    """Halve each step until its problem has fallen enough."""
    lengths = np.ones(len(active))
    slope = (gradient * direction).sum(axis=1)
    size = np.linalg.norm(gradient, axis=1)
    for _ in range(HALVINGS):
        trial = points.copy()
        trial[active] += lengths[:, None] * direction
        reached, steepness, _ = evaluate(problems, trial, factors, masks, active)
        fell = reached <= value + 1e-4 * lengths * slope
        calmer = np.linalg.norm(steepness, axis=1) <= (1 - lengths / 4) * size
        if (fell | calmer).all():
            break
        lengths = np.where(fell | calmer, lengths, lengths / 2)
    return lengths[:, None] * direction
