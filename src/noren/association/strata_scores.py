"""How many people stand between stratified tables and the opposite decision, at least.

Maths
    The test is CMH > tau (`noren.association.strata_geometry`). The distance given here is never
    above the true one and often equal to it (`noren.association.strata_exact` states it); the
    score is the distance where significant, 1 minus it where not. Where a single stratum has both
    groups the true distance is known and given: CMH is (N - 1) / N times chi-squared, so it is the
    distance of `noren.association.distance` at tau N / (N - 1). Which of the two is taken depends
    on the public sizes alone.

Privacy (what questions build on this)
    One person's genotypes move one of the 2K counts by 1. The score is a whole number that this
    changes by at most 1, and it is at least 1 if and only if the test is significant
    (docs/proofs/association/strata.md). Comparisons that doubles cannot settle are done again in
    fractions.

Accuracy
    Against a feasible way to the opposite decision: practically equal from inside; from outside up
    to 16 % shorter where strata differ strongly.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from noren.association.distance import signed_distance
from noren.association.geometry import LARGEST_EXACT_PEOPLE
from noren.association.statistic import Counts, Flags, Tables, plain
from noren.association.strata import StratifiedTables
from noren.association.strata_exact import exact_stratified_distance
from noren.association.strata_shape import Shape, read_reachable_tau, shape_of

FEW = 4  # variants that are not worth loading a compiler for


def stratified_distance(tables: StratifiedTables, tau: object) -> Any:
    """Give a lower bound of the distance to the opposite decision, negative if not significant.

    Examples
    --------
    >>> stratified_distance(StratifiedTables([7, 5], [2, 1], (8, 6), (8, 10)), 3.84)
    4
    """
    threshold = read_reachable_tau(tables.cases, tables.controls, tau)
    sided = [bool(m1 and m2) for m1, m2 in zip(tables.cases, tables.controls, strict=True)]
    shape = shape_of(tables.cases, tables.controls, threshold)
    a, b = (counts.reshape(len(sided), -1)[sided] for counts in (tables.a, tables.b))
    found = one_stratum(shape, a[0], b[0]) if len(a) == 1 else several(shape, a, b)
    return plain(found.reshape(tables.a.shape[1:]))


def stratified_scores(tables: StratifiedTables, tau: object) -> Any:
    """Give the whole-number score that one person changes by at most 1.

    Examples
    --------
    >>> stratified_scores(StratifiedTables([0, 0], [0, 0], (8, 6), (8, 10)), 3.84)
    -2
    """
    signed = np.asarray(stratified_distance(tables, tau))
    return plain(np.where(signed > 0, signed, 1 + signed))


def one_stratum(shape: Shape, a: Counts, b: Counts) -> Counts:
    """Give the true distance where there is one stratum only."""
    (m1,), (m2,) = shape.m1, shape.m2
    tau = shape.tau * Fraction(m1 + m2, m1 + m2 - 1)
    return np.asarray(signed_distance(Tables(a, b, m1, m2), tau), dtype=np.int64)


def several(shape: Shape, a: Counts, b: Counts) -> Counts:
    """Search in doubles where that pays, and in fractions whatever is left."""
    signed, again = searched(shape, a, b)
    known: dict[tuple[bytes, bytes], int] = {}
    for place in np.flatnonzero(again).tolist():
        key = a[:, place].tobytes(), b[:, place].tobytes()
        if key not in known:
            counts = (tuple(side[:, place].tolist()) for side in (a, b))
            known[key] = exact_stratified_distance(shape, *counts)
        signed[place] = known[key]
    return signed


def searched(shape: Shape, a: Counts, b: Counts) -> tuple[Counts, Flags]:
    """Search in doubles where that pays, and mark what must be done exactly."""
    many = a.shape[1]
    signed, again = np.zeros(many, np.int64), np.ones(many, np.bool_)
    if many > FEW and shape.people <= LARGEST_EXACT_PEOPLE:
        from noren.association.strata_kernel import search_all

        search: Any = search_all
        search(a, b, *frozen(shape), signed, again)
    return signed, again


def frozen(shape: Shape) -> tuple[Any, ...]:
    """Give the public numbers as the compiled search takes them."""
    gains = shape.gains
    return (
        np.array(shape.m1, dtype=np.int64),
        np.array(shape.m2, dtype=np.int64),
        np.array([float(weight) for weight in shape.weights]),
        np.array([float(gain) for gain, _, _ in gains]),
        np.array([k for _, k, _ in gains], dtype=np.int64),
        np.array([by_case for _, _, by_case in gains]),
        np.array([float(point) for point in shape.grid]),
        float(shape.tau),
        float(shape.floor),
        shape.people,
    )
