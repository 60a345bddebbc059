"""Association questions with one fault each: every mutant must be caught."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np

from noren.association import DistanceScores, Loci, NoisyCounts, Tables, TopSnps
from noren.association.distance import scores
from noren.association.distance_scores import DistanceScoresAnswer
from noren.association.scoring import SAME_STATUS
from noren.association.significance import significance_probability
from noren.audit.association_cases import (
    TAU,
    Counts,
    added_price,
    laws,
    one_person_apart,
    one_person_of,
    study,
    worst_ratio,
    worst_set,
)
from noren.audit.exact import DIGITS, Law, log_ratio
from noren.audit.mutants import Mutant, caught
from noren.audit.row import AuditRow
from noren.noise import Noise

DESIGN = study((6, 6))
ALLELES = study((4, 4), 2)
ONE: dict[str, Any] = {"design": DESIGN, "variants": 1, "epsilon": 1}


class HalfTheNoise(DistanceScores):
    """Draw with half the scale."""

    @property
    def scale(self) -> Fraction:
        """Keep the claim, halve the noise."""
        return 1 / (2 * self.per_test)


class AskedAgain(DistanceScores):
    """Draw fresh noise when the same request comes a second time."""

    def answer(self, statistic: Any, noise: Noise) -> Any:
        """Show both draws for one price."""
        first, second = (DistanceScores.answer(self, statistic, noise) for _ in range(2))
        both = np.concatenate([first.scores, second.scores])
        return DistanceScoresAnswer(question=self, secure=noise.secure, scores=both)


class OnceForAll(DistanceScores):
    """Spend the whole total on every test."""

    @property
    def per_test(self) -> Fraction:
        """Forget that one row feeds all tests."""
        return self.epsilon


class AllelesAsPeople(NoisyCounts):
    """Take the noise of people where a person brings two alleles."""

    @property
    def scale(self) -> Fraction:
        """Drop the factor 2."""
        return 1 / self.per_test


class Monotone(TopSnps):
    """Treat scores as if all of them moved the same way."""

    @property
    def per_round(self) -> Fraction:
        """Drop the factor 2 of the exponential mechanism."""
        return 2 * self.epsilon / self.top


class EachRoundWhole(TopSnps):
    """Let every round spend the whole total."""

    @property
    def per_round(self) -> Fraction:
        """Forget that rounds add up."""
        return self.epsilon


class AddedUp(Loci):
    """Score a locus by the sum of its variants."""

    def best(self, scores: Any) -> Any:
        """Let one person move a locus by as many as it has variants."""
        return np.bincount(self.of, weights=scores, minlength=len(self)).astype(np.int64)


def rows() -> Iterator[AuditRow]:
    """Examine every mutant."""
    return caught((*of_scores(), *of_choices()))


def of_scores() -> Iterator[Mutant]:
    """Give the faults in scores, counts and bits."""
    plain = {**ONE, "mode": "agreement", "tau": TAU}
    yield added("distance-scores", "half the noise", HalfTheNoise(**plain))
    yield added("distance-scores", "fresh noise on retry", AskedAgain(**plain))
    total = OnceForAll(**{**plain, "variants": 2})
    yield mutant("distance-scores", "the total spent on every test", lambda: two_tests(total))
    alleles = AllelesAsPeople(design=ALLELES, variants=1, epsilon=Fraction(1))
    yield added("noisy-counts", "the factor 2 of alleles dropped", alleles, ALLELES)
    yield mutant("distance-scores", "alleles measured as people", lambda: score_step(2, 1))
    yield mutant("distance-scores", "missing genotypes shrink the groups", shrinking_groups)
    yield mutant("published-decisions", "a uniform compared with a float", float_bits)


def of_choices() -> Iterator[Mutant]:
    """Give the faults in the choice of the top K."""
    asked: dict[str, Any] = {"design": DESIGN, "variants": 3, "epsilon": Fraction(1), "tau": 3}
    for kind, fault, settings in (
        (Monotone, "scores taken as monotone", {"top": 2, "method": "peel"}),
        (EachRoundWhole, "the total spent in every round", {"top": 2, "method": "peel"}),
        (TopSnps, "a locus scored by its sum",
         {"top": 1, "method": "set", "loci": AddedUp(("x", "y"), np.array([0, 0, 1]))}),
    ):  # fmt: skip
        question = kind(**{**asked, **settings})
        yield mutant(f"top-snps, {question.method}", fault, partial(enumerated, question))
    yield mutant("top-snps, set", "scores taken as monotone", lambda: worst_set(2, 3))
    yield mutant("top-snps", "joint utility of sensitivity 2 taken as 1", joint_choice)


def mutant(name: str, fault: str, measure: Any) -> Mutant:
    """Claim epsilon 1."""
    return Mutant(f"association: {name}", fault, SAME_STATUS, 1.0, measure)


def added(name: str, fault: str, question: Any, design: Any = DESIGN) -> Mutant:
    """Price the noise that a broken question adds."""
    measure = partial(added_price, question, list(one_person_apart(design)), design)
    return mutant(name, fault, lambda: measure()[0])


def two_tests(question: Any) -> float:
    """Price two tests that one row moves both."""
    base: Counts = ((4, 1), (5, 2))
    return added_price(question, ((base, other) for other in one_person_of(DESIGN, base)), DESIGN)[
        0
    ]


def score_step(moved: int, measured: int) -> float:
    """Give the largest change of the score of alleles, measured in steps that are too short."""
    a, b = np.mgrid[0:9, 0:9]
    found = np.asarray(scores(Tables(a.ravel(), b.ravel(), 8, 8), TAU, measured)).reshape(9, 9)
    return float(np.abs(found[moved:] - found[:-moved]).max())


def shrinking_groups() -> float:
    """Leave people with a missing genotype out of their group: its size then tells of them."""
    worst = 0
    for a, b in product(range(1, 6), range(36)):
        here, there = Tables(a, b, 5, 35), Tables(a - 1, b, 4, 35)
        worst = max(worst, abs(int(scores(here, TAU)) - int(scores(there, TAU))))
    return float(worst)


def float_bits() -> float:
    """Compare probabilities as floats: one of them is exactly 1, its neighbor's is not."""

    def law(a: int) -> Law:
        one = float(significance_probability(Tables(a, 0, 600, 600), TAU, 1, "unit-circle-tight"))
        return {bit: Decimal(mass) for bit, mass in ((1, one), (0, 1.0 - one)) if mass}

    chain = [law(a) for a in range(601)]
    return max(max(log_ratio(p, q), log_ratio(q, p)) for p, q in pairwise(chain))


