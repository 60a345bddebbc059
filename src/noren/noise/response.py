"""k-ary randomised response.

Maths
    Keep the value with probability e**epsilon / (e**epsilon + k - 1), else report one of the
    other k - 1 values, each equally likely. The coin that leaves the value has the small
    probability (k - 1) / (e**epsilon + k - 1), known to any precision.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from noren.noise.coins import toss
from noren.noise.inversion import Integers
from noren.noise.reals import Computable, decimal, precision
from noren.noise.sources import BitSource
from noren.noise.uniform import draw_below


def leaving(k: int, epsilon: Fraction) -> Computable:
    """Give the probability that another value is reported."""

    def at(digits: int) -> Decimal:
        with precision(digits + 8 + len(str(int(epsilon)))):
            return (k - 1) / (decimal(epsilon).exp() + (k - 1))

    return Computable(at)


def respond(values: npt.NDArray[Any], k: int, epsilon: Fraction, source: BitSource) -> Integers:
    """Report each value of 0..k-1 privately; values outside are moved to the nearest end first."""
    reported = moved_inside(values, k)
    left = np.flatnonzero(toss(leaving(k, epsilon), reported.size, source))
    others = draw_below(k - 1, left.size, source)
    reported[left] = others + (others >= reported[left])
    return reported


def moved_inside(values: npt.NDArray[Any], k: int) -> Integers:
    """Copy the values, those outside 0..k-1 moved to the nearest end."""
    if values.dtype == np.uint64:  # beyond the reach of int64
        values = np.minimum(values, np.uint64(k - 1))
    inside: Integers = values.astype(np.int64)
    return np.clip(inside, 0, k - 1, out=inside)
