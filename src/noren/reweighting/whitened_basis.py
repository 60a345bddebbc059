"""Whitened moments in whole steps, with the noise that their Euclidean bound allows.

Maths
    q = z / y rounded towards zero, y = 2**-20, z the clipped coordinates of `Whitening`. So
    |q|_2 <= R / y, R rounded up to the grid; sums of q**2 are checked in integers, and an excess
    is taken from the largest entry.

Privacy (`noren.mechanisms.ball`)
    SUBSTITUTE    the sum of q moves by at most D = 2 R / y: the whole price is spent on it
    ADD_REMOVE    it moves by at most R / y, and the number of rows by 1. The sum gets 0.9 of the
                  price (0.65 where p = 1), the number the rest, with discrete Laplace noise (or
                  discrete Gaussian, where the price is rho). ~n = max(1, noisy number), and
                  ~z = noisy sum / ~n.

Accuracy
    SUBSTITUTE    v I, v = (p + 1)(2 R / (n epsilon))**2
    ADD_REMOVE    (v_sum I + v_n ~z ~z') / ~n**2, the variances of the sum's and the number's noise
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren.mechanisms.additive import IntegerNoise
from noren.mechanisms.ball import BallNoise
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, Adjacency, Guarantee
from noren.question import Mechanism
from noren.reweighting.reading import Reading
from noren.reweighting.rows import Integers, matrix, public_matrix
from noren.reweighting.whitening import Whitening

UNIT_BITS = 20
STRIDE = 1 << 13
REACH = 2.0**16  # coordinates are clamped here: far beyond any declared bound


@dataclass(frozen=True, slots=True)
class SumAndCount:
    """The noise of a sum, and under ADD_REMOVE of the number of rows beside it."""

    sum: BallNoise
    count: IntegerNoise | None

    @property
    def guarantee(self) -> Guarantee:
        """Add up what the two cost."""
        if self.count is None:
            return self.sum.guarantee
        first, second = self.sum.guarantee, self.count.guarantee
        both = first.epsilon is not None and second.epsilon is not None
        epsilon = first.epsilon + second.epsilon if both else None  # type: ignore[operator]
        assert first.rho is not None
        assert second.rho is not None
        return Guarantee(first.adjacency, epsilon=epsilon, rho=first.rho + second.rho)

    @property
    def variance(self) -> float:
        """Give the variance of one coordinate of the sum."""
        return self.sum.variance

    def margin(self, confidence: float) -> float:
        """Give the distance that the sum's noise stays within."""
        return self.sum.margin(confidence)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivities and scales apart."""
        count = () if self.count is None else (self.count.mechanism(1),)
        return (self.sum.mechanism, *count)

    def draw(self, noise: Noise, size: int) -> NDArray[np.int64]:
        """Draw the noise of the sum and of the number."""
        drawn = self.sum.draw(noise)
        return drawn if self.count is None else np.append(drawn, self.count.draw(noise, 1))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WhitenedBasis:
    """Whitened moments of the public table's coordinates, in steps of 2**-20.

    Parameters
    ----------
    whitening : Whitening
        From the public table: `Whitening.of(public, order)`.

    Examples
    --------
    >>> basis = WhitenedBasis.of([[0.0], [1.0], [2.0], [4.0]], order=2)
    >>> basis.size, bool((basis.steps([[1e9]]) ** 2).sum() <= basis.reach ** 2)
    (2, True)
    """

    kind: ClassVar[str] = "whitened"
    unit: ClassVar[int] = 1 << UNIT_BITS

    whitening: Whitening

    @classmethod
    def of(cls, public: ArrayLike, order: int) -> WhitenedBasis:
        """Settle the whitening from the public rows."""
        return cls(Whitening.of(public_matrix("public", public), order))

    @property
    def size(self) -> int:
        """How many moments there are."""
        return self.whitening.size

    @property
    def dimension(self) -> int:
        """How many coordinates a row has."""
        d, order = len(self.whitening.shift), self.whitening.order
        return {1: d, 2: d // 2, 3: (math.isqrt(9 + 8 * d) - 3) // 2}[order]

    @property
    def reach(self) -> int:
        """The longest row, in steps."""
        return math.ceil(self.whitening.radius * self.unit)

    @property
    def sum_share(self) -> Fraction:
        """The part of a price that the sum gets where the number of rows is secret."""
        return Fraction(9, 10) if self.size > 1 else Fraction(65, 100)

    @property
    def identity(self) -> str:
        """The SHA-256 of everything that settles the moments."""
        own = self.whitening
        content = hashlib.sha256(f"{own.order} {own.radius!r} {own.turn.shape}".encode())
        for array in (own.shift, own.turn):
            content.update(array.tobytes())
        return content.hexdigest()

    def public_form(self) -> dict[str, Any]:
        """Give what stands for the basis in a question's identity."""
        return {"basis": self.kind, "size": self.size, "sha256": self.identity}

    def law(
        self, adjacency: Adjacency, epsilon: Fraction | None, rho: Fraction | None
    ) -> SumAndCount:
        """Give the noise for a price."""
        if adjacency.relation is not ADD_REMOVE:
            return SumAndCount(BallNoise(adjacency, self.size, Fraction(2 * self.reach), epsilon,
                                         rho), None)  # fmt: skip
        share = self.sum_share
        parts = [
            (None if epsilon is None else part * epsilon, None if rho is None else part * rho)
            for part in (share, 1 - share)
        ]
        rows = adjacency.max_records
        return SumAndCount(
            BallNoise(adjacency, self.size, Fraction(rows * self.reach), *parts[0]),
            IntegerNoise(adjacency, (rows,), *parts[1]),
        )

    def mechanisms(self, law: SumAndCount) -> tuple[Mechanism, ...]:
        """Say sensitivities and scales apart, in steps."""
        return law.mechanisms

    def released_size(self, adjacency: Adjacency) -> int:
        """How many numbers a release holds: the moments, and the number of rows if it is secret."""
        return self.size + (adjacency.relation is ADD_REMOVE)

    def steps(self, rows: ArrayLike) -> Integers:
        """Give the moments of some rows, in steps."""
        given = matrix("rows", rows, self.dimension)
        given[np.isnan(given)] = 0.0
        np.clip(given, -REACH, REACH, out=given)
        found = np.zeros((len(given), self.size), np.int64)
        for start in range(0, len(given), STRIDE):
            part = np.trunc(self.whitening.values(given[start : start + STRIDE]) * self.unit)
            found[start : start + STRIDE] = shortened(part.astype(np.int64), self.reach)
        return found

    def total(self, rows: ArrayLike) -> Integers:
        """Add the steps of all rows, holding few of them at a time."""
        given, found = np.asarray(rows), np.zeros(self.size, np.int64)
        for start in range(0, len(given), STRIDE):
            found += self.steps(given[start : start + STRIDE]).sum(axis=0)
        return found

    def exact(self, statistic: Any, adjacency: Adjacency) -> Integers:
        """Give what the noise is added to."""
        if adjacency.relation is not ADD_REMOVE:
            return statistic.steps  # type: ignore[no-any-return]
        return np.append(statistic.steps, statistic.records)

    def read(self, steps: Integers, records: int | None, law: SumAndCount) -> Reading:
        """Read the noisy mean and its error off a release."""
        if records is not None:
            scale = self.unit * float(records)
            return Reading(float(records), steps / scale,
                           law.variance / scale**2 * np.eye(self.size), 0.0)  # fmt: skip
        assert law.count is not None
        rows = max(1.0, float(steps[-1]))
        mean = steps[:-1] / (self.unit * rows)
        noise = law.variance / self.unit**2 * np.eye(self.size)
        noise = noise + law.count.variance * np.outer(mean, mean)
        share = math.sqrt(law.count.variance) / rows
        return Reading(rows, mean, noise / rows**2, share, bool(steps[-1] < 1))

    def __repr__(self) -> str:
        return f"WhitenedBasis({self.size} moments of order {self.whitening.order})"


def shortened(steps: Integers, reach: int) -> Integers:
    """Take from the largest entry of a row while its squares exceed the bound."""
    while True:
        over = np.flatnonzero((steps * steps).sum(axis=1) > reach * reach)
        if not over.size:
            return steps
        largest = np.abs(steps[over]).argmax(axis=1)
        steps[over, largest] -= np.sign(steps[over, largest])
