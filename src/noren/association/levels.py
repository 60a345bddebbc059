"""Scores by level: how many candidates have each value, and which ones.

Selection looks at scores only through their values, so candidates with one score are drawn
together: first a level, then, uniformly, candidates within it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from noren.association.statistic import Counts
from noren.noise import Noise
from noren.noise.reals import decimal, precision

PowersAt: TypeAlias = Callable[[int], list[Decimal]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Levels:
    """The distinct scores from the highest down, and the candidates that have each. Secret."""

    values: tuple[int, ...]
    members: tuple[Counts, ...]

    @classmethod
    def of(cls, scores: Counts) -> Levels:
        """Sort candidates into levels."""
        order = np.argsort(-scores, kind="stable")
        falling = scores[order]
        cuts = np.flatnonzero(np.diff(falling)) + 1
        starts = np.concatenate([[0], cuts])
        return cls(tuple(falling[starts].tolist()), tuple(np.split(order, cuts)))

    @property
    def sizes(self) -> list[int]:
        """How many candidates each level has."""
        return [member.size for member in self.members]

    def __repr__(self) -> str:
        return "Levels(secret)"

    def pick(self, level: int, many: int, noise: Noise) -> list[int]:
        """Draw candidates of one level, uniformly without putting back."""
        places = noise.subset(self.members[level].size, many)
        return self.members[level][places].tolist()  # type: ignore[no-any-return]


def powers_at(values: tuple[int, ...], rate: Fraction) -> PowersAt:
    """Give e^(rate (v - highest)) for each value, to any number of digits."""
    highest = values[0]

    @lru_cache(maxsize=4)
    def at(digits: int) -> list[Decimal]:
        with precision(digits):
            base = decimal(rate)
            return [(base * (value - highest)).exp() for value in values]

    return at
