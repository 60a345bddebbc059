"""The two-sided accountant: what a fixed plan of questions costs together.

Maths
    delta(epsilon) = sum over losses l of max(0, 1 - e^(epsilon - l)) p(l), plus p(infinity), where
    p is the law under P of the sum of the questions' privacy losses: their convolution.

    Losses on a common lattice are kept as they are. Others go onto a grid of step h twice, once so
    that every delta can only grow and once so that it can only shrink (`noren.privacy.grids`): the
    truth lies in the bracket.

    Short laws are convolved directly: every term is positive, so tiny deltas are accurate. Long
    ones go through a circular FFT on a window outside which Chernoff's bound leaves at most TAIL;
    that, and the rounding noise of the FFT, is added to the upper and taken from the lower end,
    and deltas below 1e-12 are refused.

A pair that is not symmetric is composed in both directions, (P, Q) and (Q, P); the larger counts.
The result is for questions that are all fixed before the first answer: it is not a filter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import numpy as np

from noren.errors import ParameterError
from noren.privacy.grids import TAIL, optimistic, pessimistic
from noren.privacy.lattice import Atoms, Floats, LatticeLoss
from noren.privacy.losses import Loss

DIRECT_POINTS = 2**13
WINDOW_POINTS = 2**20
COARSE_POINTS = 2**11
SMALLEST_DELTA = 1e-12

Parts: TypeAlias = Sequence[tuple[Loss, int]]
Grid: TypeAlias = tuple[Atoms, int]


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two sure bounds on one number; `high` is the one to rely on."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How far apart they are."""
        return self.high - self.low


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One rounding of a composed loss; `slack` is what the computation itself may be off by."""

    losses: Floats
    masses: Floats
    infinite: float
    slack: float
    smallest_delta: float

    def delta(self, epsilon: float) -> float:
        """Give delta at an epsilon."""
        above = self.losses > epsilon
        part = -np.expm1(epsilon - self.losses[above]) @ self.masses[above]
        return min(1.0, max(0.0, float(part) + self.infinite + self.slack))

    def epsilon(self, delta: float) -> float:
        """Solve A - e^epsilon B = delta between the two losses that enclose the solution."""
        left = delta - self.infinite - self.slack
        if left <= 0:
            return math.inf
        above = self.losses > 0
        losses, p = self.losses[above][::-1], self.masses[above][::-1]
        upper, below = np.cumsum(p), np.cumsum(p * np.exp(-losses))
        ends = np.append(losses[1:], 0.0)
        crossed = upper - np.exp(ends) * below > left
        if not crossed.any():
            return 0.0
        first = int(np.argmax(crossed))
        return max(0.0, math.log((upper[first] - left) / below[first]))


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """The composed loss, in each direction from below and from above."""

    sides: tuple[tuple[Side, Side], ...]

    def delta(self, epsilon: float) -> Bracket:
        """Bracket delta at an epsilon."""
        pairs = [(low.delta(epsilon), high.delta(epsilon)) for low, high in self.sides]
        found = Bracket(max(low for low, _ in pairs), max(high for _, high in pairs))
        self._require_resolved(found.high)
        return found

    def epsilon(self, delta: float) -> Bracket:
        """Bracket epsilon at a delta."""
        self._require_resolved(delta)
        pairs = [(low.epsilon(delta), high.epsilon(delta)) for low, high in self.sides]
        return Bracket(max(low for low, _ in pairs), max(high for _, high in pairs))

    def _require_resolved(self, delta: float) -> None:
        """Refuse deltas that drown in the noise of an FFT."""
        smallest = max(high.smallest_delta for _, high in self.sides)
        if delta < smallest:
            raise ParameterError(
                "delta",
                delta,
                f"at least {smallest:.3g} for a composition that needs an FFT",
                "Use a closed form (optimal_composition_epsilon, zcdp_epsilon) for smaller ones.",
            )


def compose(
    parts: Parts, reverse: Parts | None = None, *, step: float | None = None
) -> Composition:
    """Compose losses, each with the number of its copies; `reverse` holds the other direction."""
    directions = [parts] if reverse is None or list(reverse) == list(parts) else [parts, reverse]
    return Composition(tuple(_compose_one(merged(one), step) for one in directions))


def merged(parts: Iterable[tuple[Loss, int]]) -> list[tuple[Loss, int]]:
    """Bring equal losses together."""
    counts: Counter[Loss] = Counter()
    for loss, count in parts:
        counts[loss] += count
    return list(counts.items())


def _compose_one(parts: Parts, step: float | None) -> tuple[Side, Side]:
    """Compose one direction: on the common lattice where there is one, else on a grid, twice."""
    exact = _on_lattice(parts)
    if exact is not None:
        both = _sum(exact)
        return _side(both, -1), _side(both, +1)
    step = _fitting_step(parts) if step is None else step
    below = _sum([(optimistic(loss, step), n) for loss, n in parts])
    above = _sum([(pessimistic(loss, step), n) for loss, n in parts])
    return _side(below, -1), _side(above, +1)


def _fitting_step(parts: Parts) -> float:
    """Choose the step of a grid: WINDOW_POINTS in the window, atoms on its points if they can."""
    widest = max(high - low for low, high in (loss.span(TAIL) for loss, _ in parts))
    low, high = _window([(pessimistic(loss, widest / COARSE_POINTS), n) for loss, n in parts])
    step = (high - low) / WINDOW_POINTS
    anchors = [loss.anchor for loss, _ in parts if loss.anchor is not None]
    anchor = float(reduce(_common_step, anchors)) if anchors else 0.0
    return anchor / math.ceil(anchor / step) if anchor > step else step


def _on_lattice(parts: Parts) -> list[Grid] | None:
    """Place lattice losses on their common step; None if there is none, or it is too fine."""
    if not all(isinstance(loss, LatticeLoss) for loss, _ in parts):
        return None
    atoms = [(loss.atoms, n) for loss, n in parts if isinstance(loss, LatticeLoss)]
    step = reduce(_common_step, (one.step for one, _ in atoms))
    low, high = _window(atoms)
    if (high - low) / float(step) > 4 * WINDOW_POINTS:
        return None
    return [(_spread(one, step), n) for one, n in atoms]


def _common_step(first: Fraction, second: Fraction) -> Fraction:
    """Give the largest number of which both are whole multiples."""
    top = math.gcd(first.numerator * second.denominator, second.numerator * first.denominator)
    return Fraction(top, first.denominator * second.denominator)


def _spread(atoms: Atoms, step: Fraction) -> Atoms:
    """Rewrite atoms on a finer step."""
    times = int(atoms.step / step)
    masses = np.zeros((len(atoms.masses) - 1) * times + 1)
    masses[::times] = atoms.masses
    return Atoms(step, atoms.first * times, masses, atoms.infinite)


def _sum(grids: Sequence[Grid]) -> tuple[Atoms, float, float]:
    """Give the law of the summed loss, its slack, and the smallest delta it resolves."""
    infinite = -math.expm1(sum(n * math.log1p(-one.infinite) for one, n in grids))
    points = sum(n * (len(one.masses) - 1) for one, n in grids) + 1
    step = grids[0][0].step
    if points <= DIRECT_POINTS:
        masses = reduce(np.convolve, (_power(one.masses, n) for one, n in grids))
        first = sum(n * one.first for one, n in grids)
        return Atoms(step, first, masses, infinite), 0.0, 0.0
    ends = _window(grids)
    low, high = math.floor(ends[0] / float(step)), math.ceil(ends[1] / float(step))
    masses = _circular(grids, low, high - low + 1)
    noise = 2.0**-52 * (4 * sum(n for _, n in grids) + 16 * math.log2(len(masses)))
    slack = 2 * TAIL + noise
    return Atoms(step, low, masses, infinite), slack, max(SMALLEST_DELTA, 4 * slack)


def _side(composed: tuple[Atoms, float, float], sign: int) -> Side:
    """Turn a summed law into one side of a bracket."""
    atoms, slack, smallest = composed
    return Side(atoms.losses, atoms.masses, atoms.infinite, sign * slack, smallest)


def _power(masses: Floats, count: int) -> Floats:
    """Convolve a law with itself, by repeated squaring."""
    result, square = np.ones(1), masses
    while count:
        if count % 2:
            result = np.convolve(result, square)
        count //= 2
        square = np.convolve(square, square) if count else square
    return result


def _circular(grids: Sequence[Grid], low: int, points: int) -> Floats:
    """Convolve on a circle of at least `points` places, which begins at index `low`."""
    from scipy.fft import irfft, next_fast_len, rfft

    size = next_fast_len(points, real=True)
    spectrum = np.ones(size // 2 + 1, dtype=complex)
    for one, n in grids:
        places = (one.first + np.arange(len(one.masses))) % size
        spectrum *= rfft(np.bincount(places, one.masses, size)) ** n
    circle = irfft(spectrum, size)
    return np.asarray(np.maximum(np.roll(circle, -(low % size)), 0.0))


def _window(grids: Sequence[Grid]) -> tuple[float, float]:
    """Give losses outside which Chernoff's bound leaves the sum at most TAIL on either side."""
    low = -_reach([(*_coarse(-one.losses[::-1], one.masses[::-1]), n) for one, n in grids])
    return low, _reach([(*_coarse(one.losses, one.masses), n) for one, n in grids])


def _coarse(losses: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Gather a long law in blocks, each at its largest loss: its bound can only grow."""
    held = masses > 0
    losses, masses = losses[held], masses[held]
    block = -(-len(losses) // COARSE_POINTS)
    starts = np.arange(0, len(losses), block)
    ends = np.minimum(starts + block, len(losses)) - 1
    return losses[ends], np.add.reduceat(masses, starts)


def _reach(laws: Sequence[tuple[Floats, Floats, int]]) -> float:
    """Minimize (ln E e^(t sum) - ln TAIL) / t over a range of t: every t gives a valid bound."""

    def bound(t: float) -> float:
        exponent = -math.log(TAIL)
        for losses, masses, n in laws:
            top = t * losses[-1]
            exponent += n * (top + math.log(np.exp(t * losses - top) @ masses))
        return exponent / t

    farthest = sum(n * float(losses[-1]) for losses, _, n in laws)
    return min(farthest, *(bound(2.0 ** (j / 4)) for j in range(-60, 61)))
