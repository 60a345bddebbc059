"""Does a sampler follow its law: chi-squared against exact probabilities.

Maths
    Integers are put into cells of neighbouring values with expectation at least 10 each (at most
    500 cells, of about equal mass; both tails are cells). With n_i seen and e_i expected,
    sum (n_i - e_i)**2 / e_i is nearly chi-squared with cells - 1 degrees of freedom. A right
    sampler fails with probability FALSE_ALARM.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

FALSE_ALARM = 1e-6
LEAST_EXPECTED = 10
MOST_CELLS = 500

Masses = NDArray[np.float64]


def p_value(seen: NDArray[Any], masses: Masses) -> float:
    """Compare counts of outcomes with their probabilities, merging rare neighbours."""
    expected = masses * seen.sum()
    target = max(LEAST_EXPECTED, expected.sum() / MOST_CELLS)
    cell, cells, filled = 0, np.zeros(seen.size, dtype=np.intp), 0.0
    for i, mean in enumerate(expected):
        cells[i] = cell
        filled += mean
        if filled >= target:
            cell, filled = cell + 1, 0.0
    if filled < LEAST_EXPECTED and cell:  # the last cell joins the one before it
        cells[cells == cell] = cell - 1
    merged = np.bincount(cells, expected), np.bincount(cells, seen)
    statistic = ((merged[1] - merged[0]) ** 2 / merged[0]).sum()
    return float(chi2.sf(statistic, merged[0].size - 1)) if merged[0].size > 1 else 1.0


def integer_p_value(
    draws: NDArray[Any], tail: Callable[[NDArray[Any]], Masses], reach: int
) -> float:
    """Compare draws with a symmetric law given by its upper tail P(X > k), k >= 0.

    Cells lie between cuts that are about evenly spaced up to `reach`, where the tail is tiny.
    """
    step = max(1, reach // 5000)
    upper = np.arange(0, reach + 1, step)
    cuts = np.concatenate([-upper[::-1] - 1, upper])  # cells: k <= cut[0], cut[0] < k <= cut[1]..
    beyond = np.asarray(tail(upper), dtype=np.float64)
    below = np.concatenate([beyond[::-1], 1 - beyond])  # P(X <= cut)
    masses = np.diff(np.concatenate([[0.0], below, [1.0]]))
    seen = np.bincount(np.searchsorted(cuts, draws, side="left"), minlength=cuts.size + 1)
    return p_value(seen, masses)


def laplace_tail(scale: float) -> Callable[[NDArray[Any]], Masses]:
    """Give P(X > k) = r**(k + 1) / (1 + r) of discrete Laplace noise."""

    def tail(k: NDArray[Any]) -> Masses:
        found: Masses = np.exp(-(k + 1) / scale) / (1 + np.exp(-1 / scale))
        return found

    return tail


def gaussian_tail(variance: float) -> Callable[[NDArray[Any]], Masses]:
    """Give P(X > k) of the discrete Gaussian, added up from the outside in."""
    k = np.arange(int(12 * np.sqrt(variance)) + 3, dtype=np.float64)
    weights = np.exp(-k * k / (2 * variance))
    tails = np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0) / (2 * weights.sum() - 1)

    def tail(at: NDArray[Any]) -> Masses:
        found: Masses = tails[np.minimum(at, tails.size - 1)]
        return found

    return tail
