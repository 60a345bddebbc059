"""Evidence for scores adjusted for covariates: all genotypes of small studies, and faults.

The claim of a score is that one person changes it by at most 1; noise of price epsilon for one
unit (audited with `DistanceScores`) then makes epsilon of it. So what is measured here is the
largest change of a score over all neighbors, at epsilon 1 for one unit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noren.association import DistanceScores, GenotypeRows, NullModel, ScoreTest, score_distance
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
from noren.audit.additive import worst_cost
from noren.audit.mutants import Mutant, caught
from noren.audit.row import AuditRow, finding
from noren.errors import ParameterError
from noren.noise.public import generator

COARSE = 2**27  # an eighth: numbers so rough that rounding cannot hide
TAUS = (Fraction(1), Fraction("3.84"))
FLOORS = (Fraction(1, 10**6), Fraction(3, 10), Fraction(1))
Score = Callable[[Any], int]


def rows(quick: bool) -> Iterator[AuditRow]:
    """Examine the score, the questions that use it, and its faults."""
    yield from fitted_studies(8 if quick else 11, 5 if quick else 7)
    yield from any_numbers(40 if quick else 400)
    yield through_the_question()
    yield from caught(faults())


def fitted_studies(people: int, doses: int) -> Iterator[AuditRow]:
    """Enumerate all genotypes of fitted studies: both families, a cap, carriers and doses."""
    for family, cap in (("logistic", None), ("linear", None), ("logistic", Fraction(1, 2))):
        for coding, many in (("carrier", people), ("additive", doses)):
            whole = 2 if coding == "additive" else 1
            model, everything = study(family, many, cap), tables(many, whole)
            changes, wrong = [], 0
            for tau, floor in itertools.product(TAUS, FLOORS):
                scores = score_distance(model, everything, tau, floor, coding=coding)
                rule = Rule(model, tau, floor, whole == 2)
                changes.append(largest_move(scores, many, whole))
                wrong += broken_signs(rule, everything, scores)
            capped = "" if cap is None else ", capped"
            name = f"{family}{capped}, {coding}"
            note = f"all genotypes of {many} people, {len(changes)} thresholds and floors"
            yield row(name, 1, max(changes), note)
            yield row(f"{name}, sign and true distance", 0, wrong, note, quantity="tables")


def row(
    name: str, claimed: float, measured: float, note: str, *, quantity: str = "epsilon"
) -> AuditRow:
    """State one finding that was enumerated."""
    return finding(
        f"association: score test, {name}", SAME_STATUS, claimed=claimed, measured=measured,
        method="exact", quantity=quantity, note=note,
    )  # fmt: skip


def any_numbers(designs: int) -> Iterator[AuditRow]:
    """Take public numbers that nobody fitted: the proof asks for no fit."""
    for people, additive in ((6, False), (4, True)):
        worst = 0
        for seed in range(designs):
            rule = coarse_rule(seed, people, additive)
            worst = max(worst, change_of(partial(exact_score, rule.model, rule=rule), rule))
        name = f"any public numbers, {'doses' if additive else 'carriers'}"
        yield row(name, 1, worst, f"all genotypes of {people} people, {designs} random designs")


def through_the_question() -> AuditRow:
    """Price the noise of a whole question over all neighbors of a small study."""
    design = ScoreTest(model=study("logistic", 6), floor=Fraction(3, 10))
    asked = DistanceScores(
        design=design, variants=1, epsilon=Fraction(1), mode="agreement", tau=Fraction(1)
    )
    everything = [tuple(int(one) for one in g) for g in tables(6, 1)]
    pairs = {(g, flipped(g, i)) for g in everything for i in range(6)}

    def ask(g: Any, noise: Any) -> Any:
        return asked.answer(GenotypeRows.held(design.model, [g]), noise)

    return row("noise and all", 1, worst_cost(ask, pairs)[0], "all genotypes of 6 people")


def flipped(g: tuple[int, ...], place: int) -> tuple[int, ...]:
    """Turn one person from carrier to none, or back."""
    return (*g[:place], 1 - g[place], *g[place + 1 :])


def study(family: str, people: int, cap: object = None) -> NullModel:
    """Fit a small study with a category and a size."""
    place = np.arange(people)
    covariates = np.column_stack([np.ones(people), (place % 5) / 4, place % 2])
    status = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1])[:people]
    try:
        return NullModel.fit(covariates, status, family, cap=cap)
    except ParameterError:  # so few people that covariates tell them apart
        return NullModel.fit(covariates[:, :2], status, family, cap=cap)


def tables(people: int, whole: int) -> Any:
    """List all genotype vectors."""
    return np.array(list(itertools.product(range(whole + 1), repeat=people)))


def largest_move(scores: Any, people: int, whole: int) -> int:
    """Give the largest change of a score that one person makes."""
    cube = np.asarray(scores).reshape((whole + 1,) * people)
    return max(int(np.ptp(cube, axis=axis).max()) for axis in range(people))


def broken_signs(rule: Rule, everything: Any, scores: Any) -> int:
    """Count the tables whose score has the wrong sign or is above the true distance."""
    people, whole = rule.model.people, 2 if rule.additive else 1
    decisions = np.array([is_significant(exact_sums(g, rule), rule) for g in everything])
    cube = decisions.reshape((whole + 1,) * people)
    true, reached, step = np.full(cube.shape, people), border(cube, cube), 1
    while (fresh := reached & (true == people)).any() and step < people:
        true[fresh] = step
        reached, step = spread(fresh, cube), step + 1
    claimed = np.where(scores >= 1, scores, 1 - scores).reshape(cube.shape)
    wrong = ((scores >= 1) != decisions).reshape(cube.shape) | (claimed > true)
    return int(wrong.sum())


def is_significant(sums: Sums, rule: Rule) -> bool:
    """Decide exactly."""
    return rule.compare(sums.u, sums.variance) > 0


def border(cube: Any, decisions: Any) -> Any:
    """Mark what one person takes to the other decision."""
    found = np.zeros(cube.shape, bool)
    for axis in range(cube.ndim):
        found |= np.broadcast_to(
            cube.max(axis=axis, keepdims=True) != cube.min(axis=axis, keepdims=True), cube.shape
        )
    return found


def spread(marked: Any, decisions: Any) -> Any:
    """Mark what one person takes to a marked table of the same decision."""
    found = np.zeros(marked.shape, bool)
    for axis in range(marked.ndim):
        for side in (False, True):
            near = (marked & (decisions == side)).any(axis=axis, keepdims=True)
            found |= near & (decisions == side)
    return found


def coarse_rule(seed: int, people: int, additive: bool = False) -> Rule:
    """Make public numbers at random, in eighths, with a threshold and a floor."""
    random = generator(seed)
    columns = int(random.integers(2, 4))
    weights = random.integers(0, 9, people)
    others = random.integers(-16, 17, (people, columns - 1))
    root = random.integers(-2, 3, (columns, columns))
    model = NullModel(
        family="none", residuals=random.integers(-8, 9, people) * COARSE,
        weights=weights * COARSE, vectors=np.column_stack([weights, others]) * COARSE,
        matrix=root @ root.T, shift=4 + int(random.integers(0, 4)), declared={},
    )  # fmt: skip
    tau, floor = (Fraction(int(random.integers(1, top)), 10) for top in (30, 10))
    return Rule(model, tau, floor, additive)


def change_of(score: Score, rule: Rule) -> int:
    """Give the largest change of a score over all genotypes of a design."""
    people, whole = rule.model.people, 2 if rule.additive else 1
    return largest_move([score(g) for g in tables(people, whole)], people, whole)


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


STATUS = np.array([1, 1, 0, 1, 0, 0, 1, 0])


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
