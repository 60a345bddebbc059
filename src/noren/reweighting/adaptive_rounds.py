"""The draws of an adaptive question, in order. Each step sees private rows through one draw only.

Privacy
    `count`, `directions`, `pair` and `release` are the four places where private rows meet noise;
    what each may spend is in `adaptive_plan`. All else here reads what they gave and public rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noren.noise import Noise
from noren.privacy import ADD_REMOVE
from noren.reweighting.adaptive_choice import Scoring, choose_pair
from noren.reweighting.adaptive_columns import Derivation, Offer, directions_from
from noren.reweighting.adaptive_plan import direction_price
from noren.reweighting.adaptive_release import AdaptiveRelease, Stage
from noren.reweighting.adaptive_update import corrected
from noren.reweighting.coded_columns import numeric_values
from noren.reweighting.encoded_rows import EncodedRows
from noren.reweighting.moments import MomentRelease, Moments
from noren.reweighting.public_basis import how_many_centres, settled_basis
from noren.reweighting.rows import Floats
from noren.reweighting.statistic import BasisSums
from noren.reweighting.whitened_basis import WhitenedBasis

ALL = "all columns"


@dataclass
class Rounds:
    """One run. It changes as it goes: what is known so far, and the weights so far."""

    question: Any
    private: EncodedRows
    noise: Noise

    def run(self) -> AdaptiveRelease:
        """Draw everything."""
        question, public = self.question, self.question.public
        self.rows = self.count()
        self.weights = np.ones(len(public))
        self.derivation = self.directions(Derivation.of(public, question.coded))
        self.offer = Offer.of(question.coded, self.derivation, public)
        self.stages: list[Stage] = []
        taken: set[tuple[int, int]] = set()
        for index in range(len(question.shares.rounds)):
            choice, price = question.round_prices(index)
            left = tuple(pair for pair in self.offer.pairs if pair not in taken)
            if not left:  # a public fact: the pairs on offer and the number of rounds are public
                break
            pair = self.pair(left, choice)
            taken.add(pair)
            self.release(self.offer.names(pair), self.offer.coordinates(pair), price)
        if question.shares.last:
            everything = tuple(range(public.shape[1]))
            self.release((ALL,), everything, question.shares.last * question.total)
        return AdaptiveRelease(
            question=question,
            secure=self.noise.secure,
            count=self.noisy_count,
            derivation=self.derivation,
            stages=tuple(self.stages),
        )

    def count(self) -> float:
        """Give the number of rows that every later step uses."""
        self.noisy_count: int | None = None
        if self.question.adjacency.relation is not ADD_REMOVE:
            return float(self.question.records)
        drawn = self.question.count_noise().draw(self.noise, 1)[0]
        self.noisy_count = self.private.records + int(drawn)
        return max(1.0, float(self.noisy_count))

    def directions(self, plain: Derivation) -> Derivation:
        """Find directions, where the plan has them."""
        question, shares = self.question, self.question.shares
        if not shares.directions:
            return plain
        places = numeric_values(question.coded)
        public = np.ascontiguousarray(question.public[:, places])
        basis = WhitenedBasis.of(public, shares.order)
        epsilon, rho = direction_price(shares.directions * question.total, question.by)
        release = self.asked(basis, epsilon, rho, partial(sums_of, basis=basis, places=places))
        gap = release.moments - (basis.steps(public) / basis.unit).mean(axis=0)
        width = question.public.shape[1]
        return plain.along(directions_from(basis.whitening, gap, question.public, places, width))

    def pair(self, left: tuple[tuple[int, int], ...], epsilon: Fraction) -> tuple[int, int]:
        """Choose the pair of columns that the weights reproduce worst."""
        scoring = Scoring(self.offer, left, self.rows, self.weights)
        counts = self.private.summed(partial(scoring.in_a_row, derivation=self.derivation))
        return choose_pair(
            scoring, scoring.apart(counts), epsilon, self.question.adjacency, self.noise
        )

    def release(self, names: tuple[str, ...], places: tuple[int, ...], epsilon: Fraction) -> None:
        """Release the moments of a basis of some columns, and correct the weights."""
        public: Floats = np.ascontiguousarray(self.offer.public[:, places])
        count = how_many_centres(self.rows * float(epsilon))
        basis = settled_basis(public, count, seed=self.question.seed)
        own = partial(sums_of, basis=basis, places=places, derivation=self.derivation)
        found = self.asked(basis, epsilon, None, own)
        self.stages.append(Stage(names, places, found))
        rounded = basis.rounded(public).astype(np.float64)
        self.weights = corrected(found, rounded, self.weights)

    def asked(self, basis: Any, epsilon: Any, rho: Any, count: Any) -> MomentRelease:
        """Answer one release inside this question."""
        question = Moments(
            basis=basis,
            adjacency=self.question.adjacency,
            epsilon=epsilon,
            rho=rho,
            records=self.question.records,
        )
        sums = self.private.summed(count)
        return question.answer(BasisSums(basis, sums.steps, sums.records), self.noise)


def sums_of(
    blocks: Iterable[Floats], basis: Any, places: Any, derivation: Derivation | None = None
) -> BasisSums:
    """Add up a basis of some coordinates over blocks of private rows."""
    derived = blocks if derivation is None else map(derivation.rows, blocks)
    chosen = (np.ascontiguousarray(block[:, places]) for block in derived)
    return BasisSums.counted(chosen, basis)
