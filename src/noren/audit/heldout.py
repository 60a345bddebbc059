"""A lower bound on the true epsilon of anything that can be run, from samples alone.

Maths
    Run the mechanism n times on each of two neighbours and split the outputs. On half A choose an
    event (cells whose estimated ratio is largest). On half B count it: k1 under D, k0 under D'.
    With the Clopper-Pearson bounds p1_lo and p0_hi, each at level alpha / 2,
        epsilon_lo = ln((p1_lo - delta) / p0_hi)
    is at most the true epsilon (at that delta) with probability 1 - alpha, whatever the mechanism:
    (epsilon, delta)-DP says p1 <= e**epsilon p0 + delta. Both directions are tried at alpha / 2.

Validity
    The event must not see half B. Choosing it on the half that is counted voids the bound.

Power
    For a true epsilon of (1 + x) times the claim, about
        n = ((z_(1-alpha/2) (a + b) + z_power sqrt(a**2 + b**2)) / (x epsilon))**2
    with a**2 = (1 - p1) / p1 and b**2 = (1 - p0) / p0 sees it. Power is best for epsilon between
    0.5 and 3: a passed audit at other values says less, and every result says what it could see.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import beta

View: TypeAlias = "Callable[[NDArray[np.float64]], NDArray[np.float64]]"
MOST_CELLS = 128  # of one coordinate, and of thresholds tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the held-out half says: the bound, and the counts it rests on."""

    epsilon_lower: float
    detects: float
    draws: int
    counts: tuple[int, int]


def clopper_pearson_lower(count: int, draws: int, alpha: float) -> float:
    """Give the one-sided Clopper-Pearson lower bound on a probability.

    Examples
    --------
    >>> round(clopper_pearson_lower(60, 100, 0.025), 12)
    0.497209150422
    """
    return 0.0 if count == 0 else float(beta.ppf(alpha, count, draws - count + 1))


def clopper_pearson_upper(count: int, draws: int, alpha: float) -> float:
    """Give the one-sided Clopper-Pearson upper bound on a probability."""
    return 1.0 if count == draws else float(beta.ppf(1 - alpha, count + 1, draws - count))


def epsilon_lower_bound(
    first: int, second: int, draws: int, *, alpha: float, delta: float = 0.0
) -> float:
    """Bound the true epsilon from below, from the counts of one event chosen beforehand.

    Examples
    --------
    >>> round(epsilon_lower_bound(60, 10, 100, alpha=0.05), 12)
    1.037262807584
    """
    surely = clopper_pearson_lower(first, draws, alpha / 2) - delta
    if surely <= 0:
        return -math.inf
    return math.log(surely / clopper_pearson_upper(second, draws, alpha / 2))


def draws_needed(
    p1: float, p0: float, *, epsilon: float, excess: float, alpha: float = 0.05, power: float = 0.9
) -> float:
    """Say how many draws on the held-out half see a true epsilon of (1 + excess) times the claim.

    `p1` and `p0` are the event's probabilities under the two neighbours at that true epsilon.
    """
    return (spread(p1, p0, alpha, power) / (excess * epsilon)) ** 2


def detectable(
    p1: float, p0: float, *, epsilon: float, draws: int, alpha: float = 0.05, power: float = 0.9
) -> float:
    """Give the smallest true epsilon that this many draws see with the given power."""
    if not (0 < p1 < 1 and 0 < p0 < 1):
        return math.inf
    return epsilon + spread(p1, p0, alpha, power) / math.sqrt(draws)


def spread(p1: float, p0: float, alpha: float, power: float) -> float:
    """Give the numerator of the power formula."""
    a, b = math.sqrt((1 - p1) / p1), math.sqrt((1 - p0) / p0)
    return float(ndtri(1 - alpha / 2) * (a + b) + ndtri(power) * math.hypot(a, b))


