"""Distances with private status, for one table, in whole numbers of any length.

Maths
    n people carry the variant, m are cases, a both, of N. Significant: N (a N - n m)^2 >
    tau n (N-n) m (N-m).

    "swap" (m is public). One person's row is replaced, and a second person's status is flipped
    back if that changed m: (a, b) moves by (+-1, 0), (0, +-1), (+1, -1) or (-1, +1). In t moves one
    reaches |da|, |db|, |da + db| <= t, cut by the box: from inside the farthest points of this
    hexagon are its corners, and bisection finds the least t. From outside every column of the
    ellipse is asked for its nearest point in this metric, outwards, until none can be nearer.

    "any" (only N is public). One unit moves between any two of the four cells. For margins changed
    by dn and dm a table a + e costs (|e| + |dn-e| + |dm-e| + |dn+dm-e|) / 2, flat between the
    second and third of 0, dn, dm, dn+dm; the tables of these margins that are not significant are
    an interval of a. Margins are tried in rings max(|dn|, |dm|) = r, which cost at least r.

    The bound for "any": every move changes |a N - n m| by at most M = max(n, N-n, m, N-m), and M
    by at most 1, so t moves change it by at most G(t) = sum over j < t of min(N, M + j). With the
    margins moved outwards (inside) or towards N/2 (outside) by t each:
        inside    Y = |a N - n m| + G(t):  N Y^2 >= tau n'(N-n') m'(N-m')  and
                  N Y >= tau (max(n, N-n) - t)+ (min(m, N-m) - t)+
        outside   Y = |a N - n m| - G(t):  Y <= 0  or  N Y^2 <= tau n'(N-n') m'(N-m').
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from noren.association.distance_exact import Box, Columns
from noren.association.strata_exact import least


def exact_swap_distance(a: int, b: int, cases: int, controls: int, tau: Fraction) -> int:
    """Give the signed distance where cases may be swapped; tau must be below the people.

    Examples
    --------
    >>> exact_swap_distance(130, 95, 200, 200, Fraction("3.84"))
    8
    """
    box = Box(cases, controls, tau.numerator, tau.denominator, 1)
    if box.significant(a, b):
        return swapped_from_outside(box, a, b)
    return -least(
        lambda t: any(box.significant(x, y) for x, y in corners(box, a, b, t)), cases + controls
    )


def corners(box: Box, a: int, b: int, t: int) -> Iterator[tuple[int, int]]:
    """Give the corners of the hexagon of t moves, cut by the box."""
    for da in (max(-t, -a), min(t, box.m1 - a)):
        for db in (max(-t, -t - da, -b), min(t, t - da, box.m2 - b)):
            yield a + da, b + db
    for db in (max(-t, -b), min(t, box.m2 - b)):
        for da in (max(-t, -t - db, -a), min(t, t - db, box.m1 - a)):
            yield a + da, b + db


def swapped_from_outside(box: Box, a: int, b: int) -> int:
    """Ask the columns for their nearest table that is not significant."""
    columns, best = Columns(box, a, b), box.m1 + box.m2 + 1
    for away in range(box.m1 + 1):
        if away >= best:
            break
        for x in {a - away, a + away}:
            if 0 <= x <= box.m1:
                low, high = columns.whole(x)
                if low <= high:
                    best = min(best, hexagonal(x - a, low - b, high - b))
    return best


def hexagonal(da: int, low: int, high: int) -> int:
    """Give the least max(|da|, |db|, |da + db|) for db from low to high."""
    free_from, free_to = min(0, -da), max(0, -da)
    db = low if low > free_to else high if high < free_from else max(low, free_from)
    return max(abs(da), abs(db), abs(da + db))


@dataclass(frozen=True, slots=True)
class Margins:
    """One table by its margins: N people, n carriers, m cases, a both; and tau."""

    people: int
    n: int
    m: int
    a: int
    tau: Fraction

    @property
    def products(self) -> int:
        """Give n (N-n) m (N-m)."""
        return self.n * (self.people - self.n) * self.m * (self.people - self.m)

    @property
    def evidence(self) -> int:
        """Give |a N - n m|."""
        return abs(self.a * self.people - self.n * self.m)

    @property
    def significant(self) -> bool:
        """Decide chi-squared > tau; 0 where a group or the carriers are nobody or everybody."""
        return self.people * self.evidence**2 > self.tau * self.products

    def quiet(self, n: int, m: int) -> tuple[int, int]:
        """Give the least and the largest a that is not significant with other margins."""
        moved = Margins(self.people, n, m, 0, self.tau)
        largest = self.tau.numerator * moved.products // (self.tau.denominator * self.people)
        reach = isqrt(largest)
        return -((reach - n * m) // self.people), (n * m + reach) // self.people


def exact_any_distance(table: Margins, cap: int) -> int:
    """Give the signed distance where any record may be replaced, at most the cap.

    Examples
    --------
    >>> exact_any_distance(Margins(40, 20, 20, 15, Fraction("3.84")), 41)
    4
    """
    inside, best = not table.significant, cap
    for r in range(table.people + 1):
        if r >= best:
            break
        for dn, dm in ring(r):
            n, m = table.n + dn, table.m + dm
            if 0 <= n <= table.people and 0 <= m <= table.people:
                low, high = table.quiet(n, m)
                least_a, most_a = max(0, n + m - table.people), min(n, m)
                ranges = [(low, high)]
                if inside:
                    ranges = [(least_a, low - 1), (high + 1, most_a)]
                for first, last in ranges:
                    first, last = max(first, least_a), min(last, most_a)
                    if first <= last:
                        best = min(best, replaced(first - table.a, last - table.a, dn, dm))
    return -best if inside else best


def ring(r: int) -> Iterator[tuple[int, int]]:
    """Give the changes of margins of which the larger is r."""
    for dn in range(-r, r + 1):
        for dm in range(-r, r + 1) if abs(dn) == r else {-r, r}:
            yield dn, dm


def replaced(low: int, high: int, dn: int, dm: int) -> int:
    """Give the least number of replaced records for e from low to high."""
    _, flat_from, flat_to, _ = sorted((0, dn, dm, dn + dm))
    e = high if high < flat_from else max(low, flat_from) if low <= flat_to else low
    return (abs(e) + abs(dn - e) + abs(dm - e) + abs(dn + dm - e)) // 2


def any_bound(table: Margins) -> int:
    """Give a signed lower bound of the distance where any record may be replaced.

    Examples
    --------
    >>> any_bound(Margins(400, 225, 200, 130, Fraction("3.84")))
    14
    """
    people, n, m, tau = table.people, table.n, table.m, table.tau
    few_n, few_m, largest = (
        min(n, people - n),
        min(m, people - m),
        max(n, people - n, m, people - m),
    )

    def gained(t: int) -> int:
        rising = min(t, people - largest)
        return rising * largest + rising * (rising - 1) // 2 + (t - rising) * people

    def significant_near(t: int) -> bool:
        most, n2, m2 = table.evidence + gained(t), max(0, few_n - t), max(0, few_m - t)
        products = n2 * (people - n2) * m2 * (people - m2)
        rest = max(0, people - few_n - t) * m2
        return people * most**2 >= tau * products and people * most >= tau * rest

    def quiet_near(t: int) -> bool:
        left = table.evidence - gained(t)
        n2, m2 = min(few_n + t, people // 2), min(few_m + t, people // 2)
        products = n2 * (people - n2) * m2 * (people - m2)
        return left <= 0 or people * left**2 <= tau * products

    if table.significant:
        return least(quiet_near, people)
    return -least(significant_near, people)
