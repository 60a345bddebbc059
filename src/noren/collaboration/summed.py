"""Sums over rows with integer noise: sensitivity on the grid, the two laws, and their price.

Maths
    Each row gives a vector of Euclidean length at most L, moved toward zero onto the grid
    g = 2**exponent; sums are integers, exact in any order. Between neighbors a sum moves by at most
        add-remove    k L / g,    substitute    k C / g + sqrt(m) k
    in L2, m coordinates, C the largest distance of two such vectors, k rows of a person; in L1 by
    sqrt(m) times as much. T such sums, each asked with the ones before in hand:
        delta > 0    discrete Gaussian, variance v:  rho = T (L2)^2 / (2 v)
        delta = 0    discrete Laplace, scale t:      epsilon = T (L1) / t

Privacy
    Toward zero no vector becomes longer, and two coordinates of one sign come apart by less than a
    step more, of opposite signs not at all. Integer vectors with discrete noise cost what
    primitives say: rho for Gaussians (not the Gaussian curve), epsilon for Laplace, added over T
    adaptive sums.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from noren.collaboration.step_price import adjacency_of
from noren.errors import NotPrivate
from noren.mechanisms.additive import GAUSSIAN, LAPLACE
from noren.noise import Noise
from noren.privacy import SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.zcdp import zcdp_epsilon_charge, zcdp_rho_budget
from noren.question import Mechanism

FINENESS = 20  # the grid is 2**-20 of the bound of weights
ROOT_DIGITS = 60

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowBounds:
    """How long one row's vector is at most, squared, and how far two are apart, squared."""

    coordinates: int
    length_squared: Fraction
    distance_squared: Fraction


@dataclass(frozen=True, slots=True)
class SummedNoise:
    """Noise for some sums of bounded row vectors."""

    adjacency: Adjacency
    bounds: RowBounds
    exponent: int
    sums: int
    law: str
    parameter: Fraction  # the scale of discrete Laplace, the variance of discrete Gaussian

    @classmethod
    def planned(
        cls,
        adjacency: Adjacency,
        bounds: RowBounds,
        weight: Fraction,
        sums: int,
        price: tuple[Fraction, Fraction],
    ) -> SummedNoise:
        """Calibrate to (epsilon, delta): Laplace at delta 0, else Gaussian."""
        epsilon, delta = price
        exponent = math.floor(math.log2(float(weight))) - FINENESS
        law = GAUSSIAN if delta else LAPLACE
        plan = cls(adjacency, bounds, exponent, sums, law, Fraction(1))
        if delta:
            needed = sums * plan.l2**2 / (2 * zcdp_rho_budget(epsilon, delta))
        else:
            needed = sums * plan.l1 / epsilon
        return cls(adjacency, bounds, exponent, sums, law, Fraction(math.ceil(needed)))

    @property
    def step(self) -> float:
        """The distance of neighboring grid points."""
        return math.ldexp(1.0, self.exponent)

    @property
    def l2(self) -> Fraction:
        """How far neighbors move one sum, in steps, in L2."""
        rows, m = self.adjacency.max_records, self.bounds.coordinates
        grid = Fraction(2) ** self.exponent
        if self.adjacency.relation is SUBSTITUTE:
            return rows * (
                root_above(self.bounds.distance_squared) / grid + root_above(Fraction(m))
            )
        return rows * root_above(self.bounds.length_squared) / grid

    @property
    def l1(self) -> Fraction:
        """How far neighbors move one sum, in steps, in L1."""
        return root_above(Fraction(self.bounds.coordinates)) * self.l2

    @property
    def spread(self) -> float:
        """The standard deviation of a coordinate's noise, in the row vectors' unit."""
        size = float(self.parameter)
        return self.step * (math.sqrt(2) * size if self.law == LAPLACE else math.sqrt(size))

    @property
    def rho(self) -> Fraction | None:
        """The price in rho, where the law is Gaussian."""
        return self.sums * self.l2**2 / (2 * self.parameter) if self.law == GAUSSIAN else None

    def guarantee(self, delta: Fraction) -> Guarantee:
        """State the price at a delta."""
        if self.rho is None:
            return Guarantee(self.adjacency, self.sums * self.l1 / self.parameter)
        return Guarantee(self.adjacency, zcdp_epsilon_charge(self.rho, delta), delta, self.rho)

    @property
    def mechanism(self) -> Mechanism:
        """Say sensitivity and scale apart, for accountants outside."""
        draws = self.sums * self.bounds.coordinates
        if self.law == GAUSSIAN:
            return Mechanism(
                law=GAUSSIAN, sensitivity=self.l2**2, norm="L2 squared",
                variance=self.parameter, draws=draws, rounds=self.sums,
            )  # fmt: skip
        return Mechanism(
            law=LAPLACE, sensitivity=self.l1, scale=self.parameter, draws=draws, rounds=self.sums
        )

    def steps(self, vectors: Floats) -> Integers:
        """Move row vectors toward zero onto the grid, and add them up."""
        moved: Integers = np.ldexp(vectors, -self.exponent).astype(np.int64).sum(axis=0)
        return moved

    def draw(self, total: Integers, noise: Noise) -> Floats:
        """Add the noise to one sum, and give it in the row vectors' unit."""
        size = total.shape
        drawn = (
            noise.discrete_gaussian(self.parameter, size)
            if self.law == GAUSSIAN
            else noise.discrete_laplace(self.parameter, size)
        )
        found: Floats = np.ldexp((total + drawn).astype(np.float64), self.exponent)
        return found

    @property
    def parameters(self) -> dict[str, Any]:
        """Give what the claim is a function of."""
        return {"law": self.law, "noise": self.parameter, "exponent": self.exponent}


def read_summed(given: Mapping[str, Any], bounds: RowBounds, sums: int) -> SummedNoise:
    """Read the noise of a claim."""
    if given["law"] not in (LAPLACE, GAUSSIAN) or given["noise"] <= 0 or sums < 1:
        raise NotPrivate(
            "The claim names no law of noise that is known, or no noise at all, so nothing is "
            "proved. Ask the sender for a file made by the mechanism that it names."
        )
    who = adjacency_of(given)
    return SummedNoise(who, bounds, given["exponent"], sums, given["law"], given["noise"])


def root_above(square: Fraction) -> Fraction:
    """Give a square root, rounded up at 2**-60; exact for squares of such numbers."""
    scaled = square * (1 << (2 * ROOT_DIGITS))
    whole = math.ceil(scaled)
    root = math.isqrt(whole)
    return Fraction(root + (root * root < whole), 1 << ROOT_DIGITS)
