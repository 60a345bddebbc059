"""Logistic regression by objective perturbation, priced exactly: the default way to train.

Maths
    Release an approximate minimizer of sum w_i log(1 + exp(-y_i x_i t)) + (ridge / 2) |t|^2 + b t.
    delta = 0    b has a density proportional to exp(-rate |b|)     `pure_calibration`
    delta > 0    b is normal with standard deviation sigma          `gaussian_calibration`
    Left out, ridge = W 2 / e (substitute) or W / e (add-remove) at delta 0, else W 1.2 / e, with e
    the epsilon of one step without the solver's share and W the bound of weights: curvature then
    costs nothing. The minimizer is released on a grid (`approximate_minimum`).

Privacy (docs/proofs/collaboration/objective.md)
    Rows have norm at most 1 by public rules. One step costs (e, d) by the calibration, and e3 for
    the solver's gap; e + e3 is the step's whole share. Persons with k rows are k steps; at
    delta > 0 a substituted row is two, because the bound is proved for added and removed rows.
    ridge, rate, sigma and the tolerance are functions of public numbers (N, not the true number).
    The law of b is idealized: floats from secure bits, inside the minimization only.

Accuracy
    Each coefficient's noise is at most sd(b_j) / ridge, and about sd(b_j) / (ridge + h) with h the
    data's curvature along it (N / (8 d) for rows spread evenly).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from noren.collaboration.approximate_minimum import SOLVER_SHARE, ApproximateMinimum
from noren.collaboration.gaussian_calibration import tight_gaussian_sigma
from noren.collaboration.logistic_loss import LogisticObjective
from noren.collaboration.pure_calibration import RIDGE, SAFE, is_add_remove, tight_pure_rate
from noren.collaboration.solver import minimize
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.step_price import step_share, steps_of
from noren.collaboration.training import Floats, Learned, Training
from noren.noise import Noise
from noren.noise.idealized import IDEALIZED, gamma_sphere, normal_vector
from noren.privacy import Adjacency
from noren.privacy.numbers import positive
from noren.question import Forecast, Mechanism

GAUSSIAN_RIDGE = 1.2  # over epsilon: measured, no tuning


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticTraining(Training):
    """Ask for a logistic model of two classes.

    Parameters
    ----------
    ridge : number, optional
        The total curvature (scikit-learn's 1 / C); by default the public rule above.

    Examples
    --------
    >>> from noren import Noise
    >>> from noren.collaboration import Task, TrainingRows
    >>> task = Task.of_bounds([0], [100], classes=("well", "ill"))
    >>> question = LogisticTraining(task=task, epsilon=1, delta="1e-6", adjacency="add-remove",
    ...                             size=200)
    >>> print(question.guarantee)
    epsilon 1, delta 1e-06 (one record is added or removed)
    >>> rows = TrainingRows.of(task, {"x0": [20, 80, 30] * 60, "y": ["well", "ill", "well"] * 60})
    >>> question.answer(rows, Noise()).model.predict({"x0": [50.0]}).shape
    (1,)
    """

    kind: ClassVar[str] = "logistic-training"

    ridge: float | None = None

    def __post_init__(self) -> None:
        Training.__post_init__(self)
        scale = float(self.weight)
        ridge = (
            scale * default_ridge(self.step[0], self.delta, self.adjacency)
            if self.ridge is None
            else float(positive("ridge", self.ridge, RIDGE))
        )
        object.__setattr__(self, "ridge", ridge)
        assert self.spread > 0  # refuses a ridge that is too small, before anything is asked
        self.minimum.require_drawable()

    @property
    def steps(self) -> int:
        """How many steps there are between neighbors."""
        return steps_of(self.adjacency, only_add_remove=bool(self.delta))

    @property
    def whole_step(self) -> tuple[Fraction, Fraction]:
        """What one step may cost, the solver's share included."""
        return step_share(self.epsilon, self.delta, self.steps)

    @property
    def step(self) -> tuple[Fraction, Fraction]:
        """What one step may cost for the exact minimizer."""
        epsilon, delta = self.whole_step
        return epsilon * (1 - SOLVER_SHARE), delta

    @property
    def spread(self) -> float:
        """The rate at delta 0, else sigma."""
        epsilon, delta = self.step
        size, total = float(self.weight), float(self.ridge or 0)
        if not delta:
            return calibrated_rate(epsilon, total / size, self.adjacency) / size
        return calibrated_sigma(epsilon, delta, total / size) * size

    @property
    def length(self) -> float:
        """The typical length of b."""
        d = self.task.dimension
        return d / self.spread if not self.delta else self.spread * math.sqrt(d)

    @property
    def minimum(self) -> ApproximateMinimum:
        """Plan the release of the minimizer."""
        return ApproximateMinimum.planned(
            self.task.dimension, float(self.ridge or 0), self.size, self.length, self.whole_step[0]
        )

    @property
    def mechanism(self) -> str:
        """The name under which the claim can be recomputed."""
        return "objective-gaussian" if self.delta else "objective-pure"

    @property
    def parameters(self) -> dict[str, Any]:
        """Every number that the claim is a function of."""
        own = {"sigma" if self.delta else "rate": self.spread}
        return {**self.common_parameters, **self.minimum.parameters, **own}

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the two laws: of the linear term (by its epsilon), and on the grid."""
        return objective_mechanisms(self.step[0], self.minimum, "logistic", self.steps)

    @property
    def notes(self) -> tuple[str, ...]:
        """Mark that the law of b is idealized."""
        return (*Training.notes.__get__(self), IDEALIZED)

    def forecast(self, facts: int | None = None) -> Forecast:
        """Say how far the noise may move a coefficient; `facts` is a public number of rows."""
        return objective_forecast(self, int(facts or self.size))

    def learned(self, rows: TrainingRows, noise: Noise) -> Learned:
        """Draw b, minimize, and release on the grid."""
        b = draw_linear(self.task.dimension, self.spread, bool(self.delta), noise)
        objective = LogisticObjective(rows, float(self.ridge or 0), b, float(self.weight))
        plan = self.minimum
        return Learned(plan.release(minimize(objective, plan.tolerance / 2), noise))


def default_ridge(epsilon: Fraction, delta: Fraction, adjacency: Adjacency) -> float:
    """Give the public rule: the least ridge with which curvature costs nothing, or just more."""
    size = float(epsilon) * SAFE
    if delta:
        return GAUSSIAN_RIDGE / size
    return (1 if is_add_remove(adjacency) else 2) / size


@lru_cache(maxsize=256)
def calibrated_rate(epsilon: Fraction, ridge: float, adjacency: Adjacency) -> float:
    """Give the rate at just below an epsilon, so that no float error passes the claim."""
    return tight_pure_rate(float(epsilon) * SAFE, ridge, adjacency)


@lru_cache(maxsize=256)
def calibrated_sigma(epsilon: Fraction, delta: Fraction, ridge: float) -> float:
    """Give sigma at just below a price, so that no float error passes the claim."""
    return tight_gaussian_sigma(epsilon, delta * Fraction(SAFE), ridge)


def draw_linear(dimension: int, spread: float, gaussian: bool, noise: Noise) -> Floats:
    """Draw b: by its rate, or by its standard deviation."""
    if gaussian:
        return normal_vector(dimension, spread**2, noise)
    return gamma_sphere(dimension, spread, noise)


def objective_mechanisms(
    epsilon: Fraction, plan: ApproximateMinimum, loss: str, steps: int = 1
) -> tuple[Mechanism, ...]:
    """Say both laws of an objective perturbation, by what they cost over all steps."""
    return (
        Mechanism(
            law=f"objective perturbation, {loss} loss",
            sensitivity=Fraction(steps),
            norm="L2",
            epsilon=epsilon * steps,
        ),
        Mechanism(
            law="discrete Laplace",
            sensitivity=Fraction(plan.lattice * steps),
            scale=plan.lattice / plan.solver_epsilon,
            draws=plan.dimension,
        ),
    )


def objective_forecast(question: Any, rows: int) -> Forecast:
    """Say how long b is beside what rows can pull, and how far a coefficient may move."""
    d = question.task.dimension
    each = question.length / math.sqrt(d)
    typical = each / (question.ridge + rows / (8 * d))
    worst = each / question.ridge
    return Forecast(
        sentence=f"the noise pulls with a force of about {question.length:.3g}, {rows} rows with "
        f"at most {rows}; a coefficient moves by about {typical:.2g} (sd), at most {worst:.2g}",
        variance=float(np.square(typical)),
        margin_95=1.96 * typical,
        figures={
            "length of the linear term": question.length,
            "ridge": question.ridge,
            "noise sd of a coefficient at most": worst,
            "sd of the noise that hides the solver": question.minimum.spread,
        },
    )
