"""From the law of the score to the law of the released score, and the highest of many.

Maths
    The released y is s + Z with Pr[Z = z] = c t^|z|, t = exp(-epsilon), c = (1-t)/(1+t). For a law
    T(k) = Pr[s >= k] that is 1 below its row and 0 after it, h(y) = Pr[s + Z >= y] is
        F(y) = T(y) + t F(y-1),   B(y) = t (T(y+1) + B(y+1)),   h(y) = c (F(y) + B(y)).
    From one level above the row on, h is geometric: h(y+1) = t h(y); and up to the row's first
    level, 1 - h is: 1 - h(y-1) = t (1 - h(y)). So a finite table holds all y.
    Everywhere t h(y-1) <= h(y): the mechanism is epsilon-private.

Accuracy
    Sums and products of positive terms only: relative rounding below 1e-10.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.association.score_law import Rows
from noren.association.statistic import Floats

FEW_VALUES = 1 << 16  # laws this small in all are not worth loading a compiler for


@dataclass(frozen=True, slots=True)
class Highest:
    """Hold, for every y, the highest Pr[s + Z >= y] over some laws of s."""

    lowest: int
    values: Floats
    epsilon: float

    def at(self, y: Any) -> Floats:
        """Look up whole numbers y, inside the table or beyond it."""
        beyond = np.maximum(y - (self.lowest + len(self.values) - 1), 0.0)
        place = np.clip(y - self.lowest, 0, len(self.values) - 1).astype(np.int64)
        inside = self.values[place] * np.exp(-self.epsilon * beyond)
        short = np.maximum(self.lowest - y, 0.0)
        rising = 1 - (1 - inside) * np.exp(-self.epsilon * short)
        return np.asarray(np.where(short > 0, rising, inside))


def highest(laws: Iterable[Rows], epsilon: float) -> Highest:
    """Filter every row of some laws, and keep the highest value for each y.

    Examples
    --------
    >>> certain = Rows(0, 1, np.array([[1.0]]))  # s = 1 for sure
    >>> table = highest([certain], 1.0)
    >>> bool(abs(table.at(1) - 1 / (1 + math.exp(-1))) < 1e-15)
    True
    """
    pieces = list(filtered(laws, epsilon))
    low = min(piece.lowest for piece in pieces)
    high = max(piece.lowest + len(piece.values) for piece in pieces)
    levels = np.arange(low, high)
    values = np.zeros(len(levels))
    for piece in pieces:
        values = np.maximum(values, piece.at(levels))
    return Highest(low, values, epsilon)


def filtered(laws: Iterable[Rows], epsilon: float) -> Iterator[Highest]:
    """Give the highest values of each block, blocks of the same range merged."""
    merged: dict[tuple[int, int], Floats] = {}
    for rows in laws:
        values = highest_of(rows.tails, epsilon)
        key = (rows.lowest, len(values))
        merged[key] = np.maximum(merged[key], values) if key in merged else values
    for (lowest, _), values in merged.items():
        yield Highest(lowest, values, epsilon)


def highest_of(tails: Floats, epsilon: float) -> Floats:
    """Give max over rows of h(y), for y from the rows' first level to one past their last."""
    if tails.size <= FEW_VALUES:
        return np.asarray(filter_rows(tails, epsilon).max(axis=0, initial=0.0))
    from noren.association.noise_filter_kernel import highest_of_rows

    values: Floats = np.zeros(tails.shape[1] + 1)
    highest_of_rows(
        tails, math.exp(-epsilon), math.tanh(epsilon / 2), -math.expm1(-epsilon), values
    )
    return values


def filter_rows(tails: Floats, epsilon: float) -> Floats:
    """Give h(y) of every row, for y from the rows' first level to one past their last."""
    from scipy.signal import lfilter  # half a second, which a choice of the top K does not need

    t, c, gap = math.exp(-epsilon), math.tanh(epsilon / 2), -math.expm1(-epsilon)
    padded = np.hstack([tails, np.zeros((len(tails), 1))])
    state = np.full((len(tails), 1), t / gap)
    forward, _ = lfilter([1.0], [1.0, -t], padded, axis=1, zi=state)
    backward = lfilter([0.0, t], [1.0, -t], padded[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(c * (forward + backward))
