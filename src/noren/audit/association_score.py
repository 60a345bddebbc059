"""Evidence for scores adjusted for covariates: all genotypes of small studies, and faults.

The claim of a score is that one person changes it by at most 1; noise of price epsilon for one
unit (audited with `DistanceScores`) then makes epsilon of it. So what is measured here is the
largest change of a score over all neighbors, at epsilon 1 for one unit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noren.association import DistanceScores, GenotypeRows, ScoreTest, score_distance
from noren.association.score_exact import Rule, exact_score, exact_sums
from noren.association.scoring import SAME_STATUS
from noren.audit.additive import worst_cost
from noren.audit.association_score_cases import (
    change_of,
    coarse_rule,
    flipped,
    is_significant,
    largest_move,
    study,
    tables,
)
from noren.audit.association_score_faults import faults
from noren.audit.mutants import caught
from noren.audit.row import AuditRow, finding

TAUS = (Fraction(1), Fraction("3.84"))
FLOORS = (Fraction(1, 10**6), Fraction(3, 10), Fraction(1))


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
