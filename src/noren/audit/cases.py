"""The generic questions with a small universe of records for each: what the audits run on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from noren.audit.additive import worst_cost
from noren.audit.enumerated import law_of
from noren.audit.exact import Dataset, Law, Worst, neighbours, universe, worst_of
from noren.mechanisms import (
    Alternatives,
    BestCandidate,
    BestOfPrivate,
    BoundedMean,
    BoundedSum,
    CellCounts,
    Counts,
    RandomizedResponse,
    Responses,
    Scores,
    Sum,
)
from noren.noise.grid import Grid
from noren.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, USER, Adjacency

ADDED = Adjacency(ADD_REMOVE)
REPLACED = Adjacency(SUBSTITUTE)
PERSON_ADDED = Adjacency(ADD_REMOVE, USER, 2)
PERSON_REPLACED = Adjacency(SUBSTITUTE, USER, 2)
ANYONE = (ADDED, REPLACED, PERSON_ADDED, PERSON_REPLACED)
GRID = Grid(exponent=-2, low=-1, high=3, missing=0.3)
VALUES = (-1.0, 0.3, 3.0, 99.0, None)  # both bounds, between them, beyond them, missing
BALLOTS = ((0, 0, 0), (2, 0, 0), (0, 2, 2), (2, 2, 2), (2, 0, 1))
FLOOR = Decimal("1e-4")  # outcomes rarer than this may be touched by the cut of the tails
WINDOW = 14


@dataclass(frozen=True, slots=True)
class Case:
    """A question, what a record may be, and how records become its statistic."""

    question: Any
    rows: Sequence[Hashable]
    count: Callable[[list[Any]], Any]
    size: int = 2

    @property
    def adjacency(self) -> Adjacency:
        """Give the neighbours."""
        return self.question.guarantee.adjacency  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """Name the question and the law that its price chose."""
        law = getattr(self.question, "law", None)
        detail = law.name if law else getattr(self.question, "method", "")
        return f"{self.question.kind}, {detail}" if detail else str(self.question.kind)

    def pairs(self) -> Iterator[tuple[Dataset, Dataset]]:
        """Give every pair of neighbours of a small universe."""
        people = self.adjacency.unit is USER and self.adjacency.max_records > 1
        datasets = universe(self.adjacency, self.rows, 1 if people else self.size)
        return neighbours(self.adjacency, datasets)

    def statistic(self, dataset: Dataset) -> Any:
        """Count a dataset."""
        persons = self.adjacency.unit is USER and self.adjacency.relation is not LOCAL
        return self.count([record[1] if persons else record for record in dataset])  # type: ignore[index]


def additive_price(case: Case) -> tuple[float, float]:
    """Find the exact epsilon and rho of a question that adds noise to integers."""
    return worst_cost(
        lambda data, noise: case.question.answer(case.statistic(data), noise), case.pairs()
    )


def enumerated_price(case: Case, *, window: int = 0) -> Worst:
    """Find the exact worst case of a question by enumerating its noise."""
    laws: dict[str, Law] = {}

    @lru_cache(maxsize=4096)
    def law(dataset: Dataset) -> Law:
        statistic = case.statistic(dataset)
        fingerprint = str(getattr(statistic, "values", dataset))
        if fingerprint not in laws:
            laws[fingerprint] = law_of(
                lambda noise: case.question.answer(statistic, noise), window=window
            )[0]
        return laws[fingerprint]

    return worst_of(law, case.pairs(), floor=FLOOR if window else Decimal(0))


def cells(adjacency: Adjacency, names: str = "ab", **price: Any) -> Case:
    """Count records 0, 1, .. in cells; -1 is in none."""
    question = CellCounts(cells=tuple(names), adjacency=adjacency, **price)
    codes = (-1, *range(len(names)))
    return Case(question, codes, lambda rows: Counts.of(np.array(rows, int), len(names)))


def total(adjacency: Adjacency, **price: Any) -> Case:
    """Add up values between -1 and 3."""
    return Case(BoundedSum(grid=GRID, adjacency=adjacency, **price), VALUES, on_grid)


def mean(adjacency: Adjacency, **price: Any) -> Case:
    """Average values between -1 and 3; the number of records is stated where it is public."""
    public = 2 if adjacency == REPLACED else None
    question = BoundedMean(grid=GRID, adjacency=adjacency, records=public, **price)
    return Case(question, VALUES, on_grid)


def on_grid(rows: list[Any]) -> Sum:
    """Count values; None is a missing one."""
    return Sum.of([float("nan") if row is None else row for row in rows], GRID)


def best(adjacency: Adjacency, **settings: Any) -> Case:
    """Choose among three candidates, each scored 0 to 2 by a record."""
    question = BestCandidate(
        candidates=("x", "y", "z"), bounds=(0, 2), adjacency=adjacency, **settings
    )
    return Case(question, BALLOTS, ballots)


def ballots(rows: list[Any]) -> Scores:
    """Add up ballots."""
    return Scores.of(np.array(rows, int).reshape(len(rows), 3), (0, 2))


def response(categories: int, epsilon: Any) -> Case:
    """Ask one person for one of some categories."""
    names = tuple(f"category {j}" for j in range(categories))
    question = RandomizedResponse(categories=names, adjacency=Adjacency(LOCAL), epsilon=epsilon)
    return Case(question, range(categories), lambda rows: Responses(np.array(rows, int)), size=1)


def tuned(g: Any, **settings: Any) -> Case:
    """Choose between two selections by the place of what they chose."""
    inner = best(ADDED, **settings)
    question = BestOfPrivate(candidates=(inner.question, inner.question), score="index", g=g)
    return Case(question, BALLOTS, lambda rows: Alternatives((ballots(rows), ballots(rows[:1]))))
