"""Reweighting's questions on small universes of rows: what its audits run on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from noren.audit.additive import worst_cost
from noren.audit.cases import ADDED, REPLACED
from noren.audit.exact import neighbours, universe
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, Adjacency
from noren.reweighting import (
    BasisSums,
    EncodedRows,
    LevelBasis,
    LogisticRatio,
    Moments,
    NormalizedBasis,
    TableBasis,
    WhitenedBasis,
)
from noren.reweighting.as_published import PublishedRatio

CELLS = (-1e300, -0.4, 0.0, 0.7, 50.0, math.nan)  # far, near, between, missing
PUBLIC = np.array([[-1.0, 0.2], [-0.3, 0.9], [0.4, -0.8], [1.1, 0.1], [0.6, 1.4], [-0.7, -0.5]])
BOTH = (ADDED, REPLACED)
ROWS = 2  # of the tables compared, or up to as many


@dataclass(frozen=True, slots=True)
class Table:
    """A question, the rows its table may hold, and how many coordinates they have."""

    question: Any
    rows: tuple[tuple[float, ...], ...]
    width: int

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Give every pair of neighbours."""
        adjacency = self.question.adjacency
        return neighbours(adjacency, universe(adjacency, self.rows, ROWS))

    def array(self, dataset: Any) -> Any:
        """Give a dataset as an array."""
        return np.array(list(dataset), np.float64).reshape(len(dataset), self.width)

    def statistic(self, dataset: Any) -> Any:
        """Count a dataset."""
        if hasattr(self.question, "basis") and not isinstance(self.question, LogisticRatio):
            return BasisSums.of(self.array(dataset), self.question.basis)
        return EncodedRows.of(self.array(dataset))

    def exact(self) -> tuple[float, float]:
        """Find the exact epsilon and rho, for questions that add noise to integers."""
        return worst_cost(
            lambda data, noise: self.question.answer(self.statistic(data), noise), self.pairs()
        )


def cells_of(width: int) -> tuple[tuple[float, ...], ...]:
    """List rows of every combination of telling cells."""
    values = CELLS if width == 1 else (-1e300, 0.3, 1.2, math.nan)
    return tuple(product(values, repeat=width))


def asked(basis: Any, adjacency: Adjacency, **price: Any) -> Moments:
    """Ask for moments; the number of rows is stated where it is public."""
    records = None if adjacency.relation is ADD_REMOVE else ROWS
    return Moments(basis=basis, adjacency=adjacency, records=records, **price)


def normalized(adjacency: Adjacency, precision: str = "float64", **price: Any) -> Table:
    """Moments of three bumps."""
    basis = NormalizedBasis([-1.0, 0.0, 1.0], 0.5, precision)
    return Table(asked(basis, adjacency, **price), cells_of(1), 1)


def levels(adjacency: Adjacency, **price: Any) -> Table:
    """Tables of two categorical columns."""
    rows = tuple(product((0.0, 1.0, 2.0, 9.0), (0.0, 1.0, math.nan)))
    return Table(asked(LevelBasis((3, 2)), adjacency, **price), rows, 2)


def tables(adjacency: Adjacency, **price: Any) -> Table:
    """Tables of two numeric columns, cut at public quartiles."""
    return Table(asked(TableBasis.of(PUBLIC), adjacency, **price), cells_of(2), 2)


def whitened(adjacency: Adjacency, **price: Any) -> Table:
    """Whitened moments of order 2."""
    return Table(asked(WhitenedBasis.of(PUBLIC, 2), adjacency, **price), cells_of(2), 2)


def published(epsilon: Any = 1) -> Table:
    """Give the paper's moments on public centres."""
    question = PublishedRatio(
        centres=np.array([[-1.0], [1.0]]), sigma=0.2, ridge=0.1, adjacency=REPLACED,
        epsilon=epsilon, records=ROWS,
    )  # fmt: skip
    rows = ((-1.0,), (1.0,), (0.0,), (7.0,), (math.nan,))
    return Table(question, rows, 1)


def logistic(epsilon: Any = 1) -> Table:
    """Give the logistic fit between two tables."""
    question = LogisticRatio(
        public=PUBLIC, ridge=Fraction(1, 10), adjacency=REPLACED, epsilon=epsilon, records=ROWS
    )
    return Table(question, cells_of(2), 2)


class NoNoise(Noise):
    """Noise that is nothing: what is released without it. It protects nobody."""

    __slots__ = ()

    def discrete_laplace(self, scale: Any, size: Any = None) -> Any:
        """Return zeros."""
        return 0 if size is None else np.zeros(size, np.int64)


def euclidean_price(table: Table) -> float:
    """Find the exact epsilon of a release by the lattice law: the longest move, in its scale.

    Where the number of rows is secret, what that costs is added.
    """
    law, worst = table.question.law, 0.0
    scale = getattr(law, "sum", law).parameter
    count = getattr(law, "count", None)
    bare = {}
    for first, second in table.pairs():
        for dataset in (first, second):
            if dataset not in bare:
                released = table.question.answer(table.statistic(dataset), NoNoise())
                bare[dataset] = released.steps.astype(object)
        move = bare[first] - bare[second]
        own = move if count is None else move[:-1]
        cost = math.sqrt(int((own * own).sum())) / float(scale)
        if count is not None:
            cost += abs(int(move[-1])) / float(count.parameter)
        worst = max(worst, cost)
    return worst
