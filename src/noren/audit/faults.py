"""The generic questions with one fault each: the mutants of `noren.audit.mechanisms`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noren.audit.additive import worst_cost
from noren.audit.black_box import audit_callable
from noren.audit.cases import (
    ADDED,
    FLOOR,
    REPLACED,
    WINDOW,
    Case,
    additive_price,
    best,
    cells,
    enumerated_price,
    mean,
    response,
    total,
)
from noren.audit.enumerated import law_of
from noren.audit.exact import log_ratio
from noren.audit.mutants import Mutant, caught
from noren.audit.row import AuditRow
from noren.mechanisms import (
    BestCandidate,
    BoundedMean,
    BoundedSum,
    CellCounts,
    RandomizedResponse,
    Scores,
    Sum,
)
from noren.mechanisms.additive import IntegerNoise
from noren.mechanisms.means import BoundedMeanAnswer
from noren.mechanisms.response import RandomizedResponseAnswer
from noren.noise import Noise


class HalfTheNoise(CellCounts):
    """Draw with half the scale."""

    @property
    def law(self) -> IntegerNoise:
        """Keep the claim below, double the epsilon of the draw."""
        assert self.epsilon is not None
        return IntegerNoise(self.adjacency, self.worst, 2 * self.epsilon, None)

    @property
    def guarantee(self) -> Any:
        """Claim what the right question claims."""
        return replace_law(CellCounts, self).guarantee


class OneCellMoves(CellCounts):
    """Forget that a replaced record leaves one cell and enters another."""

    @property
    def worst(self) -> tuple[int, ...]:
        """Drop the factor 2."""
        return (1,)


class OneBound(BoundedSum):
    """Take the add-remove sensitivity for a replaced record."""

    @property
    def worst(self) -> tuple[int, ...]:
        """Drop the second bound."""
        return (max(map(abs, self.grid.ends)),)


class TrueNumber(BoundedMean):
    """Divide by the number of records although it is private."""

    def answer(self, total: Sum, noise: Noise) -> Any:
        """Add noise to the mean, at the scale that its sensitivity has for this number."""
        low, high = self.grid.ends
        assert self.epsilon is not None
        number = max(1, total.records)
        scale = Fraction(high - low) / number / self.epsilon
        centre = (total.steps - number * low) // number
        released = (centre + noise.discrete_laplace(scale), high - low)
        return BoundedMeanAnswer(question=self, secure=noise.secure, parts=released)


class NoFactorTwo(BestCandidate):
    """Treat the scores as monotone although a record is replaced."""

    @property
    def spread(self) -> int:
        """Drop the factor 2."""
        return self.bounds[1] - self.bounds[0]


class TwiceTheEpsilon(RandomizedResponse):
    """Randomize with twice the epsilon."""

    def answer(self, responses: Any, noise: Noise) -> Any:
        """Report the truth too often."""
        k = len(self.categories)
        reports = noise.randomized_response(responses.codes, k, 2 * self.epsilon)
        counts = np.bincount(reports, minlength=k)
        return RandomizedResponseAnswer(question=self, secure=noise.secure, reports=counts)


def rows() -> Iterator[AuditRow]:
    """Examine every mutant."""
    return caught((*additive_mutants(), *enumerated_mutants(), *sampled_mutants()))


def broken(case: Case, kind: Any) -> Case:
    """Give the same case with a broken question."""
    return replace(case, question=replace_law(kind, case.question))


def replace_law(kind: Any, question: Any) -> Any:
    """Make a question of another class with the same settings."""
    return kind(**{field.name: getattr(question, field.name) for field in fields(question)})


def additive_mutants() -> Iterator[Mutant]:
    """Give the faults in added noise, measured with chosen noise."""
    half = broken(cells(ADDED, epsilon=1), HalfTheNoise)
    yield additive("half the noise", half)
    yield additive("the factor 2 dropped", broken(cells(REPLACED, epsilon=1), OneCellMoves))
    yield additive("the factor 2 dropped", broken(cells(REPLACED, rho="0.125"), OneCellMoves))
    yield additive("one bound forgotten", broken(total(REPLACED, epsilon=1), OneBound))
    yield additive("scale from the private n", broken(mean(ADDED, epsilon=1), TrueNumber))
    yield Mutant(
        "mechanisms: cell-counts",
        "noise forgotten in one cell",
        ADDED,
        1.0,
        lambda: worst_cost(noise_in_one_cell, [(0, 1)])[0],
    )


def additive(fault: str, case: Case) -> Mutant:
    """Measure with chosen noise, in the unit of the claim."""
    claim = case.question.guarantee
    by_rho = claim.epsilon is None
    return Mutant(
        f"mechanisms: {case.name}",
        fault,
        case.adjacency,
        float(claim.rho if by_rho else claim.epsilon),
        lambda: additive_price(case)[1 if by_rho else 0],
        "rho" if by_rho else "epsilon",
    )


def noise_in_one_cell(count: int, noise: Noise) -> list[int]:
    """Release two counts, only one of them with noise."""
    return [count, count + noise.discrete_laplace(1)]


def enumerated_mutants() -> Iterator[Mutant]:
    """Give the faults that show when all outcomes are enumerated."""
    for fault, case in (
        ("scores taken as monotone", broken(best(REPLACED, epsilon=1), NoFactorTwo)),
        ("twice the epsilon", broken(response(4, 1), TwiceTheEpsilon)),
    ):
        yield Mutant(
            f"mechanisms: {case.name}",
            fault,
            case.adjacency,
            1.0,
            partial(enumerated_epsilon, case),
        )
    yield Mutant("mechanisms: bounded-mean", "divided by the private n", ADDED, 1.0, divided)
    yield Mutant("mechanisms: best-of-private", "a fixed number of runs", ADDED, 3.0, best_of_four)


def enumerated_epsilon(case: Case) -> float:
    """Enumerate a question, and give its epsilon."""
    return enumerated_price(case).log_ratio


def divided() -> float:
    """Divide a noisy sum of n ones by n: the outputs for 1 and for 2 lie on different lattices."""

    def released(n: int, noise: Noise) -> float:
        return float((n + noise.discrete_laplace(1)) / n)

    one, two = (law_of(partial(released, n), window=WINDOW)[0] for n in (1, 2))
    return max(log_ratio(one, two, FLOOR), log_ratio(two, one, FLOOR))


def best_of_four() -> float:
    """Keep the best of exactly four runs, each of epsilon 1."""
    question = BestCandidate(
        candidates=("no", "yes"), bounds=(0, 1), adjacency=ADDED, epsilon=Fraction(1)
    )

    def keep(values: list[int], noise: Noise) -> int:
        scores = Scores(np.array(values), (0, 1))
        return max(question.answer(scores, noise).index for _ in range(4))

    here, there = (law_of(partial(keep, values))[0] for values in ([0, 0], [0, 1]))
    return max(log_ratio(here, there), log_ratio(there, here))


def sampled_mutants() -> Iterator[Mutant]:
    """Give the faults seen from outside, by samples alone."""
    half = broken(cells(ADDED, epsilon=1), HalfTheNoise)
    number = broken(mean(ADDED, epsilon=1), TrueNumber)
    for fault, case, data, neighbour, draws in (
        ("half the noise, from outside", half, (0, 0), (0,), 6_000),
        ("scale from the private n, from outside", number, (3.0, 3.0), (3.0,), 20_000),
    ):
        yield Mutant(
            f"mechanisms: {case.name}",
            fault,
            case.adjacency,
            1.0,
            partial(sampled, case, data, neighbour, draws),
        )


def sampled(case: Case, data: Any, neighbour: Any, draws: int) -> float:
    """Bound epsilon from below by samples."""
    noise = Noise()
    row = audit_callable(
        lambda statistic: case.question.answer(statistic, noise),
        case.statistic(data),
        case.statistic(neighbour),
        epsilon=1,
        draws=draws,
        alpha=0.01,
    )
    return row.measured
