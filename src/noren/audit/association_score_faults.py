"""Adjusted scores with one fault each: every mutant must be caught."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noren.association import NullModel, score_distance
from noren.association.null_model import BITS
from noren.association.score_exact import (
    Rule,
    Sums,
    exact_score,
    exact_sums,
    from_inside,
    from_outside,
    gains,
    largest_change,
)
from noren.association.scoring import SAME_STATUS
from noren.audit.association_score_cases import (
    COARSE,
    change_of,
    coarse_rule,
    flipped,
    is_significant,
    tables,
)
from noren.audit.mutants import Mutant
from noren.noise.public import generator

STATUS = np.array([1, 1, 0, 1, 0, 0, 1, 0])


def scored(sums: Sums, g: Any, rule: Rule, both: bool = True) -> int:
    """Score from sums that may be wrong, or by the way of one sign only."""
    plus, minus = (gains(rule.model, g, rule.additive, sign) for sign in (1, -1))
    if is_significant(sums, rule):
        return from_outside(sums, minus if sums.u > 0 else plus, rule)
    if both:
        return 1 - from_inside(sums, plus, minus, rule)
    none: Iterator[int] = iter(())
    ways = (plus, none) if sums.u >= 0 else (none, minus)
    return 1 - from_inside(sums, *ways, rule)


def faults() -> Iterator[Mutant]:
    """Give the faults."""
    for fault, measure in (
        ("the drift of the fitted genotype forgotten", lambda: worst(without_drift, 38)),
        ("V not clipped at its cap", lambda: worst(unclipped)),
        ("the fitted genotype from other numbers than V", lambda: worst(mixed, 77)),
        ("moves of one sign dropped", lambda: worst(one_way)),
        ("a search that is stopped early", lambda: worst(stopped)),
        ("only carriers asked how far they move V", lambda: worst(carriers_only, 77)),
        ("components of the study's own genotypes", own_components),
        ("missing genotypes imputed from the others", imputed),
        ("status taken for private", private_status),
        ("the null model fitted anew with the variant in it", wald),
    ):
        yield Mutant("association: score test", fault, SAME_STATUS, 1.0, measure)
    yield Mutant("association: score test", "no floor under V, and floats", SAME_STATUS, 0.0,
                 significant_for_nothing, "variants")  # fmt: skip


def worst(broken: Callable[..., int], first: int = 0) -> float:
    """Give the largest change of a broken score over some random designs.

    Some faults show in few designs only: for these, `first` is one that was found to show it.
    """
    return max(
        float(change_of(partial(broken, rule=rule), rule))
        for rule in (coarse_rule(seed, 6) for seed in range(first, first + 8))
    )


@dataclass(frozen=True, slots=True)
class NoDrift(Rule):
    """Bound V as if the fitted genotype stood still."""

    @property
    def drift(self) -> int:
        """Forget theta2."""
        return 0


def without_drift(g: Any, rule: Rule) -> int:
    """Let V move by the same in every step."""
    return exact_score(rule.model, g, NoDrift(rule.model, rule.tau, rule.floor))


def unclipped(g: Any, rule: Rule) -> int:
    """Decide with a V that may be above the cap of the search."""
    z = [int(entry) for entry in g @ rule.model.vectors]
    weight = int(g @ rule.model.weights) << (BITS + rule.model.shift)
    found = max(0, weight - rule.model.form(z, z))
    return scored(replace(exact_sums(g, rule), variance=found), g, rule)


def mixed(g: Any, rule: Rule) -> int:
    """Take q from vectors that were rounded differently, towards 0."""
    unit = 16 * COARSE
    rough = np.asarray(np.trunc(rule.model.vectors / unit) * unit, dtype=np.int64)
    other = replace(rule, model=replace(rule.model, vectors=rough))
    q = largest_change([int(entry) for entry in g @ rule.model.vectors], other)
    return scored(replace(exact_sums(g, rule), q=q), g, rule)


def one_way(g: Any, rule: Rule) -> int:
    """Look only where U already points."""
    return scored(exact_sums(g, rule), g, rule, both=False)


def stopped(g: Any, rule: Rule) -> int:
    """Give up after two steps."""
    score = exact_score(rule.model, g, rule)
    return score if abs(score) <= 2 else (6 if score > 0 else -5)


def carriers_only(g: Any, rule: Rule) -> int:
    """Leave out of q whoever does not carry the variant."""
    z = [int(entry) for entry in g @ rule.model.vectors]
    if not g.any():
        return exact_score(rule.model, g, rule)
    kept = g > 0
    fewer = replace(rule.model, weights=rule.model.weights[kept], vectors=rule.model.vectors[kept])
    q = largest_change(z, replace(rule, model=fewer))
    return scored(replace(exact_sums(g, rule), q=q), g, rule)


def own_components() -> float:
    """Adjust a variant for the study's second one: a person's row holds both."""

    def score(here: Any, other: Any) -> int:
        model = NullModel.fit(np.column_stack([np.ones(8), other]), STATUS, "linear")
        return int(score_distance(model, here, 1, Fraction(3, 10)))

    return two_rows(score)


def two_rows(score: Callable[[Any, Any], int]) -> float:
    """Give the largest change when one person's two genotypes change, over some studies."""
    random, found = generator(4), 0
    for _ in range(8):
        here, other = random.integers(0, 2, (2, 8))
        base = score(here, other)
        for person in range(8):
            for pair in itertools.product((0, 1), repeat=2):
                moved = here.copy(), other.copy()
                moved[0][person], moved[1][person] = pair
                found = max(found, abs(score(*moved) - base))
    return float(found)


