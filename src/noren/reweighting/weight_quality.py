"""How much a column of weights is worth, from the weights alone."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren.errors import ParameterError
from noren.reweighting.rows import Floats

NDBool: TypeAlias = NDArray[np.bool_]


def effective_sample_size(weights: ArrayLike) -> float:
    """Give (sum w)**2 / sum w**2: how many equally weighted rows would be as good.

    Examples
    --------
    >>> effective_sample_size([1, 1, 1, 1]), effective_sample_size([4, 0, 0, 0])
    (4.0, 1.0)
    """
    given = np.asarray(weights, np.float64)
    squares = float((given**2).sum())
    if given.ndim != 1 or not given.size or not np.isfinite(squares) or squares == 0:
        raise ParameterError("weights", "empty, all zero or not finite", "some finite weights")
    return float(given.sum()) ** 2 / squares


def mean_one(raw: Floats, cap: float | None = None) -> Floats:
    """Clip weights at zero (and at a cap), and divide by their mean; all zero become uniform."""
    kept = np.maximum(raw, 0)
    if not kept.any():
        return np.ones_like(raw)
    kept = kept / kept.mean()
    return kept if cap is None else trimmed(kept, cap)


def trimmed(weights: Floats, cap: float) -> Floats:
    """Cut weights of mean one at a cap, what is cut off going to the others in proportion."""
    if not cap >= 1:
        raise ParameterError("cap", cap, "at least 1", "Weights of mean 1 cannot all lie below.")
    cut = np.zeros(len(weights), bool)
    found = weights.copy()
    while (found > cap * (1 + 1e-12)).any():
        cut |= found >= cap
        found[cut] = cap
        rest = found[~cut].sum()
        if rest == 0:
            return np.ones_like(weights) if cap == 1 else spread_evenly(found, cut)
        found[~cut] *= (len(weights) - cap * cut.sum()) / rest
    return found


def spread_evenly(found: Floats, cut: NDBool) -> Floats:
    """Give what was cut off to rows that had no weight at all, evenly."""
    found[~cut] = (len(found) - found[cut].sum()) / max((~cut).sum(), 1)
    return found
