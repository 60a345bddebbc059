"""A continuous privacy loss on a grid of step h, from above and from below.

Maths
    Pessimistic: an interval's masses a of P and b of Q are split between its two ends so that both
    are kept. The original is a blurred view of the result, so every delta can only grow, also
    after composition. P's mass above the grid goes to infinity.
    Optimistic: the mass around a point is blurred onto it where its mean ratio allows it, and else
    moved down. Every delta can only shrink. P's mass above the grid goes to its top.
    Both are off by h^2 where the law is smooth (proof: docs/proofs/privacy/plan.md).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from noren.errors import ParameterError
from noren.privacy.lattice import Atoms, Floats
from noren.privacy.losses import Loss

TAIL = 1e-18  # mass that may be lost at either end of a window, and of a part
LARGEST_LOSS = 500.0


def pessimistic(loss: Loss, step: float) -> Atoms:
    """Split every interval's masses between its ends, keeping both P and Q."""
    first, last = _ends(loss, step)
    edges: Floats = step * np.arange(first, last + 1, dtype=np.float64)
    p, q = loss.masses(edges)
    scaled = q[1:-1] * np.exp(edges[:-1])  # Q's mass as P's, were the loss the lower end
    upper = np.clip((p[1:-1] - scaled) / -math.expm1(-step), 0.0, p[1:-1])
    masses = np.append(p[1:-1] - upper, 0.0) + np.append(p[0], upper)
    return Atoms(Fraction(step), first, masses, loss.infinite + p[-1])


def optimistic(loss: Loss, step: float) -> Atoms:
    """Keep atoms that lie on grid points; blur the mass around a point onto it, or move it down.

    Mass whose mean ratio lies above its point moves down to it. Mass below borrows what it lacks
    from the next point's, which it is blurred with; if that is too much, it moves down.
    """
    first, last = _ends(loss, step)
    points: Floats = step * np.arange(first, last + 1, dtype=np.float64)
    edges = np.append(points - step / 2, points[-1] + step / 2)
    on_points = np.zeros_like(points)
    p, q = loss.masses(edges)
    mass, scaled = p[1:-1], q[1:-1] * np.exp(points)  # Q's as P's, were the loss at the point
    if loss.anchor is not None:
        near = np.column_stack((points - 1e-9 * step, points + 1e-9 * step)).ravel()
        on_points = loss.masses(near)[0][1::2]
        mass, scaled = np.maximum(mass - on_points, 0.0), np.maximum(scaled - on_points, 0.0)
    masses = on_points + _blurred_down(mass, scaled, math.exp(-step))
    masses[-1] += p[-1]
    return Atoms(Fraction(step), first, masses, loss.infinite)


def _blurred_down(mass: Floats, scaled: Floats, ratio: float) -> Floats:
    """Give the optimistic masses at the points; `ratio` leads from one point's to the last's."""
    lacking = np.maximum(scaled - mass, 0.0)[:-1]
    surplus = np.maximum(mass - ratio * scaled, 0.0)[1:]  # of the next, seen from this point
    stuck = np.append(2 * lacking > surplus, scaled[-1] > mass[-1])
    lent = np.zeros_like(mass)
    np.divide(lacking * mass[1:], surplus, out=lent[1:], where=~stuck[:-1] & (lacking > 0))
    falling = np.where(stuck, mass, lent)
    return np.asarray(mass - falling + np.append(falling[1:], 0.0))


def _ends(loss: Loss, step: float) -> tuple[int, int]:
    """Give the indices of the first and the last grid point."""
    low, high = loss.span(TAIL)
    if max(-low, high) > LARGEST_LOSS:
        raise ParameterError(
            "loss", "beyond 500", "at most 500 for the accountant", "Use another bound."
        )
    return math.floor(low / step) - 1, math.ceil(high / step) + 1
