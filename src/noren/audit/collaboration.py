"""Evidence for collaboration: exact densities, distances on the grid, published claims, faults."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noren.audit import collaboration_faults, collaboration_publication, collaboration_sums
from noren.audit.black_box import audit_callable
from noren.audit.collaboration_densities import (
    softmax_worst_delta,
    softmax_worst_loss,
    worst_delta,
    worst_loss,
)
from noren.audit.row import FAILS, AuditRow, finding
from noren.collaboration.approximate_minimum import ApproximateMinimum
from noren.collaboration.counterexamples import kst_log_ratio, pair_log_ratio
from noren.collaboration.gaussian_calibration import gaussian_mu, tight_gaussian_delta
from noren.collaboration.logistic import LogisticTraining
from noren.collaboration.moments import MomentLearner
from noren.collaboration.pure_calibration import cms_calibration, tight_pure_epsilon
from noren.collaboration.softmax import curvature_price, softmax_delta
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.task import Task
from noren.noise import Noise, public
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency

ADDED, REPLACED = Adjacency(ADD_REMOVE), Adjacency(SUBSTITUTE)
INTEGRAL = 1e-4  # relative error of the integrals
PAIRS = ((1.0, 2000, 0.01, 200_000), (1.0, 400, 0.03, 20_000), (0.1, 2000, 0.01, 200_000))
TASK = Task.of_bounds([-1], [1], classes=("no", "yes"), intercept=0, scale=1)


def rows(quick: bool) -> Iterator[AuditRow]:
    """Examine every way to train, and what is published of combinations."""
    yield from pure_prices()
    yield from gaussian_prices()
    yield from published_claims()
    yield from softmax_prices()
    yield from collaboration_sums.rows()
    yield solver_gap()
    yield from seen_from_outside(600 if quick else 30_000)
    yield from collaboration_faults.rows()
    yield from collaboration_publication.rows(quick)


def pure_prices() -> Iterator[AuditRow]:
    """Hold exact densities of one feature against the tight pure price."""
    for rate, ridge in ((0.5, 0.5), (0.5, 2.0), (1.0, 0.3), (2.0, 5.0), (0.05, 0.1)):
        pair = pair_log_ratio(rate, ridge, 6000, 0.01, 2_000_000)
        for adjacency, measured, note in (
            (ADDED, worst_loss(rate, ridge), "exact densities of one feature, six data sets"),
            (REPLACED, pair, "exact densities of two features at the worst output"),
        ):
            claimed = tight_pure_epsilon(rate, ridge, adjacency)
            yield finding(
                f"collaboration: logistic-training, rate {rate}, ridge {ridge}",
                adjacency,
                claimed=claimed,
                measured=measured,
                method="exact",
                holds=measured <= claimed * (1 + 1e-9),
                note=note,
            )


def gaussian_prices() -> Iterator[AuditRow]:
    """Hold exact deltas of one feature against the joint bound, and against groups."""
    for epsilon in (0.5, 1.0):
        for ridge in (0.3, 1.0, 5.0):
            sigma = 1 / gaussian_mu(epsilon, "1e-3")
            claimed = tight_gaussian_delta(epsilon, sigma, ridge)
            yield exact_delta(ADDED, epsilon, sigma, ridge, claimed)
            pair = tight_gaussian_delta(epsilon / 2, sigma, ridge) * (1 + math.exp(epsilon / 2))
            yield exact_delta(REPLACED, epsilon, sigma, ridge, min(1.0, pair))


def exact_delta(
    adjacency: Adjacency, epsilon: float, sigma: float, ridge: float, claimed: float
) -> AuditRow:
    """State the exact delta of one feature beside the claim."""
    measured = worst_delta(epsilon, sigma, ridge, adjacency is REPLACED)
    return finding(
        f"collaboration: logistic-training, epsilon {epsilon}, sigma {sigma:.4g}, ridge {ridge}",
        adjacency,
        claimed=claimed,
        measured=measured,
        method="exact",
        holds=measured <= claimed * (1 + INTEGRAL),
        quantity="delta",
        note="exact densities of one feature, six data sets",
    )


def published_claims() -> Iterator[AuditRow]:
    """Show a printed claim to be wrong, how tight the right one is, and what is merely loose."""
    for epsilon, distance, angle, count in PAIRS:
        measured = kst_log_ratio(epsilon, distance, angle, count)
        true = tight_pure_epsilon(epsilon / 2, 1 / (2 * epsilon), REPLACED)
        setting = f"rate epsilon/2, ridge 1/(2 epsilon), epsilon {epsilon}"
        name = f"collaboration: published-training, {setting}"
        note = f"densities at one output of two data sets of {count + 1} rows"
        given: dict[str, Any] = {"measured": measured, "method": "exact", "note": note}
        yield finding(name, REPLACED, claimed=epsilon, expected=FAILS, **given)
        yield finding(f"{name}, true price", REPLACED, claimed=true, **given)
    yield finding(
        "collaboration: published-training, rate epsilon/2, ridge 1/(2 epsilon), epsilon 1",
        ADDED, claimed=1.0, measured=tight_pure_epsilon(0.5, 0.5, ADDED), method="exact",
        note="valid for added and removed rows, and loose",
    )  # fmt: skip
    for epsilon in (0.1, 0.3, 0.5, 0.9, 1.9):
        ridge, rate = cms_calibration(50, epsilon, 0.02)
        yield finding(
            f"collaboration: published-training, 50 rows, ridge 0.02 a row, epsilon {epsilon}",
            REPLACED, claimed=epsilon, measured=tight_pure_epsilon(rate, ridge, REPLACED),
            method="exact", note="valid and loose: the exact price",
        )  # fmt: skip


def softmax_prices() -> Iterator[AuditRow]:
    """Hold exact densities of softmax (three classes, one row against none) against its prices."""
    for rate, ridge in ((0.5, 1.0), (1.0, 4.0), (0.2, 20.0)):
        yield finding(
            f"collaboration: softmax-training, rate {rate}, ridge {ridge}",
            ADDED,
            claimed=math.sqrt(2) * rate + curvature_price(3, ridge),
            measured=softmax_worst_loss(rate, ridge),
            method="exact",
            note="exact densities on a plane, one row against none",
        )
    for epsilon, sigma, ridge in ((1.0, 5.0, 4.0), (1.0, 3.0, 1.2), (0.5, 8.0, 10.0)):
        claimed = softmax_delta(epsilon, sigma, ridge, 3)
        measured = softmax_worst_delta(epsilon, sigma, ridge)
        yield finding(
            f"collaboration: softmax-training, epsilon {epsilon}, sigma {sigma}, ridge {ridge}",
            ADDED, claimed=claimed, measured=measured, method="exact", quantity="delta",
            holds=measured <= claimed * (1 + INTEGRAL),
            note="exact densities on a plane, one row against none",
        )  # fmt: skip


def solver_gap() -> AuditRow:
    """Price solutions that are as far apart as the tolerance allows by the noise that hides it."""
    plan = ApproximateMinimum.planned(10, 1.2, 5000, 40.0, Fraction(1))
    generator, worst = public.generator(5), 0
    for _ in range(2000):
        point, way = generator.normal(size=10), generator.normal(size=10)
        moved = point + way * (2 * plan.tolerance / plan.ridge / np.sqrt(way @ way))
        steps = [np.floor(np.ldexp(t, -plan.exponent) + 0.5) for t in (point, moved)]
        worst = max(worst, int(np.abs(steps[0] - steps[1]).sum()))
    return finding(
        "collaboration: logistic-training, the noise that hides the solver",
        "two solutions within the tolerance of one minimum",
        claimed=float(plan.solver_epsilon),
        measured=float(plan.solver_epsilon) * worst / plan.lattice,
        method="exact",
        note="2000 pairs of solutions as far apart as the tolerance allows",
    )


def seen_from_outside(draws: int) -> Iterator[AuditRow]:
    """Audit public answers: one row against none, and against its opposite."""
    some = TrainingRows.of(TASK, {"x0": [1.0], "y": ["yes"]})
    none, opposite = TrainingRows.empty(TASK), TrainingRows.of(TASK, {"x0": [1.0], "y": ["no"]})
    ways: tuple[tuple[str, Any, Fraction], ...] = (
        ("logistic-training, delta 0", LogisticTraining, Fraction(0)),
        ("logistic-training, delta 0.01", LogisticTraining, Fraction(1, 100)),
        ("moment-training", MomentLearner, Fraction(0)),
    )
    for name, way, delta in ways:
        for adjacency, other in ((ADDED, none), (REPLACED, opposite)):
            question = way(task=TASK, epsilon=1, delta=delta, adjacency=adjacency, size=1)
            yield audit_callable(
                partial(released, question, Noise()),
                some,
                other,
                1,
                delta,
                draws=draws,
                name=f"collaboration: {name}",
                adjacency=adjacency,
            )


def released(question: Any, noise: Noise, rows: TrainingRows) -> Any:
    """Give the numbers that an answer releases."""
    return question.answer(rows, noise).coefficients
