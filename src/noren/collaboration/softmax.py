"""Softmax regression for K classes by objective perturbation. Proved; accuracy not promised.

Maths
    Release an approximate minimizer of the softmax objective with a linear term B over all K d
    coefficients. With c = (1 - 1 / K) / ridge the price of one step is, at most,
        delta = 0, add-remove    epsilon = sqrt(2) rate + c
        delta = 0, substitute    epsilon = 2 sqrt(2) rate + c
        delta > 0, add-remove    delta(epsilon) = (K - 1) delta_G(epsilon - c, sqrt(2) / sigma),
                                 where epsilon >= c, delta_G the plain Gaussian curve
    Rows with weights up to W: rate W, sigma / W, ridge / W. Left out, ridge = 4 W / epsilon.

Privacy (docs/proofs/collaboration/softmax.md)
    A row's gradient (p - e_y) x' has length at most sqrt(2); its curvature raises the determinant
    by at most exp(c); the loss is convex in p, so it is largest at a class k, and that p = e_y
    loses nothing leaves K - 1 of them. Not tight, unlike two classes.

Accuracy
    Measured on iris (120 rows, 3 classes): 0.86, 0.91, 0.94 at epsilon 1, 3, 10 (delta 0,
    add-remove), 0.82, 0.93, 0.93 at delta 1e-5, with defaults; noisy descent is as good: 0.84,
    0.92, 0.95.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from noren.collaboration.approximate_minimum import (
    SOLVER_SHARE,
    ApproximateMinimum,
    read_minimum,
)
from noren.collaboration.logistic import draw_linear, objective_forecast, objective_mechanisms
from noren.collaboration.pure_calibration import RIDGE, SAFE, is_add_remove
from noren.collaboration.softmax_loss import SoftmaxObjective
from noren.collaboration.solver import minimize
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.step_price import adjacency_of, step_share, steps_of, total_of_steps
from noren.collaboration.training import Learned, Training
from noren.errors import NotPrivate, ParameterError
from noren.noise import Noise
from noren.noise.idealized import IDEALIZED
from noren.privacy import Adjacency, Guarantee
from noren.privacy.gaussian import bracketed, gaussian_target, gdp_delta
from noren.privacy.numbers import positive
from noren.question import Forecast, Mechanism

DEFAULT_RIDGE = 4.0  # over epsilon: leaves at least three quarters of it to the noise


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftmaxTraining(Training):
    """Ask for a model of three or more classes.

    Parameters
    ----------
    ridge : number, optional
        The total curvature; by default 4 / epsilon of one step.

    Examples
    --------
    >>> from noren.collaboration import Task
    >>> task = Task.of_bounds([0], [100], classes=("a", "b", "c"))
    >>> asked = SoftmaxTraining(task=task, epsilon=1, adjacency="substitute", size=300)
    >>> round(asked.spread, 4)
    0.2943
    """

    kind: ClassVar[str] = "softmax-training"
    tasks: ClassVar[tuple[str, ...]] = ("multiclass",)

    ridge: float | None = None

    def __post_init__(self) -> None:
        Training.__post_init__(self)
        ridge = (
            DEFAULT_RIDGE * float(self.weight) / float(self.step[0])
            if self.ridge is None
            else float(positive("ridge", self.ridge, RIDGE))
        )
        object.__setattr__(self, "ridge", ridge)
        assert self.spread > 0  # refuses a ridge that is too small, before anything is asked
        self.minimum.require_drawable()

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.task.classes)

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
        left = float(epsilon) * SAFE - curvature_price(self.classes, total / size)
        if left <= 0:
            raise ParameterError(
                "ridge",
                total,
                f"above {size * (1 - 1 / self.classes) / float(epsilon):.6g} for this epsilon",
                "With less, the curvature alone costs all of it. The default is larger.",
            )
        if not delta:
            return left / slope_price(self.adjacency) / size
        return calibrated_sigma(left, delta, self.classes) * size

    @property
    def length(self) -> float:
        """The typical length of the linear term."""
        d = self.classes * self.task.dimension
        return self.spread * math.sqrt(d) if self.delta else d / self.spread

    @property
    def minimum(self) -> ApproximateMinimum:
        """Plan the release of the minimizer."""
        d = self.classes * self.task.dimension
        return ApproximateMinimum.planned(
            d, float(self.ridge or 0), self.size, self.length, self.whole_step[0]
        )

    @property
    def mechanism(self) -> str:
        """The name under which the claim can be recomputed."""
        return "softmax-gaussian" if self.delta else "softmax-pure"

    @property
    def parameters(self) -> dict[str, Any]:
        """Every number that the claim is a function of."""
        own = {"sigma" if self.delta else "rate": self.spread, "classes": self.classes}
        return {**self.common_parameters, **self.minimum.parameters, **own}

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the two laws: of the linear term (by its epsilon), and on the grid."""
        return objective_mechanisms(self.step[0], self.minimum, "softmax", self.steps)

    @property
    def notes(self) -> tuple[str, ...]:
        """Mark that the law of B is idealized."""
        return (*Training.notes.__get__(self), IDEALIZED)

    def forecast(self, facts: int | None = None) -> Forecast:
        """Say how far the noise may move a coefficient."""
        return objective_forecast(self, int(facts or self.size))

    def learned(self, rows: TrainingRows, noise: Noise) -> Learned:
        """Draw B, minimize, and release on the grid."""
        d = self.classes * self.task.dimension
        linear = draw_linear(d, self.spread, bool(self.delta), noise)
        objective = SoftmaxObjective(
            rows, self.classes, float(self.ridge or 0), linear, float(self.weight)
        )
        plan = self.minimum
        found = plan.release(minimize(objective, plan.tolerance / 2), noise)
        return Learned(found.reshape(self.classes, -1))


