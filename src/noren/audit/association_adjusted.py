"""Evidence for scores within strata and with private status: whole small studies, and faults.

Every score must change by at most 1 between neighbors (and does change by 1 somewhere), be at
least 1 exactly where the test is significant, and never claim a distance above the true one, found
by breadth-first search over all tables. Then the price of the noise over all neighbors is 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from noren.association import (
    AnyStatus,
    DistanceScores,
    Strata,
    StratifiedTables,
    SwappedStatus,
    Tables,
    cmh,
    largest_cmh,
    private_status_distance,
    stratified_distance,
)
from noren.association.private_status import ANY_RECORD, SAME_NUMBER
from noren.association.scoring import SAME_STATUS
from noren.association.status import StatusTables
from noren.association.status_scores import any_distances
from noren.association.strata_geometry import cmh_sensitivity
from noren.audit import association_adjusted_faults
from noren.audit.additive import worst_cost
from noren.audit.association_adjusted_cases import (
    RECORDS,
    SWAPS,
    Cell,
    Cells,
    along_axes,
    by_breadth,
    every_study,
    largest_change,
    neighbors,
    stratified_cells,
    stratified_tables,
)
from noren.audit.row import AuditRow, finding
from noren.noise import Noise
from noren.privacy import Adjacency

Sizes: TypeAlias = tuple[int, ...]
CHANGE = "people in one score"
STRATA: tuple[tuple[Sizes, Sizes], ...] = (
    ((3, 4), (3, 4)),
    ((2, 5), (6, 3)),
    ((1, 2, 3), (4, 3, 1)),
    ((4,), (5,)),
    ((1, 6), (7, 6)),
    ((2, 3, 2), (2, 2, 4)),
    ((5, 8), (5, 8)),
    ((10, 12), (9, 6)),
)
QUICK = 3
TAUS = ("1", "3.84", "6.635")


def rows(quick: bool) -> Iterator[AuditRow]:
    """Examine the stratified scores, then those with private status, then faults."""
    yield from within_strata(STRATA[:QUICK] if quick else STRATA)
    yield from swapped(((6, 6), (3, 9)) if quick else ((6, 6), (3, 9), (12, 12), (1, 11), (12, 5)))
    yield from any_record((12,) if quick else (12, 20, 24))
    yield from bounds((20,) if quick else (12, 20, 30))
    yield from prices()
    yield sensitivity(STRATA[:2] if quick else (*STRATA[:3], *STRATA[5:7]))
    yield from association_adjusted_faults.rows()


def within_strata(shapes: tuple[tuple[Sizes, Sizes], ...]) -> Iterator[AuditRow]:
    """Look at every table of small strata."""
    change = over = wrong = tables = 0
    for cases, controls in shapes:
        for tau in (Fraction(tau) for tau in TAUS):
            if tau < largest_cmh(cases, controls):
                cells = stratified_cells(cases, controls)
                every = stratified_tables(cells, cases, controls)
                signed = dict(zip(cells, stratified_distance(every, tau).tolist(), strict=True))
                found = examined(signed, along_axes(2 * len(cases)), significant(every, tau))
                change, over, wrong = (
                    max(change, found[0]), max(over, found[1]), wrong + found[2],
                )  # fmt: skip
                tables += len(cells)
    yield from three("stratified", SAME_STATUS, change, over, wrong, f"{tables} table sets")


def significant(tables: StratifiedTables, tau: Fraction) -> list[bool]:
    """Decide every table by the plain definition, in fractions."""
    found = []
    for counts in np.vstack([tables.a, tables.b]).T.tolist():
        left = right = Fraction(0)
        a, b = counts[: tables.strata], counts[tables.strata :]
        for x, y, m1, m2 in zip(a, b, tables.cases, tables.controls, strict=True):
            size, n = m1 + m2, x + y
            left += Fraction(x * m2 - y * m1, size)
            right += Fraction(m1 * m2 * n * (size - n), size * size * (size - 1))
        found.append(left * left > tau * right)
    return found


def examined(signed: Cells, moves: tuple[Cell, ...], decided: list[bool]) -> tuple[int, int, int]:
    """Give the largest change, by how much a distance is too large, and wrong signs."""
    wrong = sum((d > 0) != own for d, own in zip(signed.values(), decided, strict=True))
    true = by_breadth(dict(zip(signed, decided, strict=True)), moves)
    over = max(abs(d) - true[cell] for cell, d in signed.items())
    return largest_change(signed, moves), over, wrong


def three(
    name: str, adjacency: Adjacency, change: int, over: int, wrong: int, note: str
) -> Iterator[AuditRow]:
    """State the three findings about one kind of score."""
    for what, claimed, measured, quantity in (
        ("change by one move", 1, change, CHANGE),
        ("distance above the true one", 0, max(0, over), "people"),
        ("scores that contradict the decision", 0, wrong, "tables"),
    ):
        yield finding(
            f"association: {name} scores, {what}", adjacency, claimed=claimed, measured=measured,
            method="exact", quantity=quantity, note=f"all of {note}, breadth-first search",
            holds=measured == claimed,
        )  # fmt: skip


def swapped(shapes: tuple[tuple[int, int], ...]) -> Iterator[AuditRow]:
    """Look at every table of small groups whose statuses may be swapped."""
    change = over = wrong = tables = 0
    for m1, m2 in shapes:
        for tau in TAUS:
            cells = list(itertools.product(range(m1 + 1), range(m2 + 1)))
            a, b = np.array(cells).T
            found = np.asarray(private_status_distance(Tables(a, b, m1, m2), tau, "swap"))
            signed: Cells = dict(zip(cells, found.tolist(), strict=True))
            plain = [chi_passes(x, x + y, m1, m1 + m2, Fraction(tau)) for x, y in cells]
            own = examined(signed, SWAPS, plain)
            change, over, wrong = max(change, own[0]), max(over, own[1]), wrong + own[2]
            tables += len(cells)
    yield from three("swapped status", SAME_NUMBER, change, over, wrong, f"{tables} tables")


def chi_passes(a: int, n: int, m: int, people: int, tau: Fraction) -> bool:
    """Decide chi-squared > tau by its definition."""
    product = n * (people - n) * m * (people - m)
    return product > 0 and Fraction(people * (a * people - n * m) ** 2, product) > tau


def studies(people: int, tau: str, deepest: int | None) -> Cells:
    """Give the signed distance of every study of so many people, by its four cells."""
    found: Cells = {}
    for cases, cells in every_study(people).items():
        a = np.array([cell[0] for cell in cells])
        n = np.array([cell[0] + cell[1] for cell in cells])
        signed = any_distances(a, n, cases, people, Fraction(tau), deepest)
        found |= dict(zip(cells, signed.tolist(), strict=True))
    return found


def any_record(sizes: tuple[int, ...]) -> Iterator[AuditRow]:
    """Look at every study of some people, any record of which may change."""
    change = over = wrong = tables = 0
    for people in sizes:
        for tau in TAUS:
            signed = studies(people, tau, None)
            plain = [chi_passes(c[0], c[0] + c[1], c[0] + c[2], people, Fraction(tau))
                     for c in signed]  # fmt: skip
            own = examined(signed, RECORDS, plain)
            change, over, wrong = max(change, own[0]), max(over, own[1]), wrong + own[2]
            tables += len(signed)
    yield from three("any record", ANY_RECORD, change, over, wrong, f"{tables} studies")


def bounds(sizes: tuple[int, ...]) -> Iterator[AuditRow]:
    """Look at the score of large studies: the bound alone, and with the distance cut at 3."""
    for deepest, name in ((1, "bound alone"), (3, "bound or distance cut at 3")):
        change = over = tables = 0
        for people, tau in itertools.product(sizes, TAUS):
            signed, true = studies(people, tau, deepest), studies(people, tau, None)
            change = max(change, largest_change(signed, RECORDS))
            over = max(over, max(abs(d) - abs(true[cell]) for cell, d in signed.items()))
            tables += len(signed)
        for row in three(f"any record ({name})", ANY_RECORD, change, over, 0, f"{tables} studies"):
            if row.quantity != "tables":
                yield row


def prices() -> Iterator[AuditRow]:
    """Price the noise of the public question over all neighbors of one small study each."""
    strata = ((3, 2), (2, 3))
    designs: tuple[tuple[Any, Callable[[Cell], Any], list[Cell], tuple[Cell, ...]], ...] = (
        (
            Strata(cases=strata[0], controls=strata[1]),
            lambda cell: stratified_tables([cell], *strata),
            stratified_cells(*strata),
            along_axes(4),
        ),
        (
            SwappedStatus(cases=5, controls=6),
            lambda cell: Tables([cell[0]], [cell[1]], 5, 6),
            list(itertools.product(range(6), range(7))),
            SWAPS,
        ),
        (
            AnyStatus(people=9),
            lambda c: StatusTables([c[0]], [c[1]], c[0] + c[2], c[1] + c[3]),
            [cell for cells in every_study(9).values() for cell in cells],
            RECORDS,
        ),
    )
    for design, made, cells, moves in designs:
        asked = DistanceScores(
            design=design, variants=1, epsilon=Fraction(1), mode="agreement", tau=Fraction(2)
        )
        pairs = set(neighbors(cells, moves))
        epsilon, rho = worst_cost(partial(answer_to, asked, made), pairs)
        for quantity, claimed, measured in (
            ("epsilon", 1.0, epsilon), ("rho", asked.guarantee.rho, rho),
        ):  # fmt: skip
            yield finding(
                f"association: distance-scores, {design.kind}", design.adjacency,
                claimed=float(claimed or 0), measured=float(measured), method="exact",
                quantity=quantity, holds=measured <= float(claimed or 0) * (1 + 1e-9),
                note=f"all pairs of neighbors among {len(cells)} tables",
            )  # fmt: skip


def answer_to(asked: DistanceScores, made: Callable[[Cell], Any], cell: Cell, noise: Noise) -> Any:
    """Ask of one table."""
    return asked.answer(made(cell), noise)


def sensitivity(shapes: tuple[tuple[Sizes, Sizes], ...]) -> AuditRow:
    """Compare the largest change of CMH with its proved bound."""
    worst = 0.0
    for cases, controls in shapes:
        every = stratified_tables(stratified_cells(cases, controls), cases, controls)
        sides = [size + 1 for pair in zip(cases, controls, strict=True) for size in pair]
        grid = np.reshape(cmh(every), sides)
        moved = max(np.abs(np.diff(grid, axis=axis)).max() for axis in range(grid.ndim))
        worst = max(worst, float(moved) / cmh_sensitivity(cases, controls))
    return finding(
        "association: sensitivity of the CMH statistic", SAME_STATUS, claimed=1.0, measured=worst,
        method="exact", quantity="of the bound", note=f"all tables of {len(shapes)} shapes",
    )  # fmt: skip
