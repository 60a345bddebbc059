"""Private selection: the exponential mechanism and permute-and-flip, exactly.

Maths (c = epsilon / (2 sensitivity), or epsilon / sensitivity where all scores move one way)
    exponential mechanism    P(r) proportional to exp(c s_r)
    permute-and-flip         visit in random order, accept r with p_r = exp(c (s_r - max s))

    The first: weights in floating point, summed in blocks, one word; where the word lies within
    2**-40 of the total of a boundary, the choice is made again on the same word with exact
    weights. (Weights are wrong by at most some 60 units of 2**-53 of the total, block sums of
    1024 by 2**-43 each level.)
    The second: flip all coins, give each success a 64-bit key, and let the smallest win: given
    distinct keys their order is uniform, and the first success in a uniform order is the smallest
    among successes. Keys tied for smallest are drawn again.

Privacy
    Both are epsilon-DP when no score changes by more than the sensitivity. Scores must be finite
    for every dataset: the error for one that is not would itself depend on the data.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from noren.errors import ParameterError
from noren.noise.choice import choose_real
from noren.noise.coins import Floats, exponential, toss_each, unit_floats
from noren.noise.inversion import BLOCK
from noren.noise.reals import Real
from noren.noise.sources import BitSource
from noren.privacy.numbers import Number, positive, read_epsilon

MARGIN = 2.0**-40
GROUP = 1024
LARGEST_RATE = Fraction(1 << 1000)


def selection_rate(epsilon: Number, sensitivity: Number, monotone: bool) -> Fraction:
    """Give c, by which scores are multiplied."""
    bound = positive("sensitivity", sensitivity, "It follows from declared public bounds.")
    rate = read_epsilon(epsilon) / (bound if monotone else 2 * bound)
    if rate > LARGEST_RATE:
        raise ParameterError(
            "epsilon / sensitivity", "astronomical", "at most 2**1000", "Nothing private is left."
        )
    return rate


def read_scores(scores: npt.ArrayLike) -> npt.NDArray[Any]:
    """Take a non-empty list of finite scores, whole numbers or floats."""
    given = np.asarray(scores)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iuf":
        raise ParameterError(
            "scores",
            f"an array of shape {given.shape} and type {given.dtype}",
            "one non-empty list of numbers",
            "Use an array of int64 or float64.",
        )
    if given.dtype.kind == "f" and not np.all(np.isfinite(given)):
        raise ParameterError(
            "scores", "not finite everywhere", "finite for every dataset", "Clamp them first."
        )
    return given.astype(np.float64) if given.dtype.kind == "f" else given


def scaled_gaps(scores: npt.NDArray[Any], rate: Fraction) -> Floats:
    """Give rate * (max - s) for each score, within a few roundings; infinite if it overflows."""
    best = scores.max()
    if scores.dtype.kind == "f":  # halves, because max - s itself could overflow
        halves: Floats = best * 0.5 - scores * 0.5
    else:  # modulo 2**64 the difference is exact, whatever the signs
        halves = (best.astype(np.uint64) - scores.astype(np.uint64)).astype(np.float64) * 0.5
    with np.errstate(over="ignore", under="ignore"):
        halves *= float(2 * rate)
    return halves


def exact_gap(scores: npt.NDArray[Any], i: int) -> Fraction:
    """Give max - s for one score, exactly."""
    return Fraction(scores.max().item()) - Fraction(scores[i].item())


def exponential_mechanism(scores: npt.NDArray[Any], rate: Fraction, source: BitSource) -> int:
    """Choose with probability proportional to exp(rate * score)."""
    weights = np.exp(-scaled_gaps(scores, rate))
    word = source.words(1)
    found = nearly_chosen(weights, float(unit_floats(word)[0]))
    if found is not None:
        return found
    return choose_real(lambda digits: exact_weights(scores, rate, digits), source, int(word[0]))


def nearly_chosen(weights: Floats, uniform: float) -> int | None:
    """Find the weight that holds the point, level by level; None if a boundary is too near."""
    levels = [weights]
    while levels[-1].size > GROUP:
        levels.append(np.add.reduceat(levels[-1], np.arange(0, levels[-1].size, GROUP)))
    total = float(np.sum(levels[-1]))
    point, base, margin, group = uniform * total, 0.0, MARGIN * total, 0
    for level in reversed(levels):
        first = group * GROUP if level is not levels[-1] else 0
        sums = base + np.cumsum(level[first : first + GROUP])
        found = int(np.searchsorted(sums, point, side="right"))
        before = float(sums[found - 1]) if found else base
        if found == sums.size or sums[found] - point <= margin:
            return None
        if point - before <= margin and (found or base):
            return None
        group, base = first + found, before
    return group


def exact_weights(scores: npt.NDArray[Any], rate: Fraction, digits: int) -> list[Decimal]:
    """Give exp(-rate * gap) for each score; equal scores are computed once."""
    values, places = np.unique(scores, return_inverse=True)
    best = Fraction(values[-1].item())
    powers = [
        exponential(rate * (best - Fraction(value.item()))).at(digits + 10) for value in values
    ]
    return [powers[place] for place in places]


def permute_and_flip(scores: npt.NDArray[Any], rate: Fraction, source: BitSource) -> int:
    """Flip a coin of probability exp(-rate * gap) for each; a uniform one of the successes wins."""
    gaps = scaled_gaps(scores, rate)
    successes = []
    for start in range(0, gaps.size, BLOCK):
        part = gaps[start : start + BLOCK]

        def exact(i: int, start: int = start) -> Real:
            return exponential(rate * exact_gap(scores, start + i))

        coins = toss_each(np.exp(-part), exact, source.words(part.size), source)
        successes.append(start + np.flatnonzero(coins))
    return smallest_key(np.concatenate(successes), source)


def smallest_key(candidates: npt.NDArray[np.intp], source: BitSource) -> int:
    """Let the smallest 64-bit key win, keys tied for it being drawn again."""
    while candidates.size > 1:
        keys = source.words(candidates.size)
        candidates = candidates[keys == keys.min()]
    return int(candidates[0])
