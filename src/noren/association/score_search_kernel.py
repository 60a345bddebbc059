"""The distance of the adjusted score test, compiled, in doubles.

It searches as `score_exact` does in whole numbers. U and its gains are exact; a comparison whose
sides agree to 1e-10 of everything that entered them marks the variant, to be done again.

Loading this module loads the compiler, so it is imported only where there is much to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

NEAR = 1e-10
ONE = 2.0**-30  # the unit of whole numbers


@njit(cache=True, nogil=True)
def next_gain(
    row: Any, order: Any, signed: Any, doses: Any, whole: int, sign: int, wanted: int, place: int
) -> int:
    """Find the next place in the order where `wanted` doses may still go the way of `sign`."""
    while place < order.size:
        person = order[place]
        value = sign * signed[place]
        if value == 0:
            return int(order.size)
        dose = doses[(row[person >> 2] >> (2 * (person & 3))) & 3]
        room = whole - dose if value > 0 else dose
        if room == wanted:
            return place
        place += 1
    return place


@njit(cache=True, nogil=True)
def after_gain(
    row: Any, order: Any, signed: Any, doses: Any, whole: int, sign: int, places: Any
) -> int:
    """Take the largest gain that is left; `places` says how far each number of doses has come."""
    best, taken = 0, 0
    for wanted in range(1, whole + 1):
        place = places[wanted]
        if place < order.size:
            gain = wanted * abs(signed[place])
            if gain > best:
                best, taken = gain, wanted
    if taken:
        places[taken] = next_gain(row, order, signed, doses, whole, sign, taken, places[taken] + 1)
    return best


@njit(cache=True, nogil=True)
def holds(root: float, variance: float, terms: float, tau: float, floor: float) -> int:
    """Give the sign of root^2 - tau (variance + floor), 0 if too near to a tie."""
    left, right = root * root, tau * (variance + floor)
    if abs(left - right) <= NEAR * (left + tau * (terms + floor)):
        return 0
    return 1 if left > right else -1


@njit(cache=True, nogil=True)
def reached_inside(root: int, t: int, facts: Any) -> int:
    """Tell whether significance may be reached with this |U| after t changes; 0 if near a tie."""
    tau, floor, _, theta, variance, terms, q, change = facts
    if root <= 0:
        return -1
    moved, size = t * q + theta * t * (t - 1.0), terms + t * change + theta * t * (t - 1.0)
    return holds(root * ONE, max(0.0, variance - moved), size, tau, floor)


@njit(cache=True, nogil=True)
def lost_outside(root: int, t: int, facts: Any) -> int:
    """Tell whether significance may be lost with this |U| after t changes; 0 if near a tie."""
    tau, floor, cap, theta, variance, terms, q, change = facts
    if root <= 0:
        return 1
    moved, size = t * q + theta * t * (t - 1.0), terms + t * change + theta * t * (t - 1.0)
    return -holds(root * ONE, min(cap, variance + moved), size, tau, floor)


@njit(cache=True, nogil=True)
def reached(root: int, t: int, outside: bool, facts: Any) -> int:
    """Tell whether the other decision may be reached; 0 if near a tie."""
    return lost_outside(root, t, facts) if outside else reached_inside(root, t, facts)


@njit(cache=True, nogil=True)
def earliest(longest: Any, whole: int, start: int, most: int, outside: bool, facts: Any) -> int:
    """Give the first t that might do if the people with the largest |r| all had their gains left.

    What holds for the true gains holds for these, so no smaller t need be looked at.
    """
    way = -whole if outside else whole
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if reached(start + way * longest[middle - 1], middle, outside, facts) >= 0:
            high = middle
        else:
            low = middle
    return high


@njit(cache=True, nogil=True)
def walk_carriers(
    row: Any, order: Any, signed: Any, doses: Any, sign: int, start: int, first: int, most: int,
    outside: bool, facts: Any,
) -> int:  # fmt: skip
    """Walk where everybody carries or not, and look at t from `first` on."""
    root, t = start, 0
    for place in range(order.size):
        value, person = sign * signed[place], order[place]
        if value == 0:
            break
        dose = doses[(row[person >> 2] >> (2 * (person & 3))) & 3]
        if dose == (value > 0):
            continue
        t += 1
        if t >= most:
            return most
        root += -abs(value) if outside else abs(value)
        if t >= first:
            found = reached(root, t, outside, facts)
            if found >= 0:
                return t if found else -1
    for later in range(max(t + 1, first), most):
        found = reached(root, later, outside, facts)
        if found >= 0:
            return later if found else -1
    return most


@njit(cache=True, nogil=True)
def walk(
    row: Any, order: Any, signed: Any, longest: Any, doses: Any, whole: int, sign: int, start: int,
    most: int, outside: bool, facts: Any, places: Any,
) -> int:  # fmt: skip
    """Give the least t < most that may reach the other decision, `most` if none, -1 near a tie.

    `start` is |U| (or -|U|), and gains go the way of `sign`: up towards significance, or towards 0.
    """
    first = earliest(longest, whole, start, most, outside, facts)
    if first >= most:
        return most
    if whole == 1:
        return walk_carriers(row, order, signed, doses, sign, start, first, most, outside, facts)
    for wanted in range(1, whole + 1):
        places[wanted] = next_gain(row, order, signed, doses, whole, sign, wanted, 0)
    root = start
    for t in range(1, most):
        gain = after_gain(row, order, signed, doses, whole, sign, places)
        root += -gain if outside else gain
        if t >= first:
            found = reached(root, t, outside, facts)
            if found >= 0:
                return t if found else -1
    return most


@njit(cache=True, nogil=True)
def search(
    row: Any, u: int, measured: Any, order: Any, signed: Any, longest: Any, doses: Any, whole: int,
    tau: float, floor: float, cap: float, theta: float, places: Any,
) -> tuple[int, bool]:  # fmt: skip
    """Give the score of a row, and whether it must be done again."""
    variance, terms = min(cap, max(0.0, measured[0])), measured[1] + cap
    facts = (tau, floor, cap, theta, variance, terms, measured[2] + theta, measured[3] + theta)
    decision = holds(u * ONE, variance, terms, tau, floor)
    if decision == 0:
        return 0, True
    sign, people = 1 if u >= 0 else -1, order.size
    if decision > 0:
        t = walk(
            row, order, signed, longest, doses, whole, -sign, abs(u), people, True, facts, places
        )
        return t, t < 0
    t = walk(row, order, signed, longest, doses, whole, sign, abs(u), people, False, facts, places)
    if t > 1:
        t = walk(row, order, signed, longest, doses, whole, -sign, -abs(u), t, False, facts, places)
    return 1 - t, t < 0


@njit(cache=True, nogil=True)
def search_all(
    rows: Any, sums: Any, measured: Any, order: Any, signed: Any, longest: Any, doses: Any,
    whole: int, tau: float, floor: float, cap: float, theta: float, scores: Any, again: Any,
) -> None:  # fmt: skip
    """Fill in the score of each row, and whether it must be done again.

    `longest` are the sums of the first |r|: no t changes move U by more (the dose times it), which
    rules out small t at once, and mostly the whole way of the other sign.
    """
    places = np.empty(whole + 1, np.int64)
    for row in range(rows.shape[0]):
        scores[row], again[row] = search(
            rows[row], sums[row, 0], measured[row], order, signed, longest, doses, whole,
            tau, floor, cap, theta, places,
        )  # fmt: skip
