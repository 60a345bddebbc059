"""Integer noise for a vector that moves by a Euclidean distance: one statement, two laws.

Maths
    Release s + Z for an integer vector s of p coordinates, of which neighbours lie at most D apart
    (D a rational, in Euclid's norm).

    law                 given      drawn with                                   price
    lattice             epsilon    P(k) proportional to exp(-epsilon |k|_2 / D)  epsilon
    discrete Gaussian   rho        variance D**2 / (2 rho) each                  rho

    The lattice law is drawn by rejection: k from independent discrete Laplace laws of a rational
    scale tau >= sqrt(p) D / epsilon, kept with probability
        exp(-epsilon |k|_2 / D + |k|_1 / tau) <= 1, since |k|_1 <= sqrt(p) |k|_2.
    The coin is exact (`Noise.bernoulli`). It keeps 0.79 of the candidates at p = 2, 0.09 at 10,
    0.006 at 20, 0.0004 at 30; more than 30 coordinates are refused.

Privacy
    Lattice: |y - s|_2 and |y - s'|_2 differ by at most D, whatever y is (triangle inequality), so
    the masses differ by at most exp(epsilon); the normalizer is the same, s being whole. Equality
    holds along the line through s and s'. Its rho is that of any epsilon-private answer.
    Discrete Gaussian: D**2 / (2 variance).

Accuracy
    Lattice, as a density: the radius is Gamma(p, D / epsilon), each coordinate has the variance
    (p + 1)(D / epsilon)**2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.mechanisms.additive import GAUSSIAN, read_confidence
from noren.noise import Noise, laws
from noren.privacy import Adjacency, Guarantee
from noren.privacy.charges import pure_to_zcdp_charge
from noren.privacy.decimals import decimal
from noren.question import Mechanism

LATTICE = "lattice law of Euclid's norm"
MOST = 30  # coordinates that the exact rejection serves
BATCH = 64


@dataclass(frozen=True, slots=True)
class BallNoise:
    """Noise for an integer vector of `size` coordinates that moves by at most `reach`.

    Exactly one of `epsilon` and `rho` is given; it decides the law.
    """

    adjacency: Adjacency
    size: int
    reach: Fraction
    epsilon: Fraction | None
    rho: Fraction | None

    def __post_init__(self) -> None:
        if self.epsilon is not None and self.size > MOST:
            raise ParameterError(
                "the number of coordinates",
                self.size,
                f"at most {MOST} where the price is an epsilon",
                "Release fewer of them, or state the price as rho (discrete Gaussian noise).",
            )

    @property
    def name(self) -> str:
        """Name the law."""
        return GAUSSIAN if self.epsilon is None else LATTICE

    @property
    def parameter(self) -> Fraction:
        """Give the scale D / epsilon of the lattice law, or the variance of Gaussian noise."""
        if self.epsilon is not None:
            return self.reach / self.epsilon
        assert self.rho is not None
        return self.reach**2 / (2 * self.rho)

    @property
    def guarantee(self) -> Guarantee:
        """State the price: epsilon with its rho, or rho alone."""
        if self.epsilon is None:
            return Guarantee(self.adjacency, rho=self.rho)
        charge = pure_to_zcdp_charge(self.epsilon)
        return Guarantee(self.adjacency, epsilon=self.epsilon, rho=charge)

    @property
    def variance(self) -> float:
        """Give the variance of one coordinate's noise."""
        if self.name == GAUSSIAN:
            return laws.discrete_gaussian_variance(self.parameter)
        return (self.size + 1) * float(self.parameter) ** 2

    def margin(self, confidence: float) -> float:
        """Give the distance that the whole vector's noise stays within, with this probability."""
        from scipy.special import gammaincinv

        share = read_confidence(confidence)
        if self.name == GAUSSIAN:
            return math.sqrt(2 * gammaincinv(self.size / 2, share) * float(self.parameter))
        return float(gammaincinv(self.size, share)) * float(self.parameter)

    def draw(self, noise: Noise) -> NDArray[np.int64]:
        """Draw one vector."""
        if self.name == GAUSSIAN:
            return noise.discrete_gaussian(self.parameter, self.size)  # type: ignore[no-any-return]
        return draw_lattice(self.parameter, self.size, noise)

    @property
    def mechanism(self) -> Mechanism:
        """Say sensitivity and scale apart, for accountants outside."""
        if self.name == GAUSSIAN:
            return Mechanism(
                law=GAUSSIAN,
                sensitivity=self.reach**2,
                norm="L2 squared",
                variance=self.parameter,
                draws=self.size,
            )
        return Mechanism(law=LATTICE, sensitivity=self.reach, norm="L2", scale=self.parameter)


def draw_lattice(scale: Fraction, size: int, noise: Noise) -> NDArray[np.int64]:
    """Draw k with P(k) proportional to exp(-|k|_2 / scale)."""
    tau = scale * Fraction(math.isqrt(size << 60) + 1, 1 << 30)  # at least sqrt(size) * scale
    while True:
        for candidate in noise.discrete_laplace(tau, (BATCH, size)):
            if keeps(candidate, scale, tau, noise):
                return candidate  # type: ignore[no-any-return]


def keeps(candidate: NDArray[np.int64], scale: Fraction, tau: Fraction, noise: Noise) -> bool:
    """Toss the coin that keeps a candidate."""
    entries = [int(entry) for entry in candidate]
    squares, total = sum(entry * entry for entry in entries), sum(map(abs, entries))
    if squares == 0:
        return True

    def chance(digits: int) -> Decimal:
        # the open context carries 10 digits more than are asked for; the exponent has few before
        inside = decimal(Fraction(total) / tau) - Decimal(squares).sqrt() / decimal(scale)
        return inside.exp()

    return bool(noise.bernoulli(chance))
