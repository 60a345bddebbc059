"""Laws on the integers, each given by its upper tail to any precision.

Maths
    geometric(t)           P(X > k) = r**(k+1), k >= 0, with r = exp(-1/t)
    its digit below m      P(X > k) = (r**(k+1) - r**m) / (1 - r**m), 0 <= k < m - 1
    discrete Laplace(t)    P(X > k) = r**(k+1) / (1 + r), k >= 0; symmetric
    discrete Gaussian(v)   P(X > k) = sum over j > k of exp(-j**2 / (2 v)) / S; symmetric,
                           S = sum over all integers j of exp(-j**2 / (2 v))

    For a symmetric law F(-k - 1) = P(X > k), so the upper tail says everything. Tails are
    computed, never one minus a distribution function: that would round to 1 far out.
    None of these tails is a finite binary fraction, so the digits of a comparison never end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, repeat
from operator import mul
from typing import ClassVar, Protocol

from noren.noise.reals import decimal, precision

LN_2_64 = 64 * math.log(2)
LN_10 = math.log(10)


class TailLaw(Protocol):
    """A law by its upper tail."""

    symmetric: ClassVar[bool]

    def __hash__(self) -> int: ...

    @property
    def size(self) -> int | None:
        """The number of values 0, 1, .. of a law that ends; None for an open tail."""

    @property
    def reach(self) -> int:
        """At least as many k as have a tail of 2**-64 or more, and one further."""

    def tails(self, first: int, count: int, digits: int) -> list[Decimal]:
        """Give P(X > k) for `count` values of k, all within 10**-digits or a few times it."""


def powers(scale: Fraction, first: int, count: int) -> list[Decimal]:
    """Give exp(-k / scale) for k from `first` on, in the current precision.

    Each is the one before times r: 20 times faster than an exponential, at the loss of as many
    digits as `count` has.
    """
    start, ratio = (decimal(Fraction(-k) / scale).exp() for k in (first, 1))
    return list(accumulate(repeat(ratio, count - 1), mul, initial=start))


@dataclass(frozen=True, slots=True)
class GeometricLaw:
    """P(X = k) = (1 - r) r**k for k >= 0."""

    scale: Fraction
    symmetric: ClassVar[bool] = False

    @property
    def size(self) -> int | None:
        """No end."""
        return None

    @property
    def reach(self) -> int:
        """The k where the tail passes 2**-64."""
        return math.ceil(LN_2_64 * float(self.scale)) + 2

    def tails(self, first: int, count: int, digits: int) -> list[Decimal]:
        """Give r**(k+1)."""
        with precision(digits + 12):
            return powers(self.scale, first + 1, count)


@dataclass(frozen=True, slots=True)
class DigitLaw:
    """A geometric variable modulo m: P(X = k) proportional to r**k for 0 <= k < m."""

    scale: Fraction
    base: int
    symmetric: ClassVar[bool] = False

    @property
    def size(self) -> int | None:
        """One value for each remainder."""
        return self.base

    @property
    def reach(self) -> int:
        """All but the last: a tail of exactly zero needs no threshold."""
        return self.base - 1

    def tails(self, first: int, count: int, digits: int) -> list[Decimal]:
        """Give (r**(k+1) - r**m) / (1 - r**m), with digits to spare for the cancellation."""
        with precision(digits + 12 + len(str(int(self.scale)))):
            last = powers(self.scale, self.base, 1)[0]
            return [(p - last) / (1 - last) for p in powers(self.scale, first + 1, count)]


@dataclass(frozen=True, slots=True)
class LaplaceLaw:
    """P(X = k) = (1 - r) / (1 + r) * r**abs(k)."""

    scale: Fraction
    symmetric: ClassVar[bool] = True

    @property
    def size(self) -> int | None:
        """No end."""
        return None

    @property
    def reach(self) -> int:
        """The k where the tail passes 2**-64."""
        return math.ceil(LN_2_64 * float(self.scale)) + 2

    def tails(self, first: int, count: int, digits: int) -> list[Decimal]:
        """Give r**(k+1) / (1 + r)."""
        with precision(digits + 12):
            whole = 1 + powers(self.scale, 1, 1)[0]
            return [power / whole for power in powers(self.scale, first + 1, count)]


@dataclass(frozen=True, slots=True)
class GaussianLaw:
    """P(X = k) proportional to exp(-k**2 / (2 variance))."""

    variance: Fraction
    symmetric: ClassVar[bool] = True

    @property
    def size(self) -> int | None:
        """No end."""
        return None

    @property
    def reach(self) -> int:
        """The k where a normal tail passes 2**-64, and a little further."""
        return math.ceil(9.6 * math.sqrt(self.variance)) + 3

    def weights(self, digits: int) -> list[Decimal]:
        """Give exp(-j**2 / (2 variance)) for j = 0, 1, .. until below 10**-digits (8 to spare).

        From j to j + 1 the weight is multiplied by exp(-(2 j + 1) / (2 variance)), and that ratio
        by exp(-2 / (2 variance)).
        """
        last = math.ceil(math.sqrt(2 * float(self.variance) * LN_10 * (digits + 8))) + 2
        with precision(digits + 8 + 2 * len(str(last))):  # two products a step lose that many
            first, square = (decimal(Fraction(-k) / (2 * self.variance)).exp() for k in (1, 2))
            ratios = accumulate(repeat(square, last - 1), mul, initial=first)
            return list(accumulate(ratios, mul, initial=Decimal(1)))

    def tails(self, first: int, count: int, digits: int) -> list[Decimal]:
        """Add the weights from the outside in, and divide by all of them."""
        with precision(digits + 12):
            weights = self.weights(digits)
            sums = list(accumulate(reversed(weights)))[::-1]  # sums[k] = weights k, k + 1, ..
            total = 2 * sums[0] - weights[0]
            beyond = max(0, first + 1 + count - len(sums))
            return [s / total for s in sums[first + 1 : first + 1 + count]] + [Decimal(0)] * beyond
