"""P-values corrected for many tests: free post-processing.

`bonferroni` and `holm` control the chance of any false discovery, `benjamini_yekutieli` the
expected share of false ones among the discoveries, all three under any dependence of the tests.
(Benjamini-Hochberg is left out: with variants in linkage its promise is not proved.)

If only the strongest of many tests were released, pass their p-values and `tests`, the number that
were looked at: the others count as 1. They were chosen on the same people, so correcting for the
released ones alone would be wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noren.association.statistic import Floats
from noren.errors import ParameterError
from noren.privacy.numbers import whole


def bonferroni(p_values: Any, tests: int | None = None) -> Floats:
    """Multiply by the number of tests.

    Examples
    --------
    >>> bonferroni([0.01, 0.04], tests=10).tolist()
    [0.1, 0.4]
    """
    p, many = read(p_values, tests)
    return np.minimum(1.0, p * many)


def holm(p_values: Any, tests: int | None = None) -> Floats:
    """Step down: the smallest times M, the next times M - 1 and never less than the former, ...

    Examples
    --------
    >>> holm([0.04, 0.01, 0.03]).tolist()
    [0.06, 0.03, 0.06]
    """
    p, many = read(p_values, tests)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (many - np.arange(len(p))))
    return back(np.minimum(1.0, steps), order)


def benjamini_yekutieli(p_values: Any, tests: int | None = None) -> Floats:
    """Step up: the i-th smallest times M (1 + 1/2 + ... + 1/M) / i, and never more than the next.

    Examples
    --------
    >>> benjamini_yekutieli([0.01, 0.02]).round(3).tolist()
    [0.03, 0.03]
    """
    p, many = read(p_values, tests)
    order = np.argsort(p, kind="stable")
    harmonic = float(np.sum(1.0 / np.arange(1, many + 1)))
    steps = np.minimum(1.0, p[order] * (many * harmonic / np.arange(1, len(p) + 1)))
    return back(np.minimum.accumulate(steps[::-1])[::-1], order)


def read(p_values: Any, tests: int | None) -> tuple[Floats, int]:
    """Read p-values and how many tests there were."""
    p = np.atleast_1d(np.asarray(p_values, dtype=np.float64))
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ParameterError("p_values", "not p-values", "a list of numbers from 0 to 1")
    many = len(p) if tests is None else whole("tests", tests, 1)
    if many < len(p):
        raise ParameterError(
            "tests", tests, "at least the number of p-values", "Count all tests that were done."
        )
    return p, many


def back(values: Floats, order: Any) -> Floats:
    """Put sorted values back to their places."""
    placed = np.empty_like(values)
    placed[order] = values
    return placed
