"""Reweighting with one fault each, and claims of the paper that do not hold: all must be caught."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noren.audit.cases import ADDED, REPLACED
from noren.audit.mutants import Mutant, caught
from noren.audit.reweighting_adaptive import choice_loss, small_adaptive, spent
from noren.audit.reweighting_cases import (
    Table,
    euclidean_price,
    logistic,
    normalized,
    published,
    whitened,
)
from noren.audit.row import FAILS, AuditRow, finding
from noren.mechanisms.additive import IntegerNoise
from noren.noise import Noise
from noren.reweighting import AdaptiveMoments, Moments, NormalizedBasis, leave_one_out_grid
from noren.reweighting.adaptive_choice import STEPS, Scoring
from noren.reweighting.amplification import sampling_loss
from noren.reweighting.grid_basis import UNIT
from noren.reweighting.noise_shares import epsilon_left
from noren.reweighting.whitened_basis import WhitenedBasis
from noren.reweighting.whitening import row_products

PUBLIC = np.array([-1, -0.4, 0.1, 0.5, 0.9, 1.2, 1.6, 2.1, 2.7, 3.3])
PRIVATE = np.array([1.1, 1.4, 1.6, 1.8, 1.9, 2, 2.1, 2.3, 2.4, 2.6, 2.8, 3.1])
WIDTHS, RIDGES = (0.5, 0.8, 1.2), (0.01, 0.1, 1)


class HalfTheNoise(Moments):
    """Draw at half the scale."""

    @property
    def law(self) -> Any:
        """Spend twice the epsilon."""
        assert self.epsilon is not None
        return self.basis.law(self.adjacency, 2 * self.epsilon, None)


class OneRowMoves(NormalizedBasis):
    """Forget that a replaced row leaves and enters."""

    __slots__ = ()

    def worst(self, adjacency: Any) -> tuple[int, ...]:
        """Drop the factor 2."""
        return (UNIT,)


class Unclipped(WhitenedBasis):
    """Forget the bound on a row's length."""

    __slots__ = ()

    def steps(self, rows: Any) -> Any:
        """Leave far rows far."""
        given = np.nan_to_num(np.asarray(rows, float), nan=0.0).clip(-4, 4)
        own = self.whitening
        moments = np.hstack([given, given * given])
        return np.trunc(row_products(moments - own.shift, own.turn) * self.unit).astype(np.int64)


