"""Choose one of finitely many, with probabilities exactly proportional to given weights.

Maths
    Let C_i be the sum of the first i + 1 weights and S their total; the choice is the first i
    with U S < C_i. Whole weights: one uniform integer below S. Real weights, known to any
    precision: U lies in [w, w + 1) / 2**bits after some words, and each C_i within a known error
    of its computed value; while some C_i cannot be told from U S, another word and 20 more digits
    are taken. The words in hand are kept.
    Weights that fall on to nothing without an end may be cut where what is left out is within
    the error: a choice from there is told apart only with more digits, which reach further.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import TypeAlias

from noren.noise.reals import DIGITS, SLACK, WORD, precision
from noren.noise.sources import BitSource, one_word
from noren.noise.uniform import one_below

WeightsAt: TypeAlias = Callable[[int], Sequence[Decimal]]
WindowAt: TypeAlias = Callable[[int], tuple[int, Sequence[Decimal]]]


def choose_integer(weights: Sequence[int], source: BitSource) -> int:
    """Choose with probabilities proportional to whole numbers."""
    sums = list(accumulate(weights))
    return bisect_right(sums, one_below(sums[-1], source))


def choose_real(weights_at: WeightsAt, source: BitSource, word: int | None = None) -> int:
    """Choose with probabilities proportional to weights known to any precision."""
    return choose_in_window(lambda digits: (0, weights_at(digits)), source, word)


def choose_in_window(window_at: WindowAt, source: BitSource, word: int | None = None) -> int:
    """Choose where the weights are given from some first value on, which depends on the digits."""
    word = one_word(source) if word is None else word
    bits, digits = WORD, DIGITS
    while True:
        with precision(digits + 10):
            first, weights = window_at(digits)
        found = told_apart(weights, digits, word, bits)
        if found is not None:
            return first + found
        word, bits, digits = word << WORD | one_word(source), bits + WORD, digits + 20


def told_apart(weights: Sequence[Decimal], digits: int, word: int, bits: int) -> int | None:
    """Give the first i with U S < C_i, or None while a sum cannot be told from U S."""
    with precision(digits + 10):
        sums = list(accumulate(weights))
        error = sums[-1].scaleb(SLACK - digits)
        low = sums[-1] * word / (1 << bits)
        high = sums[-1] * (word + 1) / (1 << bits)
        surely_below = bisect_right(sums, low - error)
        maybe_below = bisect_right(sums, high + error)
    return surely_below if surely_below == maybe_below else None
