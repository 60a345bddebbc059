"""How many people stand between a table and the opposite decision.

Maths
    The distance d of a table is the least number of people whose genotypes must change until the
    decision (chi2 > tau) is the opposite one. One person moves a or b by up to `step` (1 when
    people are counted, 2 when alleles are), inside the box [0, cases] x [0, controls].
    `signed_distance` is d for a significant table and -d for one that is not.
    The score s is d if significant, 1 - d if not: s >= 1 if and only if significant.

Privacy (what questions build on this)
    Under a change of one person, d moves by at most 1 while the decision stays; where the decision
    changes both tables have d = 1, so s goes from 1 to 0. So s is a whole number that one person
    changes by at most 1. This needs exact distances: every comparison that doubles cannot settle
    is done again in whole numbers.
    If tau >= N no table is significant and d is infinite, which is a public fact.

Accuracy
    Exact. Many tables are measured by a compiled search in doubles (`distance_kernel`), which marks
    each table for which some comparison was near a tie; these, few tables and very large groups go
    through whole numbers of any length (`distance_exact`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from noren.association.distance_exact import exact_distance
from noren.association.geometry import LARGEST_EXACT_PEOPLE, read_tau
from noren.association.statistic import Counts, Tables, plain, read_step
from noren.errors import NotPrivate, ParameterError

FEW = 10_000  # tables that are not worth loading a compiler for (half a second either way)


def signed_distance(tables: Tables, tau: object, step: int = 1) -> Any:
    """Give the distance to the opposite decision, negative where not significant.

    Parameters
    ----------
    tables
        The tables; counts of alleles need `step=2`.
    tau
        The threshold of chi-squared, the exact value given.
    step
        How far one person moves a count.

    Returns
    -------
    int or array of int64; where tau is at least the number of people, -inf (floats).

    Examples
    --------
    >>> signed_distance(Tables(130, 95, 200, 200), 3.84)
    16
    >>> signed_distance(Tables([0, 10], [0, 10], 20, 20), 3.84).tolist()
    [-4, -6]
    """
    threshold, step = read_tau(tau), step_for(tables, step)
    if threshold >= tables.people:
        return plain(np.full(tables.a.shape, -math.inf))
    flat = Tables(np.atleast_1d(tables.a), np.atleast_1d(tables.b), tables.cases, tables.controls)
    signed, again = searched(flat, threshold, step)
    for (a, b), places in by_table(flat, again).items():
        signed[places] = exact_distance(a, b, tables.cases, tables.controls, threshold, step)
    return plain(signed.reshape(tables.a.shape))


def scores(tables: Tables, tau: object, step: int = 1) -> Any:
    """Give the whole-number score that one person changes by at most 1.

    Examples
    --------
    >>> scores(Tables([15, 0], [5, 0], 20, 20), 3.84).tolist()
    [4, -3]
    """
    threshold = read_tau(tau)
    refuse_unreachable(threshold, tables.cases + tables.controls, tau)
    signed = signed_distance(tables, threshold, step)
    return plain(np.where(signed > 0, signed, 1 + signed))


def refuse_unreachable(threshold: Fraction, people: int, given: object) -> None:
    """Refuse a threshold that no table passes: there is no score to release."""
    if threshold >= people:
        raise ParameterError(
            "tau",
            given,
            f"below the sum of the table, {people}",
            "No table of these groups can pass it, so the decision is 0 for certain.",
        )


def step_for(tables: Tables, step: int) -> int:
    """Refuse a step that is shorter than what one person moves in these tables."""
    if read_step(step) < tables.step:
        raise NotPrivate(
            "step is 1, but these tables count alleles, of which one person brings two. "
            "Pass step=2."
        )
    return step


def searched(tables: Tables, tau: Fraction, step: int) -> tuple[Counts, Any]:
    """Search in doubles where that pays, and mark what must be done exactly."""
    if len(tables) <= FEW or tables.people > LARGEST_EXACT_PEOPLE:
        return np.zeros(len(tables), np.int64), np.ones(len(tables), bool)
    from noren.association.distance_kernel import search_all

    signed = np.empty(len(tables), np.int64)
    again = np.empty(len(tables), np.bool_)
    search_all(tables.a, tables.b, tables.cases, tables.controls, float(tau), step, signed, again)
    return signed, again


def by_table(tables: Tables, which: Any) -> dict[tuple[int, int], list[int]]:
    """Gather the places of equal tables, so that each table is searched once."""
    places: dict[tuple[int, int], list[int]] = {}
    for place in np.flatnonzero(which).tolist():
        key = (int(tables.a[place]), int(tables.b[place]))
        places.setdefault(key, []).append(place)
    return places
