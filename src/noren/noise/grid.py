"""Move real values to a public grid, so that noise is added to integers.

Maths
    The grid has the step g = 2**j. A value x is clamped to public bounds, a missing one (NaN)
    becomes a declared public value, and q = floor(x / g + 1/2), ties always up. In floating point
    y = x / g, f = floor(y), q = f + (y - f >= 1/2), which is exact; floor(y + 0.5) is not.

Privacy
    A sum of quantised records is an integer, exact in any order. One record changes it by
    ADD_REMOVE, ZERO_OUT     at most max(abs(q(low)), abs(q(high)))
    SUBSTITUTE               at most q(high) - q(low)
    A person with 1 to k rows: k times the first; for SUBSTITUTE the range of k rows or fewer,
    max(1 or k times q(high)) - min(1 or k times q(low)), because a person may be replaced by one
    with another number of rows. All of these are attained.
    A real query that changes by at most D in L1 (D2 in L2), in at most m coordinates, changes in
    grid steps by at most ceil(D / g) + m - 1 in L1 and D2 / g + sqrt(m) in L2.
    What is released is (q + noise) g, exact below 2**53 steps. Beyond, the draw is refused: that
    depends on the noisy integer alone, and the charge stays.

Accuracy
    With g at most a 1024th of both the sensitivity and the scale of the noise, the grid costs at
    most a factor 1 + 1/1024 for each coordinate that moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from noren.errors import DrawRefused, ParameterError
from noren.noise.inversion import Integers
from noren.privacy.adjacency import BIT, LOCAL, SUBSTITUTE, Adjacency
from noren.privacy.numbers import Number, exact, positive, whole

FINENESS = 1024
LARGEST_INPUT, LARGEST_RELEASE = 1 << 52, 1 << 53
STEEPEST = 1000  # exponents of two beyond this leave the range of floats

Floats = npt.NDArray[np.float64]


def grid_exponent(sensitivity: Number, scale: Number) -> int:
    """Give the largest j with 2**j at most a 1024th of both the sensitivity and the scale.

    Examples
    --------
    >>> grid_exponent(sensitivity=1, scale=10)
    -10
    """
    least = min(positive("sensitivity", sensitivity), positive("scale", scale)) / FINENESS
    j = least.numerator.bit_length() - least.denominator.bit_length()
    return j if power_of_two(j) <= least else j - 1


def power_of_two(exponent: int) -> Fraction:
    """Give 2**exponent exactly."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A public grid of step 2**exponent, with the public bounds of what is put on it.

    Parameters
    ----------
    exponent : int
        The step is 2**exponent; see `grid_exponent`.
    low, high : number
        Values outside are moved to the nearest bound.
    missing : number
        What a missing value (NaN) becomes, from `low` to `high`.

    Examples
    --------
    >>> ages = Grid(exponent=-3, low=0, high=120, missing=40)
    >>> ages.quantise([33.3, 150, float("nan")])
    array([266, 960, 320])
    >>> ages.sensitivity(Adjacency.read("add-remove"))
    960
    """

    exponent: int
    low: float
    high: float
    missing: float

    def __post_init__(self) -> None:
        exponent = whole("exponent", self.exponent)
        if abs(exponent) > STEEPEST:
            raise ParameterError(
                "exponent",
                exponent,
                "between -1000 and 1000",
                "The step is 2**exponent; see grid_exponent.",
            )
        object.__setattr__(self, "exponent", exponent)
        for name in ("low", "high", "missing"):
            object.__setattr__(self, name, float(exact(name, getattr(self, name))))
        if not self.low < self.high:
            raise ParameterError("low", self.low, "below high", "Bounds are public and fixed.")
        if not self.low <= self.missing <= self.high:
            raise ParameterError(
                "missing",
                self.missing,
                "between low and high",
                "Declare a public value for what is missing.",
            )
        if max(abs(self.low), abs(self.high)) > LARGEST_INPUT * self.step:
            raise ParameterError(
                "step", self.step, "at least a bound over 2**52", "Choose a larger exponent."
            )

    @property
    def step(self) -> float:
        """The distance of neighbouring grid points."""
        return math.ldexp(1.0, self.exponent)

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the largest integer that a value can become."""
        low, high = self.quantise([self.low, self.high]).tolist()
        return low, high

    def quantise(self, values: npt.ArrayLike) -> Integers:
        """Clamp values and give them in steps, ties up; it never raises for what a value is."""
        given: Floats = np.array(values, np.float64)
        given[np.isnan(given)] = self.missing
        np.clip(given, self.low, self.high, out=given)
        steps = np.ldexp(given, -self.exponent)
        whole_steps = np.floor(steps)
        return (whole_steps + (steps - whole_steps >= 0.5)).astype(np.int64)

    def total(self, values: npt.ArrayLike) -> int:
        """Add quantised values exactly."""
        steps = self.quantise(values).ravel()
        upper, lower = steps >> 26, steps & ((1 << 26) - 1)  # each adds up within 64 bits
        return (int(upper.sum()) << 26) + int(lower.sum())

    def sensitivity(self, adjacency: Adjacency | str) -> int:
        """Give by how many steps one neighbour changes the sum of quantised records."""
        who = Adjacency.read(adjacency)
        if who.unit is BIT:
            raise ParameterError(
                "adjacency", who, "about records or persons", "A real value has no bits to flip."
            )
        low, high = self.ends
        rows = who.max_records
        if who.relation in (SUBSTITUTE, LOCAL):
            return max(high, rows * high) - min(low, rows * low)
        return rows * max(abs(low), abs(high))

    def release(self, noisy: npt.ArrayLike) -> Floats:
        """Turn noisy integers into values, exactly; refuse what lies beyond 2**53 steps."""
        steps = np.asarray(noisy)
        if steps.dtype.kind not in "iuO":
            raise ParameterError(
                "noisy", f"of type {steps.dtype}", "whole numbers", "Add integer noise to steps."
            )
        if steps.size and (steps.max() >= LARGEST_RELEASE or steps.min() <= -LARGEST_RELEASE):
            raise DrawRefused(
                "A noisy sum lies beyond 2**53 grid steps, where floats are no longer exact. The "
                "charge stays. Choose a coarser grid."
            )
        return np.ldexp(steps.astype(np.float64), self.exponent)


def l1_steps(sensitivity: Number, exponent: int, moved: int = 1) -> int:
    """Bound the L1 change in steps of a real query, of which `moved` coordinates can change."""
    change = positive("sensitivity", sensitivity) / power_of_two(whole("exponent", exponent))
    return math.ceil(change) + whole("moved", moved, 1) - 1


def l2_steps(sensitivity: Number, exponent: int, moved: int = 1) -> Fraction:
    """Bound the L2 change in steps; the root of `moved` is rounded up at 2**-60."""
    change = positive("sensitivity", sensitivity) / power_of_two(whole("exponent", exponent))
    square = whole("moved", moved, 1) << 120
    root = math.isqrt(square)
    return change + Fraction(root + (root * root < square), 1 << 60)
