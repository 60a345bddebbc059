"""The adjusted score test as a sphere: for comparison with published mechanisms, never released.

Maths
    With Omega = sum of w and rho^2 = tau Omega / 4, ||T||^2 = 1 + (U^2 - tau V) / rho^2 is a
    squared distance in p + 1 dimensions; without a floor the test is significant if it exceeds 1.
    One person changes ||T|| by at most Delta = max_i sqrt(r_i^2 + tau u_i' Kc u_i) / rho. Without
    covariates it is the unit circle of `geometry`.

Privacy
    The norm is as secret as the genotypes. Noise on it would need a proof that rounding is covered,
    and there is none: it serves error studies only.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from noren.association.geometry import read_tau
from noren.association.null_model import UNIT, NullModel
from noren.association.score_exact import Rule, exact_sums
from noren.association.score_rows import GenotypeRows
from noren.association.score_test import read_floor
from noren.association.statistic import Floats


def score_norm(model: NullModel, genotypes: Any, tau: object) -> float:
    """Give ||T|| of one vector of carriers; secret."""
    threshold = read_tau(tau)
    rule = Rule(model, threshold, Fraction(1))
    sums = exact_sums(np.asarray(genotypes), rule)
    u, v = sums.u / UNIT, math.ldexp(float(sums.variance), -rule.unit_bits)
    square = float(threshold) * model.omega / UNIT / 4
    return math.sqrt(max(0.0, 1 + (u * u - float(threshold) * v) / square))


def score_norms(rows: GenotypeRows, tau: object) -> Floats:
    """Give ||T|| of every variant, in doubles; secret."""
    model, threshold = rows.layout.model, float(read_tau(tau))
    u, v = rows.added.sums[:, 0] / UNIT, np.maximum(0, rows.added.measured[:, 0])
    square = threshold * model.omega / UNIT / 4
    return np.asarray(np.sqrt(np.maximum(0, 1 + (u * u - threshold * v) / square)))


def norm_at_border(model: NullModel, tau: object, floor: object = 1) -> float:
    """Give the norm that is as much as the test with a floor asks for."""
    threshold = float(read_tau(tau))
    square = threshold * model.omega / UNIT / 4
    return math.sqrt(1 + threshold * float(read_floor(floor)) / square)


def score_sensitivity(model: NullModel, tau: object) -> float:
    """Give how far one person moves ||T|| at most."""
    threshold = float(read_tau(tau))
    vectors = model.vectors / UNIT
    matrix = np.ldexp(model.matrix.astype(np.float64), -model.shift)
    forms = np.einsum("ij,jk,ik->i", vectors, matrix, vectors)
    longest = float((np.square(model.residuals / UNIT) + threshold * forms).max())
    return math.sqrt(longest / (threshold * model.omega / UNIT / 4))
