"""Output perturbation: fit, then add noise to the coefficients. A baseline; it loses everywhere.

Maths
    t minimizes the sum of w_i log(1 + exp(-y_i x_i t)) + (ridge / 2) |t|^2 to |gradient| <= tau. On
    the grid g, q = floor(t / g + 1/2), and q + Z is released, Z discrete Laplace or Gaussian.

Privacy (docs/proofs/collaboration/sums.md)
    The objective's curvature is at least `ridge`, and one row's gradient at most W, so the
    minimizers of neighbors are W / ridge apart (add-remove), or 2 W / ridge (substitute), and the
    solver adds tau / ridge for each of the two: (W + 2 tau) / ridge, or 2 (W + tau) / ridge. On the
    grid: that over g, plus sqrt(d), in L2. Persons with k rows: k W for W.

Accuracy
    The noise has the standard deviation of W / ridge over mu for each coefficient, and the ridge
    shrinks what it blurs. Measured on breast cancer at epsilon 1, the best of four ridges: 0.73,
    where objective perturbation has 0.87.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.collaboration.approximate_minimum import FAR, to_grid
from noren.collaboration.logistic_loss import LogisticObjective
from noren.collaboration.pure_calibration import RIDGE
from noren.collaboration.solver import minimize
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.step_price import adjacency_of
from noren.collaboration.summed import root_above
from noren.collaboration.training import Learned, Training
from noren.errors import DrawRefused, NotPrivate, ParameterError
from noren.mechanisms.additive import GAUSSIAN, LAPLACE
from noren.noise import Noise
from noren.privacy import SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.numbers import positive
from noren.privacy.zcdp import zcdp_epsilon_charge, zcdp_rho_budget
from noren.question import Forecast, Mechanism

FINEST = -30


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPerturbation(Training):
    """Ask for a logistic model with noise on its coefficients.

    Parameters
    ----------
    ridge : number
        The total curvature; the noise is in proportion to 1 / ridge, so it must be large.

    Examples
    --------
    >>> from noren.collaboration import Task
    >>> task = Task.of_bounds([0], [100], classes=("well", "ill"))
    >>> asked = OutputPerturbation(task=task, epsilon=1, delta="1e-6", adjacency="add-remove",
    ...                            size=1000, ridge=50)
    >>> asked.mechanism
    'output'
    """

    kind: ClassVar[str] = "output-perturbation"

    ridge: float | None = None

    def __post_init__(self) -> None:
        Training.__post_init__(self)
        if self.ridge is None:
            raise ParameterError("ridge", None, "a positive public number", RIDGE)
        object.__setattr__(self, "ridge", float(positive("ridge", self.ridge, RIDGE)))
        if not self.spread <= FAR:
            raise ParameterError(
                "epsilon or ridge", "too small", "large enough for a model to be seen",
                "The noise on each coefficient would be longer than any model.",
            )  # fmt: skip

    @property
    def tolerance(self) -> float:
        """How small the gradient must be (tau), by the public rule."""
        return 1e-8 * max(1.0, self.size / 1e6)

    @property
    def exponent(self) -> int:
        """The grid: fine beside the sensitivity."""
        return min(FINEST, math.floor(math.log2(float(self.weight) / float(self.ridge or 1))) - 10)

    @property
    def moved(self) -> tuple[Fraction, Fraction]:
        """How far neighbors move the coefficients on the grid, in L2 and L1."""
        return moved_steps(
            self.adjacency, self.weight, float(self.ridge or 0), self.tolerance,
            self.task.dimension, self.exponent,
        )  # fmt: skip

    @property
    def parameter(self) -> Fraction:
        """The scale of discrete Laplace noise, or the variance of discrete Gaussian noise."""
        l2, l1 = self.moved
        if not self.delta:
            return Fraction(math.ceil(l1 / self.epsilon))
        return Fraction(math.ceil(l2**2 / (2 * zcdp_rho_budget(self.epsilon, self.delta))))

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking."""
        rho = self.moved[0] ** 2 / (2 * self.parameter) if self.delta else None
        return Guarantee(self.adjacency, self.epsilon, self.delta, rho)

    @property
    def mechanism(self) -> str:
        """The name under which the claim can be recomputed."""
        return "output"

    @property
    def parameters(self) -> dict[str, Any]:
        """Every number that the claim is a function of."""
        law = GAUSSIAN if self.delta else LAPLACE
        own = {"law": law, "noise": self.parameter, "exponent": self.exponent}
        return {
            **self.common_parameters, **own, "ridge": self.ridge, "tolerance": self.tolerance
        }  # fmt: skip

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the law of the noise."""
        l2, l1 = self.moved
        d, size = self.task.dimension, self.parameter
        if not self.delta:
            return (Mechanism(law=LAPLACE, sensitivity=l1, scale=size, draws=d),)
        return (
            Mechanism(
                law=GAUSSIAN, sensitivity=l2**2, norm="L2 squared", variance=size, draws=d
            ),
        )  # fmt: skip

    @property
    def spread(self) -> float:
        """The standard deviation of each coefficient's noise."""
        size = float(self.parameter)
        return math.ldexp(math.sqrt(size) if self.delta else math.sqrt(2) * size, self.exponent)

    def forecast(self, facts: int | None = None) -> Forecast:
        """Say how large each coefficient's noise is."""
        return Forecast(
            sentence=f"each coefficient has noise of sd {self.spread:.3g}, beside the shrinking by "
            f"the ridge {self.ridge:.3g}",
            variance=self.spread**2,
            margin_95=1.96 * self.spread,
        )

    def learned(self, rows: TrainingRows, noise: Noise) -> Learned:
        """Fit, round to the grid, add noise."""
        d = self.task.dimension
        objective = LogisticObjective(rows, float(self.ridge or 0), np.zeros(d), float(self.weight))
        found = np.clip(minimize(objective, self.tolerance / 2), -FAR, FAR)
        steps = to_grid(found, self.exponent)
        drawn = (
            noise.discrete_gaussian(self.parameter, d)
            if self.delta
            else noise.discrete_laplace(self.parameter, d)
        )
        noisy = steps + drawn
        if np.abs(noisy).max() > np.ldexp(2 * FAR, -self.exponent) - 1:
            raise DrawRefused(
                "A noisy coefficient lies far beyond what rows of norm 1 need, so it is not "
                "released. The charge stays. Use a larger epsilon or a larger ridge."
            )
        return Learned(np.ldexp(noisy.astype(np.float64), self.exponent))


