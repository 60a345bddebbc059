"""The stratified test of Cochran, Mantel and Haenszel, and the sphere that it is.

Maths
    L = sum_k (a m2 - b m1) / N,  V = sum_k w n (N - n),  n = a + b,  w = m1 m2 / (N^2 (N - 1)),
    CMH = L^2 / V (0 if V = 0), without continuity correction; significant if and only if
    L^2 > tau V. L is linear and V concave in the counts, so the tables that are not significant
    are those of a convex set. With rho^2 = tau sum_k w N^2 / 4,
    ||T||^2 = (L^2 + tau sum_k w (n - N/2)^2) / rho^2 = 1 + (L^2 - tau V) / rho^2,
    and T is affine: one person moves ||T|| by at most `sphere_sensitivity`.
    One stratum: CMH is (N - 1) / N times the chi-squared of `noren.association.geometry`.

How far one person moves CMH (`cmh_sensitivity`)
    Not the largest of the strata's own constants: a move in one stratum rescales the evidence of
    all others (5.70 against 3.33 with groups of 5 and 5, 8 and 8). |L| / V <= R
    (`noren.association.strata_shape`) gives, by the mean value along the move, at most
    max_k 2 R max(m1, m2) / N + R^2 m1 m2 / N^2.

Privacy
    All of this is secret, as the tables are. Noise on these floats is for comparisons only; what
    is released are whole-number scores (`noren.association.stratified`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from noren.association.geometry import read_tau
from noren.association.statistic import Floats, plain
from noren.association.strata import StratifiedTables, read_sizes
from noren.association.strata_shape import ratio_of, two_sided


def cmh(tables: StratifiedTables) -> Any:
    """Give the CMH statistic of each variant; secret, as the tables are.

    Examples
    --------
    >>> round(cmh(StratifiedTables([7, 5], [2, 1], (8, 6), (8, 10))), 8)
    13.86792453
    """
    evidence, spread = moments(tables)
    statistic = evidence * evidence / np.where(spread > 0, spread, 1.0)
    return plain(np.where(spread > 0, statistic, 0.0))


def moments(tables: StratifiedTables) -> tuple[Floats, Floats]:
    """Give L and V."""
    shape = tables.a.shape[1:]
    evidence, spread = np.zeros(shape), np.zeros(shape)
    for a, b, m1, m2 in zip(tables.a, tables.b, tables.cases, tables.controls, strict=True):
        if m1 and m2:
            size, n = m1 + m2, a + b
            evidence += (a * float(m2) - b * float(m1)) / size
            weight = m1 * m2 / (float(size) ** 2 * (size - 1))
            spread += weight * (n.astype(np.float64) * (size - n))
    return evidence, spread


def sphere_norm(tables: StratifiedTables, tau: object) -> Any:
    """Give ||T|| of each variant, above 1 if and only if it is significant.

    Examples
    --------
    >>> round(sphere_norm(StratifiedTables([7, 5], [2, 1], (8, 6), (8, 10)), 3.84), 8)
    1.87387399
    """
    threshold = float(read_tau(tau))
    evidence, spread = moments(tables)
    radius = threshold * sphere_weight(tables.cases, tables.controls)
    inside = np.maximum(0.0, 1 + (evidence * evidence - threshold * spread) / radius)
    return plain(np.sqrt(inside))


def sphere_weight(cases: tuple[int, ...], controls: tuple[int, ...]) -> float:
    """Give sum_k w N^2 / 4: the largest V there is."""
    both = two_sided(cases, controls)
    return math.fsum(m1 * m2 / (4 * (m1 + m2 - 1)) for m1, m2 in both)


def sphere_sensitivity(cases: Any, controls: Any, tau: object) -> float:
    """Give how far one person moves ||T||.

    Examples
    --------
    >>> round(sphere_sensitivity((8, 6), (8, 10), 3.84), 10)
    0.2382905455
    """
    threshold, sizes = float(read_tau(tau)), read_sizes(cases, controls)
    radius = threshold * sphere_weight(*sizes)
    moved = max(
        (max(m1, m2) / (m1 + m2)) ** 2 + threshold * m1 * m2 / ((m1 + m2) ** 2 * (m1 + m2 - 1))
        for m1, m2 in two_sided(*sizes)
    )
    return math.sqrt(moved / radius)


def cmh_sensitivity(cases: Any, controls: Any) -> float:
    """Give a proved bound of how far one person moves CMH.

    Examples
    --------
    >>> cmh_sensitivity((8, 6), (8, 10))
    8.75
    """
    both = two_sided(*read_sizes(cases, controls))
    ratio = ratio_of(both)
    return float(
        max(
            2 * ratio * Fraction(max(m1, m2), m1 + m2)
            + ratio**2 * Fraction(m1 * m2, (m1 + m2) ** 2)
            for m1, m2 in both
        )
    )
