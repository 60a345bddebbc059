"""The adaptive question on small tables: its choice enumerated, its draws added up."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from noren.audit.enumerated import law_of
from noren.audit.exact import Law, neighbours, universe, worst_of
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, Adjacency
from noren.privacy.numbers import exact
from noren.reweighting import AdaptiveMoments, EncodedRows
from noren.reweighting.adaptive_choice import STEPS, Scoring, choose_pair, moved_by
from noren.reweighting.adaptive_columns import Derivation, Offer
from noren.reweighting.coded_columns import read_columns
from noren.reweighting.grid_basis import UNIT

PUBLIC = np.array(
    [[-1.0, 0.2, 0.5], [-0.3, 0.9, -0.6], [0.4, -0.8, 0.1], [1.1, 0.1, -1.2], [0.6, 1.4, 0.9],
     [-0.7, -0.5, 1.3], [0.1, 0.5, -0.2], [0.9, -1.1, 0.4]]
)  # fmt: skip
ROWS = tuple(product((-2.0, 0.3, 2.0), (-2.0, 2.0), (0.0, math.nan)))
SIZE = 2


def small_adaptive(adjacency: Adjacency) -> tuple[AdaptiveMoments, EncodedRows, EncodedRows]:
    """Give a question of one round, and two neighbouring tables."""
    hidden = adjacency.relation is ADD_REMOVE
    sizes: dict[str, Any] = {"about": 5} if hidden else {"records": SIZE}
    question = AdaptiveMoments(public=PUBLIC, adjacency=adjacency, epsilon=Fraction(1), **sizes)
    rows = np.array([[2.0, -2.0, 0.0], [2.0, 2.0, 0.0]])
    other = rows[:1] if hidden else np.array([[2.0, -2.0, 0.0], [-2.0, 2.0, 1.0]])
    return question, EncodedRows.of(rows), EncodedRows.of(other)


def choice_loss(
    adjacency: Adjacency, choose: Callable[..., Any] = choose_pair, weights: Any = None
) -> float:
    """Enumerate the choice of a pair of columns, with weights that are not even."""
    columns = read_columns(None, PUBLIC.shape[1])
    derivation = Derivation.of(PUBLIC, columns)
    offer = Offer.of(columns, derivation, PUBLIC)
    current = np.linspace(0.2, 1.8, len(PUBLIC)) if weights is None else weights
    scoring = Scoring(offer, offer.pairs, float(SIZE), current)

    def law(dataset: Any) -> Law:
        rows = np.array(list(dataset), np.float64).reshape(len(dataset), PUBLIC.shape[1])
        counts = scoring.counted([rows], derivation)
        return law_of(lambda noise: repr(choose(scoring, counts, Fraction(1), adjacency, noise)))[0]

    laws: dict[Any, Law] = {}

    def known(dataset: Any) -> Law:
        if dataset not in laws:
            laws[dataset] = law(dataset)
        return laws[dataset]

    pairs = neighbours(adjacency, universe(adjacency, ROWS, SIZE))
    return worst_of(known, pairs).log_ratio


class Recording(Noise):
    """Real noise that notes which laws were asked for."""

    __slots__ = ("laplace", "selected")

    def __init__(self) -> None:
        super().__init__()
        self.laplace: list[tuple[Fraction, int]] = []
        self.selected: list[tuple[Fraction, Fraction]] = []

    def discrete_laplace(self, scale: Any, size: Any = None) -> Any:
        """Note the scale and the number of draws."""
        self.laplace.append((exact("scale", scale), 1 if size is None else int(np.prod(size))))
        return super().discrete_laplace(scale, size)

    def exponential_mechanism(
        self, scores: Any, epsilon: Any, sensitivity: Any = 1, *, monotone: bool = False
    ) -> int:
        """Note the epsilon and the sensitivity that it is drawn for."""
        self.selected.append((exact("epsilon", epsilon), exact("sensitivity", sensitivity)))
        return super().exponential_mechanism(scores, epsilon, sensitivity, monotone=monotone)


def spent(question: AdaptiveMoments, data: EncodedRows) -> float:
    """Add up what every draw of one answer really costs, by its sensitivity and its scale."""
    noise = Recording()
    question.answer(data, noise)
    hidden = question.adjacency.relation is ADD_REMOVE
    total = Fraction(0)
    for scale, draws in noise.laplace:
        number = hidden and draws == 1
        moved = 1 if number else UNIT if hidden else 2 * UNIT
        total += moved / scale
    for epsilon, sensitivity in noise.selected:
        total += epsilon * moved_by(question.adjacency) * STEPS / sensitivity
    return float(total)