def moved_steps(
    adjacency: Adjacency,
    weight: Fraction,
    ridge: float,
    tolerance: float,
    dimension: int,
    exponent: int,
) -> tuple[Fraction, Fraction]:
    """Bound how far neighbors move the coefficients on the grid, in L2 and L1."""
    pull, gap = adjacency.max_records * weight, Fraction(tolerance)
    apart = 2 * (pull + gap) if adjacency.relation is SUBSTITUTE else pull + 2 * gap
    root = root_above(Fraction(dimension))
    l2 = apart / Fraction(ridge) / Fraction(2) ** exponent + root
    return l2, l2 * root


def output_claim(given: Mapping[str, Any]) -> Guarantee:
    """Recompute the price from a claim's parameters."""
    adjacency, noise = adjacency_of(given), given["noise"]
    sound = given["ridge"] > 0 and given["tolerance"] > 0 and noise > 0
    if not sound or given["law"] not in (LAPLACE, GAUSSIAN):
        raise NotPrivate(
            "The claim names no noise, or no ridge that bounds the sensitivity, so nothing is "
            "proved. Ask the sender for a file made by the mechanism that it names."
        )
    l2, l1 = moved_steps(
        adjacency, Fraction(given["weight"]), given["ridge"], given["tolerance"],
        given["dimension"], given["exponent"],
    )  # fmt: skip
    if given["law"] == LAPLACE:
        return Guarantee(adjacency, l1 / noise)
    rho = l2**2 / (2 * noise)
    return Guarantee(adjacency, zcdp_epsilon_charge(rho, given["delta"]), given["delta"], rho)
