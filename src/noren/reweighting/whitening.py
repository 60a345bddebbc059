"""Columns as moments of equal size: squares and products, whitened and clipped by public rows.

Maths
    F(x): order 1 = the coordinates, order 2 adds their squares, order 3 the products of pairs.
    With m the mean and U diag(e) U' the covariance of F over the public rows (divisor N - 1),
    directions with e <= 1e-10 max e dropped,
        z = U e^-1/2 U' (F - m)     (the p kept coordinates e^-1/2 U'(F - m) where some fell away)
    then z <- z min(1, R / |z|), R the 0.95 quantile of |z| over the public rows.
    pv = p times the variance of the noise of one mean is the expected squared size of the noise,
    in units where the public spread is 1 per coordinate.

Privacy
    z must be a function of the row alone, to the last bit. A matrix product is not, so it is formed
    column by column: each step is one multiplication and one addition, element by element.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noren.errors import ParameterError
from noren.reweighting.rows import Floats, frozen

KEPT = 1e-10
RADIUS_QUANTILE = 0.95
ORDERS = (1, 2, 3)


def raw_moments(rows: Floats, order: int) -> Floats:
    """Give the coordinates, their squares (from order 2) and products of pairs (order 3)."""
    parts = [rows]
    if order >= 2:
        parts.append(rows * rows)
    if order == 3:
        first, second = np.triu_indices(rows.shape[1], 1)
        parts.append(rows[:, first] * rows[:, second])
    return np.hstack(parts)


def row_products(rows: Floats, turn: Floats) -> Floats:
    """Give rows @ turn with each row's result a function of that row alone, bit for bit."""
    found: Floats = rows[:, :1] * turn[0]
    for k in range(1, len(turn)):
        found += rows[:, k : k + 1] * turn[k]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Whitening:
    """How moments become coordinates of equal public size; `root` turns them back."""

    order: int
    shift: Floats
    turn: Floats
    radius: float
    root: Floats

    @classmethod
    def of(cls, public: Floats, order: int, *, symmetric: bool = True) -> Whitening:
        """Settle it from the public rows; `symmetric` asks for U e^-1/2 U' where nothing fell."""
        if order not in ORDERS:
            raise ParameterError("order", order, "1, 2 or 3", "3 takes in products of pairs.")
        moments = raw_moments(public, order)
        shift = moments.mean(axis=0)
        sizes, vectors = np.linalg.eigh(np.atleast_2d(np.cov(moments, rowvar=False)))
        kept = sizes > KEPT * sizes[-1]
        sizes, vectors = sizes[kept], vectors[:, kept]
        turn, root = vectors / np.sqrt(sizes), vectors * np.sqrt(sizes)
        if symmetric and kept.all():
            turn, root = turn @ vectors.T, root @ vectors.T
        lengths = np.sqrt((row_products(moments - shift, turn) ** 2).sum(axis=1))
        radius = float(np.quantile(lengths, RADIUS_QUANTILE))
        if not radius > 0:
            raise ParameterError("public", "of equal rows", "rows that differ")
        return cls(order, frozen(shift), frozen(turn), radius, frozen(root))

    @property
    def size(self) -> int:
        """How many coordinates there are, p."""
        return int(self.turn.shape[1])

    def values(self, rows: Floats) -> Floats:
        """Give the clipped coordinates of some rows."""
        z = row_products(raw_moments(rows, self.order) - self.shift, self.turn)
        lengths = np.sqrt(np.square(z).cumsum(axis=1)[:, -1])
        shrink = np.minimum(1.0, self.radius / np.maximum(lengths, self.radius))
        found: Floats = z * shrink[:, None]
        return found
