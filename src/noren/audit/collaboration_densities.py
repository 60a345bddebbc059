"""Exact densities of objective perturbation where they can be written down, to test its prices.

One feature: rows are numbers v_i in [-1, 1], b(t) = sum s_i v_i - ridge t, and the minimizer has
the density noise(b(t)) (sum s_i (1 - s_i) v_i^2 + ridge). Two features: `pair_log_ratio` of
`noren.collaboration.counterexamples` (in one, a replaced row never moves b by 2). Softmax with one
row x = 1 against none: the direction in which all classes move alike cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

Floats = npt.NDArray[np.float64]
LogNoise = Callable[[Floats], Floats]

POINTS = 8_001
OTHERS: tuple[tuple[float, ...], ...] = (
    (), (1.0,), (-1.0,), (1.0, 1.0, -1.0), (0.5,) * 10, (-1.0,) * 50,
)  # fmt: skip


def pure_law(rate: float) -> LogNoise:
    """Give the log density of b at delta 0, one feature."""
    return lambda b: math.log(rate / 2) - rate * np.abs(b)


def gaussian_law(sigma: float) -> LogNoise:
    """Give the log density of b at delta above 0, one feature."""
    return lambda b: -0.5 * (b / sigma) ** 2 - math.log(sigma * math.sqrt(2 * math.pi))


def log_density(t: Floats, rows: Floats, ridge: float, noise: LogNoise) -> Floats:
    """Give the log density of the exact minimizer at each t."""
    s = expit(-np.multiply.outer(t, rows))
    b = s @ rows - ridge * t
    found: Floats = noise(b) + np.log((s * (1 - s)) @ rows**2 + ridge)
    return found


def one_feature(
    first: tuple[float, ...], second: tuple[float, ...], ridge: float, noise: LogNoise, reach: float
) -> tuple[Floats, Floats, Floats]:
    """Give points, and both log densities there; `reach` bounds the noise that counts."""
    end = (max(len(first), len(second)) + reach) / ridge
    t = np.linspace(-end, end, POINTS)
    one = log_density(t, np.array(first), ridge, noise)
    return t, one, log_density(t, np.array(second), ridge, noise)


def worst_loss(rate: float, ridge: float) -> float:
    """Give the largest log ratio over small data sets with one row more."""
    worst = 0.0
    for others in OTHERS:
        _, one, two = one_feature((*others, 1.0), others, ridge, pure_law(rate), 30 / rate)
        worst = max(worst, float(np.abs(one - two).max()))
    return worst


def worst_delta(epsilon: float, sigma: float, ridge: float, replaced: bool = False) -> float:
    """Give the largest delta at an epsilon over small data sets, both ways."""
    worst = 0.0
    for others in OTHERS:
        changed = (*others, -1.0) if replaced else others
        t, one, two = one_feature((*others, 1.0), changed, ridge, gaussian_law(sigma), 12 * sigma)
        p, q = np.exp(one), np.exp(two)
        for a, b in ((p, q), (q, p)):
            excess = np.maximum(0, a - math.exp(epsilon) * b)
            worst = max(worst, float(np.trapezoid(excess, t)))
    return worst


def softmax_losses(noise: LogNoise, ridge: float, reach: float, points: int) -> tuple[Floats, ...]:
    """Give log ratio and log density (one row of class 0 against none), three classes, on a grid.

    The grid is over the plane in which the three coefficients sum to 0; b's third coordinate has
    the same value under both data sets, so it is integrated out for Gaussian noise and set to 0,
    its worst value, for pure noise.
    """
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    line = np.linspace(-reach, reach, points)
    free = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    t = -(free @ basis) / ridge
    p = softmax(t, axis=1)
    pull = p - np.array([1.0, 0, 0])
    moved = free - pull @ basis.T
    # det(I + (diag p - p p') / ridge): the sum of the principal minors
    pairs = sum(p[:, i] * p[:, j] * (1 - p[:, i] - p[:, j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    trace = (p * (1 - p)).sum(axis=1)
    grown = 1 + trace / ridge + pairs / ridge**2
    before = noise(free)
    ratio: Floats = noise(moved) + np.log(grown) - before
    return ratio, before


def softmax_worst_loss(rate: float, ridge: float) -> float:
    """Give the largest log ratio of softmax objective perturbation, one row against none."""
    ratio, _ = softmax_losses(
        lambda b: -rate * np.sqrt((b**2).sum(axis=1)), ridge, 60 * ridge + 40, 401
    )
    return float(np.abs(ratio).max())


def softmax_worst_delta(epsilon: float, sigma: float, ridge: float) -> float:
    """Give the larger delta of both directions, one row against none."""
    reach, points = 9 * sigma, 401

    def noise(b: Floats) -> Floats:
        found: Floats = -0.5 * (b**2).sum(axis=1) / sigma**2 - math.log(2 * math.pi * sigma**2)
        return found

    ratio, before = softmax_losses(noise, ridge, reach, points)
    area, q = (2 * reach / (points - 1)) ** 2, np.exp(before)
    up = q * np.maximum(0, np.expm1(np.maximum(ratio - epsilon, 0))) * math.exp(epsilon)
    down = q * np.maximum(0, -np.expm1(np.minimum(ratio + epsilon, 0)))
    return float(max(up.sum(), down.sum()) * area)
