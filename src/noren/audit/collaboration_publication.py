"""Evidence for publishing combined models: Gibbs draws enumerated, and what must not be claimed.

Small data sets are looked at whole: every set of up to three rows out of six, and all neighbours.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from noren.audit.black_box import audit_callable
from noren.audit.enumerated import law_of
from noren.audit.exact import Law, log_ratio, neighbours, universe, worst_of
from noren.audit.mutants import Mutant, caught
from noren.audit.row import FAILS, AuditRow, finding
from noren.collaboration.combining import combine
from noren.collaboration.gibbs_learner import EWA, MIRROR, GibbsLearner
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.task import Task
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency

TASK = Task.of_bounds([-1, -1], [1, 1], intercept=0, scale=1)
LEARNERS = ((1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (-0.6, 0.8))
ROWS = tuple((x, word) for x in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)) for word in ("no", "yes"))
ADDED, REPLACED = Adjacency(ADD_REMOVE), Adjacency(SUBSTITUTE)
CASES = ((EWA, ADDED), (EWA, REPLACED), (MIRROR, REPLACED))
EPSILON = Fraction(1)
ROUNDING = 1e-9

Chosen = tuple[tuple[tuple[float, float], str], ...]


def rows(quick: bool) -> Iterator[AuditRow]:
    """Examine Gibbs draws, the aggregate that is not published, and faults."""
    yield from enumerated(2 if quick else 3)
    yield from seen_from_outside(2_000 if quick else 20_000)
    yield from never_published()
    yield from caught(faults())


def asked(weights: str, adjacency: Adjacency, **settings: Any) -> GibbsLearner:
    """Ask for one of the learners at epsilon 1."""
    given: dict[str, Any] = {"task": TASK, "learners": LEARNERS, "epsilon": EPSILON}
    return GibbsLearner(**given | {"weights": weights, "adjacency": adjacency} | settings)


def encoded(chosen: Sequence[Any]) -> TrainingRows:
    """Encode rows that an audit chose."""
    if not chosen:
        return TrainingRows.empty(TASK)
    points, words = zip(*chosen, strict=True)
    return TrainingRows.of(TASK, np.array(points), labels=list(words))


def law_under(question: Any, chosen: Sequence[Any]) -> Law:
    """Give the exact law of what is drawn."""
    statistic = encoded(chosen)
    found, _ = law_of(lambda noise: json.dumps(question.answer(statistic, noise).chosen.tolist()))
    return found


def enumerated(size: int) -> Iterator[AuditRow]:
    """Enumerate every neighbour of small data sets."""
    for weights, adjacency in CASES:
        for draws in (1, 2):
            question = asked(weights, adjacency, draws=draws)
            law = lru_cache(maxsize=None)(lambda chosen, q=question: law_under(q, chosen))
            pairs = list(neighbours(adjacency, universe(adjacency, ROWS, size)))
            worst = worst_of(law, pairs)
            name = f"collaboration: gibbs-learner, {weights}, {draws} drawn"
            note = f"{worst.pairs} pairs of neighbours, up to {size} rows"
            for quantity, claimed, measured in (
                ("epsilon", 1.0, worst.log_ratio),
                ("rho", float(question.guarantee.rho or 0), worst.rho),
            ):
                yield finding(
                    name, adjacency, claimed=claimed, measured=measured, method="exact",
                    holds=measured <= claimed * (1 + ROUNDING), quantity=quantity, note=note,
                )  # fmt: skip


def seen_from_outside(draws: int) -> Iterator[AuditRow]:
    """Ask through the public interface, and bound epsilon from samples alone."""
    question, noise = asked(EWA, ADDED, form="sign"), Noise()

    yield audit_callable(
        lambda statistic: question.answer(statistic, noise).chosen,
        encoded(()), encoded(ROWS[1:2]), epsilon=1, adjacency=ADDED, draws=draws,
        name="collaboration: gibbs-learner, from samples",
    )  # fmt: skip


def never_published() -> Iterator[AuditRow]:
    """Show that the combined model itself has no epsilon: one row moves it with certainty."""
    few = encoded(ROWS[:3]).parts[0][:2]
    more = encoded(ROWS[:2] + ROWS[5:]).parts[0][:2]
    for method in ("mirror", "ewa", "auto"):
        first, second = (combine(LEARNERS, *part, method).coefficients for part in (few, more))
        moved = str(first) != str(second)
        yield finding(
            f"collaboration: {method} of the receiver's rows, published (E5)", REPLACED,
            claimed=1.0, measured=math.inf if moved else 0.0, method="exact", expected=FAILS,
            note="a function of the rows without noise; the paper's Proposition 4.1 is silent here",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unclipped:
    """A Gibbs draw whose raw scores have no bound, charged as if they had B = 1."""

    scale: float

    def law(self, chosen: Sequence[Any]) -> Law:
        """Weigh by raw losses at temperature 1."""
        parts = encoded(chosen).parts[0]
        margins = parts[0] @ (self.scale * np.array(LEARNERS)).T * parts[1][:, None]
        sums = -np.logaddexp(0.0, -margins).sum(axis=0)
        powers = np.exp(sums - sums.max())
        return {m: Decimal(float(p)) for m, p in enumerate(powers / powers.sum())}


def ratio_of(law: Callable[[Sequence[Any]], Law], first: Any, second: Any) -> float:
    """Give the worse of both directions."""
    p, q = law(first), law(second)
    return max(log_ratio(p, q), log_ratio(q, p))


def faults() -> Iterator[Mutant]:
    """Put in faults that the audit must catch."""
    room = "collaboration: gibbs-learner"
    one, other = ROWS[1:2], ROWS[:1]
    many = ((1.0, 0.0), *(((-1.0, 0.0),) * 30))

    def replaced() -> float:
        halved = asked(EWA, ADDED, learners=many, form="sign")
        return ratio_of(lambda chosen: law_under(halved, chosen), one, other)

    yield Mutant(room, "the factor 2 of replaced rows is dropped", REPLACED, 1.0, replaced)

    def unclipped() -> float:
        return ratio_of(Unclipped(20.0).law, one, ())

    yield Mutant(room, "raw scores without a bound", ADDED, 1.0, unclipped)

    def twice() -> float:
        both = asked(EWA, ADDED, epsilon=2 * EPSILON, draws=2, learners=many, form="sign")
        return ratio_of(lambda chosen: law_under(both, chosen), one, ())

    yield Mutant(room, "fresh noise for a second receiver at no cost", ADDED, 1.0, twice)

    def fewest_errors() -> float:
        def law(chosen: Sequence[Any]) -> Law:
            rows, labels, _ = encoded(chosen).parts[0]
            best = combine(LEARNERS, rows, labels, "best-single").coefficients
            return {str(best): Decimal(1)}

        return ratio_of(law, one, other)

    yield Mutant(room, "the best file is published without a draw", REPLACED, 1.0, fewest_errors)

    def counted() -> float:
        def law(chosen: Sequence[Any]) -> Law:
            own = asked(EWA, ADDED, epsilon=Fraction(len(chosen)), learners=many, form="sign")
            return law_under(own, chosen)

        return ratio_of(law, (*one, *one), one)

    yield Mutant(room, "a temperature made from the number of rows", ADDED, 1.0, counted)
