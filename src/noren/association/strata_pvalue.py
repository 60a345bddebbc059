"""How surprising a released stratified score is: a numerical supremum, not a guarantee.

Maths
    y = s + Z. Under the null hypothesis people are independent and those of stratum k, cases and
    controls alike, carry the variant with one rate pi_k. The p-value would be the supremum of
    Pr[s + Z >= y] over all (pi_1, .., pi_K). It is searched on rays (one rate free, all others at 0
    or all at 1) and where all rates are equal, then by local ascent from the best of these. In 64
    small cases with two strata the supremum lay within 2 % of the largest of these. Nothing proves
    that it always does, so a p-value from here has no level, and says so.

    Where status is private the score is halved, and has no p-value from here.

Everything is enumerated: the score of every table set of the strata, so it is for small strata.

Privacy
    Computed from y and public numbers alone: it costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from noren.association.statistic import Floats
from noren.association.strata import StratifiedTables, read_sizes
from noren.association.strata_scores import stratified_scores
from noren.association.strata_shape import read_reachable_tau, two_sided
from noren.errors import ParameterError
from noren.privacy.numbers import read_epsilon, whole

MOST_TABLES = 2_000_000
GRID = 101  # rates on each ray
NOTE = "numerical supremum over the rates of all strata; no level is guaranteed"


@dataclass(frozen=True, slots=True)
class NumericalSupremum:
    """The highest chance that was found, where, and what it is not."""

    value: float
    rates: tuple[float, ...]
    note: str = NOTE

    def __str__(self) -> str:
        return f"p about {self.value:.4g} ({self.note})"


def stratified_p_value(
    y: object, cases: Any, controls: Any, tau: object, epsilon: object
) -> NumericalSupremum:
    """Search for the highest chance of a score of at least y if no stratum has an association.

    Parameters
    ----------
    y
        One released score.
    cases, controls
        The public sizes of the groups in each stratum; small ones (two million table sets).
    tau, epsilon
        The threshold inside the score and the noise of one score, as it was released.

    Examples
    --------
    >>> print(stratified_p_value(3, (5, 8), (9, 6), "3.84", 1))
    p about 0.021 (numerical supremum over the rates of all strata; no level is guaranteed)
    """
    sizes = read_sizes(cases, controls)
    threshold = read_reachable_tau(*sizes, tau)
    both = tuple(two_sided(*sizes))
    if math.prod((m1 + 1) * (m2 + 1) for m1, m2 in both) > MOST_TABLES:
        raise ParameterError(
            "cases and controls", "too large", f"of at most {MOST_TABLES} table sets in all",
            "Read decisions in the mode 'agreement', or ranks.",
        )  # fmt: skip
    tails = tails_of(score_box(both, threshold), whole("y", y), float(read_epsilon(epsilon)))
    starts = [(chance(tails, both, rates), rates) for rates in families(len(both))]
    value, rates = max(starts, key=lambda found: found[0])
    return ascended(tails, both, value, rates)


def families(strata: int) -> list[tuple[float, ...]]:
    """List the rates that are tried: rays, and where all are equal."""
    steps = np.linspace(0, 1, GRID).tolist()
    found = [(rate,) * strata for rate in steps]
    for k in range(strata):
        for others in (0.0, 1.0):
            found += [(*[others] * k, rate, *[others] * (strata - k - 1)) for rate in steps]
    return found


@lru_cache(maxsize=2)
def score_box(both: tuple[tuple[int, int], ...], tau: Fraction) -> Any:
    """Score every table set, along the 2K counts."""
    sides = [size + 1 for pair in both for size in pair]
    grid = np.indices(sides).reshape(len(sides), -1)
    cases, controls = zip(*both, strict=True)
    tables = StratifiedTables(grid[0::2], grid[1::2], cases, controls)
    return np.asarray(stratified_scores(tables, tau)).reshape(sides)


def tails_of(scores: Any, y: int, epsilon: float) -> Floats:
    """Give Pr[s + Z >= y] for every score."""
    away, t = (y - scores).astype(np.float64), math.exp(-epsilon)
    above = np.exp(-epsilon * np.maximum(away, 0)) / (1 + t)
    return np.asarray(
        np.where(away >= 1, above, 1 - np.exp(-epsilon * np.maximum(1 - away, 0)) / (1 + t))
    )


def chance(tails: Floats, both: tuple[tuple[int, int], ...], rates: Any) -> float:
    """Average over independent binomials, one count after the other."""
    found: Any = tails
    for (m1, m2), rate in zip(both, rates, strict=True):
        for size in (m1, m2):
            found = np.tensordot(masses(size, float(rate)), found, axes=(0, 0))
    return float(found)


def masses(size: int, rate: float) -> Floats:
    """Give the law of a binomial."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(size + 1), size, min(1.0, max(0.0, rate))))


def ascended(
    tails: Floats, both: tuple[tuple[int, int], ...], value: float, rates: tuple[float, ...]
) -> NumericalSupremum:
    """Climb from the best rates, by ever smaller steps of one rate or of all."""
    step = 1 / GRID
    ways = [*np.eye(len(both)), np.ones(len(both))]
    while step > 1e-5:
        tried = [np.clip(np.array(rates) + sign * step * way, 0, 1)
                 for way in ways for sign in (1, -1)]  # fmt: skip
        best, place = max((chance(tails, both, at), tuple(at.tolist())) for at in tried)
        if best > value:
            value, rates = best, place
        else:
            step /= 2
    return NumericalSupremum(min(1.0, value), rates)
