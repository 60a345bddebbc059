"""Release an approximate minimizer on a public grid, so that the solver cannot leak.

Maths
    The proofs of objective perturbation need the exact minimizer t*; a solver gives t with
    |gradient(t)| <= tau, so |t - t*| <= tau / ridge, for every data set and every b. tau is public:
        tau = 1e-8 max(1, N / 1e6, l / 1e6),   l the typical length of b.
    The solver goes on to tau / 2; the other half is for float errors of the gradient and of b.
    On the grid g = 2**exponent, q = floor(t / g + 1/2). Release (q + Z) g with Z_j discrete Laplace
    of scale S / e3, S = floor(2 tau sqrt(d) / (ridge g)) + d, e3 a thousandth of epsilon.

Privacy (docs/proofs/collaboration/objective.md)
    Couple b and b' of neighbors so that t* is equal: then t moves by at most 2 tau / ridge, q by at
    most S in L1, whatever the solver does. The release costs e3 beside what t* costs. Iteration
    counts and times are not part of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from noren.errors import DrawRefused, NotPrivate, ParameterError
from noren.noise import Noise

EXPONENT = -30
SOLVER_SHARE = Fraction(1, 1000)  # of epsilon, for the noise that hides the solver
FAR = 2.0**19  # coefficients are moved within +-FAR: longer ones predict nothing more

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ApproximateMinimum:
    """Public numbers of one such release."""

    dimension: int
    ridge: float
    tolerance: float
    solver_epsilon: Fraction
    exponent: int = EXPONENT

    @classmethod
    def planned(
        cls, dimension: int, ridge: float, size: int, length: float, epsilon: Fraction
    ) -> ApproximateMinimum:
        """Choose the tolerance by the public rule; `epsilon` is that of one step, whole."""
        tolerance = 1e-8 * max(1.0, size / 1e6, length / 1e6)
        return cls(dimension, ridge, tolerance, epsilon * SOLVER_SHARE)

    def require_drawable(self) -> None:
        """Refuse, before anything is charged, noise that would leave nothing to release."""
        if not self.spread <= FAR:
            raise ParameterError(
                "epsilon or ridge", "too small", "large enough for a model to be seen",
                "The noise that hides the solver alone would be longer than any model.",
            )  # fmt: skip

    @property
    def lattice(self) -> int:
        """How far neighbors' solutions are apart on the grid, in L1 (S)."""
        grid = math.ldexp(1.0, self.exponent)
        moved = 2 * self.tolerance * math.sqrt(self.dimension) / (self.ridge * grid)
        return math.floor(moved * (1 + 1e-12)) + self.dimension

    @property
    def spread(self) -> float:
        """The standard deviation that the noise adds to each coefficient."""
        scale = float(self.lattice / self.solver_epsilon)
        return math.ldexp(math.sqrt(2) * scale, self.exponent)

    @property
    def parameters(self) -> dict[str, Any]:
        """Give what the claim is a function of."""
        return {
            "ridge": self.ridge,
            "tolerance": self.tolerance,
            "solver_epsilon": self.solver_epsilon,
            "exponent": self.exponent,
            "lattice": self.lattice,
        }

    def release(self, minimizer: Floats, noise: Noise) -> Floats:
        """Round to the grid and add integer noise; what comes out is exact in floats."""
        rounded = to_grid(np.clip(minimizer, -FAR, FAR), self.exponent)
        noisy = rounded + noise.discrete_laplace(self.lattice / self.solver_epsilon, rounded.size)
        if np.abs(noisy).max() > np.ldexp(2 * FAR, -self.exponent) - 1:
            raise DrawRefused(
                "A noisy coefficient lies far beyond what rows of norm 1 need, so it is not "
                "released. The charge stays. Use a larger epsilon or a larger ridge."
            )
        released: Floats = np.ldexp(noisy.astype(np.float64), self.exponent)
        return released


def to_grid(values: Floats, exponent: int) -> npt.NDArray[np.int64]:
    """Give floor(value / g + 1/2), exactly: adding the half in floats could round up once more."""
    steps = np.ldexp(values, -exponent)
    down = np.floor(steps)
    return np.asarray(down + (steps - down >= 0.5), np.int64)


def read_minimum(parameters: Mapping[str, Any], dimension: int) -> ApproximateMinimum:
    """Read the numbers of a release from a claim, and refuse noise too small for its tolerance."""
    plan = ApproximateMinimum(
        dimension,
        parameters["ridge"],
        parameters["tolerance"],
        parameters["solver_epsilon"],
        parameters["exponent"],
    )
    sound = plan.ridge > 0 and plan.tolerance > 0 and plan.solver_epsilon > 0
    if not sound or not plan.tolerance < math.inf or parameters["lattice"] < plan.lattice:
        raise NotPrivate(
            "The claim's noise on the grid is too small for the solver's tolerance, so nothing "
            "is proved. Ask the sender for a file made by the mechanism that it names."
        )
    return plan
