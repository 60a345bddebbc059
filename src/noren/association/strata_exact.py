"""The stratified score of one variant, in fractions of any length.

Maths
    L = sum (a m2 - b m1) / N, V = sum w n (N - n), significant if and only if L^2 > tau V.
    The distance here is a lower bound of the number of people between these tables and the
    opposite decision: the least t >= 1 at which a condition C(t) holds (at most the number of
    people). C is a statement about the most, or the least, that t moves could make of L and of V:
    implied by an opposite table within t moves, and nested (docs/proofs/association/strata.md).

    From outside (significant, L > 0):  L - G(t) <= 0, or (L - G(t))^2 <= tau Vmax(t).
    From inside, for X = L + G(t), or the same with the sign of L turned, all three of
        (i)    X^2 > tau Vmin(t)
        (ii)   X > tau / R
        (iii)  a chord p_j, p_j+1 of the grid that meets [max(sqrt(tau Vmin), tau/R), X], with
               max over t moves of sum_k (p_j + p_j+1) L_k - tau V_k above p_j p_j+1.
    A significant table passes all three strictly, so a tie there is not one; from outside a tie is.
    G(t) fills the 2K counts in the public order of their gains. Vmax moves n towards N/2 as water
    finds its level; Vmin and (iii) fill t over the strata by the concave hull of what each offers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from noren.association.strata_shape import Shape

Point = tuple[int, Fraction]  # so many moves, so much gained
Item = tuple[Fraction, int]  # gain by one move, for so many moves


@dataclass(frozen=True, slots=True)
class Place:
    """The counts of one variant in every stratum."""

    shape: Shape
    a: tuple[int, ...]
    b: tuple[int, ...]

    @property
    def mirrored(self) -> Place:
        """Count who does not carry it: L changes its sign, V stays."""
        shape = self.shape
        a = tuple(m1 - a for m1, a in zip(shape.m1, self.a, strict=True))
        return Place(shape, a, tuple(m2 - b for m2, b in zip(shape.m2, self.b, strict=True)))

    def evidence(self, k: int) -> Fraction:
        """Give L of one stratum."""
        m1, m2 = self.shape.m1[k], self.shape.m2[k]
        return Fraction(self.a[k] * m2 - self.b[k] * m1, m1 + m2)

    def spread(self, k: int, moved: int = 0) -> Fraction:
        """Give V of one stratum, `moved` more people of it being carriers."""
        n = self.a[k] + self.b[k] + moved
        return self.shape.weights[k] * (n * (self.shape.sizes[k] - n))

    @property
    def total_evidence(self) -> Fraction:
        """Give L."""
        return sum(map(self.evidence, self.shape.strata), Fraction(0))

    @property
    def total_spread(self) -> Fraction:
        """Give V."""
        return sum(map(self.spread, self.shape.strata), Fraction(0))

    @property
    def significant(self) -> bool:
        """Decide L^2 > tau V; a tie is not significant."""
        return self.total_evidence**2 > self.shape.tau * self.total_spread


def exact_stratified_distance(shape: Shape, a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """Give the signed distance of one variant.

    Examples
    --------
    >>> from noren.association.strata_shape import shape_of
    >>> shape = shape_of((8, 6), (8, 10), Fraction("3.84"))
    >>> exact_stratified_distance(shape, (7, 5), (2, 1))
    4
    """
    place = Place(shape, a, b)
    if place.significant:
        return from_outside(place if place.total_evidence > 0 else place.mirrored)
    return -min(from_inside(place), from_inside(place.mirrored))


def least(condition: Callable[[int], bool], cap: int) -> int:
    """Give the least t from 1 to the cap at which a nested condition holds, else the cap."""
    high = 1
    while high < cap and not condition(high):
        high *= 2
    low, high = high // 2, min(high, cap)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if condition(middle) else (middle, high)
    return high


def from_outside(place: Place) -> int:
    """Search for a table that is not significant; L must be positive."""
    lowered, evidence, tau = place.mirrored, place.total_evidence, place.shape.tau

    def holds(t: int) -> bool:
        left = evidence - most_gained(lowered, t)
        return left <= 0 or left**2 <= tau * largest_spread(place, t)

    return least(holds, place.shape.people)


def from_inside(place: Place) -> int:
    """Search for a table that is significant with L > 0."""
    shape, evidence, spread = place.shape, place.total_evidence, place.total_spread

    def holds(t: int) -> bool:
        most = evidence + most_gained(place, t)
        narrowest = max(Fraction(0), spread - most_narrowed(place, t))
        if most <= shape.floor or most**2 <= shape.tau * narrowest:
            return False
        return any(
            reaches(place, low, high, t)
            for low, high in pairwise(shape.grid)
            if low <= most and high >= shape.floor and high**2 >= shape.tau * narrowest
        )

    return least(holds, shape.people)


def most_gained(place: Place, t: int) -> Fraction:
    """Give G(t): how far t people can raise L."""
    gained, left = Fraction(0), t
    for gain, k, by_case in place.shape.gains:
        room = place.shape.m1[k] - place.a[k] if by_case else place.b[k]
        gained, left = gained + gain * min(left, room), left - min(left, room)
    return gained


def largest_spread(place: Place, t: int) -> Fraction:
    """Give Vmax(t): move n towards N/2 where V rises fastest, in fractions of people."""
    shape = place.shape
    slopes = sorted(
        (
            (shape.weights[k] * abs(shape.sizes[k] - 2 * (place.a[k] + place.b[k])), k)
            for k in shape.strata
        ),
        reverse=True,
    )
    moved = widths = Fraction(0)
    for taken, (slope, k) in enumerate(slopes, 1):
        moved, widths = moved + slope / (2 * shape.weights[k]), widths + 1 / (2 * shape.weights[k])
        level = max(Fraction(0), (moved - t) / widths)
        if taken == len(slopes) or level >= slopes[taken][0]:
            break
    above = [(slope, shape.weights[k]) for slope, k in slopes if slope > level]
    return place.total_spread + sum(((g * g - level * level) / (4 * w) for g, w in above))


def most_narrowed(place: Place, t: int) -> Fraction:
    """Give how far t people can lower V, at most (it may be more than V)."""
    items: list[Item] = []
    for k in place.shape.strata:
        n, now = place.a[k] + place.b[k], place.spread(k)
        down, up = min(n, t), min(place.shape.sizes[k] - n, t)
        points = [(down, now - place.spread(k, -down)), (up, now - place.spread(k, up))]
        items += hull(points)
    return filled(items, t)


def reaches(place: Place, low: Fraction, high: Fraction, t: int) -> bool:
    """Tell whether t people can bring (low + high) L - tau V above low * high, at most."""
    slope, tau = low + high, place.shape.tau
    items: list[Item] = []
    for k in place.shape.strata:
        items += hull(corners(place, k, slope, t))
    start = slope * place.total_evidence - tau * place.total_spread
    return start + filled(items, t) > low * high


def corners(place: Place, k: int, slope: Fraction, t: int) -> list[Point]:
    """List the ends of the ways that go along an axis, and at a wall turn and follow it."""
    shape = place.shape
    m1, m2, size = shape.m1[k], shape.m2[k], shape.sizes[k]
    start = (place.a[k], place.b[k])
    ends = (m1, m2)
    points: list[Point] = []

    def add(moves: int, a: int, b: int) -> None:
        raised = Fraction((a - start[0]) * m2 - (b - start[1]) * m1, size)
        wider = place.spread(k, a + b - sum(start)) - place.spread(k)
        points.append((moves, slope * raised - shape.tau * wider))

    for axis, sign in ((0, 1), (0, -1), (1, 1), (1, -1)):
        room = ends[axis] - start[axis] if sign > 0 else start[axis]
        way = min(room, t)
        at = [start[0], start[1]]
        at[axis] += sign * way
        add(way, at[0], at[1])
        other = 1 - axis
        for turned, space in ((1, ends[other] - start[other]), (-1, start[other])):
            along = min(space, t - way)
            if along:
                turned_at = list(at)
                turned_at[other] += turned * along
                add(way + along, turned_at[0], turned_at[1])
    return points


def hull(points: Iterable[Point]) -> list[Item]:
    """Give the rising edges of the upper concave hull of some points and (0, 0)."""
    chain: list[Point] = [(0, Fraction(0))]
    for moves, gained in sorted(points):
        if gained <= chain[-1][1] or moves == 0:
            continue
        while len(chain) > 1 and not bends(chain[-2], chain[-1], (moves, gained)):
            chain.pop()
        chain.append((moves, gained))
    return [((y - v) / (x - u), x - u) for (u, v), (x, y) in pairwise(chain)]


def bends(one: Point, two: Point, three: Point) -> bool:
    """Tell whether the middle point lies above the line through the others."""
    return (two[1] - one[1]) * (three[0] - one[0]) > (three[1] - one[1]) * (two[0] - one[0])


def filled(items: list[Item], t: int) -> Fraction:
    """Spend t moves on the steepest items, the last of them in part."""
    gained, left = Fraction(0), t
    for slope, moves in sorted(items, reverse=True):
        gained, left = gained + slope * min(left, moves), left - min(left, moves)
    return gained
