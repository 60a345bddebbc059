"""Exact coins: events whose probability is exactly p.

Maths
    One word u decides U < p unless u = floor(2**64 p), and then further words do
    (`noren.noise.reals`). For many different p at once, a filter in floating point comes first:
    v = (u >> 11) * 2**-53 lies within 2**-53 of U, and p is computed within a few units of
    2**-53, so abs(v - p) > 2**-45 decides. The rest, about one in 2**44, is decided exactly on
    the same word.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from noren.noise.inversion import BLOCK
from noren.noise.reals import WORD, Computable, Rational, Real, falls_below
from noren.noise.sources import BitSource, Words
from noren.noise.tails import decimal

Coins: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]

FILTER = 2.0**-45


def exponential(rate: Fraction) -> Real:
    """Give exp(-rate) as a number known to any precision."""
    if rate == 0:
        return Rational(Fraction(1))

    def at(digits: int) -> Decimal:
        with localcontext() as context:
            context.prec = digits + 8 + len(str(int(rate)))
            return (-decimal(rate)).exp()

    return Computable(at)


def toss(number: Real, count: int, source: BitSource) -> Coins:
    """Toss coins that all come up with the same probability."""
    edge = number.floor(WORD)
    if number.ends(WORD) and edge in (0, 1 << WORD):
        return np.full(count, edge > 0)
    coins = np.empty(count, np.bool_)
    for start in range(0, count, BLOCK):
        part = coins[start : start + BLOCK]
        words = source.words(part.size)
        np.less(words, np.uint64(edge), out=part)
        for i in np.flatnonzero(words == np.uint64(edge)):
            part[i] = falls_below(number, int(words[i]), source)
    return coins


def toss_each(
    approximate: Floats, exact: Callable[[int], Real], words: Words, source: BitSource
) -> Coins:
    """Toss one coin for each probability, given nearly; `exact` gives the i-th to any precision."""
    uniform = unit_floats(words)
    coins: Coins = uniform < approximate
    for i in np.flatnonzero(np.abs(uniform - approximate) <= FILTER):
        coins[i] = falls_below(exact(int(i)), int(words[i]), source)
    return coins


def unit_floats(words: Words) -> Floats:
    """Give the leading 53 bits of each word as a number in [0, 1)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
