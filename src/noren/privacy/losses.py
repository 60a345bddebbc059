"""Privacy losses off a lattice: continuous laws, sampled Gaussians, any finite table.

Each gives the masses of P and of Q by interval of the loss, from distribution functions that stay
accurate in both tails, and its own exact delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from noren.privacy.gaussian import gdp_delta
from noren.privacy.lattice import Floats, binned


class Loss(Protocol):
    """The privacy loss of one worst pair (P, Q), seen under P."""

    @property
    def infinite(self) -> float:
        """The mass of P where Q has none."""

    @property
    def anchor(self) -> Fraction | None:
        """A step of which every atom of the loss is a multiple, if there is one."""

    def delta(self, epsilon: float) -> float:
        """Give the delta at an epsilon."""

    def span(self, tail: float) -> tuple[float, float]:
        """Give losses outside which P has at most `tail` on either side."""

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Give the masses of P and Q in (-inf, e0], (e0, e1], ..., (e_last, inf)."""


@dataclass(frozen=True, slots=True)
class FiniteLoss:
    """A mechanism with finitely many outputs: their probabilities under P and under Q."""

    p: tuple[float, ...]
    q: tuple[float, ...]

    @property
    def infinite(self) -> float:
        """The mass of P where Q has none."""
        return math.fsum(p for p, q in zip(self.p, self.q, strict=True) if q == 0)

    @property
    def anchor(self) -> None:
        """Its atoms lie anywhere."""
        return None

    def delta(self, epsilon: float) -> float:
        """Give sum max(0, P - e^epsilon Q)."""
        growth = math.exp(epsilon)
        return math.fsum(max(0.0, p - growth * q) for p, q in zip(self.p, self.q, strict=True))

    def span(self, tail: float) -> tuple[float, float]:
        """Give the smallest and the largest finite loss."""
        losses = self._table()[2]
        return float(losses.min(initial=0.0)), float(losses.max(initial=0.0))

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Give the masses of P and Q in (-inf, e0], (e0, e1], ..., (e_last, inf)."""
        p, q, losses = self._table()
        return binned(p, losses, edges), binned(q, losses, edges)

    def _table(self) -> tuple[Floats, Floats, Floats]:
        """Keep the outputs that both can give."""
        p, q = np.array(self.p, float), np.array(self.q, float)
        both = (p > 0) & (q > 0)
        return p[both], q[both], np.log(p[both] / q[both])


@dataclass(frozen=True, slots=True)
class LaplaceLoss:
    """Continuous Laplace noise of scale sensitivity / epsilon."""

    epsilon: Fraction

    @property
    def infinite(self) -> float:
        """The mass of P where Q has none."""
        return 0.0

    @property
    def anchor(self) -> Fraction:
        """Its atoms lie at -e and e."""
        return self.epsilon

    def delta(self, epsilon: float) -> float:
        """Give 1 - e^((epsilon - e) / 2)."""
        return max(0.0, -math.expm1((epsilon - float(self.epsilon)) / 2))

    def span(self, tail: float) -> tuple[float, float]:
        """Give -e and e, which are both atoms."""
        return -float(self.epsilon), float(self.epsilon)

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Give the masses of P and Q in (-inf, e0], (e0, e1], ..., (e_last, inf)."""
        e = float(self.epsilon)
        inside, below, above = np.clip(edges, -e, e), edges < -e, edges >= e
        p = np.where(below, 0.0, np.where(above, 1.0, np.exp((inside - e) / 2) / 2))
        rest = np.exp((-inside - e) / 2) / 2  # what Q has above
        q = np.where(below, 1.0, np.where(above, 0.0, rest))
        return np.diff(p, prepend=0.0, append=1.0), -np.diff(q, prepend=1.0, append=0.0)


