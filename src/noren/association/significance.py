"""How probable it is that each mechanism calls a table significant, exactly and without drawing.

Maths
    distance     the wrong decision with probability exp(-epsilon (d-1)) / (1 + exp(epsilon)) at a
                 table that is d people away from the opposite decision.
    the others   one Laplace draw of scale Delta/epsilon is added to the statistic, and the sum is
                 compared with a public threshold. With z = (statistic - threshold) epsilon/Delta
                 the probability is 1 - exp(-z)/2 if z > 0, else exp(z)/2.
The statistics, their constants Delta and what they need are in `sensitivities`.

Accuracy
    Both a probability and its complement keep their digits (`error_probability`): near 1 a
    probability alone cannot. These are doubles, for oracles, forecasts and error studies; what is
    released is drawn from exact weights, never by comparing with such a number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noren.association.distance import signed_distance
from noren.association.geometry import (
    chi_squared,
    is_significant,
    read_tau,
    unit_circle_norm_squared,
)
from noren.association.sensitivities import (
    fienberg_sensitivity,
    tight_sensitivity,
    unit_circle_sensitivity,
    yu_controls_public_sensitivity,
    yu_sensitivity,
)
from noren.association.statistic import Floats, Tables, plain
from noren.errors import ParameterError
from noren.privacy.numbers import read_epsilon

METHODS = (
    "distance", "unit-circle", "unit-circle-tight", "fienberg", "yu", "yu-controls-public"
)  # fmt: skip


def significance_probability(tables: Tables, tau: object, epsilon: object, method: str) -> Any:
    """Give the probability that a mechanism calls each table significant; secret, as they are.

    Parameters
    ----------
    tables
        The tables; what one person moves is taken from their `step`.
    tau
        The threshold of chi-squared.
    epsilon
        The price of one decision.
    method
        "distance", "unit-circle", "unit-circle-tight", "fienberg", "yu" or "yu-controls-public".

    Examples
    --------
    >>> tables = Tables(130, 95, 200, 200)
    >>> round(significance_probability(tables, 3.84, 0.1, "unit-circle"), 12)
    0.831902978549
    """
    if method == "distance":
        wrong = distance_error(tables, tau, epsilon)
        return plain(np.where(is_significant(tables, tau), 1 - wrong, wrong))
    z = laplace_margin(tables, tau, epsilon, method)
    half = 0.5 * np.exp(-np.abs(z))
    return plain(np.where(z > 0, 1 - half, half))


def error_probability(tables: Tables, tau: object, epsilon: object, method: str) -> Any:
    """Give the probability that a mechanism's decision differs from the exact one; secret.

    Examples
    --------
    >>> round(error_probability(Tables(130, 95, 200, 200), 3.84, 0.1, "distance"), 6)
    0.105991
    """
    if method == "distance":
        return plain(distance_error(tables, tau, epsilon))
    z = laplace_margin(tables, tau, epsilon, method)
    half = 0.5 * np.exp(-np.abs(z))
    agrees = (z > 0) == is_significant(tables, tau)
    return plain(np.where(agrees, half, 1 - half))


def distance_error(tables: Tables, tau: object, epsilon: object) -> Floats:
    """Give exp(-epsilon (d-1)) / (1 + exp(epsilon)); 0 where d is infinite."""
    noise = float(read_epsilon(epsilon))
    moves = np.abs(signed_distance(tables, tau, tables.step)).astype(np.float64)
    return np.asarray(np.exp(-noise * moves) / (1 + math.exp(-noise)))


def laplace_margin(tables: Tables, tau: object, epsilon: object, method: str) -> Floats:
    """Give z, the distance to the threshold in units of the noise."""
    threshold, noise = float(read_tau(tau)), float(read_epsilon(epsilon))
    m1, m2 = tables.cases, tables.controls
    if method in ("unit-circle", "unit-circle-tight"):
        measure = tight_sensitivity if method.endswith("tight") else unit_circle_sensitivity
        above = np.sqrt(unit_circle_norm_squared(tables, tau)) - 1
        return np.asarray(above * noise / (tables.step * measure(m1, m2, tau)))
    scale: Any
    if method == "fienberg":
        scale = fienberg_sensitivity(m1, m2)
    elif method == "yu":
        scale = yu_sensitivity(m1, m2)
    elif method == "yu-controls-public":
        scale = yu_controls_public_sensitivity(tables)
    else:
        raise ParameterError("method", repr(method), f"one of {', '.join(METHODS)}")
    return np.asarray((chi_squared(tables) - threshold) * noise / (tables.step * scale))
