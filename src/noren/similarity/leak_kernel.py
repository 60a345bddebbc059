"""The two loops of a leak report that touch every record, compiled.

    tally    ones[v, h] += 1 for each one that a record with score v has in a column of the query
    prove    propagation, query by query: what an attacker can prove of one record's bits

Loading this module loads the compiler.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from noren.data.popcount_kernel import ones as popcount

UNKNOWN, ZERO, ONE = np.int8(-1), np.int8(0), np.int8(1)


@njit(cache=True, nogil=True)
def tally(words: Any, query: Any, place: Any, scores: Any, out: Any) -> None:
    """Count, by score, the records that have each column; place[h] is a column's row of `out`."""
    for row in range(words.shape[0]):
        score = scores[row]
        for w in range(words.shape[1]):
            word = words[row, w] & query[w]
            while word != np.uint64(0):
                lowest = word & (~word + np.uint64(1))
                column = w * 64 + np.int64(popcount(lowest - np.uint64(1)))
                out[score, place[column]] += 1
                word ^= lowest


@njit(cache=True, nogil=True)
def prove(
    low: Any,
    high: Any,
    net: Any,
    schedule: Any,
    truth: Any,
    n_columns: Any,
    found: Any,
    growth: Any,
) -> None:
    """Prove bits of each record, with the answers to queries 0..t, for every t.

    low, high
        [query, record]: the scores that an answer leaves possible.
    net
        begins, units: the units of each query; unit_begins, unit_queries: the queries of each
        unit; widths. A unit is all columns that are in the same queries; its width says how many.
    schedule, truth
        begins, units: those that linear algebra gives away with a query; [record, place]: their
        bits, in the order of the schedule.
    found
        [record, 3]: cells proven, ones among them, the query at which no cell was left (or -1).
    growth
        [query, 2]: cells and ones proven with the answers up to it, all records together.
    """
    n_queries, n_units = low.shape[0], len(net[4])
    state = np.empty(n_units, np.int8)
    news, values = np.empty(n_units, np.int64), np.empty(n_units, np.int8)
    bounds = np.empty((n_queries, 3), np.int64)  # least and most that is left, columns unknown
    waiting, stack = np.zeros(n_queries, np.bool_), np.empty(n_queries, np.int64)
    work = (state, bounds, waiting, stack, news, values)
    for row in range(low.shape[1]):
        state[:] = UNKNOWN
        found[row, 2] = -1
        for t in range(n_queries):
            bounds[t, 0], bounds[t, 1] = low[t, row], high[t, row]
            fresh = admit(t, net, schedule, truth[row], work)
            cells, ones = settle(t, fresh, net, work)
            found[row, 0] += cells
            found[row, 1] += ones
            growth[t, 0] += found[row, 0]
            growth[t, 1] += found[row, 1]
            if found[row, 2] < 0 and found[row, 0] == n_columns:
                found[row, 2] = t


@njit(cache=True, nogil=True)
def admit(t: Any, net: Any, schedule: Any, bits: Any, work: Any) -> Any:
    """Take in query t, less what is known; give how many units linear algebra gives away."""
    begins, units, _, _, widths = net
    state, bounds, waiting, stack, news, values = work
    bounds[t, 2] = 0
    for place in range(begins[t], begins[t + 1]):
        unit = units[place]
        if state[unit] == UNKNOWN:
            bounds[t, 2] += widths[unit]
        elif state[unit] == ONE:
            bounds[t, 0] -= widths[unit]
            bounds[t, 1] -= widths[unit]
    fresh = 0
    for place in range(schedule[0][t], schedule[0][t + 1]):
        unit = schedule[1][place]
        if state[unit] == UNKNOWN:
            news[fresh], values[fresh] = unit, bits[place]
            state[unit] = bits[place]
            fresh += 1
    stack[0], waiting[t] = t, True
    return fresh


@njit(cache=True, nogil=True)
def settle(t: Any, fresh: Any, net: Any, work: Any) -> Any:
    """Propagate until nothing changes; give how many cells were proven, and the ones among them."""
    begins, units, _, _, _ = net
    state, bounds, waiting, stack, news, values = work
    cells, ones, depth = 0, 0, 1
    while depth or fresh:
        if not fresh:  # look at a query again: does it give its units away?
            depth -= 1
            one = stack[depth]
            waiting[one] = False
            least, most, left = bounds[one]
            if left == 0 or (most > 0 and least < left):
                continue
            value = ZERO if most <= 0 else ONE
            for place in range(begins[one], begins[one + 1]):
                unit = units[place]
                if state[unit] == UNKNOWN:
                    state[unit] = value
                    news[fresh], values[fresh] = unit, value
                    fresh += 1
        while fresh:
            fresh -= 1
            width, depth = tell(t, news[fresh], values[fresh], depth, net, work)
            cells += width
            ones += width if values[fresh] == ONE else 0
    return cells, ones


@njit(cache=True, nogil=True)
def tell(t: Any, unit: Any, value: Any, depth: Any, net: Any, work: Any) -> Any:
    """Tell every query up to t that a unit is known; give its width and the queries waiting."""
    _, _, unit_begins, unit_queries, widths = net
    _, bounds, waiting, stack, _, _ = work
    width = widths[unit]
    for place in range(unit_begins[unit], unit_begins[unit + 1]):
        other = unit_queries[place]
        if other > t:
            break
        bounds[other, 2] -= width
        if value == ONE:
            bounds[other, 0] -= width
            bounds[other, 1] -= width
        if not waiting[other]:
            waiting[other] = True
            stack[depth] = other
            depth += 1
    return width, depth
