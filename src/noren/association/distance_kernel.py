"""The same search as `distance_exact`, compiled, in doubles, for many tables.

Loading this module loads the compiler, so it is imported only where many tables are measured.
Whatever doubles could get wrong marks the table in `again`: a comparison whose sides agree to
1e-13 of their sum, or an end of a column that lies within the rounding of a whole number. Marked
tables are redone in whole numbers.
"""

from __future__ import annotations

import math
from typing import Any

from numba import njit

NEAR = 1e-13
NO, YES, UNSURE = 0, 1, 2
NONE = -1  # no significant point in this direction
DOUBT = -2  # some comparison was near a tie
ROUNDING = 1e-6  # of a column's end, for groups of up to 10^9 people; more is added with N
PER_PERSON = 2.0**-49


@njit(cache=True, nogil=True)
def decide(a: int, b: int, m1: int, m2: int, scale: float) -> int:
    """Decide N x^2 > tau n1 n2 m1 m2, with scale = tau m1 m2, or admit to be unsure."""
    people, n1 = m1 + m2, a + b
    if n1 == 0 or n1 == people:
        return NO
    x = float(a * m2 - b * m1)
    left, right = x * x * people, scale * n1 * (people - n1)
    if abs(left - right) <= NEAR * (left + right):
        return UNSURE
    return YES if left > right else NO


@njit(cache=True, nogil=True)
def after(a: int, b: int, m1: int, m2: int, scale: float, along_a: bool, way: int) -> int:
    """Decide the table that lies `way` units from (a, b) along one axis."""
    return decide(a + way, b, m1, m2, scale) if along_a else decide(a, b + way, m1, m2, scale)


@njit(cache=True, nogil=True)
def first_significant(
    a: int, b: int, m1: int, m2: int, scale: float, step: int, along_a: bool, sign: int, room: int
) -> int:
    """Bisect for the first number of moves in a direction that reaches significance."""
    if room == 0:
        return NONE
    low, high = 0, (room + step - 1) // step
    reached = after(a, b, m1, m2, scale, along_a, sign * room)
    if reached != YES:
        return NONE if reached == NO else DOUBT
    while high - low > 1:
        middle = (low + high) // 2
        reached = after(a, b, m1, m2, scale, along_a, sign * min(step * middle, room))
        if reached == UNSURE:
            return DOUBT
        if reached == YES:
            high = middle
        else:
            low = middle
    return high


@njit(cache=True, nogil=True)
def beyond_wall(
    a: int, b: int, m1: int, m2: int, scale: float, step: int, along_a: bool, best: int
) -> int:
    """Search both ways along the wall (the perpendicular axis) for less than `best` moves."""
    for sign in (1, -1):
        place, end = (b, m2) if along_a else (a, m1)
        room = end - place if sign > 0 else place
        more = first_significant(a, b, m1, m2, scale, step, not along_a, sign, room)
        if more == DOUBT:
            return DOUBT
        if more != NONE:
            best = min(best, more)
    return best


@njit(cache=True, nogil=True)
def from_inside(a: int, b: int, m1: int, m2: int, scale: float, step: int) -> int:
    """Give the least number of moves to a significant table, or DOUBT."""
    never = m1 + m2 + 1
    best = never
    for direction in range(4):
        along_a, sign = direction < 2, 1 if direction % 2 == 0 else -1
        place, end = (a, m1) if along_a else (b, m2)
        room = end - place if sign > 0 else place
        if room == 0:
            continue
        straight = first_significant(a, b, m1, m2, scale, step, along_a, sign, room)
        if straight == DOUBT:
            return DOUBT
        if straight != NONE:
            best = min(best, straight)
            continue
        for turn in range(room // step, (room + step - 1) // step + 1):
            way = sign * min(step * turn, room)
            x, y = (a + way, b) if along_a else (a, b + way)
            more = beyond_wall(x, y, m1, m2, scale, step, along_a, never)
            if more == DOUBT:
                return DOUBT
            best = min(best, turn + more)
    return best


@njit(cache=True, nogil=True)
def column(x: int, m1: int, m2: int, tau: float) -> tuple[float, float]:
    """Give the two ends of the ellipse in column x."""
    people, pairs = float(m1 + m2), float(m1) * m2
    den = m1 * people + tau * m2
    centre = 0.5 * m2 + m2 * (people - tau) * (x - 0.5 * m1) / den
    width = tau * pairs * (people * x * (m1 - x) + 0.25 * tau * pairs)
    half = people * math.sqrt(width) / (m1 * den)
    return centre - half, centre + half


@njit(cache=True, nogil=True)
def way_to(x: int, a: int, b: int, m1: int, m2: int, tau: float) -> float:
    """Give g(x): what the way to column x costs at least, in units."""
    return abs(a - x) + max(0.0, column(x, m1, m2, tau)[0] - b)


@njit(cache=True, nogil=True)
def lowest(a: int, b: int, m1: int, m2: int, tau: float) -> int:
    """Bisect for the minimum of the convex g over the whole columns."""
    low, high = 0, m1
    while low < high:
        middle = (low + high) // 2
        if way_to(middle, a, b, m1, m2, tau) <= way_to(middle + 1, a, b, m1, m2, tau):
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def moves_to(
    x: int, a: int, b: int, m1: int, m2: int, tau: float, step: int, rounding: float
) -> int:
    """Give the moves to the nearest whole point of column x, too many if none, or DOUBT."""
    low, high = column(x, m1, m2, tau)
    if abs(low - round(low)) < rounding or abs(high - round(high)) < rounding:
        return DOUBT
    bottom, top = max(0, math.ceil(low)), min(m2, math.floor(high))
    if bottom > top:
        return m1 + m2 + 1
    across, up = abs(a - x), max(0, bottom - b, b - top)
    return (across + step - 1) // step + (up + step - 1) // step


@njit(cache=True, nogil=True)
def from_outside(a: int, b: int, m1: int, m2: int, tau: float, step: int) -> int:
    """Give the least number of moves to a table that is not significant, or DOUBT."""
    if m1 > m2:
        m1, m2, a, b = m2, m1, b, a
    if a * m2 < b * m1:
        a, b = m1 - a, m2 - b
    rounding = ROUNDING + PER_PERSON * (m1 + m2)
    best, start = m1 + m2 + 1, lowest(a, b, m1, m2, tau)
    bound = math.ceil((way_to(start, a, b, m1, m2, tau) - rounding) / step)
    for side in (-1, 1):
        x = start if side < 0 else start + 1
        while 0 <= x <= m1 and best > bound:
            if (way_to(x, a, b, m1, m2, tau) - rounding) / step > best - 1:
                break
            moves = moves_to(x, a, b, m1, m2, tau, step, rounding)
            if moves == DOUBT:
                return DOUBT
            best = min(best, moves)
            x += side
    return best


@njit(cache=True, nogil=True)
def search_all(
    a: Any, b: Any, m1: int, m2: int, tau: float, step: int, signed: Any, again: Any
) -> None:
    """Fill in the signed distance of each table, and whether it must be redone exactly."""
    scale = tau * (float(m1) * m2)
    for i in range(a.size):
        decision = decide(a[i], b[i], m1, m2, scale)
        moves = DOUBT
        if decision == YES:
            moves = from_outside(a[i], b[i], m1, m2, tau, step)
        elif decision == NO:
            moves = from_inside(a[i], b[i], m1, m2, scale, step)
        again[i] = moves == DOUBT
        signed[i] = moves if decision == YES else -moves
