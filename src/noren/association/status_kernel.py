"""The same searches as `status_exact`, compiled, in doubles, for many tables.

Loading this module loads the compiler. Every comparison whose sides agree to 1e-13 of their sum,
and every column end within its rounding of a whole number, marks the table in `again`. Both sides
of each comparison are products of whole numbers below 2^63, so nothing cancels.
"""

from __future__ import annotations

import math
from typing import Any

from numba import njit

from noren.association.distance_kernel import (
    DOUBT,
    NEAR,
    NO,
    PER_PERSON,
    ROUNDING,
    UNSURE,
    YES,
    column,
    decide,
)


@njit(cache=True, nogil=True)
def corner_significant(a: int, b: int, m1: int, m2: int, scale: float, t: int) -> int:
    """Tell whether some corner of the hexagon of t moves is significant."""
    unsure = False
    for which in range(8):
        upper, outer = which % 2 == 1, (which // 2) % 2 == 1
        if which < 4:
            da = min(t, m1 - a) if outer else max(-t, -a)
            db = min(t, t - da, m2 - b) if upper else max(-t, -t - da, -b)
        else:
            db = min(t, m2 - b) if outer else max(-t, -b)
            da = min(t, t - db, m1 - a) if upper else max(-t, -t - db, -a)
        found = decide(a + da, b + db, m1, m2, scale)
        if found == YES:
            return YES
        unsure = unsure or found == UNSURE
    return UNSURE if unsure else NO


@njit(cache=True, nogil=True)
def swapped_from_inside(a: int, b: int, m1: int, m2: int, scale: float) -> int:
    """Give the least number of moves to a significant table, or DOUBT."""
    low, high, growing = 0, 1, True
    while growing or high - low > 1:
        t = min(high, m1 + m2) if growing else (low + high) // 2
        found = YES if t == m1 + m2 else corner_significant(a, b, m1, m2, scale, t)
        if found == UNSURE:
            return DOUBT
        if found == YES:
            high, growing = t, False
        else:
            low = t
            high = 2 * t if growing else high
    return high


@njit(cache=True, nogil=True)
def hexagonal(da: int, low: int, high: int) -> int:
    """Give the least max(|da|, |db|, |da + db|) for db from low to high."""
    free_from, free_to = min(0, -da), max(0, -da)
    db = low if low > free_to else high if high < free_from else max(low, free_from)
    return max(abs(da), abs(db), abs(da + db))


@njit(cache=True, nogil=True)
def swapped_way(x: int, a: int, b: int, m1: int, m2: int, tau: float) -> float:
    """Give what the way to column x costs at least: convex in x."""
    across = float(x - a)
    need = column(x, m1, m2, tau)[0] - b
    if across < 0:
        return max(-across, need)
    return across + max(0.0, need)


@njit(cache=True, nogil=True)
def swapped_from_outside(a: int, b: int, m1: int, m2: int, tau: float) -> int:
    """Give the least number of moves to a table that is not significant, or DOUBT."""
    if m1 > m2:
        m1, m2, a, b = m2, m1, b, a
    if a * m2 < b * m1:
        a, b = m1 - a, m2 - b
    rounding = ROUNDING + PER_PERSON * (m1 + m2)
    low, high = 0, m1
    while low < high:
        middle = (low + high) // 2
        if swapped_way(middle, a, b, m1, m2, tau) <= swapped_way(middle + 1, a, b, m1, m2, tau):
            high = middle
        else:
            low = middle + 1
    start, best = low, m1 + m2 + 1
    for side in (-1, 1):
        x = start if side < 0 else start + 1
        while 0 <= x <= m1 and swapped_way(x, a, b, m1, m2, tau) - rounding <= best - 1:
            bottom, top = column(x, m1, m2, tau)
            if abs(bottom - round(bottom)) < rounding or abs(top - round(top)) < rounding:
                return DOUBT
            first, last = max(0, math.ceil(bottom)), min(m2, math.floor(top))
            if first <= last:
                best = min(best, hexagonal(x - a, first - b, last - b))
            x += side
    return best


@njit(cache=True, nogil=True)
def search_swaps(a: Any, b: Any, m1: int, m2: int, tau: float, signed: Any, again: Any) -> None:
    """Fill in the signed distance of each table, and whether it must be redone exactly."""
    scale = tau * (float(m1) * m2)
    for i in range(a.size):
        decision = decide(a[i], b[i], m1, m2, scale)
        moves = DOUBT
        if decision == YES:
            moves = swapped_from_outside(a[i], b[i], m1, m2, tau)
        elif decision == NO:
            moves = swapped_from_inside(a[i], b[i], m1, m2, scale)
        again[i] = moves == DOUBT
        signed[i] = moves if decision == YES else -moves


@njit(cache=True, nogil=True)
def above(left: float, right: float) -> int:
    """Tell whether left > right, or admit to be unsure."""
    if abs(left - right) <= NEAR * (left + right):
        return UNSURE
    return YES if left > right else NO


@njit(cache=True, nogil=True)
def spread(people: int, n: int, m: int) -> float:
    """Give n (N-n) m (N-m)."""
    return float(n) * float(people - n) * (float(m) * float(people - m))


@njit(cache=True, nogil=True)
def bound_from(people: int, n: int, m: int, evidence: int, tau: float, inside: bool) -> int:
    """Give the bound of the distance, or DOUBT."""
    few_n, few_m = min(n, people - n), min(m, people - m)
    largest = people - min(few_n, few_m)
    low, high, growing = 0, 1, True
    while growing or high - low > 1:
        t = min(high, people) if growing else (low + high) // 2
        rising = min(t, people - largest)
        gained = rising * largest + rising * (rising - 1) // 2 + (t - rising) * people
        holds = YES
        if t < people and inside:
            n2, m2 = max(0, few_n - t), max(0, few_m - t)
            most = float(evidence + gained)
            holds = above(people * (most * most), tau * spread(people, n2, m2))
            if holds != NO:
                rest = float(max(0, people - few_n - t)) * m2
                second = above(people * most, tau * rest)
                holds = second if second != YES else holds
        elif t < people and evidence > gained:
            n2, m2 = min(few_n + t, people // 2), min(few_m + t, people // 2)
            left = float(evidence - gained)
            holds = above(tau * spread(people, n2, m2), people * (left * left))
        if holds == UNSURE:
            return DOUBT
        if holds == YES:
            high, growing = t, False
        else:
            low = t
            high = 2 * t if growing else high
    return high


@njit(cache=True, nogil=True)
def quiet(people: int, n: int, m: int, tau: float) -> tuple[int, int, bool]:
    """Give the least and largest a that is not significant, and whether both are sure."""
    product, limit = n * m, tau * spread(people, n, m) / people
    reach = math.sqrt(limit)
    low = math.ceil((product - reach) / people)
    high = math.floor((product + reach) / people)
    while high * people - product > reach:
        high -= 1
    while (high + 1) * people - product <= reach:
        high += 1
    while product - low * people > reach:
        low += 1
    while product - (low - 1) * people <= reach:
        low -= 1
    sure = True
    for a in (low - 1, low, high, high + 1):
        x = float(abs(a * people - product))
        sure = sure and (limit == 0.0 or above(x * x, limit) != UNSURE)
    return low, high, sure


@njit(cache=True, nogil=True)
def replaced(low: int, high: int, dn: int, dm: int) -> int:
    """Give the least number of replaced records for e from low to high."""
    smaller, larger = min(dn, dm), max(dn, dm)
    least_sum, most_sum = min(0, dn + dm), max(0, dn + dm)
    if smaller <= least_sum:
        flat_from, flat_to = least_sum, most_sum
    else:
        flat_from, flat_to = smaller, larger
    e = high if high < flat_from else (max(low, flat_from) if low <= flat_to else low)
    return (abs(e) + abs(dn - e) + abs(dm - e) + abs(dn + dm - e)) // 2


@njit(cache=True, nogil=True)
def nearest(first: int, last: int, a: int, dn: int, dm: int, best: int) -> int:
    """Give the cost of the nearest table of a range, or `best` where that is not more."""
    if first > last:
        return best
    return min(best, replaced(first - a, last - a, dn, dm))


@njit(cache=True, nogil=True)
def exact_within(
    people: int, n: int, m: int, a: int, tau: float, inside: bool, cap: int
) -> int:  # fmt: skip
    """Give the distance, at most the cap, or DOUBT."""
    best, r = cap, 0
    while r < best:
        for dn in range(-r, r + 1):
            for dm in range(-r, r + 1, 1 if abs(dn) == r else 2 * r):
                n2, m2 = n + dn, m + dm
                if n2 < 0 or m2 < 0 or n2 > people or m2 > people:
                    continue
                low, high, sure = quiet(people, n2, m2, tau)
                if not sure:
                    return DOUBT
                least, most = max(0, n2 + m2 - people), min(n2, m2)
                if inside:
                    best = min(best, nearest(least, min(low - 1, most), a, dn, dm, best))
                    best = min(best, nearest(max(high + 1, least), most, a, dn, dm, best))
                else:
                    best = nearest(max(low, least), min(high, most), a, dn, dm, best)
        r += 1
    return best


@njit(cache=True, nogil=True)
def search_any(
    a: Any, n: Any, m: int, people: int, tau: float, cap: int, signed: Any, again: Any
) -> None:
    """Fill in the signed distance of each table, and whether it must be redone exactly.

    The distance is the larger of the bound and of the true distance cut at `cap`.
    """
    for i in range(a.size):
        evidence = abs(a[i] * people - n[i] * m)
        limit = tau * spread(people, n[i], m)
        decision = NO
        if limit > 0.0:
            decision = above(people * (float(evidence) * float(evidence)), limit)
        moves = DOUBT
        if decision != UNSURE:
            inside = decision == NO
            moves = bound_from(people, n[i], m, evidence, tau, inside)
            if moves != DOUBT and moves < cap:
                found = exact_within(people, n[i], m, a[i], tau, inside, cap)
                moves = DOUBT if found == DOUBT else max(moves, found)
        again[i] = moves == DOUBT
        signed[i] = moves if decision == YES else -moves
