"""The tables of the paper's experiments: constructed ones, and a stand-in for its real data.

The paper does not say how its synthetic tables were made, only that their chi-squared runs through
1, 2, .., 10; the constructions here have nearly these values wherever such tables exist. Its real
data (a competition of 2015: 200 cases, 200 controls, 311 variants, 63 of them significant) may not
be handed on. The stand-in has the same shape and comes from a small generator that anybody can
write down; whoever has the files can use them instead (`noren.papers.idash`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from noren.association import Tables, is_significant

TARGETS = range(1, 11)
TAU = "3.84"
STUDY = 200  # cases, and as many controls
SIGNIFICANT, OTHERS = 63, 248
MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407


def all_tables(cases: int, controls: int) -> Tables:
    """Give every table of two groups, row by row.

    Examples
    --------
    >>> len(all_tables(2, 3))
    12
    """
    a, b = np.mgrid[0 : cases + 1, 0 : controls + 1]
    return Tables(a.ravel(), b.ravel(), cases, controls)


def balanced(people: int, carriers: int | None = None) -> Tables:
    """Give ten tables of two equal groups, chi-squared about 1 to 10, around half of the people.

    Examples
    --------
    >>> balanced(1024).a[:3].tolist()
    [264, 267, 270]
    """
    group = people // 2
    n1 = people // 2 if carriers is None else carriers
    spread = [math.sqrt(t * n1 * (people - n1) / people) / 2 for t in TARGETS]
    moved = [min(n1 // 2, round(k)) for k in spread]
    a, b = ([n1 // 2 + sign * k for k in moved] for sign in (1, -1))
    return Tables(a, b, group, group)


def two_cases(people: int) -> Tables:
    """Give ten tables of two cases, both carriers, chi-squared as near to 1 to 10 as can be."""
    controls = people - 2

    def distance(b: int, target: int) -> float:
        n1 = 2 + b
        squared = people * (2 * controls - 2 * b) ** 2 / (n1 * (people - n1) * 2 * controls)
        return abs(squared - target)

    b = []
    for target in TARGETS:  # chi-squared is N (m2 - b) / (m2 (2 + b)) 2, which falls in b
        near = round(2 * controls * (people - target) / (target * controls + 2 * people))
        around = range(max(0, near - 2), min(controls - 1, near + 2) + 1)
        b.append(min(around, key=lambda b: distance(b, target)))
    return Tables([2] * len(b), b, 2, controls)


def stand_in() -> Tables:
    """Generate 311 tables of 200 cases and 200 controls, 63 of them significant.

    Examples
    --------
    >>> tables = stand_in()
    >>> len(tables), int(tables.a.sum()), int(tables.b.sum())
    (311, 31196, 31440)
    """
    pairs: list[tuple[int, int]] = []
    left = {True: SIGNIFICANT, False: OTHERS}
    draws = uniforms(2015)
    while left[True] or left[False]:
        p = 0.05 + 0.9 * next(draws)
        strength = 2.5 if next(draws) < 0.25 else 1.0
        z = sum(next(draws) for _ in range(12)) - 6
        shift = z * math.sqrt(2 * STUDY * p * (1 - p)) * strength
        a = math.floor((2 * STUDY * p + shift) / 2 + 0.5)
        b = math.floor((2 * STUDY * p - shift) / 2 + 0.5)
        if min(a, b) >= 0 and max(a, b) <= STUDY:
            kind = bool(is_significant(Tables(a, b, STUDY, STUDY), TAU))
            if left[kind]:
                left[kind] -= 1
                pairs.append((a, b))
    return Tables([a for a, _ in pairs], [b for _, b in pairs], STUDY, STUDY)


def uniforms(state: int) -> Iterator[float]:
    """Yield numbers of [0, 1) from a linear congruential generator: public, and for this only."""
    while True:
        state = (MULTIPLIER * state + INCREMENT) % 2**64
        yield (state >> 11) / 2**53