@dataclass(frozen=True, slots=True)
class Classifier:
    """An event of outputs: the cell-wise log ratios, added up, lie above a threshold.

    Each coordinate of an output has its own cells: single values where few occur, else quantiles.
    """

    edges: tuple[NDArray[np.float64], ...]
    ratios: tuple[NDArray[np.float64], ...]
    threshold: float = 0.0
    bound: float = -math.inf

    def score(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up the log ratio of each coordinate's cell."""
        score = np.zeros(len(outputs))
        for edge, ratio, column in zip(self.edges, self.ratios, outputs.T, strict=True):
            score += ratio[np.searchsorted(edge, column, side="right")]
        return score

    def count(self, outputs: NDArray[np.float64]) -> int:
        """Count the outputs in the event."""
        return int((self.score(outputs) >= self.threshold).sum())


def learn(
    first: NDArray[np.float64], second: NDArray[np.float64], *, alpha: float, delta: float
) -> Classifier:
    """Choose the event that separates two samples best, by the bound it would give on them."""
    edges = tuple(map(cell_edges, np.vstack([first, second]).T))
    ratios = tuple(
        np.log((cell_counts(edge, a) + 0.5) / (cell_counts(edge, b) + 0.5))
        for edge, a, b in zip(edges, first.T, second.T, strict=True)
    )
    ranked = Classifier(edges, ratios)
    ours, theirs = ranked.score(first), ranked.score(second)
    best, found = -math.inf, math.inf
    thresholds = spaced(np.unique(np.concatenate([ours, theirs])))
    for threshold in thresholds[1:] if thresholds.size > 1 else thresholds:  # not all outputs
        counts = int((ours >= threshold).sum()), int((theirs >= threshold).sum())
        bound = epsilon_lower_bound(*counts, len(first), alpha=alpha, delta=delta)
        if bound > best:
            best, found = bound, float(threshold)
    return Classifier(edges, ratios, found, best)


def cell_edges(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cut a coordinate into cells: between the values where few occur, else at quantiles."""
    values = np.unique(column)
    if values.size <= MOST_CELLS:
        return (values[1:] + values[:-1]) / 2
    return np.unique(np.quantile(column, np.linspace(0, 1, MOST_CELLS // 2 + 1)[1:-1]))


def cell_counts(edges: NDArray[np.float64], column: NDArray[np.float64]) -> NDArray[np.intp]:
    """Count the values in each cell."""
    return np.bincount(np.searchsorted(edges, column, side="right"), minlength=edges.size + 1)


def spaced(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take at most MOST_CELLS values, evenly by rank."""
    if values.size <= MOST_CELLS:
        return values
    evenly: NDArray[np.float64] = values[np.linspace(0, values.size - 1, MOST_CELLS).astype(int)]
    return evenly


def views(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[View, ...]:
    """Say how outputs may be looked at: by value and, where they are floats, by their last bits."""
    seen = np.concatenate([first, second])
    return (values,) if (seen == np.floor(seen)).all() else (values, last_bits)


def values(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Look at the values."""
    return outputs


def last_bits(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the place of the lowest bit of each float: 2.5 has it at -1, 0 and infinity at 1024.

    Adding float noise to a float reaches only some doubles, and which ones depends on the float.

    Examples
    --------
    >>> last_bits(np.array([[2.5, 8.0, 0.0]]))
    array([[-1.000e+00,  3.000e+00,  1.024e+03]])
    """
    fractions, exponents = np.frexp(outputs)
    plain = np.isfinite(outputs) & (outputs != 0)
    whole = np.where(plain, np.ldexp(np.where(plain, fractions, 1.0), 53), 1.0).astype(np.int64)
    lowest = (whole & -whole).astype(np.float64)
    return np.where(plain, exponents - 53 + np.log2(lowest), 1024.0)


def held_out(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    epsilon: float,
    delta: float = 0.0,
    alpha: float = 0.05,
    bits: bool = False,
) -> Evidence:
    """Bound the true epsilon from below, from equally many outputs on each of two neighbours.

    Rows are outputs, columns their coordinates. The first half of each sample chooses an event for
    either direction, the second half counts it. With `bits`, where outputs are floats, events of
    their last bits compete with events of their values.
    """
    half = len(first) // 2
    found = []
    for ours, theirs in ((first, second), (second, first)):
        event, see = max(
            ((learn(see(ours[:half]), see(theirs[:half]), alpha=alpha / 2, delta=delta), see)
             for see in (views(ours[:half], theirs[:half]) if bits else (values,))),
            key=lambda pair: pair[0].bound,
        )  # fmt: skip
        draws = len(ours) - half
        counts = event.count(see(ours[half:])), event.count(see(theirs[half:]))
        bound = epsilon_lower_bound(*counts, draws, alpha=alpha / 2, delta=delta)
        p1, p0 = ((count + 0.5) / (draws + 1) for count in counts)  # neither 0 nor 1
        seen = detectable(p1, p0, epsilon=epsilon, draws=draws, alpha=alpha / 2)
        found.append(Evidence(epsilon_lower=bound, detects=seen, draws=draws, counts=counts))
    return max(found, key=lambda evidence: (evidence.epsilon_lower, -evidence.detects))