def curvature_price(classes: int, ridge: float) -> float:
    """Bound the logarithm of the determinants' ratio."""
    return (1 - 1 / classes) / ridge


def slope_price(adjacency: Adjacency) -> float:
    """Bound how far one step moves the linear term, per unit of rate."""
    return math.sqrt(2) * (1 if is_add_remove(adjacency) else 2)


def softmax_delta(epsilon: float, sigma: float, ridge: float, classes: int) -> float:
    """Give delta at an epsilon, add-remove; refuse an epsilon that curvature uses up."""
    left = epsilon - curvature_price(classes, ridge)
    if left < 0:
        raise NotPrivate(
            "The ridge of this softmax model is too small for the epsilon at which its delta is "
            "claimed, so nothing is proved there. Use a larger ridge."
        )
    return min(1.0, (classes - 1) * gdp_delta(math.sqrt(2) / sigma, left))


@lru_cache(maxsize=256)
def calibrated_sigma(epsilon: float, delta: Fraction, classes: int) -> float:
    """Give the smallest sigma at which the K - 1 curves together stay below delta."""
    target = gaussian_target(delta) * SAFE
    mu = bracketed(lambda x: (classes - 1) * gdp_delta(x, epsilon) <= target)[0]
    return math.sqrt(2) / mu * (1 + 1e-12)


def softmax_pure_claim(given: Mapping[str, Any]) -> Guarantee:
    """Recompute the price at delta 0."""
    adjacency, k = adjacency_of(given), given["classes"]
    plan, size = read_minimum(given, given["dimension"] * k), given["weight"]
    epsilon = slope_price(adjacency) * given["rate"] * size
    epsilon += curvature_price(k, plan.ridge / size)
    steps = steps_of(adjacency, only_add_remove=False)
    return total_of_steps(adjacency, Fraction(epsilon) + plan.solver_epsilon, 0, steps)


def softmax_gaussian_claim(given: Mapping[str, Any]) -> Guarantee:
    """Recompute the price at delta above 0."""
    adjacency, k = adjacency_of(given), given["classes"]
    plan, size = read_minimum(given, given["dimension"] * k), given["weight"]
    steps = steps_of(adjacency, only_add_remove=True)
    step = given["epsilon"] / steps
    delta = softmax_delta(
        float(step - plan.solver_epsilon), given["sigma"] / size, plan.ridge / size, k
    )
    return total_of_steps(adjacency, step, delta, steps)
