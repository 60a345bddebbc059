"""Evidence for the samplers: each follows its law, and selection is private exactly as claimed."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from scipy.stats import binom, hypergeom

from noren.audit.exact import Law, log_ratio
from noren.audit.law import (
    FALSE_ALARM,
    gaussian_tail,
    integer_p_value,
    laplace_tail,
    p_value,
)
from noren.audit.row import AuditRow, finding
from noren.noise import Noise, laws

MANY, FEW = 1_000_000, 100_000
SCORES = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Finite:
    """A sampler with few outcomes: how to draw n of them (as 0, 1, ..), and their probabilities."""

    name: str
    draw: Callable[[Noise, int], Any]
    masses: Sequence[float]
    cost: int = 1  # how many times fewer draws: one by one is slow


def rows(quick: bool) -> Iterator[AuditRow]:
    """Test every sampler of `Noise` against exact probabilities, then the two selections."""
    draws = FEW if quick else MANY
    yield from open_laws(draws)
    yield from finite_laws(draws)
    yield from selections()


def open_laws(draws: int) -> Iterator[AuditRow]:
    """Test the laws on all integers, on small and large scales."""
    for scale in ("0.5", "1", "2.5", "100", "100000"):
        tail = laplace_tail(float(scale))
        drawn = Noise().discrete_laplace(scale, draws)
        p = integer_p_value(drawn, tail, reach=math.ceil(40 * float(scale)))
        yield law_row(f"discrete Laplace, scale {scale}", p, draws)
    for variance in ("0.25", "16", "10000", "100000000"):
        tail = gaussian_tail(float(variance))
        drawn = Noise().discrete_gaussian(variance, draws)
        p = integer_p_value(drawn, tail, reach=math.ceil(9 * math.sqrt(float(variance))))
        yield law_row(f"discrete Gaussian, variance {variance}", p, draws)


def finite_laws(draws: int) -> Iterator[AuditRow]:
    """Test the laws with an end."""
    for law in (*few_outcomes(), *choices()):
        count = draws // law.cost
        seen = np.bincount(law.draw(Noise(), count), minlength=len(law.masses))
        yield law_row(law.name, p_value(seen, np.asarray(law.masses, dtype=np.float64)), count)


def few_outcomes() -> Iterator[Finite]:
    """Name the samplers that draw many at once."""
    k = np.arange(60)
    yield Finite(
        "geometric, scale 5",
        lambda noise, n: np.minimum(noise.geometric(5, n), 60),
        [*(-math.expm1(-1 / 5) * np.exp(-k / 5)), math.exp(-60 / 5)],
    )
    yield coin("Bernoulli, p 0.3", 0.3, lambda noise, n: noise.bernoulli("0.3", n))
    yield coin(
        "Bernoulli, exp(-0.7)", math.exp(-0.7), lambda noise, n: noise.bernoulli_exp("0.7", n)
    )
    yield Finite("integers below 7", lambda noise, n: noise.integers_below(7, n), [1 / 7] * 7)
    wide = 3 << 62
    yield Finite(
        "integers below 3 * 2**62",
        lambda noise, n: (noise.integers_below(wide, n // 10) >> 62).astype(np.int64),
        [1 / 3] * 3,
    )
    yield Finite(
        "binomial, n 40, p 0.3",
        lambda noise, n: noise.binomial(40, "0.3", n),
        binom.pmf(np.arange(41), 40, 0.3),
    )
    yield Finite(
        "hypergeometric, 12 and 20, 9 taken",
        lambda noise, n: noise.hypergeometric(12, 20, 9, n // 10),
        hypergeom.pmf(np.arange(10), 32, 12, 9),
    )
    for categories in (2, 4, 10):
        yield response(categories)


def response(categories: int) -> Finite:
    """Name randomized response of the category 1, at epsilon 1."""
    keep = float(laws.randomized_response_keep(categories, 1))
    other = (1 - keep) / (categories - 1)
    return Finite(
        f"randomized response, {categories} categories",
        lambda noise, n: noise.randomized_response(np.ones(n, int), categories, 1),
        [keep if j == 1 else other for j in range(categories)],
    )


def coin(name: str, p: float, draw: Callable[[Noise, int], Any]) -> Finite:
    """Name a sampler of coins."""
    return Finite(name, lambda noise, n: np.asarray(draw(noise, n)).astype(np.int64), [1 - p, p])


def choices() -> Iterator[Finite]:
    """Name the samplers that draw one thing at a time."""
    orders = {order: i for i, order in enumerate(permutations(range(4)))}
    pairs = {pair: i for i, pair in enumerate(combinations(range(5), 2))}
    yield one_by_one(
        "permutation of 4",
        lambda noise: orders[tuple(noise.permutation(4).tolist())],
        [1 / 24] * 24,
    )
    yield one_by_one(
        "subset, 2 of 5", lambda noise: pairs[tuple(noise.subset(5, 2).tolist())], [0.1] * 10
    )
    yield one_by_one(
        "choice by weights 1, 2, 5", lambda noise: noise.choose([1, 2, 5]), [1 / 8, 1 / 4, 5 / 8]
    )
    yield one_by_one(
        "exponential mechanism, scores 0 1 2",
        lambda noise: noise.exponential_mechanism(SCORES, 1),
        list(map(float, laws.exponential_mechanism_law(SCORES, 1))),
    )
    yield one_by_one(
        "permute-and-flip, scores 0 1 2",
        lambda noise: noise.permute_and_flip(SCORES, 1),
        list(map(float, laws.permute_and_flip_law(SCORES, 1))),
    )


def one_by_one(name: str, draw: Callable[[Noise], int], masses: Sequence[float]) -> Finite:
    """Name a sampler that is called once for each draw."""
    return Finite(name, lambda noise, n: np.array([draw(noise) for _ in range(n)]), masses, cost=50)


def law_row(name: str, p: float, draws: int) -> AuditRow:
    """State the p-value of a law."""
    return finding(
        f"noise: {name}",
        "none",
        claimed=FALSE_ALARM,
        measured=p,
        method="law",
        holds=p > FALSE_ALARM,
        quantity="p-value",
        note=f"chi-squared, {draws} draws; a right sampler fails with the probability claimed",
    )


def selections() -> Iterator[AuditRow]:
    """Enumerate both selections over every change of each score by at most 1."""
    for name, law in (
        ("permute-and-flip", laws.permute_and_flip_law),
        ("exponential mechanism", laws.exponential_mechanism_law),
    ):
        yield finding(
            f"noise: {name}, scores 0 1 2",
            "each score moves by at most 1",
            claimed=1.0,
            measured=selection_epsilon(law),
            method="exact",
        )


def selection_epsilon(law: Callable[..., list[Decimal]], scores: Sequence[int] = SCORES) -> float:
    """Give the worst log ratio at epsilon 1 from these scores to any that differ by at most 1."""
    given = outcomes(law(scores, 1))
    worst = 0.0
    for steps in product((-1, 0, 1), repeat=len(scores)):
        moved = outcomes(law([s + d for s, d in zip(scores, steps, strict=True)], 1))
        worst = max(worst, log_ratio(given, moved), log_ratio(moved, given))
    return worst


def outcomes(masses: Sequence[Decimal]) -> Law:
    """Name outcomes by their index."""
    return dict[Hashable, Decimal](enumerate(masses))
