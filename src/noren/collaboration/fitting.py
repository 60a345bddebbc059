"""Fit a logistic model exactly, without privacy: the oracle, and the local baseline."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from noren.collaboration.logistic_loss import LogisticObjective
from noren.collaboration.solver import minimize
from noren.collaboration.statistic import TrainingRows
from noren.errors import ParameterError
from noren.mechanisms.additive import array_of
from noren.privacy.numbers import Number, positive

EXACT = 1e-12  # of the largest gradient that the rows and the linear term can have

Floats = npt.NDArray[np.float64]


def fit_logistic(X: Any, y: Any, ridge: Number, linear: Any = None) -> Floats:
    """Minimize sum of log(1 + exp(-y x t)) + (ridge / 2) |t|^2 + linear t. NOT private.

    Parameters
    ----------
    X : array, one row a record
        Rows as they are; an intercept is a column of ones.
    y : array of -1 and 1
        Labels.
    ridge : number
        The total curvature (scikit-learn's 1 / C).
    linear : array, optional
        The linear term; -ridge * c centers the ridge at c.

    Examples
    --------
    >>> fit_logistic([[0.5], [-0.5]], [1, -1], ridge=1).round(6).tolist()
    [0.444647]
    """
    rows, labels = array_of("X", X, np.float64), array_of("y", y, np.float64)
    if rows.ndim != 2 or labels.shape != rows.shape[:1] or not np.isin(labels, (-1, 1)).all():
        raise ParameterError(
            "X or y",
            "of a shape or content that does not fit",
            "a matrix, and one label -1 or 1 for each of its rows",
            "Encode the table by a Task first.",
        )
    tilt = np.zeros(rows.shape[1]) if linear is None else array_of("linear", linear, np.float64)
    if tilt.shape != rows.shape[1:] or not np.isfinite(rows).all() or not np.isfinite(tilt).all():
        raise ParameterError(
            "linear or X",
            "not finite, or of another length",
            "finite, one for each column",
            "Check their shapes, and clamp values first.",
        )
    given = TrainingRows(None, ((rows, labels, None),))  # type: ignore[arg-type]
    objective = LogisticObjective(given, float(positive("ridge", ridge)), tilt)
    largest = float(np.sqrt((rows**2).sum(axis=1)).sum() + np.sqrt(tilt @ tilt))
    return minimize(objective, EXACT * max(1.0, largest))
