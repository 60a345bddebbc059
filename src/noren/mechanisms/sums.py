"""The sum of one bounded value over all records, with integer noise on a public grid.

Maths
    Each value is moved into its public bounds and onto the grid g = 2**j (`noren.noise.grid`); S is
    the sum of these whole numbers of steps, exact in any order. Release (S + Z) g, with Z discrete
    Laplace of scale D / epsilon, or discrete Gaussian of variance D**2 / (2 rho).

Privacy (k rows of one person; k = 1 where the unit is a record)
    With a = q(low), b = q(high) in steps, neighbours change S by at most
    ADD_REMOVE  D = k max(abs(a), abs(b))
    SUBSTITUTE  D = b - a for k = 1; else max(b, k b) - min(a, k a), since the rows of a person may
                be replaced by another number of rows
    Both are attained, by integers, so epsilon and rho are tight (w = (D) in the lemma of
    `noren.mechanisms.additive`). The grid and the bounds must be fixed without looking at the data:
    values beyond the bounds are moved to them, a missing one to the declared value. What is
    released is a multiple of g, reached from every dataset alike: no float is added to a float.

Accuracy
    Noise as stated, plus at most g / 2 of rounding for each record; none if values lie on the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.errors import ParameterError
from noren.mechanisms.additive import (
    IntegerNoise,
    array_of,
    read_price,
    require_noise,
    require_statistic,
)
from noren.mechanisms.wording import neighbours, plus_minus, public_rows
from noren.noise import Noise
from noren.noise.grid import Grid, grid_exponent
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.numbers import Number, exact
from noren.question import Answer, Forecast, Mechanism, was_secure

FINE = 1 << 10  # a fine grid serves every epsilon up to this


def fine_grid(low: Number, high: Number, *, missing: Number) -> Grid:
    """Make a grid so fine that it costs nothing to speak of, for any epsilon up to 1024.

    Values that are whole numbers (ages, counts) need no such grid: `Grid(exponent=0, ...)` holds
    them exactly.

    Examples
    --------
    >>> fine_grid(0, 100, missing=50).exponent
    -14
    """
    width = exact("high", high) - exact("low", low)
    if width <= 0:
        raise ParameterError("low", low, "below high", "Bounds are public and fixed.")
    exponent = grid_exponent(width, width / FINE)
    return Grid(exponent=exponent, low=low, high=high, missing=missing)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, repr=False)
class Sum:
    """The sum of values in grid steps, and their number. Secret; adds up over partitions.

    Examples
    --------
    >>> grid = fine_grid(0, 1, missing=0)
    >>> Sum.of([0.25, 2.0], grid) + Sum.of([float("nan")], grid)
    Sum(grid of step 2**-20)
    """

    grid: Grid
    steps: int
    records: int

    @classmethod
    def of(cls, values: Any, grid: Grid) -> Sum:
        """Move values into the bounds and onto the grid, and add them up exactly."""
        given = array_of("values", values, np.float64)
        return cls(grid, grid.total(given), given.size)

    def __add__(self, other: Sum) -> Sum:
        require_grid(other.grid, self.grid)
        return Sum(self.grid, self.steps + other.steps, self.records + other.records)

    def __repr__(self) -> str:
        return f"Sum(grid of step 2**{self.grid.exponent})"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedSum:
    """Ask for the sum of one bounded value over all records.

    Parameters
    ----------
    grid : Grid
        The public bounds and the public grid of the value: see `fine_grid`.
    adjacency : Adjacency or str
        ADD_REMOVE or SUBSTITUTE, of records or of persons with up to `max_records` rows.
    epsilon, rho : number
        The price: epsilon for discrete Laplace noise, or rho for discrete Gaussian noise.

    Examples
    --------
    >>> hours = fine_grid(0, 24, missing=0)
    >>> question = BoundedSum(grid=hours, adjacency="add-remove", epsilon="0.5")
    >>> print(question.guarantee)
    epsilon 0.5, rho 0.1065306597 (one record is added or removed)
    >>> print(question.forecast())
    the sum within +-143.8 with probability 0.95
    >>> from noren import Noise
    >>> answer = question.answer(Sum.of([7.5, 8, 30], hours), Noise())
    >>> isinstance(answer.total, float)
    True
    """

    kind: ClassVar[str] = "bounded-sum"
    notes: ClassVar[tuple[str, ...]] = ()

    grid: Grid
    adjacency: Adjacency
    epsilon: Fraction | None = None
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        epsilon, rho = read_price(self.epsilon, self.rho)
        put = object.__setattr__
        put(self, "adjacency", neighbours(self.adjacency, ADD_REMOVE, SUBSTITUTE))
        put(self, "epsilon", epsilon)
        put(self, "rho", rho)
        read_grid(self.grid)

    @property
    def worst(self) -> tuple[int, ...]:
        """Give the worst change of the sum in steps (proof: module docstring)."""
        return (self.grid.sensitivity(self.adjacency),)

    @property
    def law(self) -> IntegerNoise:
        """Give the law of the noise, with its price."""
        return IntegerNoise(self.adjacency, self.worst, self.epsilon, self.rho)

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking."""
        return self.law.guarantee

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart, in grid steps."""
        return (self.law.mechanism(1),)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return (PUBLIC_GRID, *public_rows(self.adjacency))

    def margin(self, confidence: float) -> float:
        """Give m such that the noise stays within +-m, with this probability."""
        return self.law.margin(confidence) * self.grid.step

    def forecast(self, facts: None = None) -> Forecast:
        """Say how far off the sum may be, before anything is spent."""
        margin = self.margin(0.95)
        return Forecast(
            sentence=f"the sum within {plus_minus(margin)} with probability 0.95",
            variance=self.law.variance * self.grid.step**2,
            margin_95=margin,
            figures={"rounding of each record at most": self.grid.step / 2},
        )

    def check(self, total: Sum) -> None:
        """Refuse a sum on another grid."""
        require_statistic(total, Sum)
        require_grid(total.grid, self.grid)

    def answer(self, total: Sum, noise: Noise) -> BoundedSumAnswer:
        """Add the noise, in steps."""
        self.check(total)
        steps = total.steps + int(self.law.draw(require_noise(noise), 1)[0])
        self.grid.release(steps)  # refuses what floats cannot hold
        return BoundedSumAnswer(question=self, secure=noise.secure, steps=steps)

    def restore(self, record: dict[str, Any]) -> BoundedSumAnswer:
        """Give back the answer that a ledger stored."""
        steps = int(record["steps"])
        return BoundedSumAnswer(question=self, secure=was_secure(record), steps=steps)


@dataclass(frozen=True, kw_only=True)
class BoundedSumAnswer(Answer):
    """A noisy sum, as a whole number of grid steps; all else is computed from it."""

    steps: int

    @property
    def total(self) -> float:
        """Give the noisy sum."""
        return float(self.question.grid.release(self.steps))

    def margin(self, confidence: float = 0.95) -> float:
        """Give m such that the noise stays within +-m, with this probability."""
        return float(self.question.margin(confidence))

    @property
    def headline(self) -> str:
        """Give the sum with its margin."""
        return f"sum {self.total:.6g} {plus_minus(self.margin())}"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, the sum itself among the values."""
        made = Answer.to_dict(self)
        return made | {"value": {"total": self.total, **made["value"]}}

    def chart(self) -> Any:
        """Draw the sum with its margins at three confidences."""
        return interval_chart("sum", self.total, self.interval)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Give an interval that holds the clamped, rounded sum with this probability."""
        margin = self.margin(confidence)
        return self.total - margin, self.total + margin


PUBLIC_GRID = "the bounds, the grid and the value for missing ones"


def read_grid(grid: Any) -> Grid:
    """Take a grid that can tell values apart."""
    if not isinstance(grid, Grid):
        raise ParameterError(
            "grid",
            f"a {type(grid).__name__}",
            "a Grid with public bounds",
            "Real values need one before integer noise: see fine_grid(low, high, missing=...).",
        )
    low, high = grid.ends
    if low == high:
        raise ParameterError(
            "the grid's step", grid.step, "below high - low", "Choose a smaller exponent."
        )
    return grid


def require_grid(given: Grid, wanted: Grid) -> None:
    """Refuse a statistic that was counted on another grid."""
    if given != wanted:
        raise ParameterError("the statistic's grid", given, f"{wanted}", "Count it on that grid.")


def interval_chart(name: str, value: float, interval: Any) -> Any:
    """Draw a value on a line with its intervals at 50, 80 and 95 %."""
    import altair

    rows = [
        {"name": name, "value": value, "low": low, "high": high, "confidence": f"{level:.0%}"}
        for level in (0.95, 0.8, 0.5)
        for low, high in [interval(level)]
    ]
    base = altair.Chart({"values": rows}).encode(altair.Y("name:N", title=None))
    bars = base.mark_bar(opacity=0.35).encode(
        altair.X("low:Q", title=name, scale=altair.Scale(zero=False)),
        altair.X2("high:Q"),
        altair.Size(
            "confidence:N", sort=["50%", "80%", "95%"], scale=altair.Scale(range=[28, 18, 8])
        ),
    )
    return bars + base.mark_tick(thickness=3, size=34).encode(altair.X("value:Q"))
