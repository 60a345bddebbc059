"""The distance of one table, in whole numbers of any length.

Maths
    The tables that are not significant are the whole points of a convex set (an ellipse) in the
    box. **From inside**, the farthest points of a clipped diamond of moves are its corners, which
    all lie on paths that go along one axis and, at a wall, turn and follow it. Along each part of
    a path significance is monotone, so bisection finds the first significant point.
    **From outside**, choose the group names and the coded allele so that m1 <= m2 and a/m1 > b/m2.
    Column x of the ellipse is [lo, hi] = (M -+ sqrt(R)) / K in whole numbers M, R, K, so its whole
    points are known exactly. The way there costs at least g(x) = |a - x| + max(0, lo(x) - b), which
    is convex: start at its minimum and walk to both sides until nothing better can follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

SLACK = 16  # binary places kept back for the rounding of a scaled bound


@dataclass(frozen=True, slots=True)
class Box:
    """The groups, the threshold p/q and the step, as whole numbers."""

    m1: int
    m2: int
    p: int
    q: int
    step: int

    def significant(self, a: int, b: int) -> bool:
        """Decide chi2 > tau."""
        x, n1, people = a * self.m2 - b * self.m1, a + b, self.m1 + self.m2
        return self.q * people * x * x > self.p * n1 * (people - n1) * self.m1 * self.m2


def exact_distance(a: int, b: int, cases: int, controls: int, tau: Fraction, step: int) -> int:
    """Give the signed distance of one table; tau must be below cases + controls.

    Examples
    --------
    >>> exact_distance(6, 0, 500, 500, Fraction(384, 100), 1)
    1
    """
    box = Box(cases, controls, tau.numerator, tau.denominator, step)
    return from_outside(box, a, b) if box.significant(a, b) else -from_inside(box, a, b)


def from_inside(box: Box, a: int, b: int) -> int:
    """Give the least number of moves to a significant table."""
    best = box.m1 + box.m2 + 1
    for along_a, sign, room in directions(box, a, b):
        cap = -(-room // box.step)
        straight = first_significant(box, a, b, along_a, sign, room)
        if straight is not None:
            best = min(best, straight)
            continue
        for turn in {room // box.step, cap}:
            way = sign * min(box.step * turn, room)
            corner = (a + way, b) if along_a else (a, b + way)
            for along, side, space in directions(box, *corner):
                if along != along_a:
                    more = first_significant(box, *corner, along, side, space)
                    best = best if more is None else min(best, turn + more)
    return best


def directions(box: Box, a: int, b: int) -> Iterator[tuple[bool, int, int]]:
    """Give each direction (along a or b, up or down) in which there is room, and how much."""
    rooms = ((True, 1, box.m1 - a), (True, -1, a), (False, 1, box.m2 - b), (False, -1, b))
    return (direction for direction in rooms if direction[2] > 0)


def first_significant(box: Box, a: int, b: int, along_a: bool, sign: int, room: int) -> int | None:
    """Bisect for the first number of moves in a direction that reaches significance."""

    def reached(moves: int) -> bool:
        way = sign * min(box.step * moves, room)
        return box.significant(a + way, b) if along_a else box.significant(a, b + way)

    low, high = 0, -(-room // box.step)
    if not reached(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def from_outside(box: Box, a: int, b: int) -> int:
    """Give the least number of moves to a table that is not significant."""
    if box.m1 > box.m2:
        box, a, b = Box(box.m2, box.m1, box.p, box.q, box.step), b, a
    if a * box.m2 < b * box.m1:
        a, b = box.m1 - a, box.m2 - b
    columns = Columns(box, a, b)
    start = columns.lowest()
    best, bound = box.m1 + box.m2 + 1, columns.least_moves(start)
    for side in (range(start, -1, -1), range(start + 1, box.m1 + 1)):
        for x in side:
            if best <= bound or columns.least_moves(x) >= best:
                break
            best = min(best, columns.moves(x))
    return best


class Columns:
    """The columns of the ellipse, seen from a significant table (a, b) below them."""

    def __init__(self, box: Box, a: int, b: int) -> None:
        self.box, self.a, self.b = box, a, b
        people, pairs = box.m1 + box.m2, box.m1 * box.m2
        self.den = box.q * box.m1 * people + box.p * box.m2
        self.tilt = box.q * people - box.p
        self.under = box.p * pairs * people * people
        self.k = 2 * box.m1 * self.den
        self.bits = people.bit_length() + SLACK + 4  # so that m1 roundings stay below the slack

    def ends(self, x: int, bits: int = 0) -> tuple[int, int, int]:
        """Give M, sqrt(R) rounded down, and K, with `bits` binary places."""
        box, people, pairs = self.box, self.box.m1 + self.box.m2, self.box.m1 * self.box.m2
        middle = pairs * (self.den + self.tilt * (2 * x - box.m1))
        root = self.under * (4 * box.q * people * x * (box.m1 - x) + box.p * pairs)
        return middle << bits, isqrt(root << 2 * bits), self.k

    def whole(self, x: int) -> tuple[int, int]:
        """Give the lowest and the highest whole point of column x, crossed if it has none."""
        middle, root, k = self.ends(x)
        return max(0, -((root - middle) // k)), min(self.box.m2, (middle + root) // k)

    def moves(self, x: int) -> int:
        """Give the moves to the nearest whole point of column x (too many if it has none)."""
        low, high = self.whole(x)
        if low > high:
            return self.box.m1 + self.box.m2 + 1
        across, up = abs(self.a - x), max(0, low - self.b, self.b - high)
        return -(-across // self.box.step) + -(-up // self.box.step)

    def least_moves(self, x: int) -> int:
        """Give a lower bound of the moves to column x or to any beyond it (seen from `lowest`)."""
        units = self.way(x) - (1 << self.bits - SLACK)
        return -(-units // (self.box.step << self.bits))

    def way(self, x: int) -> int:
        """Give g(x), scaled and rounded down."""
        middle, root, k = self.ends(x, self.bits)
        low = (middle - root - 1) // k
        return (abs(self.a - x) << self.bits) + max(0, low - (self.b << self.bits))

    def lowest(self) -> int:
        """Bisect for the minimum of g over the whole columns."""
        low, high = 0, self.box.m1
        while low < high:
            middle = (low + high) // 2
            rises = self.way(middle) <= self.way(middle + 1)
            low, high = (low, middle) if rises else (middle + 1, high)
        return low
