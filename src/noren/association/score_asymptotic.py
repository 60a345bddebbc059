"""Asymptotic p-values of released scores of the adjusted test: not proved, and marked so.

Maths
    Under the null hypothesis people are independent given their covariates and the carrier rate is
    one number pi. Then U is nearly normal with variance V = pi (1 - pi) Omega (doses: 2 pi (1 - pi)
    Omega), the gains G(t) are near those of people who carry with probability pi, and the score is
    nearly a rising function of |U|: it is at least k if |U| reaches a number u_k. With the exact
    law of the noise this gives Pr[s + Z >= y], and p(y) is the highest over a grid of rates.

Privacy
    A function of y and public numbers alone: it costs nothing. (The p-value of U^2 / (V + v0)
    itself is as secret as the genotypes.)

Accuracy
    Asymptotic: for rare variants, few people, or rates that follow the covariates, the level may be
    off. Nothing is guaranteed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from noren.association.noise_filter import Highest, highest
from noren.association.null_model import UNIT, NullModel
from noren.association.score_exact import Rule
from noren.association.score_law import Rows
from noren.association.statistic import Floats

RATES = 41  # of the grid, evenly spaced in log odds
FAR = 8.0  # standard deviations of U, beyond which nothing is added up
FIRST = 64  # steps that are tried first


class Null(NamedTuple):
    """What the null hypothesis says of one rate: variance, its change, gains by steps."""

    variance: float
    change: float
    drift: float
    cap: float
    gains: tuple[tuple[Floats, Floats], ...]


def asymptotic_p(rule: Rule, y: Any, epsilon: Fraction) -> Floats:
    """Give the asymptotic p-value of released scores, for each of them alone.

    Examples
    --------
    >>> model = NullModel.fit([[1]] * 400, [1] * 200 + [0] * 200)
    >>> p = asymptotic_p(Rule(model, Fraction(4), Fraction(1)), [-20, 1, 20], Fraction(1))
    >>> bool(p[0] > 0.99 and 0.02 < p[1] < 0.5 and p[2] < 1e-4)
    True
    """
    return np.minimum(1.0, table_of(rule, float(epsilon)).at(np.asarray(y, dtype=np.float64)))


@lru_cache(maxsize=8)
def table_of(rule: Rule, epsilon: float) -> Highest:
    """Keep the tables of the last few tests."""
    return highest(laws(rule), epsilon)


def laws(rule: Rule) -> Iterator[Rows]:
    """Give the law of the score at each rate of the grid."""
    edge = math.log(rule.model.people)
    for odds in np.linspace(-edge, edge, RATES):
        yield law_at(null_at(rule, 1 / (1 + math.exp(-odds))), rule)


def null_at(rule: Rule, rate: float) -> Null:
    """Say what holds at a rate: of carriers, or of alleles where doses are tested."""
    one = 2.0**-rule.unit_bits
    doses = (1 - rate, rate) if not rule.additive else (
        (1 - rate) ** 2, 2 * rate * (1 - rate), rate**2
    )  # fmt: skip
    mean = sum(dose * mass for dose, mass in enumerate(doses))
    variance = sum(dose**2 * mass for dose, mass in enumerate(doses)) - mean**2
    moves = [abs(1 - 2 * mean)] if not rule.additive else [
        abs(1 - 2 * mean), abs(3 - 2 * mean), 4 * abs(1 - mean)
    ]  # fmt: skip
    largest = float(rule.model.weights.max()) / UNIT
    return Null(
        variance * rule.model.omega / UNIT,
        largest * max(moves) + rule.drift * one,
        rule.drift * one,
        rule.cap * one,
        tuple(expected_gains(rule.model, doses, sign) for sign in (1, -1)),
    )


def expected_gains(model: NullModel, doses: tuple[float, ...], sign: int) -> tuple[Floats, Floats]:
    """Give the expected sums of the largest gains, and after how many people each is reached."""
    r = sign * model.residuals / UNIT
    whole = len(doses) - 1
    sizes = np.concatenate([room * np.abs(r) for room in range(1, whole + 1)])
    masses = np.concatenate(
        [np.where(r > 0, doses[whole - room], doses[room]) for room in range(1, whole + 1)]
    )
    order = np.argsort(-sizes, kind="stable")
    people = np.concatenate([[0.0], np.cumsum(masses[order])])
    return people, np.concatenate([[0.0], np.cumsum(sizes[order] * masses[order])])


def law_at(null: Null, rule: Rule) -> Rows:
    """Give Pr[s >= k] at one rate, for all k where it is neither 0 nor 1."""
    most, steps = rule.model.people, FIRST
    while True:
        t = np.arange(min(steps, most) + 1, dtype=np.float64)
        inside, outside = tails(null, rule, t)
        if steps >= most or (inside[-1] == 1 and outside[-1] == 0):
            break
        steps *= 4
    certain = np.flatnonzero(inside == 1)
    first = int(certain[0]) if certain.size else len(inside)
    return Rows(0, 2 - first, np.concatenate([inside[1:first][::-1], outside])[None, :])


def tails(null: Null, rule: Rule, t: Floats) -> tuple[Floats, Floats]:
    """Give Pr[s >= 1 - t] and Pr[s >= 1 + t], for t = 0, 1, ..."""
    moved = t * null.change + null.drift * t * (t - 1)
    tau, floor = float(rule.tau), float(rule.floor)
    least = np.sqrt(tau * (np.maximum(0, null.variance - moved) + floor))
    most = np.sqrt(tau * (np.minimum(null.cap, null.variance + moved) + floor))
    up, down = (np.interp(t, *gains) for gains in null.gains)
    spread = math.sqrt(2 * null.variance)
    inside = sum(beyond(least - gain, spread) for gain in (up, down)) / 2
    outside = sum(beyond(most + gain, spread) for gain in (up, down)) / 2
    return np.maximum.accumulate(inside), np.where(outside < beyond_far(), 0, outside)


def beyond(border: Floats, spread: float) -> Floats:
    """Give Pr[|U| >= border] of a normal U."""
    from scipy.special import erfc

    return np.asarray(np.where(border <= 0, 1.0, erfc(np.maximum(border, 0) / spread)))


def beyond_far() -> float:
    """Give the probability that is taken for none."""
    return math.erfc(FAR / math.sqrt(2))
