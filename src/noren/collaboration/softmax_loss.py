"""The sum of softmax losses over rows: value, gradient and Hessian.

Maths (T has a row of coefficients for each class; p the softmax of T x)
    J(T) = sum of w (log sum_k exp(T_k x) - T_y x) + (ridge / 2) |T|^2 + <B, T>
    gradient = sum of w (p - e_y) x' + ridge T + B
    Hessian  = sum of w (diag(p) - p p') (x) x x' + ridge I
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from noren.collaboration.statistic import TrainingRows

Floats = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SoftmaxObjective:
    """A strictly convex objective over the coefficients of all classes, flat. Secret."""

    rows: TrainingRows
    classes: int
    ridge: float
    linear: Floats
    weight: float = 1.0
    factor: float = 1.0

    @property
    def dimension(self) -> int:
        """How many numbers are sought."""
        return len(self.linear)

    def slope(self, t: Floats) -> tuple[Any, Floats]:
        """Give value and gradient, in the precision of t."""
        table = t.reshape(self.classes, -1)
        found = self.rows.summed(partial(softmax_slope, table=table), self.weight)
        value, pulled = found[0], found[1:]
        linear = self.linear.astype(t.dtype, copy=False)
        whole = self.factor * value + self.ridge / 2 * (t @ t) + linear @ t
        return whole, linear + self.ridge * t + self.factor * pulled

    def curvature(self, t: Floats) -> npt.NDArray[np.float64]:
        """Give the Hessian."""
        table = t.astype(np.float64).reshape(self.classes, -1)
        k, d = table.shape
        total = self.rows.summed(partial(softmax_curvature, table=table), self.weight)
        found: npt.NDArray[np.float64] = self.factor * total.reshape(k * d, k * d)
        return found + self.ridge * np.eye(k * d)


def softmax_slope(x: Floats, y: Any, w: Any, table: Floats) -> Floats:
    """Give, of some rows, the sum of losses and that of (p - e_y) x', flat."""
    given = x.astype(table.dtype, copy=False)
    scores = given @ table.T
    top = scores.max(axis=1)
    powers = np.exp(scores - top[:, None])
    total = powers.sum(axis=1)
    own = np.arange(len(y)), y
    losses, shares = np.log(total) + top - scores[own], powers / total[:, None]
    shares[own] -= 1
    if w is not None:
        losses, shares = losses * w, shares * w[:, None]
    return np.concatenate([[losses.sum()], (shares.T @ given).ravel()])


def softmax_curvature(x: Floats, y: Any, w: Any, table: Floats) -> Floats:
    """Give the sum of some rows' Hessians."""
    k, d = table.shape
    total = np.zeros((k, d, k, d))
    scores = x @ table.T
    powers = np.exp(scores - scores.max(axis=1)[:, None])
    shares = powers / powers.sum(axis=1)[:, None]
    for a in range(k):
        for b in range(a + 1):
            each = shares[:, a] * ((a == b) - shares[:, b])
            block = (x * (each if w is None else each * w)[:, None]).T @ x
            total[a, :, b, :] = block
            if a != b:
                total[b, :, a, :] = block
    return total
