"""Objective perturbation for logistic loss, pure: the exact price of a rate and a ridge.

Maths
    Minimize sum of log(1 + exp(-v_i t)) + (ridge / 2) |t|^2 + b t, where v_i = y_i x_i, |v_i| <= 1
    and b has a density proportional to exp(-rate |b|). With
        F(rate, ridge) = max over s in [0, 1] of rate s + log(1 + s (1 - s) / ridge)
    the exact minimizer is epsilon-DP, and no smaller epsilon can be claimed for 2 or more features:
        add-remove    epsilon = F(rate, ridge)
        substitute    epsilon = rate + F(rate, ridge)
    F = rate where rate * ridge >= 1: with ridge >= 1 / epsilon (add-remove) or 2 / epsilon
    (substitute) curvature costs nothing, and the rate is epsilon, or epsilon / 2.
    Rows of norm up to r with weights up to W: put rate r W and ridge / (r^2 W) in F.

Privacy (docs/proofs/collaboration/objective.md)
    Gradient and curvature of a row hang together: slope s, curvature s (1 - s), the same s.

The published calibration (Chaudhuri, Monteleoni, Sarwate 2011) stands below for comparison.
"""

from __future__ import annotations

import math

from noren.errors import ParameterError
from noren.privacy import ADD_REMOVE, BIT, SUBSTITUTE, Adjacency
from noren.privacy.numbers import Number, not_negative, positive, read_epsilon, whole

SAFE = 1 - 1e-12  # calibrations aim this far below, so that float errors never pass the claim
RIDGE = "It is the total curvature, scikit-learn's 1 / C."
CURVATURE = 0.25  # the largest of s (1 - s)


def worst_slope(rate: float, ridge: float) -> float:
    """Give the s at which F(rate, ridge) is attained, without cancellation; rate above 0."""
    root = math.sqrt((2 - rate) ** 2 + 4 * rate * (1 + rate * ridge))
    small = 2 * (1 + rate * ridge) / ((2 - rate) + root)  # the same root, for small rates
    return min(max(small if rate <= 2 else (rate - 2 + root) / (2 * rate), 0.0), 1.0)


def worst_gain(rate: float, ridge: float) -> float:
    """Compute F(rate, ridge)."""
    if rate * ridge >= 1:
        return rate
    if rate == 0:
        return math.log1p(CURVATURE / ridge)
    s = worst_slope(rate, ridge)
    return rate * s + math.log1p(s * (1 - s) / ridge)


def tight_pure_epsilon(rate: Number, ridge: Number, adjacency: Adjacency | str) -> float:
    """Give the exact epsilon of objective perturbation with that rate and total ridge.

    It is that of one record; a person with up to k rows is k such steps.

    Examples
    --------
    >>> round(tight_pure_epsilon(0.5, 0.5, "substitute"), 10)
    1.2013046726
    >>> tight_pure_epsilon(0.5, 2, "substitute")
    1.0
    """
    gamma = float(not_negative("rate", rate))
    gain = worst_gain(gamma, float(positive("ridge", ridge, RIDGE)))
    return gain if is_add_remove(adjacency) else gamma + gain


def tight_pure_rate(epsilon: Number, ridge: Number, adjacency: Adjacency | str) -> float:
    """Give the largest rate whose exact price is at most epsilon, rounded down.

    Examples
    --------
    >>> round(tight_pure_rate(1, 0.5, "replace"), 10)
    0.3786658304
    """
    target, total = float(read_epsilon(epsilon)), float(positive("ridge", ridge, RIDGE))
    added = is_add_remove(adjacency)

    def price(rate: float) -> float:
        return worst_gain(rate, total) + (0.0 if added else rate)

    require_enough(ridge, target, price(0.0))
    low, high = 0.0, target if added else target / 2
    if price(high) <= target:
        return high
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if price(middle) <= target else (low, middle)
    if low <= 0:
        require_enough(ridge, target, math.inf)
    return low


def require_enough(ridge: Number, epsilon: float, spent: float) -> None:
    """Refuse a ridge whose curvature alone costs all of epsilon."""
    if spent >= epsilon:
        raise ParameterError(
            "ridge",
            ridge,
            f"above {1 / (4 * math.expm1(epsilon)):.6g} for this epsilon",
            "With less, the curvature alone tells more than that. The default is larger.",
        )


def is_add_remove(adjacency: Adjacency | str) -> bool:
    """Read which of the two relations is meant."""
    who = Adjacency.read(adjacency)
    relation = who.relation
    if relation not in (ADD_REMOVE, SUBSTITUTE) or who.unit is BIT:
        raise ParameterError(
            "adjacency",
            f"'{who}'",
            "'add-remove' or 'substitute'",
            "The proof covers no other neighbors.",
        )
    return relation is ADD_REMOVE


def cms_calibration(n: int, epsilon: Number, ridge_per_row: Number) -> tuple[float, float]:
    """Give (total ridge, rate) as Chaudhuri, Monteleoni and Sarwate publish them.

    Valid for a substituted record, for the exact minimizer. `ridge_per_row` is twice the
    regularization that the paper writes before |t|^2 on the mean loss.

    Examples
    --------
    >>> [round(x, 10) for x in cms_calibration(60, 1, 0.02)]
    [1.2, 0.3107580004]
    """
    rows, eps = whole("n", n, 1), float(read_epsilon(epsilon))
    per_row = float(positive("ridge_per_row", ridge_per_row))
    curved = CURVATURE / (rows * per_row)
    left = eps - math.log(1 + 2 * curved + curved**2)
    extra = 0.0
    if left <= 0:
        extra = CURVATURE / (rows * math.expm1(eps / 4)) - per_row
        left = eps / 2
    return rows * (per_row + extra), left / 2
