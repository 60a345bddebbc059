"""Privacy losses that take their values on a lattice, held exactly.

The loss of an output y under neighbors P and Q is ln(P(y) / Q(y)), seen under P. For a finite or
integer mechanism its values are whole multiples of one exact step, so composing it needs no
rounding at all. Each class is a worst pair: its parameters are its identity.

    PureLoss              any (epsilon, delta) mechanism: +-epsilon, and infinity with mass delta
    ResponseLoss          k-ary randomized response: epsilon, 0, -epsilon
    DiscreteLaplaceLoss   (|k - D| - |k|) epsilon / D, for noise of scale D / epsilon
    DiscreteGaussianLoss  (D^2 - 2 D k) / (2 variance)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Masses under P at the losses (first + i) * step, and the mass at infinity."""

    step: Fraction
    first: int
    masses: Floats
    infinite: float = 0.0

    @property
    def losses(self) -> Floats:
        """The values of the loss, rising."""
        return float(self.step) * np.arange(self.first, self.first + len(self.masses), dtype=float)

    def delta(self, epsilon: float) -> float:
        """Give sum max(0, 1 - e^(epsilon - loss)) p(loss) + p(infinity)."""
        above = self.losses > epsilon
        part = -np.expm1(epsilon - self.losses[above]) @ self.masses[above]
        return float(part) + self.infinite


class LatticeLoss:
    """What the losses of this module share, given their `atoms`."""

    __slots__ = ()

    @property
    def atoms(self) -> Atoms:
        """The loss itself."""
        raise NotImplementedError

    def delta(self, epsilon: float) -> float:
        """Give the delta at an epsilon."""
        return self.atoms.delta(epsilon)

    @property
    def infinite(self) -> float:
        """The mass of P where Q has none."""
        return self.atoms.infinite

    @property
    def anchor(self) -> Fraction | None:
        """The step of which every loss is a multiple."""
        return self.atoms.step

    def span(self, tail: float) -> tuple[float, float]:
        """Give the smallest and the largest loss."""
        losses = self.atoms.losses
        return float(losses[0]), float(losses[-1])

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Give the masses of P and Q in (-inf, e0], (e0, e1], ..., (e_last, inf)."""
        p, losses = self.atoms.masses, self.atoms.losses
        return binned(p, losses, edges), binned(p * np.exp(-losses), losses, edges)


def binned(masses: Floats, losses: Floats, edges: Floats) -> Floats:
    """Add up masses by the interval that holds their loss."""
    places = np.searchsorted(edges, losses)
    return np.bincount(places, masses, len(edges) + 1).astype(np.float64)


@dataclass(frozen=True, slots=True)
class PureLoss(LatticeLoss):
    """The worst mechanism of a price (epsilon, delta)."""

    epsilon: Fraction
    floor: float = 0.0

    @property
    def atoms(self) -> Atoms:
        """Randomized response, which fails openly with probability delta."""
        x = math.exp(-self.epsilon)
        masses = np.array([x, 0.0, 1.0]) / (1 + x) * (1 - self.floor)
        return Atoms(self.epsilon, -1, masses, self.floor)


@dataclass(frozen=True, slots=True)
class ResponseLoss(LatticeLoss):
    """k-ary randomized response between two true values."""

    epsilon: Fraction
    k: int = 2

    @property
    def atoms(self) -> Atoms:
        """The own value, any third value, the other's value."""
        x = math.exp(-self.epsilon)
        masses = np.array([x, (self.k - 2) * x, 1.0]) / (1 + (self.k - 1) * x)
        return Atoms(self.epsilon, -1, masses)


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceLoss(LatticeLoss):
    """Discrete Laplace noise of scale sensitivity / epsilon, moved by `sensitivity`."""

    epsilon: Fraction
    sensitivity: int = 1

    @property
    def atoms(self) -> Atoms:
        """All k <= 0 give epsilon, all k >= D give -epsilon, those between every second step."""
        d, x = self.sensitivity, math.exp(-self.epsilon / self.sensitivity)
        masses = np.zeros(2 * d + 1)
        masses[2:-1:2] = (1 - x) / (1 + x) * x ** np.arange(d - 1, 0, -1)
        masses[0], masses[-1] = x**d / (1 + x), 1 / (1 + x)
        return Atoms(self.epsilon / d, -d, masses)


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLoss(LatticeLoss):
    """Discrete Gaussian noise, one number moved by `sensitivity`."""

    variance: Fraction
    sensitivity: int = 1

    @property
    def atoms(self) -> Atoms:
        """Every integer up to 13 standard deviations; the rest, below 1e-36, is at infinity."""
        return _gaussian_atoms(self.variance, self.sensitivity)


@lru_cache(maxsize=8)
def _gaussian_atoms(variance: Fraction, sensitivity: int) -> Atoms:
    """Place P(k) at the loss (D - 2 k) * D / (2 variance)."""
    far = math.ceil(13 * math.sqrt(variance)) + 2
    k = np.arange(-far, far + 1, dtype=np.float64)
    weights = np.exp(-k * k / (2 * float(variance)))
    masses = np.zeros(4 * far + 1)
    masses[::2] = weights[::-1] / weights.sum()
    return Atoms(Fraction(sensitivity) / (2 * variance), sensitivity - 2 * far, masses, 1e-36)
