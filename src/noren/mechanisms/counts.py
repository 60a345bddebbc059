"""Counts of records in disjoint cells, with integer noise.

Maths
    Release c + Z for true counts c. With a price in epsilon the Z_j are independent discrete
    Laplace, P(Z = z) = (1 - r) / (1 + r) * r**abs(z), r = exp(-1 / t), t = (sum of w) / epsilon;
    with a price in rho they are discrete Gaussian of variance (sum of w**2) / (2 rho).

Privacy (k rows of one person; k = 1 where the unit is a record)
    ADD_REMOVE  w = (k)     the k rows fall in some cells: changes add up to at most k
    SUBSTITUTE  w = (k, k)  k rows leave cells (at most k down), k rows enter (at most k up), so no
                            change is above k and all are at most 2 k; with one cell w = (k)
    Both are attained, and w weakly majorizes every change, so the price follows from the lemma
    of `noren.mechanisms.additive`: (sum w)-sensitive in L1, epsilon and rho tight. In rho a
    substitution costs epsilon tanh(epsilon / 4) for k = 1: two cells move by one each, which is
    less than one cell moving by two.
    The cells must be disjoint and fixed without looking at the data; records in no cell are not
    counted. With USER no person may have more than k rows.

Accuracy
    Var Z = 2 r / (1 - r)**2, P(abs(Z) > m) = 2 r**(m + 1) / (1 + r), for each cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.mechanisms.additive import (
    IntegerNoise,
    integers,
    read_price,
    require_noise,
    require_statistic,
)
from noren.mechanisms.wording import labels, neighbours, plus_minus, public_rows
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency, Guarantee
from noren.question import Answer, Forecast, Mechanism, was_secure


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counts:
    """How many records lie in each cell. Secret; adds up over partitions.

    Examples
    --------
    >>> Counts.of([0, 2, 2, -1], cells=3) + Counts.of([1], cells=3)
    Counts(3 cells)
    """

    values: NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", integers("counts", self.values))

    @classmethod
    def of(cls, codes: Any, cells: int) -> Counts:
        """Count codes 0..cells-1; any other code is in no cell."""
        given = integers("codes", codes)
        inside = given[(given >= 0) & (given < cells)]
        return cls(np.bincount(inside, minlength=cells))

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.values + other.values)

    def __repr__(self) -> str:
        return f"Counts({self.values.size} cells)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCounts:
    """Ask how many records are in each of some cells fixed in advance.

    Parameters
    ----------
    cells : sequence of str
        The public names of the cells.
    adjacency : Adjacency or str
        ADD_REMOVE or SUBSTITUTE, of records or of persons with up to `max_records` rows.
    epsilon, rho : number
        The price: epsilon for discrete Laplace noise, or rho for discrete Gaussian noise.

    Examples
    --------
    >>> question = CellCounts(cells=("yes", "no"), adjacency="add-remove", epsilon=1)
    >>> print(question.guarantee)
    epsilon 1, rho 0.4621171573 (one record is added or removed)
    >>> print(question.forecast())
    each count within +-3 with probability 0.95
    >>> from noren import Noise
    >>> answer = question.answer(Counts.of([0, 0, 1], cells=2), Noise())
    >>> answer.values.shape, answer.margin()
    ((2,), 3)
    """

    kind: ClassVar[str] = "cell-counts"
    notes: ClassVar[tuple[str, ...]] = ()

    cells: tuple[str, ...]
    adjacency: Adjacency
    epsilon: Fraction | None = None
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        epsilon, rho = read_price(self.epsilon, self.rho)
        put = object.__setattr__
        put(self, "cells", labels("cells", self.cells))
        put(self, "adjacency", neighbours(self.adjacency, ADD_REMOVE, SUBSTITUTE))
        put(self, "epsilon", epsilon)
        put(self, "rho", rho)

    @property
    def worst(self) -> tuple[int, ...]:
        """Give the worst change of the counts (proof: module docstring)."""
        rows = self.adjacency.max_records
        moves = self.adjacency.relation is SUBSTITUTE and len(self.cells) > 1
        return (rows, rows) if moves else (rows,)

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
        """Say sensitivity and scale apart."""
        return (self.law.mechanism(len(self.cells)),)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return ("the cells, fixed without looking at the data", *public_rows(self.adjacency))

    def forecast(self, facts: None = None) -> Forecast:
        """Say how far off each count may be, before anything is spent."""
        margin = self.law.margin(0.95)
        return Forecast(
            sentence=f"each count within {plus_minus(margin)} with probability 0.95",
            variance=self.law.variance,
            margin_95=margin,
        )

    def check(self, counts: Counts) -> None:
        """Refuse counts of other cells."""
        require_statistic(counts, Counts)
        if counts.values.size != len(self.cells):
            raise ParameterError(
                "counts",
                f"for {counts.values.size} cells",
                f"for the {len(self.cells)} cells of the question",
                "Count with Counts.of(codes, cells).",
            )

    def answer(self, counts: Counts, noise: Noise) -> CellCountsAnswer:
        """Add the noise."""
        self.check(counts)
        drawn = self.law.draw(require_noise(noise), len(self.cells))
        return CellCountsAnswer(question=self, secure=noise.secure, values=counts.values + drawn)

    def restore(self, record: dict[str, Any]) -> CellCountsAnswer:
        """Give back the answer that a ledger stored."""
        values = np.asarray(record["values"], dtype=np.int64)
        return CellCountsAnswer(question=self, secure=was_secure(record), values=values)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellCountsAnswer(Answer):
    """Noisy counts, one for each cell. They may be negative: that is the noise, keep it."""

    values: NDArray[np.int64]

    def __getitem__(self, cell: str) -> int:
        """Give the noisy count of one cell."""
        return int(self.values[self.question.cells.index(cell)])

    def margin(self, confidence: float = 0.95) -> int:
        """Give m such that each count is within +-m of the truth, with this probability."""
        return int(self.question.law.margin(confidence))

    @property
    def headline(self) -> str:
        """Name the largest cell and the margin."""
        top = int(np.argmax(self.values))
        count = f"{self.values[top]} {plus_minus(self.margin())}"
        return f"{self.question.cells[top]}: {count} (largest of {self.values.size})"

    def chart(self) -> Any:
        """Draw a bar for each cell with its 95 % margin."""
        import altair

        margin = self.margin()
        rows = [
            {"cell": cell, "count": count, "low": count - margin, "high": count + margin}
            for cell, count in zip(self.question.cells, self.values.tolist(), strict=True)
        ]
        base = altair.Chart({"values": rows}).encode(altair.X("cell:N", sort=None, title=None))
        bars = base.mark_bar().encode(altair.Y("count:Q", title="noisy count"))
        return bars + base.mark_rule().encode(altair.Y("low:Q", title=""), altair.Y2("high:Q"))
