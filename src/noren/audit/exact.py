"""The worst case over all neighbours of a small universe, from exact probabilities.

Maths
    For output laws P (under D) and Q (under D'): log ratio max ln P(y) / Q(y); hockey-stick
    delta(epsilon) = sum of max(0, P(y) - e**epsilon Q(y)); Renyi divergence
    D_a = ln(sum P**a Q**(1 - a)) / (a - 1), and its limit at a -> 1, sum P ln(P / Q). rho-zCDP
    says D_a <= a rho for every a > 1. Every pair is examined in both directions.

A universe is every dataset that can be made from a few rows. Where laws have open tails they are
cut at a public window; outcomes rarer than a floor that the cut cannot touch are left out, so what
is reported is the exact worst case among the others (for the laws here the tails repeat it).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import TypeAlias

import numpy as np

from noren.privacy import ADD_REMOVE, LOCAL, USER, Adjacency

Law: TypeAlias = Mapping[Hashable, Decimal]
Dataset: TypeAlias = tuple[Hashable, ...]
DIGITS = 50
ORDERS = (1.01, 1.5, 2.0, 4.0, 10.0, 40.0)


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst that some neighbours show."""

    log_ratio: float
    delta: float
    rho: float
    pairs: int


def universe(adjacency: Adjacency, rows: Sequence[Hashable], size: int) -> list[Dataset]:
    """List every dataset of these rows: up to `size` records (or persons), or just as many.

    With SUBSTITUTE and LOCAL the number is public, so all have `size`. For persons, a dataset is a
    sequence of (person, row) pairs, each person with 1 to `max_records` rows.
    """
    sizes = range(size + 1) if adjacency.relation is ADD_REMOVE else (size,)
    if adjacency.unit is USER and adjacency.relation is not LOCAL:
        mine = [
            own
            for held in range(1, adjacency.max_records + 1)
            for own in combinations_with_replacement(rows, held)
        ]
        return [
            tuple((person, row) for person, own in enumerate(people) for row in own)
            for n in sizes
            for people in product(mine, repeat=n)
        ]
    return [dataset for n in sizes for dataset in product(rows, repeat=n)]


def neighbours(
    adjacency: Adjacency, datasets: Sequence[Dataset]
) -> Iterator[tuple[Dataset, Dataset]]:
    """Give every ordered pair at distance 1."""
    for first in datasets:
        for second in datasets:
            if adjacency.distance(first, second) == 1:
                yield first, second


def worst_of(
    law_of: Callable[[Dataset], Law],
    pairs: Iterable[tuple[Dataset, Dataset]],
    epsilon: Fraction | None = None,
    *,
    floor: Decimal = Decimal(0),
) -> Worst:
    """Find the worst log ratio, delta at epsilon, and rho over all pairs.

    A pair whose two laws were compared before (the same two objects) is counted, not repeated.
    """
    ratio = delta = rho = 0.0
    count, done = 0, dict[tuple[int, int], tuple[Law, Law]]()
    for first, second in pairs:
        count += 1
        p, q = law_of(first), law_of(second)
        if (id(p), id(q)) in done:
            continue
        done[id(p), id(q)] = p, q
        ratio = max(ratio, log_ratio(p, q, floor))
        rho = max(rho, largest_rho(p, q, floor))
        delta = max(delta, 0.0 if epsilon is None else hockey_stick(p, q, epsilon))
    return Worst(ratio, delta, rho, count)


def log_ratio(p: Law, q: Law, floor: Decimal = Decimal(0)) -> float:
    """Give the largest ln P(y) / Q(y) where P(y) is above the floor; infinite if Q(y) is 0."""
    seen = {y: mass for y, mass in p.items() if mass > floor}
    if any(not q.get(y) for y in seen):
        return math.inf
    with localcontext() as context:
        context.prec = DIGITS
        return float(max((mass / q[y] for y, mass in seen.items()), default=Decimal(1)).ln())


def hockey_stick(p: Law, q: Law, epsilon: Fraction) -> float:
    """Give sum of max(0, P(y) - e**epsilon Q(y))."""
    with localcontext() as context:
        context.prec = DIGITS
        factor = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        gaps = (mass - factor * q.get(y, Decimal(0)) for y, mass in p.items())
        return float(sum((gap for gap in gaps if gap > 0), Decimal(0)))


def largest_rho(p: Law, q: Law, floor: Decimal = Decimal(0)) -> float:
    """Give the largest D_a / a over some orders, the limit a -> 1 among them (in floats)."""
    if any(mass > floor and not q.get(y) for y, mass in p.items()):
        return math.inf
    shared = [(float(mass), float(mass / q[y])) for y, mass in p.items() if mass and q.get(y)]
    masses, ratios = np.array(shared).T
    losses = np.log(ratios)
    found = [float((masses * losses).sum())]
    for a in ORDERS:
        power = float(np.log((masses * np.exp((a - 1) * losses)).sum()))
        found.append(power / ((a - 1) * a))
    return max(found)
