"""Every question with the same faults put in on purpose: all must be caught.

half the noise          the question draws at twice its price
fresh noise on retry    the same request is drawn a second time, both answers shown
reused seed             the noise comes from one of 64 seeds that an attacker can try
float noise             coins and tails end where doubles end: a double below 2**-53 is 0
noise scaled by the private n     the neighbor with one record more gets half the noise
the factor 2 dropped    a replaced record is charged as an added (or a record as a bit)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from noren.audit.additive import worst_cost
from noren.audit.collaboration_densities import softmax_worst_loss, worst_loss
from noren.audit.enumerated import EnumeratedNoise, Walk, key, law_of
from noren.audit.exact import Law, log_ratio
from noren.audit.mutants import Mutant, caught
from noren.audit.recorded import coefficient_move
from noren.audit.row import AuditRow
from noren.audit.subjects import Subject
from noren.errors import NotPrivateWarning
from noren.noise import Noise
from noren.privacy.numbers import Number, exact
from noren.testing import seeded_noise

SEEDS = 64
SMALLEST = Decimal(2) ** -53  # the step of a uniform double
LARGE = 80  # an epsilon whose rarest outcomes no double of that step can reach
DENSITIES = {"logistic-training": worst_loss, "softmax-training": softmax_worst_loss}


def rows(every: dict[str, Subject]) -> Iterator[AuditRow]:
    """Put every fault into every question where it can be put."""
    yield from caught(mutant for subject in every.values() for mutant in faults(subject))


def faults(subject: Subject) -> Iterator[Mutant]:
    """List the faults of one question."""
    if subject.window is not None:
        yield from enumerated_faults(subject)
    elif additive(subject):
        yield named(subject, "half the noise", lambda: added(subject, subject.costing(2)))
        yield named(subject, "fresh noise on retry", lambda: added(subject, subject.question, 2))
    elif subject.kind == "output-perturbation":
        yield named(subject, "a quarter of the noise", lambda: coefficient_move(subject, 4))
        yield named(subject, "fresh noise on two retries", lambda: 3 * coefficient_move(subject))
    elif subject.kind in DENSITIES:
        yield from density_faults(subject)
    yield named(subject, "reused seed", lambda: known_seed(subject))


def density_faults(subject: Subject) -> Iterator[Mutant]:
    """List the faults of a linear term, by exact densities of one row against none."""
    question, measure = subject.question, DENSITIES[subject.kind]
    rate, ridge = question.spread, question.ridge
    yield named(subject, "half the noise", lambda: measure(2 * rate, ridge))
    yield named(subject, "fresh noise on retry", lambda: 2 * measure(rate, ridge))


def named(subject: Subject, fault: str, measure: Any, claimed: float = 1.0) -> Mutant:
    """Name a fault of a question."""
    claim = subject.question.guarantee
    return Mutant(f"questions: {subject.kind}", fault, claim.adjacency, claimed, measure)


def additive(subject: Subject) -> bool:
    """Tell whether chosen noise reappears in the released integers."""
    return subject.kind in ("basis-moments", "published-ratio")


def enumerated_faults(subject: Subject) -> Iterator[Mutant]:
    """List the faults that an enumeration can show."""
    if subject.priced:
        double = replace(subject, question=subject.costing(2))
        yield named(subject, "half the noise", lambda: worst(double, double))
        large = replace(
            subject, question=subject.costing(LARGE), pair=subject.close or subject.pair
        )
    if subject.priced and not subject.in_integers:
        yield named(subject, "float noise", lambda: float_loss(large), float(LARGE))
    if subject.priced and subject.window and subject.window > 2:
        yield named(subject, "noise scaled by the private n", lambda: worst(double, subject))
    yield named(subject, "fresh noise on retry", lambda: twice(subject))
    if subject.wider is not None:
        wide = replace(subject, pair=subject.wider)
        yield named(subject, "the factor 2 dropped", lambda: worst(wide, wide))


def law(subject: Subject, data: Any) -> Law:
    """Give the exact law of a question's answer."""
    assert subject.window is not None
    return law_of(
        lambda noise: subject.look(subject.question.answer(data, noise)), window=subject.window
    )[0]


def both_ways(first: Law, second: Law, floor: Decimal) -> float:
    """Give the larger log ratio of the two directions."""
    return max(log_ratio(first, second, floor), log_ratio(second, first, floor))


def floor_of(subject: Subject) -> Decimal:
    """Leave out what the cut of the tails can touch."""
    return Decimal("1e-4") if subject.window else Decimal(0)


def worst(ours: Subject, theirs: Subject) -> float:
    """Compare one question's law on the first neighbor with another's on the second."""
    first, second = law(ours, ours.pair[0]), law(theirs, theirs.pair[1])
    floor = Decimal("1e-9") if ours is not theirs else floor_of(ours)
    return both_ways(first, second, floor)


def twice(subject: Subject) -> float:
    """Show two answers for one price: the log ratios of independent draws add up."""
    first, second = (law(subject, data) for data in subject.pair)
    return 2 * both_ways(first, second, floor_of(subject))


