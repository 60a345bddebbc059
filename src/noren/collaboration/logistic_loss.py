"""The sum of logistic losses over rows: value, gradient and Hessian, a few thousand rows at a time.

Maths
    J(t) = sum of w_i log(1 + exp(-y_i x_i t)) + (ridge / 2) |t|^2 + b t
    gradient = - sum of w_i y_i s_i x_i + ridge t + b,   s_i = 1 / (1 + exp(y_i x_i t))
    Hessian  = sum of w_i s_i (1 - s_i) x_i x_i' + ridge I
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
class LogisticObjective:
    """A strictly convex objective over coefficients. Secret: it holds rows."""

    rows: TrainingRows
    ridge: float
    linear: Floats
    weight: float = 1.0  # the public bound of weights
    factor: float = 1.0  # by which the losses of a sample of rows count

    @property
    def dimension(self) -> int:
        """How many numbers are sought."""
        return len(self.linear)

    def slope(self, t: Floats) -> tuple[Any, Floats]:
        """Give value and gradient, in the precision of t."""
        found = self.rows.summed(partial(logistic_slope, t=t), self.weight)
        value, pulled = found[0], found[1:]
        linear = self.linear.astype(t.dtype, copy=False)
        whole = self.factor * value + self.ridge / 2 * (t @ t) + linear @ t
        return whole, linear + self.ridge * t - self.factor * pulled

    def curvature(self, t: Floats) -> npt.NDArray[np.float64]:
        """Give the Hessian."""
        point = t.astype(np.float64)
        total = self.rows.summed(partial(logistic_curvature, point=point), self.weight)
        found: npt.NDArray[np.float64] = self.factor * total + self.ridge * np.eye(len(point))
        return found


def logistic_slope(x: Floats, y: Floats, w: Any, t: Floats) -> Floats:
    """Give, of some rows, the sum of losses and that of w y s x."""
    margins = y * (x.astype(t.dtype, copy=False) @ t)
    small = np.exp(-np.abs(margins))
    losses = np.maximum(-margins, 0) + np.log1p(small)
    shares = np.where(margins >= 0, small, 1) / (1 + small) * y
    if w is not None:
        losses, shares = losses * w, shares * w
    pulled = shares @ x.astype(t.dtype, copy=False)
    return np.concatenate([[losses.sum()], pulled])


def logistic_curvature(x: Floats, y: Floats, w: Any, point: Floats) -> Floats:
    """Give the sum of w s (1 - s) x x' of some rows."""
    small = np.exp(-np.abs(y * (x @ point)))
    root = np.sqrt(small if w is None else small * w) / (1 + small)
    scaled = x * root[:, None]
    found: Floats = scaled.T @ scaled
    return found
