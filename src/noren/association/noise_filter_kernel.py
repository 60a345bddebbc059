"""The filter of `noise_filter`, compiled, for large laws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

GONE = 1e-290  # what is left of a law that ended long before; smaller doubles are slow


@njit(cache=True, nogil=True)
def highest_of_rows(tails: Any, t: float, c: float, gap: float, values: Any) -> None:
    """Keep max over rows of h(y) in `values`, which is one longer than a row."""
    rows, levels = tails.shape
    backward = np.zeros(levels + 1)
    for i in range(rows):
        state = 0.0
        for y in range(levels - 2, -1, -1):
            state = t * (tails[i, y + 1] + state)
            backward[y] = state
        state = 1.0 / gap
        for y in range(levels):
            state = tails[i, y] + t * state
            if state < GONE:
                break
            values[y] = max(values[y], c * (state + backward[y]))
        values[levels] = max(values[levels], c * t * state)
