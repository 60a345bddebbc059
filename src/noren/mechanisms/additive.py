"""Integer noise on an integer vector: one statement of what may change, two laws, exact prices.

Maths
    Release s + Z for an integer vector s. A question names `worst`, a vector w >= 0 such that for
    all neighbours the absolute changes d of s are weakly majorized by w: for every j, the j
    largest d add up to at most the j largest w. It prices the noise by w:

    law                 given      drawn with                       price
    discrete Laplace    epsilon    scale t = sum(w) / epsilon       epsilon, rho = sum of f(w_j)
    discrete Gaussian   rho        variance sum(w**2) / (2 rho)     rho

    f(a) is the rho of one coordinate that moves by a: discrete Laplace noise of scale t and
    integer sensitivity a, that is f(a) = e - e (1 - exp(-e)) / (a sinh(e / a)), e = a / t.

Privacy (steps: docs/proofs/mechanisms/additive.md)
    Laplace: P(y | s) / P(y | s') <= exp(sum(d) / t) <= exp(epsilon), attained by d = w. Gaussian:
    a change d costs sum(d**2) / (2 variance). In rho the Z_j are independent, so Renyi
    divergences add, and f is convex, increasing, f(0) = 0. Sums of such functions grow under weak
    majorization, so w is the worst case of all three: none can be lowered if some neighbours
    attain w.

Accuracy
    Laplace: Var Z = 2 r / (1 - r)**2, P(abs(Z) > m) = 2 r**(m + 1) / (1 + r), r = exp(-1 / t).
    Gaussian: Var Z <= variance, nearly equal from variance 1 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.noise import Noise, laws
from noren.privacy import Adjacency, Guarantee
from noren.privacy.charges import discrete_laplace_rho_charge
from noren.privacy.numbers import positive, read_epsilon
from noren.question import Mechanism

LAPLACE = "discrete Laplace"
GAUSSIAN = "discrete Gaussian"


@dataclass(frozen=True, slots=True)
class IntegerNoise:
    """Noise for an integer vector whose changes are weakly majorized by `worst`.

    Exactly one of `epsilon` and `rho` is given; it decides the law.
    """

    adjacency: Adjacency
    worst: tuple[int, ...]
    epsilon: Fraction | None
    rho: Fraction | None

    @property
    def name(self) -> str:
        """Name the law."""
        return GAUSSIAN if self.epsilon is None else LAPLACE

    @property
    def parameter(self) -> Fraction:
        """Give the scale of discrete Laplace noise, or the variance of discrete Gaussian noise."""
        if self.epsilon is not None:
            return sum(self.worst) / self.epsilon
        assert self.rho is not None
        return sum(w * w for w in self.worst) / (2 * self.rho)

    @property
    def guarantee(self) -> Guarantee:
        """State the price: epsilon with its own rho, or rho alone."""
        return price_of(self)

    @property
    def variance(self) -> float:
        """Give the variance of one coordinate's noise."""
        if self.name == GAUSSIAN:
            return laws.discrete_gaussian_variance(self.parameter)
        return laws.discrete_laplace_variance(self.parameter)

    def margin(self, confidence: float) -> int:
        """Give the smallest m that one coordinate's noise stays within, with this probability."""
        if self.name == GAUSSIAN:
            return laws.discrete_gaussian_margin(self.parameter, read_confidence(confidence))
        return laws.discrete_laplace_margin(self.parameter, read_confidence(confidence))

    def draw(self, noise: Noise, size: int) -> NDArray[np.int64]:
        """Draw independent noise for each coordinate."""
        if self.name == GAUSSIAN:
            return noise.discrete_gaussian(self.parameter, size)  # type: ignore[no-any-return]
        return noise.discrete_laplace(self.parameter, size)  # type: ignore[no-any-return]

    def mechanism(self, draws: int) -> Mechanism:
        """Say sensitivity and scale apart, for accountants outside."""
        if self.name == GAUSSIAN:
            squared = Fraction(sum(w * w for w in self.worst))
            return Mechanism(
                law=GAUSSIAN,
                sensitivity=squared,
                norm="L2 squared",
                variance=self.parameter,
                draws=draws,
            )
        total = Fraction(sum(self.worst))
        return Mechanism(law=LAPLACE, sensitivity=total, scale=self.parameter, draws=draws)


@lru_cache(maxsize=256)
def price_of(law: IntegerNoise) -> Guarantee:
    """Work out the price of a law: epsilon with its own rho, or rho alone."""
    if law.epsilon is None:
        return Guarantee(law.adjacency, rho=law.rho)
    scale = law.parameter
    rho = sum((discrete_laplace_rho_charge(w / scale, w) for w in law.worst), Fraction(0))
    return Guarantee(law.adjacency, epsilon=law.epsilon, rho=rho)


def read_price(epsilon: object, rho: object) -> tuple[Fraction | None, Fraction | None]:
    """Read a price: epsilon (discrete Laplace) or rho (discrete Gaussian), exactly one."""
    if (epsilon is None) == (rho is None):
        raise ParameterError(
            "the price",
            "not stated" if epsilon is None else "stated twice",
            "either epsilon or rho",
            "With epsilon the noise is discrete Laplace, with rho discrete Gaussian.",
        )
    if rho is None:
        return read_epsilon(epsilon), None
    return None, positive("rho", rho, "Smaller is more private; 0.005 to 0.5 is usual.")


def require_noise(noise: Any) -> Noise:
    """Accept a `Noise` and nothing else that is random."""
    if not isinstance(noise, Noise):
        raise ParameterError(
            "noise", f"a {type(noise).__name__}", "a noren.Noise", "No seed protects anybody."
        )
    return noise


def require_statistic(given: Any, kind: type) -> None:
    """Refuse what is no statistic of this question; only its type is named."""
    if not isinstance(given, kind):
        raise ParameterError(
            "the statistic",
            f"a {type(given).__name__}",
            f"{kind.__name__}, which holds what was counted",
            f"See help({kind.__module__}.{kind.__name__}).",
        )


def array_of(name: str, values: Any, dtype: Any = None) -> NDArray[Any]:
    """Make an array; what cannot be one is never quoted, since NumPy's own error would."""
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ParameterError(
        name,
        "not a regular list of numbers",
        "numbers, as many for each record",
        "Read the table by its schema (noren.data): it replaces what is no number.",
    )


def integers(name: str, values: Any) -> NDArray[np.int64]:
    """Take whole numbers as they are; real data must be moved onto a public grid first."""
    given = array_of(name, values)
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise ParameterError(
            name,
            f"an array of type {given.dtype.type.__name__} with {given.ndim} axes",
            "one list of whole numbers (int64)",
            "Integer noise on real data would leak: ask a BoundedSum or BoundedMean, "
            "which moves each value onto a public grid first.",
        )
    return given.astype(np.int64)


def read_confidence(confidence: float) -> float:
    """Read a confidence: strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise ParameterError("confidence", confidence, "above 0 and below 1", "0.95 is usual.")
    return float(confidence)
