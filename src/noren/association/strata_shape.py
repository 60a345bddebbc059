"""The public numbers of the stratified test: sizes of the strata, threshold, what follows.

Maths
    Stratum k has m1 cases, m2 controls, N = m1 + m2; strata without cases or without controls say
    nothing and are dropped, a public choice.
        w = m1 m2 / (N^2 (N - 1))       the weight of a stratum's variance
        R = max_k N (N - 1) / (m1 m2)   |L| <= R V for all tables
        grid                            p_0 = 0.999 tau / R, each next one 1.1 times as large, as
                                        the doubles they are, up to the largest |L| there is
    R is the largest |L| / V of one stratum: the ratio of sums is at most the largest ratio, and in
    one stratum |L| / V is largest where all cases and no control carry the variant.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from noren.association.geometry import read_tau
from noren.errors import ParameterError

BELOW_RATIO, APART = 0.999, 1.1  # of the grid


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the strata that count, the threshold, and the public numbers of the score."""

    m1: tuple[int, ...]
    m2: tuple[int, ...]
    tau: Fraction
    weights: tuple[Fraction, ...]
    ratio: Fraction
    grid: tuple[Fraction, ...]

    @property
    def strata(self) -> range:
        """The places of the strata."""
        return range(len(self.m1))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many people are in each stratum."""
        return tuple(m1 + m2 for m1, m2 in zip(self.m1, self.m2, strict=True))

    @property
    def people(self) -> int:
        """How many people are in all: no distance is larger."""
        return sum(self.sizes)

    @property
    def floor(self) -> Fraction:
        """The number tau / R that |L| exceeds in every significant table."""
        return self.tau / self.ratio

    @property
    def gains(self) -> tuple[tuple[Fraction, int, bool], ...]:
        """How far one person raises L, the most first: gain, stratum, whether by a case."""
        found = []
        for k, (m1, m2) in enumerate(zip(self.m1, self.m2, strict=True)):
            found += [(Fraction(m2, m1 + m2), k, True), (Fraction(m1, m1 + m2), k, False)]
        return tuple(sorted(found, key=lambda gain: (-gain[0], gain[1], gain[2])))


@lru_cache(maxsize=64)
def shape_of(cases: tuple[int, ...], controls: tuple[int, ...], tau: Fraction) -> Shape:
    """Drop strata of one group, and work out the public numbers.

    Examples
    --------
    >>> shape = shape_of((8, 6, 5), (8, 10, 0), Fraction(4))
    >>> shape.m1, shape.ratio, len(shape.grid)
    ((8, 6), Fraction(4, 1), 23)
    """
    both = two_sided(cases, controls)
    m1, m2 = tuple(pair[0] for pair in both), tuple(pair[1] for pair in both)
    weights = tuple(Fraction(x * y, (x + y) ** 2 * (x + y - 1)) for x, y in both)
    ratio = ratio_of(both)
    return Shape(m1, m2, tau, weights, ratio, grid_of(both, tau / ratio))


def two_sided(cases: tuple[int, ...], controls: tuple[int, ...]) -> list[tuple[int, int]]:
    """Keep the strata that have both groups."""
    both = [(m1, m2) for m1, m2 in zip(cases, controls, strict=True) if m1 and m2]
    if not both:
        raise ParameterError(
            "cases and controls", "apart in every stratum", "such that at least one has both",
            "Merge strata by their public sizes.",
        )  # fmt: skip
    return both


def ratio_of(both: list[tuple[int, int]]) -> Fraction:
    """Give R."""
    return max(Fraction((m1 + m2) * (m1 + m2 - 1), m1 * m2) for m1, m2 in both)


def grid_of(both: list[tuple[int, int]], floor: Fraction) -> tuple[Fraction, ...]:
    """Give the ends of the chords: doubles, the last at least the largest |L|."""
    largest = sum(Fraction(m1 * m2, m1 + m2) for m1, m2 in both)
    point = BELOW_RATIO * float(floor)
    found = [Fraction(point)]
    while found[-1] < largest or len(found) < 2:
        point *= APART
        found.append(Fraction(point))
    return tuple(found)


def largest_cmh(cases: tuple[int, ...], controls: tuple[int, ...]) -> Fraction:
    """Give the largest CMH statistic that any tables of these strata have: a public number.

    L^2 - tau V is convex, so it is largest at corners: in the strata of largest N (N-1) / (m1 m2)
    all cases and no control carry the variant, in the others nobody does.

    Examples
    --------
    >>> largest_cmh((4,), (5,))
    Fraction(8, 1)
    """
    both = two_sided(tuple(map(int, cases)), tuple(map(int, controls)))
    both.sort(key=lambda pair: Fraction(sum(pair) * (sum(pair) - 1), pair[0] * pair[1]))
    top = bottom = best = Fraction(0)
    for m1, m2 in reversed(both):
        moved = Fraction(m1 * m2, m1 + m2)
        top, bottom = top + moved, bottom + moved * moved / (m1 + m2 - 1)
        best = max(best, top * top / bottom)
    return best


def read_reachable_tau(cases: tuple[int, ...], controls: tuple[int, ...], tau: object) -> Fraction:
    """Read a threshold, and refuse one that no tables of these strata pass."""
    threshold = read_tau(tau)
    largest = largest_cmh(cases, controls)
    if threshold >= largest:
        raise ParameterError(
            "tau", tau, f"below {float(largest):.10g}, the largest statistic of these strata",
            "No tables of these strata can pass it, so the decision is 0 for certain.",
        )  # fmt: skip
    return threshold
