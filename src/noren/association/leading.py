"""The largest few scores of many, without measuring every table.

Maths
    A table that is not significant has N x^2 <= tau n1 n2 m1 m2 (`geometry`). After t units of
    change |x| is at most |x| + t max(m1, m2), and n1 n2 at least n1 n2 - t |n2 - n1| - t^2. So if t
    units reach a significant table, then
        (N max(m1,m2)^2 + tau m1 m2) t^2 + (2 N |x| max(m1,m2) + tau m1 m2 |n2-n1|) t
            >= tau m1 m2 n1 n2 - N x^2,
    whose root bounds the distance from below. A significant table also has more than
    tau N m1 m2 / (N max(m1,m2)^2 + tau m1 m2) carriers, and as many others, because |x| is at most
    max(m1, m2) times either number. The score is 1 minus the distance. Tables are measured exactly
    from the largest bound downwards (significant ones first) until enough scores reach the bound of
    all that were left out.

Privacy
    The result is exact: the same as measuring every table and sorting. How long it takes depends
    on the data, as it does for every statistic.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from noren.association.distance import scores
from noren.association.geometry import is_significant, parts
from noren.association.loci import Groups, Loci
from noren.association.statistic import Counts, Tables

ROOM = 1e-6  # far above the rounding of the bound, far below one person
BEYOND_ALL = np.iinfo(np.int64).max


def leading_scores(tables: Tables, tau: Fraction, groups: Groups, many: int) -> Counts:
    """Give the largest scores, of each group its largest, in falling order.

    Examples
    --------
    >>> tables = Tables([15, 0, 10, 20], [5, 0, 10, 0], 20, 20)
    >>> leading_scores(tables, Fraction("3.84"), None, 3).tolist()
    [14, 4, -3]
    """
    bound = upper_bounds(tables, tau)
    measured = min(len(tables), 4 * many + 64)
    while True:
        least = int(np.partition(bound, -measured)[-measured])
        chosen = np.flatnonzero(bound >= least)
        part = Tables(tables.a[chosen], tables.b[chosen], tables.cases, tables.controls)
        exact = np.atleast_1d(scores(part, tau, tables.step))
        if groups is not None:
            exact = largest_in_groups(groups, chosen, exact)
        found = np.sort(exact)[::-1]
        if chosen.size == len(tables) or (found.size >= many and found[many - 1] >= least):
            return found[:many]
        measured = min(len(tables), 4 * measured)


def leading_of(scores: Counts, groups: Groups, many: int) -> Counts:
    """Give the largest of scores that are all known, of each group its largest, falling.

    Examples
    --------
    >>> leading_of(np.array([3, -2, 7, 7]), None, 3).tolist()
    [7, 7, 3]
    """
    found = scores if groups is None else groups.best(scores)
    return np.sort(found)[::-1][:many]


def upper_bounds(tables: Tables, tau: Fraction) -> Counts:
    """Give a whole number that each table's score does not exceed."""
    groups = float(tau) * float(tables.cases) * float(tables.controls)
    people, larger = float(tables.people), float(max(tables.cases, tables.controls))
    x, n1, n2 = parts(tables)
    square = people * larger * larger + groups
    slope = 2 * people * larger * np.abs(x) + groups * np.abs(n2 - n1)
    missing = np.maximum(0.0, groups * n1 * n2 - people * x * x)
    with np.errstate(invalid="ignore"):
        moves = 2 * missing / (slope + np.sqrt(slope * slope + 4 * square * missing))
    carriers = groups * people / square - np.minimum(n1, n2)
    units = np.maximum(np.nan_to_num(moves), carriers) / tables.step
    inside = 1 - np.maximum(1, np.ceil(units - ROOM)).astype(np.int64)
    return np.where(is_significant(tables, tau), BEYOND_ALL, inside)


def largest_in_groups(groups: Loci, chosen: Counts, exact: Counts) -> Counts:
    """Give the largest score of each group that has a chosen variant."""
    which, place = np.unique(groups.of[chosen], return_inverse=True)
    largest = np.full(which.size, np.iinfo(np.int64).min)
    np.maximum.at(largest, place, exact)
    return largest
