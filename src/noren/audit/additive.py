"""What a mechanism that adds integer noise really costs, found by running it with chosen noise.

Maths
    `ScriptedNoise` returns integers of our choice and notes which law was asked for. If for every
    choice z the released integers are v + z, the mechanism is additive, and between two datasets
    with v and v' it costs exactly sum abs(v_j - v'_j) / t_j with discrete Laplace noise of scales
    t_j, and rho = sum (v_j - v'_j)**2 / (2 variance_j) with discrete Gaussian noise. If not, or if
    the laws differ between the two, an outcome may exist that only one of them reaches: infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noren.audit.enumerated import NoBits
from noren.noise import Noise
from noren.privacy.charges import discrete_laplace_rho_charge
from noren.privacy.numbers import Number, exact
from noren.question import Answer

SCRIPTS = ((0,), (1,), (0, 1), (-7, 3), (10**6, -1))  # each repeated as far as a draw needs


@dataclass(frozen=True, slots=True)
class Cost:
    """The exact price between two datasets; infinite where it has no bound."""

    epsilon: Fraction | float
    rho: Fraction | float


@dataclass(frozen=True, slots=True)
class Shift:
    """What an additive mechanism releases before noise, and the law added to each coordinate."""

    bare: tuple[int, ...]
    laws: tuple[tuple[str, Fraction], ...]


class ScriptedNoise(Noise):
    """Noise that is chosen by the auditor. It protects nobody, and says so."""

    __slots__ = ("_script", "asked")

    def __init__(self, script: tuple[int, ...]) -> None:
        super().__init__(NoBits())
        self._script = script
        self.asked: list[tuple[str, Fraction]] = []

    def _give(self, law: str, parameter: Fraction, size: Any) -> Any:
        """Note the law for each coordinate, and return the script."""
        count = 1 if size is None else int(np.prod(size))
        start = len(self.asked)
        self.asked += [(law, parameter)] * count
        given = [self._script[(start + i) % len(self._script)] for i in range(count)]
        return given[0] if size is None else np.array(given, dtype=np.int64).reshape(size)

    def given(self) -> list[int]:
        """List what was returned, in order."""
        return [self._script[i % len(self._script)] for i in range(len(self.asked))]

    def discrete_laplace(self, scale: Number, size: Any = None) -> Any:
        """Return the script."""
        return self._give("Laplace", exact("scale", scale), size)

    def discrete_gaussian(self, variance: Number, size: Any = None) -> Any:
        """Return the script."""
        return self._give("Gaussian", exact("variance", variance), size)


def worst_cost(
    ask: Callable[[Any, Noise], Any], pairs: Iterable[tuple[Any, Any]]
) -> tuple[float, float]:
    """Give the largest epsilon and the largest rho over pairs of (hashable) datasets."""
    seen: dict[Any, Shift | None] = {}
    costs: set[Cost] = set()
    for pair in pairs:
        for data in pair:
            if data not in seen:
                seen[data] = shifted(ask, data)
        costs.add(cost(*(seen[data] for data in pair)))
    return max(float(c.epsilon) for c in costs), max(float(c.rho) for c in costs)


def cost(ours: Shift | None, theirs: Shift | None) -> Cost:
    """Give the exact price between two datasets, from what each releases without noise."""
    if ours is None or theirs is None or ours.laws != theirs.laws:
        return Cost(math.inf, math.inf)
    moves = [abs(a - b) for a, b in zip(ours.bare, theirs.bare, strict=True)]
    return Cost(
        sum((epsilon_of(d, *law) for d, law in zip(moves, ours.laws, strict=True)), Fraction(0)),
        sum((rho_of(d, *law) for d, law in zip(moves, ours.laws, strict=True)), Fraction(0)),
    )


def shifted(ask: Callable[[Any, Noise], Any], data: Any) -> Shift | None:
    """Give the released integers without noise and the laws asked for; None if not additive."""
    found: Shift | None = None
    for script in SCRIPTS:
        noise = ScriptedNoise(script)
        released = whole_numbers(ask(data, noise))
        if released is None or len(released) != len(noise.asked):
            return None
        bare = tuple(y - z for y, z in zip(released, noise.given(), strict=True))
        if found is not None and found != Shift(bare, tuple(noise.asked)):
            return None
        found = Shift(bare, tuple(noise.asked))
    return found


def whole_numbers(released: Any) -> list[int] | None:
    """Flatten what was released; None if any of it is not a whole number."""
    if isinstance(released, Answer):
        released = released.record()
    if isinstance(released, Mapping):  # `secure` speaks of the source of the noise, not of the data
        released = [part for name, part in released.items() if name != "secure"]
    if isinstance(released, (list, tuple)):
        parts = [whole_numbers(part) for part in released]
        return None if None in parts else [number for part in parts for number in part or []]
    given = np.asarray(released)
    return given.ravel().tolist() if given.dtype.kind in "iu" else None


def epsilon_of(change: int, law: str, parameter: Fraction) -> Fraction | float:
    """Give the epsilon of one coordinate; Gaussian noise has none."""
    if not change:
        return Fraction(0)
    return change / parameter if law == "Laplace" else math.inf


def rho_of(change: int, law: str, parameter: Fraction) -> Fraction:
    """Give the rho of one coordinate."""
    if not change:
        return Fraction(0)
    if law == "Gaussian":
        return change * change / (2 * parameter)
    return discrete_laplace_rho_charge(change / parameter, change)