@dataclass(frozen=True, slots=True)
class GaussianLoss:
    """A continuous Gaussian mechanism: the loss is normal, mean mu^2 / 2 under P."""

    mu: float

    @property
    def infinite(self) -> float:
        """The mass of P where Q has none."""
        return 0.0

    @property
    def anchor(self) -> None:
        """It has no atoms."""
        return None

    def delta(self, epsilon: float) -> float:
        """Give the exact delta, which is never 0."""
        return max(math.ulp(0.0), gdp_delta(self.mu, max(0.0, epsilon)))

    def span(self, tail: float) -> tuple[float, float]:
        """Give the mean, plus and minus the standard deviations that `tail` asks for."""
        reach = self.mu * _deviations(tail)
        return self.mu**2 / 2 - reach, self.mu**2 / 2 + reach

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Give the masses of P and Q in (-inf, e0], (e0, e1], ..., (e_last, inf)."""
        at = edges / self.mu
        return normal_masses(at - self.mu / 2), normal_masses(at + self.mu / 2)


@dataclass(frozen=True, slots=True)
class SampledGaussianLoss:
    """Gaussian noise on a Poisson sample, sensitivity 1, under add-remove.

    One side is N(0, sigma^2), the other the mixture (1 - rate) N(0, sigma^2) + rate N(1, sigma^2).
    `removed` says which of the two is P: with it, P is the mixture.
    """

    sigma: float
    rate: float
    removed: bool

    @property
    def infinite(self) -> float:
        """The mass of P where Q has none."""
        return 0.0

    @property
    def anchor(self) -> None:
        """It has no atoms."""
        return None

    def delta(self, epsilon: float) -> float:
        """Give the exact delta, never 0, from the outputs where the loss passes epsilon."""
        p, q = self.masses(np.array([max(0.0, epsilon)]))
        return max(math.ulp(0.0), float(p[1] - math.exp(epsilon) * q[1]))

    def span(self, tail: float) -> tuple[float, float]:
        """Give the losses at the outputs beyond which P has at most `tail`."""
        reach = self.sigma * _deviations(tail)
        ends = self._loss(-reach), self._loss(1 + reach)
        return ends if self.removed else (-ends[1], -ends[0])

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Give the masses of P and Q in (-inf, e0], (e0, e1], ..., (e_last, inf)."""
        outputs = self._output(edges if self.removed else -edges[::-1])
        plain = normal_masses(outputs / self.sigma)
        moved = normal_masses((outputs - 1) / self.sigma)
        mixed = (1 - self.rate) * plain + self.rate * moved
        return (mixed, plain) if self.removed else (plain[::-1], mixed[::-1])

    def _loss(self, output: float) -> float:
        """Compute ln(1 - rate + rate e^((2 y - 1) / (2 sigma^2)))."""
        moved = math.log(self.rate) + (2 * output - 1) / (2 * self.sigma**2)
        return float(np.logaddexp(math.log1p(-self.rate), moved))

    def _output(self, losses: Floats) -> Floats:
        """Invert `_loss`; a loss that is never reached lies at minus infinity."""
        inside = np.expm1(losses) / self.rate
        with np.errstate(divide="ignore"):
            logs = np.log1p(np.maximum(inside, -1.0))
        return np.asarray(self.sigma**2 * logs + 0.5)


def normal_masses(points: Floats) -> Floats:
    """Give the standard normal's masses between rising points, accurate in both tails."""
    from scipy.special import ndtr

    low, high = np.append(-np.inf, points), np.append(points, np.inf)
    return np.asarray(np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)))


def sampled_gaussian(sigma: Fraction, rate: Fraction) -> tuple[SampledGaussianLoss, ...]:
    """Give both directions of the Poisson-sampled Gaussian mechanism."""
    return tuple(SampledGaussianLoss(float(sigma), float(rate), side) for side in (True, False))


def _deviations(tail: float) -> float:
    """Give z with P(N > z) <= tail."""
    return math.sqrt(-2 * math.log(tail))
