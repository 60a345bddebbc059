"""Weights for received learners from their losses on the receiver's rows, as published.

Maths
    L[m, i] is the loss of learner m on row i, n rows in a fixed order. After t rows

        w(t)[m] proportional to exp(-(L[m, 1] + ... + L[m, t]) / beta).

    Exponential weights (`ewa_weights`) are w(n). Mirror averaging (`mirror_weights`) is the mean of
    w(1), ..., w(n), or of w(0), ..., w(n) with `include_start`: the textbook's form, whose
    expected risk is at most the best learner's plus beta ln(M) / (n + 1). That bound needs
    losses for which exp(-loss / beta) is concave in the score: for scores within [-B, B] and the
    logistic loss, beta >= e**B (for B = 1: e).

Privacy
    None: weights are a function of the receiver's rows without noise, and stay with the receiver.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from noren.errors import ParameterError
from noren.privacy.numbers import positive

Floats = npt.NDArray[np.float64]
BLOCK_CELLS = 2**22


def ewa_weights(losses: Any, beta: Any) -> Floats:
    """Weigh learners by exp(-total loss / beta).

    Examples
    --------
    >>> ewa_weights([[0.4, 0.9], [1.2, 0.5], [0.7, 0.7]], beta=3).round(8)
    array([0.35181668, 0.30790057, 0.34028275])
    """
    table = read_losses(losses)
    totals = -table.sum(axis=1) / float(positive("beta", beta))
    powers = np.exp(totals - totals.max())
    weights: Floats = powers / powers.sum()
    return weights


def mirror_weights(losses: Any, beta: Any, include_start: bool = False) -> Floats:
    """Average the exponential weights over all beginnings of the rows.

    Parameters
    ----------
    losses
        A row for each learner, a column for each of the receiver's rows, in a fixed order.
    beta
        The temperature: 3 as published; e for scores within [-1, 1].
    include_start
        Count the even weights before any row, too.
    """
    table, rate = read_losses(losses), 1 / float(positive("beta", beta))
    learners, rows = table.shape
    if not rows and not include_start:
        raise ParameterError("losses", "of no row", "of at least one row", "Or include the start.")
    total = np.full(learners, 1.0 / learners if include_start else 0.0)
    before, step = np.zeros((learners, 1)), max(1, BLOCK_CELLS // learners)
    for first in range(0, rows, step):
        sums = before + np.cumsum(table[:, first : first + step], axis=1)
        before = sums[:, -1:]
        powers = np.exp(-rate * (sums - sums.min(axis=0)))
        total += (powers / powers.sum(axis=0)).sum(axis=1)
    weights: Floats = total / (rows + include_start)
    return weights


def read_losses(given: Any) -> Floats:
    """Take a table of finite losses with at least one learner."""
    table = np.asarray(given, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise ParameterError(
            "losses",
            f"an array of shape {table.shape}",
            "a row for each of at least one learner",
            "Its columns are the receiver's rows.",
        )
    if not np.isfinite(table).all():
        raise ParameterError(
            "losses", "not finite everywhere", "finite", "Leave that learner out: it is broken."
        )
    return table