class ByPrivateNumber(Moments):
    """Divide by the private number of rows, and scale the noise by it, under add-remove."""

    def answer(self, statistic: Any, noise: Noise) -> Any:
        """Release means of sums: their lattice tells the number."""
        rows = max(1, statistic.records)
        law = IntegerNoise(self.adjacency, (max(1, UNIT // rows),), self.epsilon, None)
        return (statistic.steps // rows + law.draw(noise, self.basis.size)).tolist()


class OneRoundMore(AdaptiveMoments):
    """Spend the last stage twice."""

    def round_prices(self, index: int) -> tuple[Fraction, Fraction]:
        """Give each release twice its share."""
        choice, release = super().round_prices(index)
        return choice, 2 * release


def rows() -> Iterator[AuditRow]:
    """Examine all."""
    yield from caught((*additive_mutants(), *other_mutants()))
    yield from published_claims()


def broken(table: Table, question: Any) -> Table:
    """Give the same table with a broken question."""
    return replace(table, question=question)


def as_kind(kind: Any, question: Any, **changed: Any) -> Any:
    """Make a question of another class with the same settings."""
    own = {field.name: getattr(question, field.name) for field in fields(question)}
    return kind(**(own | changed))


def additive_mutants() -> Iterator[Mutant]:
    """Give the faults in added noise."""
    table = normalized(REPLACED, epsilon=1)
    basis = OneRowMoves(table.question.basis.centres, table.question.basis.width)
    for fault, question in (
        ("half the noise", as_kind(HalfTheNoise, table.question)),
        ("the factor 2 dropped", as_kind(Moments, table.question, basis=basis)),
    ):
        yield Mutant(
            "reweighting: basis-moments, bumps", fault, REPLACED, 1.0,
            partial(first_price, broken(table, question)),
        )  # fmt: skip
    private = normalized(ADDED, epsilon=1)
    yield Mutant(
        "reweighting: basis-moments, bumps", "noise and division by the private number of rows",
        ADDED, 1.0,
        partial(first_price, broken(private, as_kind(ByPrivateNumber, private.question))),
    )  # fmt: skip


def first_price(table: Table) -> float:
    """Give the exact epsilon."""
    return table.exact()[0]


def other_mutants() -> Iterator[Mutant]:
    """Give the faults in Euclidean moves, choices and shares."""
    far = whitened(REPLACED, epsilon=1)
    basis = Unclipped(far.question.basis.whitening)
    yield Mutant(
        "reweighting: basis-moments, whitened", "rows are not clipped", REPLACED, 1.0,
        partial(euclidean_price, broken(far, as_kind(Moments, far.question, basis=basis))),
    )  # fmt: skip
    yield Mutant(
        "reweighting: logistic-ratio", "the ridge forgotten in the bound", REPLACED, 1.0,
        without_the_ridge,
    )  # fmt: skip
    yield Mutant(
        "reweighting: adaptive-moments, choice of a pair", "the worst pair outright", REPLACED, 1.0,
        partial(choice_loss, REPLACED, eager_choice),
    )  # fmt: skip
    question, data, _ = small_adaptive(REPLACED)
    double = as_kind(OneRoundMore, question)
    yield Mutant(
        "reweighting: adaptive-moments", "a release spends twice its share", REPLACED, 1.0,
        partial(spent, double, data),
    )  # fmt: skip


def without_the_ridge() -> float:
    """Price the logistic fit as if its ridge were 1."""
    table = logistic()
    return euclidean_price(table) / float(table.question.ridge)


def eager_choice(
    scoring: Scoring, counts: Any, epsilon: Fraction, adjacency: Any, noise: Noise
) -> tuple[int, int]:
    """Take the worst pair outright; the draw is left aside."""
    scores = scoring.scores(counts)
    noise.exponential_mechanism(scores, epsilon, STEPS)
    return scoring.left[int(scores.argmax())]


def published_claims() -> Iterator[AuditRow]:
    """Hold claims of the paper, and shares of noise, to what they really give."""
    n, b = 2000, 100
    ours = b * math.log(n / (n - 1)) + (n - 1) / n
    yield claim("noise scaled by the private n", ADDED, 1.0, ours)
    centres = published().question.centres
    moved = np.abs(np.eye(len(centres))[0] - np.eye(len(centres))[1]).sum()
    yield claim("sup |phi|_1 / n as the sensitivity", REPLACED, 1.0, float(moved))
    yield claim("width and ridge chosen on private rows", REPLACED, 1.0, selection_loss())
    yield claim("real rows as centres, at delta 0", REPLACED, 1.0, math.inf)
    sorted_loss = sampling_loss(3, 2, 1.0, in_order=False)
    yield claim("sampled centres sorted by row", REPLACED, math.log1p(math.expm1(1) * 2 / 3),
                sorted_loss)  # fmt: skip
    for parties in (2, 3):
        left = epsilon_left(1, parties)
        name = f"noise in shares, against one of {parties} parties"
        yield claim(name, ADDED, 1.0, left)


def claim(what: str, adjacency: Any, claimed: float, measured: float) -> AuditRow:
    """State one claim that does not hold."""
    return finding(
        f"reweighting, as published: {what}", adjacency, claimed=claimed, measured=measured,
        method="exact", expected=FAILS, note="a counter-example; Noren offers no such release",
    )  # fmt: skip


def selection_loss() -> float:
    """Give the loss of a choice made on private rows: infinite where one row changes the winner."""
    changed = np.concatenate([[4.0], PRIVATE[1:]])
    winners = {
        int(leave_one_out_grid(rows, PUBLIC, [0.0, 1, 2, 3], WIDTHS, RIDGES).argmin())
        for rows in (PRIVATE, changed)
    }
    return math.inf if len(winners) > 1 else 0.0
