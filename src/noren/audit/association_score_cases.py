"""Adjusted studies small enough to look at all genotypes: what the score test's audit runs on."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from noren.association import NullModel
from noren.association.score_exact import Rule, Sums
from noren.errors import ParameterError
from noren.noise.public import generator

COARSE = 2**27  # an eighth: numbers so rough that rounding cannot hide
Score: TypeAlias = Callable[[Any], int]


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


def flipped(g: tuple[int, ...], place: int) -> tuple[int, ...]:
    """Turn one person from carrier to none, or back."""
    return (*g[:place], 1 - g[place], *g[place + 1 :])


def largest_move(scores: Any, people: int, whole: int) -> int:
    """Give the largest change of a score that one person makes."""
    cube = np.asarray(scores).reshape((whole + 1,) * people)
    return max(int(np.ptp(cube, axis=axis).max()) for axis in range(people))


def is_significant(sums: Sums, rule: Rule) -> bool:
    """Decide exactly."""
    return rule.compare(sums.u, sums.variance) > 0


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
