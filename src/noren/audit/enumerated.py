"""Run a mechanism's own code through every outcome of its noise, with exact probabilities.

`law_of` hands a question an `EnumeratedNoise`, which answers each draw with one outcome and
remembers the others; the code is run again until all are seen. So what is enumerated is what the
code does, not what a formula says it does: a wrong scale, a draw too few or a stop that looks at
the data shows in the law.

Laws with open tails are cut at `window` on both sides; the mass cut off is given back as `lost`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any

import numpy as np

from noren.noise import Noise, laws
from noren.noise.sources import Words
from noren.privacy.numbers import Number, exact
from noren.question import Answer, as_json

DIGITS = 50
MANY = 2_000_000  # outcomes; more is a mistake in the audit, not a law to enumerate


@dataclass(slots=True)
class Walk:
    """A path through a tree of draws, deepest last."""

    choices: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    depth: int = 0
    weight: Decimal = Decimal(1)

    def take(self, masses: Sequence[Decimal]) -> int:
        """Go down one branch: the one on the path, or the first."""
        if self.depth == len(self.choices):
            self.choices.append(0)
            self.widths.append(len(masses))
        chosen = self.choices[self.depth]
        self.depth += 1
        self.weight *= masses[chosen]
        return chosen

    def advance(self) -> bool:
        """Turn to the next path; False when all have been walked."""
        while self.choices and self.choices[-1] + 1 == self.widths[-1]:
            self.choices.pop()
            self.widths.pop()
        if not self.choices:
            return False
        self.choices[-1] += 1
        self.depth, self.weight = 0, Decimal(1)
        return True


class NoBits:
    """A source of bits for noise that needs none."""

    secure = False
    name = "enumerated"

    def words(self, count: int) -> Words:
        """Refuse: a law without an enumeration was asked for."""
        raise NotImplementedError("This law is not enumerated; add it to EnumeratedNoise.")


class EnumeratedNoise(Noise):
    """Noise that takes every value in turn. It protects nobody, and says so."""

    __slots__ = ("_walk", "_window")

    def __init__(self, walk: Walk, window: int) -> None:
        super().__init__(NoBits())
        self._walk, self._window = walk, window

    def _integers(self, masses: Sequence[Decimal], size: Any) -> Any:
        """Take one value of -window..window for each coordinate."""
        if size is None:
            return self._walk.take(masses) - self._window
        count = int(np.prod(size))
        taken = [self._walk.take(masses) - self._window for _ in range(count)]
        return np.array(taken, dtype=np.int64).reshape(size)

    def discrete_laplace(self, scale: Number, size: Any = None) -> Any:
        """Take every integer within the window."""
        return self._integers(laplace_masses(exact("scale", scale), self._window), size)

    def discrete_gaussian(self, variance: Number, size: Any = None) -> Any:
        """Take every integer within the window."""
        return self._integers(gaussian_masses(exact("variance", variance), self._window), size)

    def bernoulli(self, p: Any, size: Any = None) -> Any:
        """Take both sides of a coin."""
        chance = number(exact("p", p))
        if size is None:
            return bool(self._walk.take([1 - chance, chance]))
        return np.array([self._walk.take([1 - chance, chance]) for _ in range(size)], dtype=bool)

    def packed_bernoulli(self, p: Any, size: Any = None) -> Any:
        """Toss the lowest `window` coins of each word; the question must not use the others."""
        chance = p(DIGITS) if callable(p) else number(exact("p", p))
        words = np.zeros(() if size is None else size, dtype=np.uint64)
        for place in np.ndindex(words.shape):
            for bit in range(self._window):
                if self._walk.take([1 - chance, chance]):
                    words[place] |= np.uint64(1 << bit)
        return words

    def bernoulli_exp(self, x: Number, size: Any = None) -> Any:
        """Take both sides of a coin of probability exp(-x)."""
        chance = number(-exact("x", x)).exp()
        count = 1 if size is None else size
        coins = [bool(self._walk.take([1 - chance, chance])) for _ in range(count)]
        return coins[0] if size is None else np.array(coins, dtype=bool)

    def choose(self, weights: Any) -> int:
        """Choose every index that has weight."""
        given = weights(DIGITS) if callable(weights) else [Decimal(weight) for weight in weights]
        total = sum(given, Decimal(0))
        possible = [place for place, weight in enumerate(given) if weight]
        return possible[self._walk.take([given[place] / total for place in possible])]

    def subset(self, n: int, k: int) -> Any:
        """Take every subset of k of 0..n-1."""
        sets = list(combinations(range(n), k))
        chosen = sets[self._walk.take([Decimal(1) / len(sets)] * len(sets))]
        return np.array(chosen, dtype=np.int64)

    def permutation(self, n: int) -> Any:
        """Take every order of 0..n-1."""
        orders = list(permutations(range(n)))
        return np.array(orders[self._walk.take([Decimal(1) / len(orders)] * len(orders))], np.int64)

    def binomial(self, n: int, p: Any, size: Any = None) -> Any:
        """Take every number of n coins."""
        chance = p(DIGITS) if callable(p) else number(exact("p", p))
        masses = [math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)]
        if size is None:
            return self._walk.take(masses)
        return np.array([self._walk.take(masses) for _ in range(size)], dtype=np.int64)

    def geometric(self, scale: Number, size: Any = None) -> Any:
        """Take every integer from 0 to the window."""
        r = number(-1 / exact("scale", scale)).exp()
        masses = [(1 - r) * r**k for k in range(self._window + 1)]
        if size is None:
            return self._walk.take(masses)
        return np.array([self._walk.take(masses) for _ in range(size)], dtype=np.int64)

    def integers_below(self, n: int, size: Any = None) -> Any:
        """Take every integer below n."""
        masses = [Decimal(1) / n] * n
        if size is None:
            return self._walk.take(masses)
        return np.array([self._walk.take(masses) for _ in range(size)], dtype=np.int64)

    def randomized_response(self, values: Any, k: int, epsilon: Number) -> Any:
        """Let each value report every category."""
        keep = number(exact("epsilon", epsilon)).exp()
        true = np.clip(np.asarray(values), 0, k - 1)
        weights = [[keep if j == value else Decimal(1) for j in range(k)] for value in true]
        taken = [self._walk.take([w / (keep + k - 1) for w in row]) for row in weights]
        return np.array(taken, dtype=np.int64)

    def exponential_mechanism(
        self, scores: Any, epsilon: Number, sensitivity: Number = 1, *, monotone: bool = False
    ) -> int:
        """Choose every candidate, with the exponential mechanism's probabilities."""
        given = np.asarray(scores).tolist()
        law = laws.exponential_mechanism_law(given, epsilon, sensitivity, monotone=monotone)
        return self._walk.take(law)

    def permute_and_flip(
        self, scores: Any, epsilon: Number, sensitivity: Number = 1, *, monotone: bool = False
    ) -> int:
        """Choose every candidate, with permute-and-flip's probabilities."""
        given = np.asarray(scores).tolist()
        law = laws.permute_and_flip_law(given, epsilon, sensitivity, monotone=monotone)
        return self._walk.take(law)


