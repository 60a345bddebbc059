"""Which pair of columns the weights reproduce worst: scores in whole numbers, chosen privately.

Maths (S_k the counts of the private rows in the cells of pair k, f the weighted public shares)
    score_k = |S_k - n f_k(w)|_1, less n sqrt(2/pi) sum_c sqrt(f_c (1 - f_c)(1/n + 1/N)), f the
    plain public shares, where pairs differ in their number of cells. n f_k(w) and what is taken off
    are rounded to multiples of 2^-20, so scores are exact in these steps.
    P(k) proportional to exp(epsilon score_k / (2 D)).

Privacy
    w and the cells are fixed by the public table and by earlier releases. One row replaced moves
    two counts by one, one added or removed moves one count by one (n here is then the noisy number,
    already released): D = 2 or 1 for every score, k times that for k rows a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noren.noise import Noise
from noren.privacy import ADD_REMOVE, Adjacency
from noren.reweighting.adaptive_columns import Derivation, Offer
from noren.reweighting.rows import Floats, Integers

STEPS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Scoring:
    """Everything public about the scores of one choice."""

    offer: Offer
    left: tuple[tuple[int, int], ...]
    rows: float
    weights: Floats

    def scores(self, counts: Sequence[Integers]) -> Integers:
        """Score each pair that is left, in steps of 2^-20."""
        codes = [cells.codes(self.offer.public) for cells in self.offer.cells]
        sizes = {self.size(pair) for pair in self.left}
        found = []
        for pair, own in zip(self.left, counts, strict=True):
            cell = codes[pair[0]] * self.offer.cells[pair[1]].count + codes[pair[1]]
            shares = np.bincount(cell, self.weights, self.size(pair)) / self.weights.sum()
            wanted = np.rint(self.rows * shares * STEPS).astype(np.int64)
            score = int(np.abs(own * STEPS - wanted).sum())
            if len(sizes) > 1:
                score -= self.expected(np.bincount(cell, minlength=self.size(pair)))
            found.append(score)
        return np.array(found, np.int64)

    def expected(self, counts: Integers) -> int:
        """Give what sampling alone adds to a score, in steps."""
        total = int(counts.sum())
        f = counts / total
        each = np.sqrt(f * (1 - f) * (1 / self.rows + 1 / total))
        return round(self.rows * float(np.sqrt(2 / np.pi) * each.sum()) * STEPS)

    def size(self, pair: tuple[int, int]) -> int:
        """How many cells a pair has."""
        return self.offer.cells[pair[0]].count * self.offer.cells[pair[1]].count

    def counted(self, blocks: Iterable[Floats], derivation: Derivation) -> list[Integers]:
        """Count the private rows in the cells of each pair that is left."""
        found = [np.zeros(self.size(pair), np.int64) for pair in self.left]
        for block in blocks:
            rows = derivation.rows(block)
            codes = [cells.codes(rows) for cells in self.offer.cells]
            for total, (i, j) in zip(found, self.left, strict=True):
                cell = codes[i] * self.offer.cells[j].count + codes[j]
                total += np.bincount(cell, minlength=len(total))
        return found

    def in_a_row(self, blocks: Iterable[Floats], derivation: Derivation) -> Integers:
        """Give the counts of all pairs as one array, which can be added to another's."""
        return np.concatenate(self.counted(blocks, derivation))

    def apart(self, counts: Integers) -> list[Integers]:
        """Give each pair's own counts."""
        return np.split(counts, np.cumsum([self.size(pair) for pair in self.left])[:-1])


def moved_by(adjacency: Adjacency) -> int:
    """Give D: how far one score can move, in counts."""
    return adjacency.max_records if adjacency.relation is ADD_REMOVE else 2


def choose_pair(
    scoring: Scoring,
    counts: Sequence[Integers],
    epsilon: Fraction,
    adjacency: Adjacency,
    noise: Noise,
) -> tuple[int, int]:
    """Choose by the exponential mechanism."""
    scores = scoring.scores(counts)
    index = noise.exponential_mechanism(scores, epsilon, moved_by(adjacency) * STEPS)
    return scoring.left[index]