def enumerated(question: Any) -> float:
    """Enumerate a choice over all rows of one person."""
    law, worst = laws(question, DESIGN), 0.0
    for base in (((6, 3), (4, 2), (3, 0)), ((6, 6), (0, 0), (5, 1))):
        for other in one_person_of(DESIGN, base):
            worst = max(worst, worst_ratio(law, [(base, other), (other, base)]))
    return worst


def joint_choice() -> float:
    """Choose an ordered pair by -max_j (s_(j) - s_(S_j)) at e^(epsilon u / 2)."""
    worst = 0.0
    for base in ((2, 1, 0, 0), (1, 1, 0, 0), (2, 2, 1, 0), (6, 0, 0, 0)):
        here = joint_law(base)
        for moves in product((-1, 0, 1), repeat=4):
            there = joint_law(tuple(s + m for s, m in zip(base, moves, strict=True)))
            worst = max(worst, log_ratio(here, there), log_ratio(there, here))
    return worst


def joint_law(given: tuple[int, ...]) -> Law:
    """Give the law of that choice."""
    falling = sorted(given, reverse=True)
    with localcontext() as context:
        context.prec = DIGITS
        weights = {}
        for pair in permutations(range(4), 2):
            lost = max(falling[j] - given[i] for j, i in enumerate(pair))
            weights[pair] = (Decimal(-lost) / 2).exp()
        total = sum(weights.values())
        return {pair: weight / total for pair, weight in weights.items()}