def law_of(
    ask: Callable[[Noise], Any], *, window: int = 0
) -> tuple[dict[Hashable, Decimal], Decimal]:
    """Give the exact law of what `ask` releases, and the mass lost beyond the window."""
    law: dict[Hashable, Decimal] = {}
    walk, runs = Walk(), 0
    with localcontext() as context:
        context.prec = DIGITS
        noise = EnumeratedNoise(walk, window)
        while True:
            released = key(ask(noise))
            law[released] = law.get(released, Decimal(0)) + walk.weight
            runs += 1
            if runs > MANY:
                raise RuntimeError("more outcomes than an enumeration should have")
            if not walk.advance():
                return law, 1 - sum(law.values(), Decimal(0))


def key(released: Any) -> Hashable:
    """Name an outcome: an answer by its released fields."""
    content = released.record() if isinstance(released, Answer) else released
    return json.dumps(as_json(content), sort_keys=True)


def number(value: Fraction) -> Decimal:
    """Divide in the current precision."""
    return Decimal(value.numerator) / value.denominator


@lru_cache(maxsize=16)
def laplace_masses(scale: Fraction, window: int) -> tuple[Decimal, ...]:
    """Give (1 - r) / (1 + r) r**abs(k) for k in the window."""
    with localcontext() as context:
        context.prec = DIGITS
        r = number(-1 / scale).exp()
        return tuple((1 - r) / (1 + r) * r ** abs(k) for k in range(-window, window + 1))


@lru_cache(maxsize=16)
def gaussian_masses(variance: Fraction, window: int) -> tuple[Decimal, ...]:
    """Give exp(-k**2 / (2 v)) over its sum, for k in the window (which holds all that matters)."""
    with localcontext() as context:
        context.prec = DIGITS
        edge = int(16 * float(variance) ** 0.5) + 4
        weights = [number(-k * k / (2 * variance)).exp() for k in range(edge + 1)]
        total = 2 * sum(weights) - weights[0]
        inside = [*weights[: window + 1], *[Decimal(0)] * (window - edge)]
        return tuple(inside[abs(k)] / total for k in range(-window, window + 1))
