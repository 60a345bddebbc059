"""Sums of bounded row vectors: the farthest rows, on the grid, priced by the law of their noise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noren.audit.mutants import Mutant
from noren.audit.row import AuditRow, finding
from noren.collaboration.descent import GradientDescent, row_gradients
from noren.collaboration.moments import MomentLearner
from noren.collaboration.regression import GramRegression, gram_vectors
from noren.collaboration.summed import SummedNoise
from noren.collaboration.task import Task
from noren.data import Numeric, Schema, fill
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency

ADDED, REPLACED = Adjacency(ADD_REMOVE), Adjacency(SUBSTITUTE)
TASK = Task.of_bounds([-1], [1], classes=("no", "yes"), intercept=0, scale=1)


@dataclass(frozen=True, slots=True)
class Rows:
    """A question and the vectors of two rows that lie as far apart as any."""

    question: Any
    first: Any
    second: Any

    @property
    def plan(self) -> SummedNoise:
        """Give the noise of the question's sums."""
        return self.question.noise  # type: ignore[no-any-return]

    def price(self, plan: SummedNoise, replaced: bool) -> float:
        """Price the first row against none, or against the second, in rho."""
        move = plan.steps(self.first)
        if replaced:
            move = move - plan.steps(self.second)
        squared = int((move.astype(object) ** 2).sum())
        return float(plan.sums * squared / (2 * plan.parameter))


def farthest(adjacency: Adjacency) -> Iterator[Rows]:
    """Give every question of sums with its farthest rows."""
    cells = (Numeric(name=name, lower=-1, upper=1, missing=fill(0)) for name in ("x", "z", "y"))
    x_column, z_column, cost = cells
    plane = Task(Schema([x_column, z_column]), cost, intercept=0, scale=1)
    x, z = plane.rows(np.array([[1.0, 0.0], [-0.5, math.sqrt(0.75)]]))[:, None, :]
    one, end = np.ones(1), np.array([[1.0]])
    given: dict[str, Any] = {
        "epsilon": Fraction(1), "delta": Fraction(1, 10**5), "adjacency": adjacency, "size": 100
    }  # fmt: skip
    gram = GramRegression(task=plane, **given)
    yield Rows(gram, gram_vectors(x, one, None), gram_vectors(z, one, None))
    yield Rows(MomentLearner(task=TASK, **given), end, -end)
    steep = row_gradients(end, one, None, np.array([[-50.0]]))
    yield Rows(GradientDescent(task=TASK, **given), steep, -steep)


def rows() -> Iterator[AuditRow]:
    """Hold each sum to its claim."""
    for adjacency in (ADDED, REPLACED):
        for rows_ in farthest(adjacency):
            yield finding(
                f"collaboration: {rows_.question.kind}",
                adjacency,
                claimed=float(rows_.question.guarantee.rho),
                measured=rows_.price(rows_.plan, adjacency is REPLACED),
                method="exact",
                quantity="rho",
                note="the farthest rows, on the grid, priced by the law of the noise",
            )


def mutants() -> Iterator[Mutant]:
    """Give the faults in the noise of sums."""
    for rows_ in farthest(ADDED):
        plan = rows_.plan
        half = replace(plan, parameter=plan.parameter / 4)
        for fault, measure in (
            ("half the noise", partial(rows_.price, half, False)),
            ("a replaced row priced as an added one", partial(rows_.price, plan, True)),
            ("fresh noise on retry", partial(twice, rows_)),
        ):
            claimed = float(rows_.question.guarantee.rho)
            name = f"collaboration: {rows_.question.kind}"
            yield Mutant(name, fault, REPLACED, claimed, measure, "rho")


def twice(rows_: Rows) -> float:
    """Price two draws of the same sums."""
    return 2 * rows_.price(rows_.plan, False)
