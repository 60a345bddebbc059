"""Faults in private training, put in on purpose: each must be caught."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from noren.audit import collaboration_sums
from noren.audit.collaboration_densities import worst_delta, worst_loss
from noren.audit.mutants import Mutant, caught
from noren.audit.row import AuditRow
from noren.collaboration import solver
from noren.collaboration.approximate_minimum import ApproximateMinimum
from noren.collaboration.counterexamples import kst_log_ratio, pair_log_ratio
from noren.collaboration.gaussian_calibration import gaussian_mu
from noren.collaboration.logistic import LogisticTraining
from noren.collaboration.logistic_loss import LogisticObjective
from noren.collaboration.regression import gram_vectors
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.task import Task
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency

ADDED, REPLACED = Adjacency(ADD_REMOVE), Adjacency(SUBSTITUTE)
DELTA = "1e-3"


def rows() -> Iterator[AuditRow]:
    """Measure each fault."""
    sigma = 1 / gaussian_mu(1, DELTA)
    objective, sums = "collaboration: logistic-training", "collaboration: gram-regression"
    yield from caught(
        [
            *collaboration_sums.mutants(),
            Mutant(objective, "half the noise", ADDED, 1.0, lambda: worst_loss(2.0, 1.0)),
            Mutant(
                objective, "curvature forgotten, ridge 0.1", REPLACED, 1.0,
                lambda: pair_log_ratio(0.5, 0.1, 2000, 0.01, 200_000),
            ),
            Mutant(
                objective, "a substituted row priced as a removed one", REPLACED, 1.0,
                lambda: pair_log_ratio(1.0, 2.0, 6000, 0.01, 2_000_000),
            ),
            Mutant(
                objective, "half of sigma", ADDED, float(DELTA),
                lambda: worst_delta(1.0, sigma / 2, 2.0), "delta",
            ),
            Mutant(objective, "fresh noise for each of two receivers", ADDED, 1.0, two_receivers),
            Mutant(objective, "the solver stopped early", ADDED, 0.001, stopped_early),
            Mutant(objective, "the true number of rows declared", ADDED, 1.0, true_number),
            Mutant(
                "collaboration: published-training", "kst taken for a replaced row", REPLACED,
                1.0, lambda: kst_log_ratio(1.0, 2000, 0.01, 200_000),
            ),
            Mutant(
                "collaboration: tuned-training", "the better of two fits published unpaid", ADDED,
                1.0, unpaid_choice,
            ),
            Mutant(sums, "two rows sqrt(2) apart", REPLACED, 0.1, gram_without_three, "rho"),
        ]
    )  # fmt: skip


def two_receivers() -> float:
    """Add the losses of two independent outputs at their common worst point."""
    return 2 * worst_loss(1.0, 1.0)


def stopped_early() -> float:
    """Price the distance of an unfinished fit from the exact one by the noise that hides it."""
    plan = ApproximateMinimum.planned(1, 1.2, 12, 1.0, Fraction(1))
    rows = TrainingRows(None, ((np.full((12, 1), 0.9), np.ones(12), None),))  # type: ignore[arg-type]
    objective = LogisticObjective(rows, plan.ridge, np.array([-8.0]))
    exact = solver.minimize(objective, plan.tolerance / 2)
    early, _ = solver.newton(objective, np.zeros(1), 1e-4, 2)
    apart = abs(float(early[0] - exact[0])) / math.ldexp(1.0, plan.exponent)
    return float(plan.solver_epsilon) * apart / plan.lattice


def unpaid_choice() -> float:
    """Two private bits at 1/2 each, of which the one that fits the rows better is published."""
    right = math.exp(0.5) / (1 + math.exp(0.5))
    return math.log((1 - (1 - right) ** 2) / (1 - right) ** 2)


def true_number() -> float:
    """Compare what two neighbors would state as parameters; different words tell them apart."""
    question = LogisticTraining(
        task=Task.of_bounds([-1], [1]), epsilon=Fraction(1), adjacency=ADDED, size=100
    )
    fewer = replace(question, size=99)
    return math.inf if fewer.parameters != question.parameters else 0.0


def gram_without_three() -> float:
    """Price the farthest pair of rows with noise for a distance of sqrt(2)."""
    x, z = np.array([[1.0, 0.0]]), np.array([[-0.5, math.sqrt(0.75)]])
    one = np.ones(1)
    apart = gram_vectors(x, one, None) - gram_vectors(z, one, None)
    variance = 2 / (2 * 0.1)
    return float((apart**2).sum() / (2 * variance))
