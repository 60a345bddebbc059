"""How many people stand between a table and the opposite decision, where status is private.

Maths
    The test is chi-squared > tau, with the table's own margins. Two promises, neither of which
    implies the other:
        "swap"   the number of cases is public, who is one is not. Neighbors differ in one person's
                 whole row; if that changes the number of cases, another's status is flipped back.
                 The distance is the true one.
        "any"    only the number of people is public. Neighbors differ in one whole record. The
                 distance is the true one up to 2,000 people (a public number); above that it is
                 max(bound, min(true distance, 100)), the bound being one of the true distance.
    How each is found: `noren.association.status_exact`.

Privacy (what questions build on this)
    The true distance changes by at most 1 between neighbors, whatever the test. So does the bound
    (docs/proofs/association/private_status.md), so does a maximum of two such numbers, and a
    minimum with a constant. Taking one or the other by how large the distance is would not be
    private. Comparisons that doubles cannot settle are done again in whole numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from noren.association.geometry import LARGEST_EXACT_PEOPLE, read_tau
from noren.association.statistic import Counts, Flags, Tables, plain
from noren.association.status import StatusTables
from noren.association.status_exact import (
    Margins,
    any_bound,
    exact_any_distance,
    exact_swap_distance,
)
from noren.errors import NotPrivate, ParameterError

SWAP, ANY = "swap", "any"
FEW = 4  # tables that are not worth loading a compiler for
EXACT_PEOPLE = 2_000  # up to here "any" is the true distance
DEEPEST = 100  # to which the true distance is searched for more people


def private_status_distance(tables: Tables | StatusTables, tau: object, kind: str) -> Any:
    """Give the distance to the opposite decision, negative where not significant.

    Parameters
    ----------
    tables
        Counts of people, carriers or not.
    tau
        The threshold of chi-squared, below the number of people.
    kind
        "swap" (the number of cases is public) or "any" (only the number of people is).

    Examples
    --------
    >>> table = Tables(130, 95, 200, 200)
    >>> private_status_distance(table, 3.84, "swap"), private_status_distance(table, 3.84, "any")
    (8, 14)
    """
    if kind not in (SWAP, ANY):
        raise ParameterError("kind", repr(kind), "'swap' or 'any'", "They are different promises.")
    if isinstance(tables, Tables) and tables.step != 1:
        raise NotPrivate(
            "Alleles cannot be counted where status is private: a person brings two, and no score "
            "is proved for that. Use the coding carrier, recessive or heterozygous."
        )
    threshold = read_reachable(tau, tables.people)
    a, b = (np.atleast_1d(counts) for counts in (tables.a, tables.b))
    if kind == SWAP and tables.cases and tables.controls:
        found = swap_distances(a, b, tables.cases, tables.controls, threshold)
    elif kind == SWAP:
        raise ParameterError("cases and controls", "one of them 0", "both at least 1 for 'swap'")
    else:
        found = any_distances(a, a + b, tables.cases, tables.people, threshold)
    return plain(found.reshape(tables.a.shape))


def private_status_scores(tables: Tables | StatusTables, tau: object, kind: str) -> Any:
    """Give the whole-number score that neighbors change by at most 1.

    Examples
    --------
    >>> private_status_scores(Tables([20, 0], [0, 0], 20, 20), 3.84, "swap").tolist()
    [7, -3]
    """
    signed = np.asarray(private_status_distance(tables, tau, kind))
    return plain(np.where(signed > 0, signed, 1 + signed))


def read_reachable(tau: object, people: int) -> Fraction:
    """Read a threshold; no table has a larger chi-squared than there are people."""
    threshold = read_tau(tau)
    if threshold >= people:
        raise ParameterError(
            "tau", tau, f"below the number of people, {people}",
            "No table can pass it, so the decision is 0 for certain.",
        )  # fmt: skip
    return threshold


def swap_distances(a: Counts, b: Counts, cases: int, controls: int, tau: Fraction) -> Counts:
    """Measure "swap": in doubles, and again in whole numbers where they cannot tell."""
    signed, again = untried(len(a))
    if len(a) > FEW and cases + controls <= LARGEST_EXACT_PEOPLE:
        from noren.association.status_kernel import search_swaps

        search_swaps(a, b, cases, controls, float(tau), signed, again)
    for (x, y), places in same(a, b, again).items():
        signed[places] = exact_swap_distance(x, y, cases, controls, tau)
    return signed


def any_distances(
    a: Counts, n: Counts, m: int, people: int, tau: Fraction, deepest: int | None = None
) -> Counts:
    """Measure "any": in doubles, and again in whole numbers where they cannot tell."""
    cap = deepest or (people + 1 if people <= EXACT_PEOPLE else DEEPEST)
    signed, again = untried(len(a))
    if len(a) > FEW and people <= LARGEST_EXACT_PEOPLE // 2:
        from noren.association.status_kernel import search_any

        search_any(a, n, m, people, float(tau), cap, signed, again)
    for (x, carriers), places in same(a, n, again).items():
        table = Margins(people, carriers, m, x, tau)
        bound = any_bound(table)
        deeper = bound if abs(bound) >= cap else exact_any_distance(table, cap)
        signed[places] = max(bound, deeper, key=abs)
    return signed


def untried(many: int) -> tuple[Counts, Flags]:
    """Give room for distances, all of them still to be measured."""
    return np.zeros(many, np.int64), np.ones(many, np.bool_)


def same(first: Counts, second: Counts, which: Flags) -> dict[tuple[int, int], list[int]]:
    """Gather the places of equal tables, so that each table is measured once."""
    places: dict[tuple[int, int], list[int]] = {}
    for place in np.flatnonzero(which).tolist():
        places.setdefault((int(first[place]), int(second[place])), []).append(place)
    return places
