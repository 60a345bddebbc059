"""What the association paper claims and a table, or a neighbor, refutes: rows that must fail.

The same errata stand, with the published figures, among the rows of `noren reproduce association`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product

import numpy as np

from noren.association import Tables, chi_squared, error_probability
from noren.association.as_published import PublishedDecisions
from noren.association.distance import scores
from noren.association.scoring import SAME_STATUS
from noren.association.sensitivities import yu_controls_public_sensitivity
from noren.audit.association_cases import every_table, laws, one_person_of, study, worst_ratio
from noren.audit.row import FAILS, AuditRow, finding
from noren.privacy import SUBSTITUTE, Adjacency

USUAL = "3.84"
EITHER = Adjacency(SUBSTITUTE)  # the paper's definition: genotypes and status


def rows() -> Iterator[AuditRow]:
    """Give every counter-example."""
    yield from accuracy()
    yield composition()
    yield from private_status()
    yield public_controls()
    yield missing_tables()


def counter_example(
    claim: str, claimed: float, measured: float, note: str, quantity: str,
    adjacency: object = SAME_STATUS, holds: bool | None = None,
) -> AuditRow:  # fmt: skip
    """State one refuted claim."""
    return finding(
        f"association, as published: {claim}", adjacency, claimed=claimed, measured=measured,
        method="exact", holds=holds, expected=FAILS, quantity=quantity,
        note=f"an erratum of the paper: {note}",
    )  # fmt: skip


def accuracy() -> Iterator[AuditRow]:
    """Refute three claims about how often the unit circle errs."""
    million = 500_000, 500_000
    for (a, b), bound in (((6, 0), 1.50e-8), ((0, 0), 1.7e-13)):
        wrong = float(error_probability(Tables(a, b, *million), USUAL, "0.1", "unit-circle"))
        note = "the proof reverses 4 phi (1 - phi) <= 1; rare carriers break it"
        yield counter_example(f"theorem 4.4 at table ({a}, {b}), N = 10^6", bound, wrong, note,
                              "error", "none")  # fmt: skip
    worst = Tables([7, 0], [0, 0], 2**23, 2**23)
    wrong = float(np.max(error_probability(worst, USUAL, "0.1", "unit-circle")))
    least = 1 / (1 + math.exp(0.1 * math.ceil(3.84 + 2.16)))
    note = f"no private decision is below {least:.4f} on both of two tables, at any N"
    yield counter_example("worst case, N = 2^24", 1e-4, wrong, note, "error", "none")
    rare = Tables(list(range(1, 11)), [0] * 10, 2**19, 2**19)
    circle, older = (float(np.mean(error_probability(rare, USUAL, "0.1", method)))
                     for method in ("unit-circle", "yu"))  # fmt: skip
    note = "where few carry the variant, the older constants err less"
    yield counter_example("the unit circle errs least, N = 2^20, rare carriers", older, circle,
                          note, "error", "none")  # fmt: skip


def composition() -> AuditRow:
    """Enumerate two published bits about the same people."""
    design = study((6, 6))
    asked = PublishedDecisions(design=design, variants=2, epsilon_per_test=Fraction(1),
                               tau=Fraction(2), method="unit-circle-tight")  # fmt: skip
    base = ((6, 3), (6, 3))
    law = laws(asked, design)
    pairs = [
        pair for other in one_person_of(design, base) for pair in ((base, other), (other, base))
    ]
    note = "a person's genotypes feed all tests, so prices add up (311 at 0.5 cost 155.5)"
    return counter_example("epsilon of one test, spent on two", 1.0, worst_ratio(law, pairs), note,
                           "epsilon")  # fmt: skip


def private_status() -> Iterator[AuditRow]:
    """Let status change too, as the paper's definition of neighbors does."""
    for people in (8, 12):
        note = "the definition lets status change, the proof does not; times epsilon"
        yield counter_example(f"epsilon when status changes too, N = {people}", 1.0,
                              float(largest_step(people)), note, "epsilon", EITHER)  # fmt: skip


def largest_step(people: int) -> int:
    """Give the largest change of the score when one record is replaced by any other."""
    known = {
        m1: dict(zip(every_table(study((m1, people - m1))),
                     np.asarray(scores(all_of(m1, people - m1), 2)).tolist(), strict=True))
        for m1 in range(1, people)
    }  # fmt: skip

    def score(a: int, b: int, c: int, d: int) -> int | None:
        return known[a + c][a, b] if 0 < a + c < a + b + c + d else None

    worst = 0
    for cells in product(range(people + 1), repeat=4):
        here = score(*cells) if sum(cells) == people else None
        if here is None:
            continue
        for left, joined in permutations(range(4), 2):
            moved = [n - (i == left) + (i == joined) for i, n in enumerate(cells)]
            there = score(*moved) if min(moved) >= 0 else None
            worst = max(worst, 0 if there is None else abs(here - there))
    return worst


def all_of(cases: int, controls: int) -> Tables:
    """Give every table of two groups, as `every_table` lists them."""
    a, b = zip(*every_table(study((cases, controls))), strict=True)
    return Tables(a, b, cases, controls)


def public_controls() -> AuditRow:
    """Compare densities of a released number whose noise depends on a private control."""

    def log_density(b: int) -> float:
        tables = Tables(5, b, 10, 10)
        scale = float(yu_controls_public_sensitivity(tables))
        return -abs(200 - float(chi_squared(tables))) / scale - math.log(2 * scale)

    found = abs(log_density(5) - log_density(6))
    note = "at output 200, one control changed; without bound in the tail"
    return counter_example("Y2 released as a number, its controls private", 1.0, found, note,
                           "epsilon")  # fmt: skip


def missing_tables() -> AuditRow:
    """Look for the synthetic tables of the smallest study."""
    largest = float(np.max(chi_squared(all_of(2, 2))))
    note = "chi-squared is at most N, so such tables do not exist"
    return counter_example("synthetic tables with chi-squared 10, N = 4", 10.0, largest, note,
                           "chi-squared", "none", holds=largest >= 10)  # fmt: skip
