"""P-values: how surprising a released score is if the variant has nothing to do with the disease.

Maths
    y = s + Z is a score with two-sided geometric noise. Its p-value is the highest chance of a
    score at least as large under a null hypothesis:
        permutation   max over n of Pr[s + Z >= y | n carriers]: given all genotypes, every choice
                      of the cases is equally likely. Nothing else is assumed.
        common_rate   sup over pi in [0, 1]: people are independent and carry the variant with one
                      rate pi. Never larger than the former, at the price of an assumption; with
                      `rate_range` (public, from a reference panel) the supremum is over that range.
    What is returned is a guaranteed upper bound: the maximum over n times 1 + 5e-7 plus 4e-16 (for
    rounding, proved below 1e-10, and for tails left out), and for rates a bound of the supremum
    between grid points, at most 1.00099 p + 1e-15 (1.032 p above 200,000 people). So "p <= alpha"
    has level alpha.

Privacy
    A p-value is computed from y and public numbers alone: it costs nothing.

What it does not cover
    Population structure and relatives. When alleles are counted both nulls also need
    Hardy-Weinberg proportions. Missing calls are counted as not carrying, so missingness that
    differs between the groups is itself tested.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np

from noren.association.common_rate import (
    FEWEST_CARRIERS,
    LawGivenRate,
    rates_around,
)
from noren.association.noise_filter import Highest, highest
from noren.association.score_law import Design, LawGivenCarriers, Rows
from noren.association.statistic import group_size, plain
from noren.errors import ParameterError
from noren.privacy.numbers import probability, read_epsilon

NULLS = ("permutation", "common_rate")
ROUNDING = 5e-7  # relative; the sums lose less than 1e-10
LEFT_OUT = 4e-16  # absolute; four tails below 1e-17 of their largest term, and additions near 1
RateRange: TypeAlias = "tuple[Fraction, Fraction] | None"


def p_value(
    y: Any,
    cases: int,
    controls: int,
    tau: object,
    epsilon: object,
    null: str = "permutation",
    *,
    step: int = 1,
    rate_range: tuple[Any, Any] | None = None,
) -> Any:
    """Give the guaranteed p-value of released scores, for each of them alone.

    Parameters
    ----------
    y
        A released score or an array of them (whole numbers).
    cases, controls
        The public sizes of the groups (of alleles, with `step=2`).
    tau, epsilon
        The threshold inside the score and the noise of one score, as it was released.
    null
        "permutation" or "common_rate".
    step
        1 if people were counted, 2 if alleles were.
    rate_range
        With "common_rate", a public range of carrier rates to which the null is restricted.

    Examples
    --------
    >>> round(p_value(8, 20, 30, 3.84, 1), 7)
    0.000209
    """
    scores = read_scores(y)
    table = tail_table(
        Design.read(cases, controls, tau, step), read_epsilon(epsilon), *read_null(null, rate_range)
    )
    return plain(bounded(table, scores))


def randomized_p_value(
    v: Any,
    cases: int,
    controls: int,
    tau: object,
    epsilon: object,
    null: str = "permutation",
    *,
    step: int = 1,
    rate_range: tuple[Any, Any] | None = None,
) -> Any:
    """Give the p-value of v = y + u, where u is uniform on (-1/2, 1/2) and drawn after the release.

    Adding u turns the geometric noise into Tulap noise: whole-numbered cut-offs leave some of the
    level unused, and v uses nearly all of it. u needs no secrecy beyond that it was not chosen.

    Examples
    --------
    >>> between = randomized_p_value(7.9, 20, 30, 3.84, 1)
    >>> p_value(9, 20, 30, 3.84, 1) < between < p_value(8, 20, 30, 3.84, 1)
    True
    """
    whole = np.floor(np.asarray(v, dtype=np.float64) + 0.5)
    if not np.isfinite(whole).all():
        raise ParameterError("v", "not finite", "finite numbers")
    rest = v - whole
    table = tail_table(
        Design.read(cases, controls, tau, step), read_epsilon(epsilon), *read_null(null, rate_range)
    )
    mixed = (0.5 + rest) * bounded(table, whole + 1) + (0.5 - rest) * bounded(table, whole)
    return plain(mixed)


def cut_off(
    alpha: object,
    cases: int,
    controls: int,
    tau: object,
    epsilon: object,
    null: str = "permutation",
    *,
    step: int = 1,
    rate_range: tuple[Any, Any] | None = None,
) -> int:
    """Give the smallest score whose p-value is at most alpha.

    Examples
    --------
    >>> cut_off(0.05, 2500, 2500, 3.84, 0.1, "common_rate")
    23
    """
    level = read_level(alpha)
    table = tail_table(
        Design.read(cases, controls, tau, step), read_epsilon(epsilon), *read_null(null, rate_range)
    )
    if level <= 2 * LEFT_OUT:
        raise ParameterError("alpha", alpha, "above 1e-15", "No p-value of a score is smaller.")
    low, high = table.lowest - 1, table.lowest + len(table.values)
    while bounded(table, high) > level:
        high += math.ceil(1 / table.epsilon)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bounded(table, middle) <= level else (middle, high)
    return int(high)


def bounded(table: Highest, scores: Any) -> Any:
    """Look up scores, with what rounding may have lost added."""
    raised = table.at(scores) * (1 + ROUNDING) + LEFT_OUT
    below = np.asarray(scores) < table.lowest
    return np.where(below, 1.0, np.minimum(1.0, raised))


@lru_cache(maxsize=2)
def law_given_carriers(design: Design) -> LawGivenCarriers:
    """Keep the laws of the last few designs."""
    return LawGivenCarriers(design)


@lru_cache(maxsize=2)
def law_given_rate(design: Design) -> LawGivenRate:
    """Keep the laws at the rates of the grid of the last few designs."""
    return LawGivenRate(law_given_carriers(design))


@lru_cache(maxsize=64)
def tail_table(
    design: Design, epsilon: Fraction, null: str, rate_range: RateRange = None
) -> Highest:
    """Give the bound of Pr[s + Z >= y] for every y; kept for the designs asked last."""
    if null == "permutation":
        return highest(law_given_carriers(design).blocks(), float(epsilon))
    law = law_given_rate(design)
    asked = rates_around(law.rates, *(rate_range or (0, 1)))
    blocks = (only(rows, asked) for rows in law.blocks())
    table = highest((rows for rows in blocks if len(rows.tails)), float(epsilon))
    factor = math.exp(max(law.spacing**2 / 8, FEWEST_CARRIERS))
    return Highest(table.lowest, np.minimum(1, factor * table.values), table.epsilon)


def only(rows: Rows, asked: Any) -> Rows:
    """Keep the rows of the rates that are asked for."""
    return Rows(rows.first, rows.lowest, rows.tails[asked[rows.first :][: len(rows.tails)]])


def best_tau(cases: int, controls: int, epsilon: object, alpha: object) -> float:
    """Give the public threshold inside the score that suits level alpha best.

    Under little noise the test wants the threshold near the level's own quantile; under much noise
    a smaller one, with the level restored by the p-value. The formula equates the cut-off that the
    noise forces with the one that frequent variants force; it was within 7 % of the best of 13
    thresholds in 47 settings (0.5 % on average), in the sample it takes.

    Parameters
    ----------
    cases, controls
        The public sizes of the groups.
    epsilon
        The noise of one score.
    alpha
        The level of one test, correction for many tests included.

    Examples
    --------
    >>> round(best_tau(2500, 2500, 0.1, 0.05), 2)
    2.17
    """
    m1, m2 = group_size("cases", cases), group_size("controls", controls)
    level, noise = read_level(alpha), float(read_epsilon(epsilon))
    z = -NormalDist().inv_cdf(level / 2)
    width = noise * math.sqrt((m1 + m2) * (m1 / max(m1, m2)) * m2) / 2 / math.sqrt(max(m1, m2))
    tau = max(1.0, z - 0.75 * math.log(1 / (2 * level)) / width) ** 2
    return min(tau, (m1 + m2) / 2)  # above N no table passes at all


def read_level(alpha: object) -> float:
    """Read the level of a test."""
    level = probability("alpha", alpha)
    if not 0 < level < 1:
        raise ParameterError("alpha", alpha, "above 0 and below 1", "Usual are 0.05 and 5e-8.")
    return float(level)


def read_scores(y: Any) -> Any:
    """Read released scores: whole numbers."""
    scores = np.asarray(y)
    if scores.dtype.kind == "f" and np.isfinite(scores).all() and (scores % 1 == 0).all():
        scores = scores.astype(np.int64)
    if scores.dtype.kind not in "iu":
        raise ParameterError(
            "y",
            "not made of whole numbers",
            "released scores, which are whole numbers",
            "For a score to which a fraction was added, use randomized_p_value.",
        )
    return scores.astype(np.float64)


def read_null(null: str, rate_range: tuple[Any, Any] | None) -> tuple[str, RateRange]:
    """Read the null hypothesis."""
    if null not in NULLS:
        raise ParameterError("null", repr(null), "'permutation' or 'common_rate'")
    if rate_range is None:
        return null, None
    if null != "common_rate":
        raise ParameterError(
            "rate_range", rate_range, "left out with the null 'permutation'",
            "Only null='common_rate' knows a rate.",
        )  # fmt: skip
    low, high = (probability("rate_range", end) for end in rate_range)
    if low > high:
        raise ParameterError("rate_range", rate_range, "a range from a lower rate to a higher one")
    return null, (low, high)
