"""Scores within strata and with private status, with one fault each: all must be caught."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from noren.association import Tables, cmh
from noren.association.distance import scores
from noren.association.private_status import ANY_RECORD, SAME_NUMBER
from noren.association.scoring import SAME_STATUS
from noren.association.status_exact import Margins, any_bound, exact_any_distance
from noren.association.strata import StratifiedTables
from noren.association.strata_exact import Place, from_inside, from_outside
from noren.association.strata_scores import stratified_scores
from noren.association.strata_shape import Shape, shape_of
from noren.audit.association_adjusted_cases import (
    Sizes,
    along_axes,
    neighbors,
    stratified_cells,
    stratified_tables,
)
from noren.audit.mutants import Mutant, caught
from noren.audit.row import AuditRow
from noren.privacy import Adjacency

CHANGE = "people in one score"
UNEVEN: tuple[Sizes, Sizes] = ((5, 1), (1, 3))


def rows() -> Iterator[AuditRow]:
    """Examine every mutant."""
    return caught(mutants())


def mutants() -> Iterator[Mutant]:
    """Give the faults; each claims that one move changes a score by at most 1."""
    yield Mutant(
        "association: Laplace on CMH", "the largest constant of a single stratum",
        SAME_STATUS, 1.0, single_stratum_constant,
    )  # fmt: skip
    for name, fault, adjacency, measure in (
        ("stratified", "a chord that begins at 0, in doubles", SAME_STATUS, chord_from_zero),
        ("stratified", "a stratum chosen by genotype", SAME_STATUS, strata_from_genotypes),
        ("swapped status", "the score of public status", SAME_NUMBER, public_score_swapped),
        ("any record", "the score of public status", ANY_RECORD, public_score_any),
        ("any record", "the bound only where the distance is large", ANY_RECORD, switched),
    ):
        yield fault_of(name, fault, adjacency, measure)


def fault_of(name: str, fault: str, adjacency: Adjacency, measure: object) -> Mutant:
    """Claim a change of at most 1."""
    assert callable(measure)
    return Mutant(f"association: {name} scores", fault, adjacency, 1.0, measure, CHANGE)


def single_stratum_constant() -> float:
    """Give the epsilon of noise made for the largest constant among single strata."""
    cases = controls = (5, 8)
    every = stratified_tables(stratified_cells(cases, controls), cases, controls)
    grid = np.reshape(cmh(every), (6, 6, 9, 9))
    moved = max(float(np.abs(np.diff(grid, axis=axis)).max()) for axis in range(4))
    alone = max((m1 + m2 - 1) / m2 * 2 * m1 / (m1 + 1) for m1, m2 in ((5, 5), (8, 8)))
    return moved / alone


class InDoubles(Place):
    """Counts of one variant whose evidence is a double, so that nothing below is exact."""

    def evidence(self, k: int) -> float:  # type: ignore[override]
        """Round L of one stratum."""
        return float(Place.evidence(self, k))


def chord_from_zero() -> float:
    """Let the first chord begin at 0, and compare in doubles: 0 > 0 up to rounding."""
    exact = shape_of(*UNEVEN, Fraction(5))
    rounded: dict[str, Any] = {
        "tau": float(exact.tau),
        "ratio": float(exact.ratio),
        "weights": tuple(map(float, exact.weights)),
        "grid": (0.0, *map(float, exact.grid)),
    }
    shape = replace(exact, **rounded)
    cells = [cell for cell in stratified_cells(*UNEVEN) if sum(cell) <= 3]
    found = {cell: rounded_score(shape, cell) for cell in cells}
    return float(
        max(abs(found[here] - found[there]) for here, there in neighbors(cells, along_axes(4)))
    )


def rounded_score(shape: Shape, cell: tuple[int, ...]) -> int:
    """Give the score of one variant in doubles."""
    here = InDoubles(shape, cell[0::2], cell[1::2])
    mirror = here.mirrored
    turned = InDoubles(shape, mirror.a, mirror.b)
    if here.significant:
        return from_outside(here if here.total_evidence > 0 else turned)
    return 1 - min(from_inside(here), from_inside(turned))


def strata_from_genotypes() -> float:
    """Put a case into another stratum because another of their genotypes changed.

    The sizes of the strata then change with one person's row.
    """
    worst = 0
    for a, b in itertools.product(*(itertools.product(range(3), range(n)) for n in (3, 10))):
        if a[0] > 0 and a[1] < 3:
            here = StratifiedTables(a, b, (2, 2), (3, 9))
            there = StratifiedTables((a[0] - 1, a[1] + 1), b, (1, 3), (3, 9))
            worst = max(worst, abs(stratified_scores(here, 4) - stratified_scores(there, 4)))
    return float(worst)


def public_score_swapped() -> float:
    """Swap a case and a control, and measure by the rows of people whose status is public."""
    a, b = np.mgrid[0:21, 0:21]
    found = np.asarray(scores(Tables(a.ravel(), b.ravel(), 20, 20), "3.84")).reshape(21, 21)
    return float(np.abs(found[1:, :-1] - found[:-1, 1:]).max())


def public_score_any() -> float:
    """Turn a control into a case, and measure by the rows of people whose status is public."""
    b = np.arange(1, 40)
    here = np.asarray(scores(Tables(0 * b, b, 1, 39), "3.84"))
    there = np.asarray(scores(Tables(0 * b + 1, b - 1, 2, 38), "3.84"))
    return float(np.abs(here - there).max())


def switched() -> float:
    """Take the true distance up to 100, else the bound."""
    found = []
    for n, m in ((377, 6724), (376, 6725)):
        table = Margins(20_000, n, m, 274, Fraction("29.716785"))
        true = exact_any_distance(table, 102)
        found.append(true if true <= 100 else any_bound(table))
    return float(abs(found[0] - found[1]))
