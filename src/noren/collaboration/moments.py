"""The moment learner: one noisy sum of labelled rows. It adds up over organizations.

Maths
    m = sum of w_i y_i x_i + Z. The limit of logistic regression for a large ridge: right where the
    features are alike and uncorrelated, poor elsewhere. The coefficients are 2 d m / N, one Newton
    step from zero for rows spread evenly; only their direction decides the predicted class.

Privacy (docs/proofs/collaboration/sums.md)
    One sum of vectors of length at most W (`summed`).

Accuracy
    Measured: 99 organizations of 50 rows spread evenly in 10 features, sums added, delta 1e-5:
    0.80, 0.95, 0.994, 0.999 at epsilon 0.1, 0.3, 1, 3, where the mean of default models has 0.77,
    0.87, 0.98, 0.995. On correlated features it is the other way round from epsilon 1 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from noren.collaboration.statistic import TrainingRows
from noren.collaboration.summed import Integers, RowBounds, SummedNoise
from noren.collaboration.training import Floats, Learned, Training
from noren.noise import Noise
from noren.privacy import Guarantee
from noren.question import Forecast, Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentLearner(Training):
    """Ask for the noisy sum of labelled rows as a model of two classes.

    Examples
    --------
    >>> from noren.collaboration import Task
    >>> task = Task.of_bounds([0], [100], classes=("well", "ill"))
    >>> asked = MomentLearner(task=task, epsilon=1, delta="1e-6", adjacency="add-remove", size=1000)
    >>> asked.mechanism
    'moments'
    """

    kind: ClassVar[str] = "moment-training"

    @property
    def noise(self) -> SummedNoise:
        """The noise of the sum."""
        bounds = moment_bounds(self.task.dimension, self.weight)
        price = (self.epsilon, self.delta)
        return SummedNoise.planned(self.adjacency, bounds, self.weight, 1, price)

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking, with its rho."""
        return Guarantee(self.adjacency, self.epsilon, self.delta, self.noise.rho)

    @property
    def mechanism(self) -> str:
        """The name under which the claim can be recomputed."""
        return "moments"

    @property
    def parameters(self) -> dict[str, Any]:
        """Every number that the claim is a function of."""
        return {**self.common_parameters, **self.noise.parameters}

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the law of the noise."""
        return (self.noise.mechanism,)

    def forecast(self, facts: int | None = None) -> Forecast:
        """Say how large the noise is beside the largest sum that rows can have."""
        rows, spread = int(facts or self.size), self.noise.spread
        length = spread * self.task.dimension**0.5
        return Forecast(
            sentence=f"the noise has length about {length:.3g}, the sum of {rows} rows at most "
            f"{rows}",
            variance=spread**2,
            margin_95=1.96 * spread,
        )

    def learned(self, rows: TrainingRows, noise: Noise) -> Learned:
        """Add up, and add the noise."""
        plan = self.noise
        total = rows.summed(partial(moment_steps, plan=plan), float(self.weight))
        noisy = plan.draw(total, noise)
        return Learned(2 * self.task.dimension * noisy / self.size, {"moments": noisy})


def moment_steps(x: Floats, y: Floats, w: Any, plan: SummedNoise) -> Integers:
    """Add up some labelled rows on the grid."""
    pull = y if w is None else y * w
    return plan.steps(pull[:, None] * x)


def moment_bounds(dimension: int, weight: Fraction) -> RowBounds:
    """Bound a labelled row: length at most W, distance at most 2 W."""
    return RowBounds(dimension, weight**2, 4 * weight**2)
