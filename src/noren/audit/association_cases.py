"""Studies small enough to look at all of their tables: what the association audits run on."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from noren.association import CaseControl, Tables
from noren.association.set_draw import draw_set
from noren.audit.additive import worst_cost
from noren.audit.enumerated import law_of
from noren.audit.exact import Law, log_ratio

Pair: TypeAlias = tuple[int, int]
Counts: TypeAlias = tuple[Pair, ...]  # (a, b) of each variant

SHAPES: tuple[Pair, ...] = ((4, 4), (6, 6), (5, 5), (3, 8), (7, 2), (1, 9))
TAU = 2  # below the people of every shape


def study(shape: Pair, step: int = 1) -> CaseControl:
    """Describe the groups, with so many people in each (`step=2`: their alleles are counted)."""
    return CaseControl(cases=shape[0] * step, controls=shape[1] * step, step=step)


def tables(design: CaseControl, counts: Counts) -> Tables:
    """Make tables from counts."""
    a, b = zip(*counts, strict=True)
    return Tables(a, b, design.cases, design.controls, design.step)


def every_table(design: CaseControl) -> list[Pair]:
    """List all tables of one variant."""
    return list(itertools.product(range(design.cases + 1), range(design.controls + 1)))


def one_person_apart(design: CaseControl, kept: tuple[int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Give all pairs of tables of one variant that one person tells apart.

    `kept` are the groups (0: cases, 1: controls) whose people are not protected.
    """
    for a, b in every_table(design):
        for move in range(1, design.step + 1):
            for group, other in enumerate(((a + move, b), (a, b + move))):
                if group not in kept and other[0] <= design.cases and other[1] <= design.controls:
                    yield ((a, b),), (other,)
                    yield (other,), ((a, b),)


def one_person_of(design: CaseControl, base: Counts) -> Iterator[Counts]:
    """Give every table set that one person can make of this one, by any other row of genotypes."""
    moves = range(-design.step, design.step + 1)
    for group, size in enumerate((design.cases, design.controls)):
        for change in itertools.product(moves, repeat=len(base)):
            moved = [list(pair) for pair in base]
            for pair, move in zip(moved, change, strict=True):
                pair[group] += move
            if all(0 <= pair[group] <= size for pair in moved):
                yield tuple((pair[0], pair[1]) for pair in moved)


def added_price(
    question: Any, pairs: Iterable[tuple[Any, Any]], design: CaseControl
) -> tuple[float, float]:
    """Find the exact epsilon and rho of a question that adds noise to whole numbers."""
    return worst_cost(
        lambda counts, noise: question.answer(tables(design, counts), noise), set(pairs)
    )


def worst_set(epsilon: int, highest: int) -> float:
    """Enumerate the draw of 2 of 4 candidates, over scores 0..highest and their moves by one."""
    law: dict[tuple[int, ...], Law] = {
        scores: law_of(partial(draw_set, np.array(scores), 2, Fraction(epsilon)))[0]
        for scores in itertools.combinations_with_replacement(range(-1, highest + 2), 4)
    }
    worst = 0.0
    for scores in itertools.combinations_with_replacement(range(highest + 1), 4):
        for moves in itertools.product((-1, 0, 1), repeat=4):
            moved = [s + move for s, move in zip(scores, moves, strict=True)]
            order = sorted(range(4), key=moved.__getitem__)
            theirs = renamed(law[tuple(moved[i] for i in order)], order)
            worst = max(worst, log_ratio(law[scores], theirs))
    return worst


def renamed(law: Law, order: list[int]) -> Law:
    """Undo a sorting of candidates in the law of chosen sets."""
    return {
        json.dumps(sorted(order[place] for place in json.loads(str(chosen)))): mass
        for chosen, mass in law.items()
    }


def laws(question: Any, design: CaseControl, window: int = 0) -> Callable[[Counts], Law]:
    """Give the exact law of an answer for each table set, each worked out once."""
    known: dict[Counts, Law] = {}

    def law(counts: Counts) -> Law:
        if counts not in known:
            statistic = tables(design, counts)
            known[counts] = law_of(partial(question.answer, statistic), window=window)[0]
        return known[counts]

    return law


def worst_ratio(law: Callable[[Counts], Law], pairs: Iterable[tuple[Counts, Counts]]) -> float:
    """Find the largest log ratio of any outcome, over pairs of neighbors."""
    return max(log_ratio(law(ours), law(theirs)) for ours, theirs in pairs)
