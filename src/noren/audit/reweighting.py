"""Evidence for reweighting: each question's own code over all neighbours, exactly.

Integer noise is replaced by chosen integers, so what each question releases without noise is read
off its own code, bit for bit, for every pair of neighbouring tables of a small universe: rows far
out, on a centre, between, and missing. The choice of an adaptive question is enumerated, the draws
that it really asks for are added up, and the whole is seen from outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import chi2

from noren.audit import reweighting_faults
from noren.audit.black_box import audit_callable
from noren.audit.cases import ADDED, REPLACED
from noren.audit.reweighting_adaptive import choice_loss, small_adaptive, spent
from noren.audit.reweighting_cases import (
    BOTH,
    Table,
    euclidean_price,
    levels,
    logistic,
    normalized,
    published,
    tables,
    whitened,
)
from noren.audit.row import AuditRow, finding
from noren.mechanisms.ball import draw_lattice
from noren.noise import Noise
from noren.reweighting import BasisSums

FALSE_ALARM = 1e-6


def rows(quick: bool) -> Iterator[AuditRow]:
    """Examine every question of reweighting."""
    yield from additive_rows()
    yield from euclidean_rows()
    yield lattice_row(1500 if quick else 20_000)
    yield from adaptive_rows(200 if quick else 4000)
    yield from seen_from_outside(2000 if quick else 20_000)
    yield from reweighting_faults.rows()


def additive_rows() -> Iterator[AuditRow]:
    """Find the exact price of sums by running them with chosen noise."""
    for adjacency in BOTH:
        for name, make in (("bumps", normalized), ("levels", levels), ("tables", tables)):
            yield from priced(name, make(adjacency, epsilon=1))
            yield from priced(name, make(adjacency, rho="0.125"))
        yield from priced("bumps, float32", normalized(adjacency, "float32", epsilon=1))
        yield from priced("whitened", whitened(adjacency, rho="0.125"))
    yield from priced("method B", published())


def priced(name: str, table: Table) -> Iterator[AuditRow]:
    """State what was found, in each unit that the question claims."""
    epsilon, rho = table.exact()
    claim = table.question.guarantee
    note = "its own code on every pair of neighbours; chosen noise reappears in the answer"
    for quantity, claimed, measured in (
        ("epsilon", claim.epsilon, epsilon), ("rho", claim.rho, rho),
    ):  # fmt: skip
        if claimed is not None:
            yield finding(
                f"reweighting: {table.question.kind}, {name}, {quantity} price",
                claim.adjacency, claimed=float(claimed), measured=measured, method="exact",
                quantity=quantity, note=note,
            )  # fmt: skip


def euclidean_rows() -> Iterator[AuditRow]:
    """Find the longest move of what the lattice law covers."""
    note = "the longest move over every pair of neighbours, in units of the noise's scale"
    for name, table in (
        *((f"whitened, {adjacency.word}", whitened(adjacency, epsilon=1)) for adjacency in BOTH),
        ("by its longest move", logistic()),
    ):
        yield finding(
            f"reweighting: {table.question.kind}, {name}", table.question.adjacency, claimed=1.0,
            measured=euclidean_price(table), method="exact", note=note,
        )  # fmt: skip


def lattice_row(draws: int) -> AuditRow:
    """Compare draws of the lattice law with its exact masses."""
    noise, scale = Noise(), Fraction(2)
    drawn = np.array([draw_lattice(scale, 2, noise) for _ in range(draws)])
    places = np.arange(-80, 81)
    masses = np.exp(-np.sqrt(places[:, None] ** 2 + places**2) / float(scale))
    masses /= masses.sum()
    cells = [(a, b) for a in range(-3, 4) for b in range(-3, 4)]
    wanted = np.array([masses[a + 80, b + 80] for a, b in cells])
    found = np.array([(drawn == cell).all(axis=1).sum() for cell in cells])
    wanted, found = np.append(wanted, 1 - wanted.sum()), np.append(found, draws - found.sum())
    statistic = float(((found - wanted * draws) ** 2 / (wanted * draws)).sum())
    p = float(chi2.sf(statistic, len(cells)))
    return finding(
        "reweighting: logistic-ratio, its lattice law in two coordinates", "none",
        claimed=FALSE_ALARM, measured=p, method="law", quantity="p-value",
        holds=p > FALSE_ALARM, note=f"{draws} draws",
    )  # fmt: skip


def adaptive_rows(draws: int) -> Iterator[AuditRow]:
    """Examine the choice, the draws that are asked for, and the whole."""
    for adjacency in BOTH:
        yield finding(
            "reweighting: adaptive-moments, choice of a pair of columns", adjacency, claimed=1.0,
            measured=choice_loss(adjacency), method="exact",
            note="the law of the choice, over every pair of neighbours of a small universe",
        )  # fmt: skip
        question, data, _ = small_adaptive(adjacency)
        yield finding(
            "reweighting: adaptive-moments, all draws that its code asks for", adjacency,
            claimed=1.0, measured=spent(question, data), method="exact",
            note="each draw's sensitivity over its scale, added up",
        )  # fmt: skip
    question, data, neighbour = small_adaptive(ADDED)
    noise = Noise()
    yield audit_callable(
        lambda given: flat(question.answer(given, noise)),
        data,
        neighbour,
        epsilon=1,
        draws=draws,
        alpha=FALSE_ALARM,
        name="reweighting: adaptive-moments, from outside",
        adjacency=ADDED,
        note=f"{draws} draws of each; a right mechanism fails with probability {FALSE_ALARM:g}",
    )


def flat(release: Any) -> list[float]:
    """Give the released numbers of an adaptive release."""
    first = release.stages[0]
    return [float(release.count or 0), float(sum(first.places)), *map(float, first.release.steps)]


def steps_of(question: Any, noise: Noise, statistic: Any) -> Any:
    """Give the released integers."""
    return question.answer(statistic, noise).steps


def seen_from_outside(draws: int) -> Iterator[AuditRow]:
    """Run single releases on the neighbours that show most, and bound their epsilon."""
    noise = Noise()
    for name, table, data, neighbour in (
        ("bumps", normalized(ADDED, epsilon=1), [[50.0]], np.zeros((0, 1))),
        ("bumps", normalized(REPLACED, epsilon=1), [[50.0], [0.0]], [[-50.0], [0.0]]),
        ("whitened", whitened(REPLACED, epsilon=1), [[9.0, 9.0]] * 2, [[9.0, 9.0], [-9.0, 0.0]]),
    ):
        question = table.question
        first, second = (BasisSums.of(np.array(x), question.basis) for x in (data, neighbour))
        count = draws if name == "bumps" else draws // 4
        yield audit_callable(
            partial(steps_of, question, noise),
            first,
            second,
            epsilon=1,
            draws=count,
            alpha=FALSE_ALARM,
            name=f"reweighting: basis-moments, {name}, from outside",
            adjacency=question.adjacency,
            note=f"{count} draws of each",
        )
