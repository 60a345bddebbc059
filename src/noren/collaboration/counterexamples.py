"""A pair of data sets that shows a printed claim to be wrong, in exact numbers.

Maths (erratum: objective perturbation with a rate of epsilon / 2 and a ridge of 1 / (2 epsilon),
claimed for a substituted row)
    Two features. D: N rows v = (-cos a, sin a) and z = (1, 0). D': N + 1 rows v. Look at the output
    t = (-log(s / (1 - s)), -K), s the worst slope of `pure_calibration`. There z has the slope s,
    and the rows v nearly 1, so
        log density ratio = -rate (|b| - |b'|) + log det H - log det H',
        b = sum s_i v_i - ridge t,   H = sum s_i (1 - s_i) v_i v_i' + ridge I
    comes near rate + F(rate, ridge). At epsilon 1, K = 2000, a = 0.01, N = 200000 it is 1.2007.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from noren.collaboration.pure_calibration import worst_slope
from noren.privacy.numbers import Number, positive, whole

NEARLY_ONE = 1 - 1e-9  # where the worst slope is 1, no output attains it

Floats = npt.NDArray[np.float64]


def kst_log_ratio(epsilon: Number, distance: float, angle: float, rows: int) -> float:
    """Give the log ratio of two densities of the published mechanism at one output.

    Examples
    --------
    >>> round(kst_log_ratio(1, 2000, 0.01, 200_000), 10)
    1.2007306264
    """
    size = float(positive("epsilon", epsilon))
    return pair_log_ratio(size / 2, 1 / (2 * size), distance, angle, whole("rows", rows, 1))


def pair_log_ratio(rate: float, ridge: float, distance: float, angle: float, rows: int) -> float:
    """Give that ratio at any rate and ridge."""
    s = min(worst_slope(rate, ridge), NEARLY_ONE)
    t = np.array([-math.log(s / (1 - s)), -distance])
    common, other = np.array([-math.cos(angle), math.sin(angle)]), np.array([1.0, 0.0])
    first = log_density(t, np.array([common, other]), np.array([rows, 1]), rate, ridge)
    second = log_density(t, np.array([common]), np.array([rows + 1]), rate, ridge)
    return first - second


def log_density(t: Floats, vectors: Floats, counts: Floats, rate: float, ridge: float) -> float:
    """Give the log density of the exact minimizer at t, up to a constant."""
    s = expit(-vectors @ t)
    b = (counts * s) @ vectors - ridge * t
    hessian = (vectors.T * (counts * s * (1 - s))) @ vectors + ridge * np.eye(len(t))
    return float(-rate * np.linalg.norm(b) + np.linalg.slogdet(hessian)[1])
