"""The laws of `score_law`, compiled, for large groups.

Loading this module loads the compiler, so it is imported only where there are many people.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

FAR = 2**60
CUT = 1e-17  # what is left out of a tail, as a share of the largest term


@njit(cache=True, nogil=True)
def hypergeometric_tails(n: int, m1: int, m2: int, upper: Any, lower: Any) -> tuple[int, int]:
    """Fill in Pr[A >= low + i] and Pr[A < low + i] for i = 0..size; give low and size.

    The terms are built by ratios from the largest one outwards; beyond what is built all further
    terms together are below CUT of it.
    """
    bottom, top = max(0, n - m2), min(n, m1)
    mode = min(top, max(bottom, int((n + 1.0) * (m1 + 1.0) / (m1 + m2 + 2.0))))
    low, term = mode, 1.0
    while low > bottom:
        ratio = low * (m2 - n + low) / ((m1 - low + 1.0) * (n - low + 1.0))
        if ratio < 1.0 and term * ratio < CUT * (1.0 - ratio):
            break
        term *= ratio
        low -= 1
    size, total = 1, term
    upper[0] = term  # the terms themselves, until they are summed below
    for a in range(low + 1, top + 1):
        ratio = (m1 - a + 1.0) * (n - a + 1.0) / (a * (m2 - n + a + 0.0))
        if a > mode and ratio < 1.0 and term * ratio < CUT * (1.0 - ratio):
            break
        term *= ratio
        upper[size] = term
        total += term
        size += 1
    lower[0] = 0.0
    for i in range(size):
        upper[i] /= total
        lower[i + 1] = lower[i] + upper[i]
    upper[size] = 0.0
    for i in range(size - 1, -1, -1):
        upper[i] += upper[i + 1]
    return low, size


@njit(cache=True, nogil=True)
def either(least: int, most: int, low: int, size: int, upper: Any, lower: Any) -> float:
    """Give Pr[A >= least or A <= most] of two disjoint tails."""
    right = upper[min(max(least - low, 0), size)]
    left = lower[min(max(most + 1 - low, 0), size)]
    both: float = min(1.0, right + left)
    return both


@njit(cache=True, nogil=True)
def fill_row(
    n: int, m1: int, m2: int, step: int, down: int, above: Any, below: Any, over: Any, under: Any,
    best: Any, law: tuple[int, int], upper: Any, lower: Any, row: Any,
) -> tuple[int, int]:  # fmt: skip
    """Fill in one row; give how many levels it needs down and up (all, if there were too few)."""
    people, low, size, up = m1 + m2, law[0], law[1], row.size - down
    mask = 2 * step - 1  # step is 1 or 2, so this takes the rest of a division by 2 step
    best[0, :], best[1, :], best[2, :], best[3, :] = -FAR, -FAR, FAR, FAR
    u, v, w, x = -FAR, -FAR, FAR, FAR
    used_down = used_up = -1
    r = 0
    while used_down < 0 or used_up < 0:
        for units in range(max(0, step * (r - 1) + 1), step * r + 1):
            for side in range(2 if units else 1):
                m = n + units if side == 0 else n - units
                if 0 <= m <= people:
                    residue = m & mask
                    best[0, residue] = max(best[0, residue], above[m])
                    best[1, residue] = max(best[1, residue], below[m])
                    best[2, residue] = min(best[2, residue], over[m])
                    best[3, residue] = min(best[3, residue], under[m])
        for offset in range(2 * step):
            if offset == step:
                continue  # one move earlier this residue had offset 0, and gained as much
            gained = step * r - min(offset, 2 * step - offset)
            residue = (n + step * r + offset) & mask
            u = max(u, (best[0, residue] + n + gained) >> 1)
            v = max(v, (best[1, residue] + n + gained) >> 1)
            w = min(w, (best[2, residue] + n - gained) >> 1)
            x = min(x, (best[3, residue] + n - gained) >> 1)
        if used_up < 0:
            if r == up:
                used_up = up
            elif n - v > u:
                row[down + r] = 1.0
            else:
                row[down + r] = either(u + 1, n - v - 1, low, size, upper, lower)
                if row[down + r] == 0.0:
                    used_up = r
        if used_down < 0:
            if r > down:
                used_down = down
            elif w + x <= n + 1:
                row[: down - r + 1] = 1.0
                used_down = r
            elif r > 0:
                row[down - r] = either(w, n - x, low, size, upper, lower)
        r += 1
    row[down + used_up :] = 0.0
    return used_down, used_up


@njit(cache=True, nogil=True)
def fill_rows(
    start: int, m1: int, m2: int, step: int, down: int,
    above: Any, below: Any, over: Any, under: Any, tails: Any,
) -> tuple[int, int]:  # fmt: skip
    """Fill in the rows of a block; give how many levels were needed down and up."""
    best = np.empty((4, 2 * step), np.int64)
    upper, lower = np.empty(m1 + 2), np.empty(m1 + 2)
    used_down = used_up = 0
    for i in range(tails.shape[0]):
        n = start + i
        law = hypergeometric_tails(n, m1, m2, upper, lower)
        one = fill_row(
            n, m1, m2, step, down, above, below, over, under, best, law, upper, lower, tails[i]
        )
        used_down, used_up = max(used_down, one[0]), max(used_up, one[1])
        if used_down >= down or used_up >= tails.shape[1] - down:
            break
    return used_down, used_up
