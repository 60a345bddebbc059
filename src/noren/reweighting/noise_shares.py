"""Noise in parts, without a trusted adder: what is left against one of the parties.

Maths
    Each of m parties adds Gamma(1/m, s) - Gamma(1/m, s) to its own sums; together that is Laplace
    noise of scale s, exactly. A party that takes its own share off faces the law of shape
    k = 1 - 1/m, whose density is
        f(x) = (|x| / 2s)^(k - 1/2) K_{k - 1/2}(|x| / s) / (s sqrt(pi) Gamma(k)).
    It is infinite at 0 for m = 2. For m >= 3 its log ratio over a shift of s epsilon is largest
    at 0, ln f(0) / f(s epsilon): the epsilon that is left.

Privacy
    epsilon against whoever sees the sum alone (secure aggregation, no collusion), and only in real
    numbers: in floats the sum has no guarantee. So no question draws shares; a release uses one
    trusted place of noise on integers. (`noren.papers.simulated_shares` draws them, simulated.)
"""

from __future__ import annotations

import math

import numpy as np


def epsilon_left(epsilon: float, parties: int) -> float:
    """Give the epsilon against a party that takes its own share off; infinite for two parties.

    Examples
    --------
    >>> round(epsilon_left(1, 3), 2), round(epsilon_left(0.1, 100), 3)
    (1.99, 0.105)
    """
    from scipy.special import gamma, kv

    order = 1 - 1 / parties - 0.5
    if order <= 0:
        return math.inf
    at_zero = gamma(order) / 2  # of (x/2)^order K_order(x)
    shifted = (epsilon / 2) ** order * kv(order, epsilon)
    return float(np.log(at_zero / shifted))
