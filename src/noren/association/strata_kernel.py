"""The same search as `strata_exact`, compiled, in doubles, for many variants.

Loading this module loads the compiler, so it is imported only where many tables are measured.
Every comparison whose sides differ by less than `NEAR` times all terms that entered them (not the
sides themselves, which are differences of larger numbers) marks its variant in `again`, to be
redone in fractions. Evidence of a stratum enters as a whole number divided once.

Arrays of one design (`Frozen` in `strata_scores`)
    m1, m2, weight           of each stratum
    gain, owner, by_case     the public order in which L is raised
    grid                     ends of the chords
    tau, floor, cap          threshold, tau / R, people
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

NEAR = 1e-10
NO, YES, UNSURE = 0, 1, 2
DOUBT = -2


@njit(cache=True, nogil=True)
def most_gained(a: Any, b: Any, m1: Any, gain: Any, owner: Any, by_case: Any, t: int) -> Any:
    """Give G(t)."""
    gained, left = 0.0, t
    for i in range(gain.size):
        k = owner[i]
        room = m1[k] - a[k] if by_case[i] else b[k]
        if room >= left:
            return gained + gain[i] * left
        gained += gain[i] * room
        left -= room
    return gained


@njit(cache=True, nogil=True)
def fill(slopes: Any, moves: Any, count: int, t: int) -> Any:
    """Spend t moves on the steepest items, the last of them in part; reorders the items."""
    gained, left = 0.0, t
    for i in range(count):
        best = i
        for j in range(i + 1, count):
            if slopes[j] > slopes[best]:
                best = j
        slope, many = slopes[best], moves[best]
        slopes[best], moves[best] = slopes[i], moves[i]
        if many >= left:
            return gained + slope * left
        gained += slope * many
        left -= many
    return gained


@njit(cache=True, nogil=True)
def most_narrowed(n: Any, size: Any, weight: Any, slopes: Any, moves: Any, t: int) -> Any:
    """Give how far t people can lower V, at most."""
    count = 0
    for k in range(n.size):
        down, up = min(n[k], t), min(size[k] - n[k], t)
        first = weight[k] * (float(down) * float(size[k] - 2 * n[k] + down))
        second = weight[k] * (float(up) * float(2 * n[k] - size[k] + up))
        if down > up:
            down, up, first, second = up, down, second, first
        if second <= 0.0 and first <= 0.0:
            continue
        if first <= 0.0 or down == 0 or first * up <= second * down:
            slopes[count], moves[count] = second / up, up
            count += 1
            continue
        slopes[count], moves[count] = first / down, down
        count += 1
        if second > first:
            slopes[count], moves[count] = (second - first) / (up - down), up - down
            count += 1
    return fill(slopes, moves, count, t)


@njit(cache=True, nogil=True)
def hull_items(x: Any, y: Any, count: int, slopes: Any, moves: Any, first: int) -> int:
    """Append the rising edges of the upper concave hull of `count` points and (0, 0)."""
    for i in range(1, count):  # sort by moves, then by gain
        u, v = x[i], y[i]
        j = i
        while j > 0 and (x[j - 1] > u or (x[j - 1] == u and y[j - 1] > v)):
            x[j], y[j] = x[j - 1], y[j - 1]
            j -= 1
        x[j], y[j] = u, v
    kept = 0  # the chain lies in the first places of x and y; (0, 0) stands before it
    for i in range(count):
        u, v = x[i], y[i]
        if v <= (y[kept - 1] if kept else 0.0) or u == 0:
            continue
        while kept:
            ax, ay = (x[kept - 2], y[kept - 2]) if kept > 1 else (0, 0.0)
            bx, by = x[kept - 1], y[kept - 1]
            if (by - ay) * (u - ax) > (v - ay) * (bx - ax):
                break
            kept -= 1
        x[kept], y[kept] = u, v
        kept += 1
    ax, ay = 0, 0.0
    for i in range(kept):
        slopes[first], moves[first] = (y[i] - ay) / (x[i] - ax), x[i] - ax
        first += 1
        ax, ay = x[i], y[i]
    return first


@njit(cache=True, nogil=True)
def corner_gain(
    da: int, db: int, n: int, size: int, m1: int, m2: int, slope: float, bent: float
) -> float:
    """Give what a corner gains of slope L_k - tau V_k (`bent` is tau w)."""
    dn = da + db
    raised = float(da * m2 - db * m1) / size
    return slope * raised - bent * (float(dn) * float(size - 2 * n - dn))


@njit(cache=True, nogil=True)
def most_reached(
    a: Any, b: Any, n: Any, m1: Any, m2: Any, size: Any, weight: Any, tau: float, slope: float,
    t: int, slopes: Any, moves: Any, x: Any, y: Any,
) -> Any:  # fmt: skip
    """Give the most that t people add to sum_k slope L_k - tau V_k, at most."""
    total = 0
    for k in range(n.size):
        bent, count = tau * weight[k], 0
        for axis in range(2):
            here, end = (a[k], m1[k]) if axis == 0 else (b[k], m2[k])
            there, other_end = (b[k], m2[k]) if axis == 0 else (a[k], m1[k])
            for sign in (1, -1):
                way = min(end - here if sign > 0 else here, t)
                move = sign * way
                da, db = (move, 0) if axis == 0 else (0, move)
                x[count] = way
                y[count] = corner_gain(da, db, n[k], size[k], m1[k], m2[k], slope, bent)
                count += 1
                if way == t:
                    continue
                for turned in (1, -1):
                    along = min(other_end - there if turned > 0 else there, t - way)
                    if along == 0:
                        continue
                    if axis == 0:
                        db = turned * along
                    else:
                        da = turned * along
                    x[count] = way + along
                    y[count] = corner_gain(da, db, n[k], size[k], m1[k], m2[k], slope, bent)
                    count += 1
        total = hull_items(x, y, count, slopes, moves, total)
    return fill(slopes, moves, total, t)


@njit(cache=True, nogil=True)
def compared(left: float, right: float, terms: float) -> int:
    """Tell whether left > right, or admit to be unsure."""
    if abs(left - right) <= NEAR * terms:
        return UNSURE
    return YES if left > right else NO


@njit(cache=True, nogil=True)
def far_enough(
    evidence: float, terms: float, spread: float, gained: float, narrowed: float, tau: float,
    floor: float,
) -> int:  # fmt: skip
    """Tell whether conditions (i) and (ii) hold."""
    most, entered = evidence + gained, terms + gained
    answer = compared(most, floor, entered + floor)
    if answer != YES:
        return answer
    right = tau * max(0.0, spread - narrowed)
    return compared(most * most, right, entered * entered + tau * (spread + narrowed))


@njit(cache=True, nogil=True)
def chord_reached(
    a: Any, b: Any, n: Any, m1: Any, m2: Any, size: Any, weight: Any, tau: float, floor: float,
    grid: Any, evidence: float, terms: float, spread: float, gained: float, narrowed: float,
    steepest: float, t: int, slopes: Any, moves: Any, x: Any, y: Any,
) -> int:  # fmt: skip
    """Tell whether condition (iii) holds."""
    most = evidence + gained
    narrow = tau * max(0.0, spread - narrowed)
    start = max(floor, math.sqrt(narrow)) * (1 - 1e-6)
    j: Any = max(0, np.searchsorted(grid, start) - 1)
    doubt = False
    while j + 1 < grid.size and grid[j] <= most * (1 + 1e-6):
        low, high = grid[j], grid[j + 1]
        j += 1
        first = compared(most, low, terms + gained + low)
        second = compared(high, floor, high + floor)
        third = compared(high * high, narrow, high * high + tau * (spread + narrowed))
        if first == NO or second == NO or third == NO:
            continue
        slope = low + high
        start_value = slope * evidence - tau * spread
        added = most_reached(a, b, n, m1, m2, size, weight, tau, slope, t, slopes, moves, x, y)
        entered = slope * (terms + t) + tau * (spread + t * steepest) + low * high
        found = compared(start_value + added, low * high, entered)
        if found == YES and first == second == third == YES:
            return YES
        doubt = doubt or found != NO
    return UNSURE if doubt else NO


@njit(cache=True, nogil=True)
def from_inside(
    a: Any, b: Any, n: Any, m1: Any, m2: Any, size: Any, weight: Any, gain: Any, owner: Any,
    by_case: Any, grid: Any, tau: float, floor: float, steepest: float, limit: int,
    evidence: float, terms: float, spread: float, slopes: Any, moves: Any, x: Any, y: Any,
) -> int:  # fmt: skip
    """Give the least t below `limit` at which a significant table with L > 0 may lie, or `limit`.

    Conditions (i) and (ii) come first, because they are cheap; (iii) is searched from there on.
    """
    low, high, start, fast = 0, 1, 0, True
    while True:
        # grow, then bisect; first with (i) and (ii) alone, then with all three
        growing = True
        while growing or high - low > 1:
            t = min(high, limit - 1) if growing else (low + high) // 2
            if t <= low:  # nothing below the limit is left
                return limit
            gained = most_gained(a, b, m1, gain, owner, by_case, t)
            narrowed = most_narrowed(n, size, weight, slopes, moves, t)
            holds = far_enough(evidence, terms, spread, gained, narrowed, tau, floor)
            if holds == YES and not fast:
                holds = chord_reached(
                    a, b, n, m1, m2, size, weight, tau, floor, grid, evidence, terms, spread,
                    gained, narrowed, steepest, t, slopes, moves, x, y,
                )  # fmt: skip
            if holds == UNSURE:
                return DOUBT
            if growing:
                if holds == YES:
                    growing, high = False, t
                else:
                    low = t
                    high = 2 * t if fast else t + 2 * (t - start)
            elif holds == YES:
                high = t
            else:
                low = t
        if not fast:
            return high
        fast, start = False, high - 1
        low, high = high - 1, high


@njit(cache=True, nogil=True)
def largest_spread(
    spread: float, slope: Any, width: Any, order: Any, t: int
) -> tuple[float, float]:
    """Give Vmax(t), and the sum of the terms that entered it; `width` is 1 / (2 w)."""
    moved = widths = terms = 0.0
    level = 0.0
    for taken in range(order.size):
        k = order[taken]
        moved += slope[k] * width[k]
        widths += width[k]
        level = max(0.0, (moved - t) / widths)
        if taken + 1 == order.size or level >= slope[order[taken + 1]]:
            break
    found = spread
    for i in range(order.size):
        k = order[i]
        if slope[k] <= level:
            break
        found += (slope[k] - level) * (slope[k] + level) * width[k] / 2
        terms += slope[k] * slope[k] * width[k]
    return found, spread + terms


@njit(cache=True, nogil=True)
def from_outside(
    a: Any, b: Any, n: Any, m1: Any, size: Any, weight: Any, gain: Any, owner: Any, by_case: Any,
    tau: float, cap: int, evidence: float, terms: float, spread: float, slope: Any, width: Any,
    order: Any,
) -> int:  # fmt: skip
    """Give the distance of a significant variant with L > 0, whose mirror image is (a, b)."""
    for k in range(n.size):
        slope[k] = weight[k] * abs(float(size[k] - 2 * n[k]))
        j = k
        while j > 0 and slope[order[j - 1]] < slope[k]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    low, high, growing = 0, 1, True
    while growing or high - low > 1:
        t = min(high, cap) if growing else (low + high) // 2
        if growing and t == cap:
            growing, high = False, cap
            continue
        gained = most_gained(a, b, m1, gain, owner, by_case, t)
        left, entered = evidence - gained, terms + gained
        holds = YES
        if left > -NEAR * entered:
            most, within = largest_spread(spread, slope, width, order, t)
            holds = compared(tau * most, left * left, entered * entered + tau * within)
        if holds == UNSURE:
            return DOUBT
        if growing:
            if holds == YES:
                growing, high = False, t
            else:
                low, high = t, 2 * t
        elif holds == YES:
            high = t
        else:
            low = t
    return high


@njit(cache=True, nogil=True)
def search_all(
    all_a: Any, all_b: Any, m1: Any, m2: Any, weight: Any, gain: Any, owner: Any, by_case: Any,
    grid: Any, tau: float, floor: float, cap: int, signed: Any, again: Any,
) -> None:  # fmt: skip
    """Fill in the signed distance of each variant, and whether it must be redone exactly."""
    strata = m1.size
    size, width = m1 + m2, 1 / (2 * weight)
    steepest = 0.0
    for k in range(strata):
        steepest = max(steepest, weight[k] * size[k])
    a, b, n = np.empty(strata, np.int64), np.empty(strata, np.int64), np.empty(strata, np.int64)
    c, d, rest = np.empty(strata, np.int64), np.empty(strata, np.int64), np.empty(strata, np.int64)
    slope, order = np.empty(strata), np.empty(strata, np.int64)
    slopes, moves = np.empty(12 * strata), np.empty(12 * strata, np.int64)
    x, y = np.empty(12, np.int64), np.empty(12)
    for i in range(signed.size):
        evidence = terms = spread = 0.0
        for k in range(strata):
            a[k], b[k] = all_a[k, i], all_b[k, i]
            c[k], d[k] = m1[k] - a[k], m2[k] - b[k]
            n[k] = a[k] + b[k]
            rest[k] = size[k] - n[k]
            own = float(a[k] * m2[k] - b[k] * m1[k]) / size[k]
            evidence += own
            terms += abs(own)
            spread += weight[k] * (float(n[k]) * float(rest[k]))
        decision = compared(evidence * evidence, tau * spread, terms * terms + tau * spread)
        if spread == 0.0:
            decision = NO
        found = DOUBT
        if decision == YES and evidence > 0:
            found = from_outside(
                c, d, n, m1, size, weight, gain, owner, by_case, tau, cap, evidence, terms, spread,
                slope, width, order,
            )  # fmt: skip
        elif decision == YES:
            found = from_outside(
                a, b, n, m1, size, weight, gain, owner, by_case, tau, cap, -evidence, terms, spread,
                slope, width, order,
            )  # fmt: skip
        elif decision == NO:
            found = from_inside(
                a, b, n, m1, m2, size, weight, gain, owner, by_case, grid, tau, floor, steepest,
                cap, evidence, terms, spread, slopes, moves, x, y,
            )  # fmt: skip
            if found != DOUBT:
                found = from_inside(
                    c, d, rest, m1, m2, size, weight, gain, owner, by_case, grid, tau, floor,
                    steepest, found, -evidence, terms, spread, slopes, moves, x, y,
                )  # fmt: skip
        again[i] = found == DOUBT
        signed[i] = found if decision == YES else -found
