"""k-ary randomised response.

Maths
    Keep the value with probability e**epsilon / (e**epsilon + k - 1), else report one of the
    other k - 1 values, each equally likely. The coin that leaves the value has the small
    probability (k - 1) / (e**epsilon + k - 1), known to any precision.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from noren.noise.coins import toss
from noren.noise.inversion import Integers
from noren.noise.reals import Computable
from noren.noise.sources import BitSource
from noren.noise.tails import decimal
from noren.noise.uniform import draw_below


def leaving(k: int, epsilon: Fraction) -> Computable:
    """Give the probability that another value is reported."""

    def at(digits: int) -> Decimal:
        with localcontext() as context:
            context.prec = digits + 8 + len(str(int(epsilon)))
            return (k - 1) / (decimal(epsilon).exp() + (k - 1))

    return Computable(at)


def respond(values: npt.NDArray[Any], k: int, epsilon: Fraction, source: BitSource) -> Integers:
    """Report each value of 0..k-1 privately; values outside are moved to the nearest end first."""
    true: Integers = np.clip(values, 0, k - 1).astype(np.int64)
    left = np.flatnonzero(toss(leaving(k, epsilon), true.size, source))
    others = draw_below(k - 1, left.size, source)
    true[left] = others + (others >= true[left])
    return true