def added(subject: Subject, question: Any, times: int = 1) -> float:
    """Price added noise, drawn once or more often, by chosen noise."""

    def ask(place: int, noise: Noise) -> list[Any]:
        return [subject.look(question.answer(subject.pair[place], noise)) for _ in range(times)]

    return worst_cost(ask, [(0, 1)])[0]


def known_seed(subject: Subject) -> float:
    """Draw from one of a few seeds: the seed that was used is found by trying them.

    Where any of them gives two neighbors different answers, that answer tells them apart.
    """
    for seed in range(SEEDS):
        if len({seeded(subject, data, seed) for data in subject.pair}) > 1:
            return math.inf
    return 0.0


def seeded(subject: Subject, data: Any, seed: int) -> Any:
    """Give the answer that a seed decides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        noise = seeded_noise(seed)
    return key(subject.look(subject.question.answer(data, noise)))


class FloatNoise(EnumeratedNoise):
    """Noise made of uniform doubles: chances are whole steps of 2**-53, and tails end there."""

    __slots__ = ()

    def _integers(self, masses: Sequence[Decimal], size: Any) -> Any:
        """Take integers of a chance that a double can have."""
        return super()._integers(rounded(masses), size)

    def bernoulli_exp(self, x: Number, size: Any = None) -> Any:
        """Compare a uniform double with exp(-x)."""
        chance = (-Decimal(float(exact("x", x)))).exp()
        kept = chance // SMALLEST * SMALLEST
        coins = [
            bool(self._walk.take([1 - kept, kept])) for _ in range(1 if size is None else size)
        ]
        return coins[0] if size is None else np.array(coins, dtype=bool)

    def bernoulli(self, p: Any, size: Any = None) -> Any:
        """Compare a uniform double with p."""
        given = exact("p", p)
        step = Fraction(1, 2**53)
        return super().bernoulli(given // step * step, size)

    def packed_bernoulli(self, p: Any, size: Any = None) -> Any:
        """Compare uniform doubles with p."""
        chance = p(50) if callable(p) else Decimal(float(exact("p", p)))
        return super().packed_bernoulli(lambda digits: chance // SMALLEST * SMALLEST, size)

    def choose(self, weights: Any) -> int:
        """Compare a uniform double with the sums of weights."""
        given = weights(50) if callable(weights) else [Decimal(weight) for weight in weights]
        total = sum(given, Decimal(0))
        return int(self._walk.take(rounded([weight / total for weight in given])))

    def randomized_response(self, values: Any, k: int, epsilon: Number) -> Any:
        """Let each value report by a uniform double."""
        keep = Decimal(float(exact("epsilon", epsilon))).exp()
        masses = [
            rounded([(keep if j == value else Decimal(1)) / (keep + k - 1) for j in range(k)])
            for value in np.asarray(values).tolist()
        ]
        return np.array([self._walk.take(chances) for chances in masses], dtype=np.int64)

    def exponential_mechanism(
        self, scores: Any, epsilon: Number, sensitivity: Number = 1, *, monotone: bool = False
    ) -> int:
        """Choose by a uniform double."""
        return self._by_weights(scores, epsilon, sensitivity, monotone)

    def permute_and_flip(
        self, scores: Any, epsilon: Number, sensitivity: Number = 1, *, monotone: bool = False
    ) -> int:
        """Flip coins that are uniform doubles; the first record visited is the last here."""
        return self._by_weights(scores, epsilon, sensitivity, monotone)

    def _by_weights(self, scores: Any, epsilon: Any, sensitivity: Any, monotone: bool) -> int:
        rate = float(exact("epsilon", epsilon) / exact("sensitivity", sensitivity))
        gaps = (np.asarray(scores) - np.max(scores)) * rate / (1 if monotone else 2)
        weights = [Decimal(float(gap)).exp() for gap in gaps]
        return int(self._walk.take(rounded([weight / sum(weights) for weight in weights])))


def rounded(masses: Sequence[Decimal]) -> list[Decimal]:
    """Round chances down to whole steps of a uniform double; the largest takes the rest."""
    kept = [mass // SMALLEST * SMALLEST for mass in masses]
    largest = max(range(len(kept)), key=kept.__getitem__)
    kept[largest] += 1 - sum(kept)
    return kept


def float_loss(subject: Subject) -> float:
    """Enumerate a question whose noise is made of doubles; outcomes of chance 0 do not occur."""
    laws = []
    for data in subject.pair:
        found = float_law(subject, data)
        laws.append({outcome: mass for outcome, mass in found.items() if mass})
    return both_ways(laws[0], laws[1], Decimal(0))


def float_law(subject: Subject, data: Any) -> dict[Any, Decimal]:
    """Give the law of an answer drawn with doubles."""
    assert subject.window is not None
    walk = Walk()
    noise = FloatNoise(walk, min(subject.window, 3))
    found: dict[Any, Decimal] = {}
    while True:
        outcome = key(subject.look(subject.question.answer(data, noise)))
        found[outcome] = found.get(outcome, Decimal(0)) + walk.weight
        if not walk.advance():
            return found
