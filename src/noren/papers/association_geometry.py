"""What the paper says of sensitivities and of its affine map, measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from noren.association import Tables, chi_squared, tight_sensitivity, unit_circle_norm_squared
from noren.association.sensitivities import unit_circle_sensitivity, yu_sensitivity
from noren.association.statistic import Floats
from noren.papers.association_tables import TAU, all_tables
from noren.papers.rows import ERRATA, RIGHT, PaperRow, claim

SHARES = np.linspace(0, 1, 18)


def constants() -> Iterator[PaperRow]:
    """Compare the constants with exact sensitivities."""
    published = unit_circle_sensitivity(200, 200, TAU)
    yield claim(
        "200 cases, 200 controls", "sensitivity of the norm", round(published, 10),
        tight_sensitivity(200, 200, TAU), 0.0512754002097, 1e-12,
        "the published constant is the length of both columns together: the root of 2 too large",
    )  # fmt: skip
    for m1, m2 in ((3, 3), (5, 5), (4, 8), (10, 10)):
        ours = largest_step(m1, m2)
        constant = yu_sensitivity(m1, m2)
        yield claim(
            f"{m1} cases, {m2} controls", "largest change of chi-squared", round(constant, 10),
            ours, constant, 1e-9, "Y1 (and F) are exact: every pair of tables was compared", RIGHT,
        )  # fmt: skip


def largest_step(m1: int, m2: int) -> float:
    """Compare chi-squared over all neighbors."""
    found = np.asarray(chi_squared(all_tables(m1, m2))).reshape(m1 + 1, m2 + 1)
    return max(float(np.abs(np.diff(found, axis=axis)).max()) for axis in (0, 1))


def eigenvectors() -> Iterator[PaperRow]:
    """Measure the digits that the published form of T loses, against exact rationals."""
    for power, cases in ((10, 512), (20, 2), (25, 2)):
        tables = spread(cases, 2**power - cases)
        exact = np.array([norm_squared(*pair) for pair in pairs_of(tables)])
        found = np.asarray(unit_circle_norm_squared(tables, TAU))
        size = np.maximum(1, exact)
        ours, theirs = (
            float((np.abs(x - exact) / size).max()) for x in (found, by_eigenvectors(tables))
        )
        yield PaperRow(
            experiment=ERRATA,
            setting=f"N = 2^{power}, {cases} cases",
            quantity="largest relative rounding error of ||T||^2 by eigenvectors",
            published=None,
            ours=theirs,
            tolerance=None,
            ok=ours <= 1e-14 and theirs > 10 * ours,
            note=f"the form in u and v: {ours:.1e}; this one also divides by 0 at tau = N",
        )


def spread(m1: int, m2: int) -> Tables:
    """Give tables all over the box."""
    a, b = np.meshgrid(*(np.unique(np.rint(m * SHARES).astype(np.int64)) for m in (m1, m2)))
    return Tables(a.ravel(), b.ravel(), m1, m2)


def pairs_of(tables: Tables) -> list[tuple[int, int, int, int]]:
    """List tables as whole numbers of any length."""
    pairs = zip(tables.a.tolist(), tables.b.tolist(), strict=True)
    return [(a, b, tables.cases, tables.controls) for a, b in pairs]


def norm_squared(a: int, b: int, m1: int, m2: int) -> float:
    """Give ||T||^2 by exact arithmetic, rounded once."""
    people, x = m1 + m2, a * m2 - b * m1
    level = Fraction(people - 2 * (a + b), people)
    return float(level**2 + 4 * x * x / (Fraction(TAU) * people * m1 * m2))


def by_eigenvectors(tables: Tables) -> Floats:
    """Give ||T||^2 from the eigenvalues and eigenvectors of the ellipse, as printed."""
    n, tau = float(tables.people), float(Fraction(TAU))
    p, q = float(tables.cases), float(tables.controls)
    first, second = q * q * n + tau * p * q, p * p * n + tau * p * q
    cross, radius = p * q * (tau - n), tau * p * q * n * n / 4
    spread = math.sqrt((first - second) ** 2 + 4 * cross * cross)
    moved = np.stack([tables.a - p / 2, tables.b - q / 2], axis=1)
    total = np.zeros(len(tables))
    for value in ((first + second + spread) / 2, (first + second - spread) / 2):
        vector = np.array([value - second, cross])
        total += value / radius * (moved @ (vector / np.linalg.norm(vector))) ** 2
    return total
