"""For people whose bit changes at most a few times: report changes over intervals, not states.

Maths
    T = 2**L slots. A person is given one level h of 0..L (as slots are given out) and, at the end
    of the i-th interval of 2**h slots, takes d = v_end - v_start in {-1, 0, 1} (v_0 = 0). It says
    d b_n for its n-th nonzero d, with b from the block law for s changes, and a fair +-1 where
    d = 0 or s changes are used up. With N_h accepted reports, sum y / (N_h c_s) estimates the mean
    change of the interval, and the share at t is the sum over the dyadic intervals that make up
    [1..t].

Privacy (pure; LOCAL: one person's whole trajectory within one epoch)
    M intervals: P(y | v) lies between 2**-(M-s) min D and 2**-(M-s) max D for every trajectory, so
    the price is epsilon, also for people who change more than s times and for M < s. A change in
    one slot alone costs epsilon too: there is no smaller price for a slot here.

Accuracy
    Var <= the sum over those intervals of 1 / (N_h c_s**2): popcount(t) (L + 1) / (N c_s**2) with
    N / (L + 1) people on each level. People who change more than s times bias it. It wins over lies
    in slots only for long horizons. To one side the share is off by sqrt(2 ln(1 / alpha)) times the
    sum of 1 / (c_s sqrt(N_h)) or more with chance <= alpha (docs/proofs/monitoring/strategies.md).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log, sqrt
from typing import NamedTuple

from noren.monitoring.lies import block_law


def levels(horizon: int) -> int:
    """Give L for a horizon of 2**L slots; -1 where it is no power of two."""
    return horizon.bit_length() - 1 if horizon & (horizon - 1) == 0 else -1


def intervals(t: int) -> list[tuple[int, int]]:
    """Split [1..t] into dyadic intervals, as (level, slot at its end).

    Examples
    --------
    >>> intervals(13)
    [(3, 8), (2, 12), (0, 13)]
    """
    found, end = [], 0
    for level in range(t.bit_length() - 1, -1, -1):
        if t >> level & 1:
            end += 1 << level
            found.append((level, end))
    return found


def tree_variance(t: int, people: int, horizon: int, contrast: float) -> float:
    """Bound the variance of the share at slot t."""
    return t.bit_count() * (levels(horizon) + 1) / (people * contrast * contrast)


def average_variance(people: int, horizon: int, changes: int, epsilon: Fraction) -> float:
    """Average that bound over the slots."""
    contrast = block_law(changes, epsilon).contrast
    ones = sum(t.bit_count() for t in range(1, horizon + 1)) / horizon
    return ones * (levels(horizon) + 1) / (people * contrast * contrast)


class TreeEstimate(NamedTuple):
    """A share, its variance at most, and the sum of its nodes' spreads."""

    share: float
    variance: float
    spread: float

    def margin(self, alpha: float) -> float:
        """Give x such that the share is off by x or more, to one side, with chance <= alpha."""
        return sqrt(2 * log(1 / alpha)) * self.spread


def tree_estimate(
    t: int, counted: Callable[[int, int], tuple[int, int]], contrast: float
) -> TreeEstimate | None:
    """Estimate the share at slot t from the counts of its nodes.

    `counted` gives (ones, reports) of (level, slot at the end); None where a node has no report.
    """
    share = variance = spread = 0.0
    for level, end in intervals(t):
        ones, reports = counted(level, end)
        if not reports:
            return None
        share += (2 * ones - reports) / (reports * contrast)
        variance += 1 / (reports * contrast * contrast)
        spread += 1 / (contrast * sqrt(reports))
    return TreeEstimate(share, variance, spread)


def tree_share(
    t: int, counted: Callable[[int, int], tuple[int, int]], contrast: float
) -> float | None:
    """Estimate the share at slot t alone."""
    found = tree_estimate(t, counted, contrast)
    return None if found is None else found.share
