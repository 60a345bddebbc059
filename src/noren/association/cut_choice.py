"""Where to cut: a threshold chosen privately so that about K scores lie above it (TAU).

Maths
    Candidates are sqrt(tau) = 4.5, 5, .., 15, as far as data can pass them. The utility of one is
    -|s_(K)(tau) + s_(K+1)(tau) - 1| / 2, s_(j) being the j-th largest score: highest where the
    border of the scores lies between the K-th and the next. The choice is the exponential
    mechanism. At a fixed high threshold, scores of the strongest variants follow chi-squared
    poorly, because they measure how many people must change, not how strong an effect is; near the
    border both order variants alike.

Privacy (pure)
    Each order statistic changes by at most 1 when every score changes by at most 1, so the utility
    changes by at most 1. The threshold chosen is released, and paid for.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noren.association.loci import Groups
from noren.association.scoring import Scoring
from noren.noise import Noise

ROOTS = tuple(Fraction(half, 2) for half in range(9, 31))
UTILITY_STEPS = 2  # utilities are given as twice their value, so that they are whole


def candidates(design: Scoring) -> tuple[Fraction, ...]:
    """List the thresholds that data of this design can pass.

    Examples
    --------
    >>> from noren.association import CaseControl
    >>> [float(tau) for tau in candidates(CaseControl(cases=15, controls=15))]
    [20.25, 25.0]
    """
    return tuple(root * root for root in ROOTS if design.is_reachable(root * root))


def choose_cut(
    design: Scoring, statistic: Any, groups: Groups, many: int, epsilon: Fraction, noise: Noise
) -> Fraction:
    """Choose a threshold at price `epsilon`."""
    taus = candidates(design)
    utilities = []
    for tau in taus:
        leading = design.leading(statistic, tau, groups, many + 1)
        utilities.append(-abs(int(leading[many - 1]) + int(leading[many]) - 1))
    return taus[noise.exponential_mechanism(utilities, epsilon, UTILITY_STEPS)]