def imputed() -> float:
    """Give four cases without a genotype that of most controls; four other cases carry it."""
    model = NullModel.fit(np.ones((13, 1)), [0] * 5 + [1] * 8)
    found = 0
    for seen in itertools.product((0, 1), repeat=5):
        scores = []
        for person in range(5):
            near = flipped(seen, person)
            for one in (seen, near):
                filled = (*one, 1, 1, 1, 1, *([int(2 * sum(one) > 5)] * 4))
                scores.append(int(score_distance(model, filled, 1, Fraction(3, 10))))
            found = max(found, abs(scores[-1] - scores[-2]))
    return float(found)


def private_status() -> float:
    """Let one person's status change, and everybody's residuals with it."""
    found = 0
    for g in tables(8, 1)[::7]:
        scores = []
        for status in (STATUS, *(flipped(tuple(STATUS.tolist()), i) for i in range(8))):
            model = NullModel.fit(np.column_stack([np.ones(8), np.arange(8) % 3]), status, "linear")
            scores.append(int(score_distance(model, g, 1, Fraction(3, 10))))
        found = max(found, max(abs(one - scores[0]) for one in scores))
    return float(found)


def wald() -> float:
    """Release the squared Wald statistic of a fit that holds the variant, as if it moved by 1."""

    def statistic(g: Any) -> float:
        columns = np.column_stack([np.ones(8), g])
        beta, rest, rank, _ = np.linalg.lstsq(columns, STATUS, rcond=None)
        if rank < 2 or not rest.size:
            return 0.0
        variance = max(float(rest[0]), 1e-9) / 6 * np.linalg.inv(columns.T @ columns)[1, 1]
        return float(beta[1] ** 2 / variance)

    found = [statistic(g) for g in tables(8, 1)]
    cube = np.asarray(found).reshape((2,) * 8)
    return float(max(np.ptp(cube, axis=axis).max() for axis in range(8)))


def significant_for_nothing() -> float:
    """Count variants that everybody carries and that floats without a floor call significant."""
    random, found = generator(1), 0
    for _ in range(50):
        columns = np.column_stack([np.ones(40), random.normal(size=40)])
        status = random.integers(0, 2, 40).astype(float)
        r = status - columns @ np.linalg.lstsq(columns, status, rcond=None)[0]
        z = columns.T @ np.ones(40)
        v = 40 - float(z @ np.linalg.inv(columns.T @ columns) @ z)
        found += float(r.sum()) ** 2 > 3.84 * (v if v > 0 else 0.0)
    return float(found)
