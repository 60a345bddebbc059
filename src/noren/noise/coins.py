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
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from noren.noise.inversion import BLOCK
from noren.noise.reals import (
    FULL,
    WORD,
    Computable,
    Rational,
    Real,
    decimal,
    falls_below,
    precision,
)
from noren.noise.sources import BitSource, Words, one_word

Coins: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]

FILTER = 2.0**-45


def exponential(rate: Fraction) -> Real:
    """Give exp(-rate) as a number known to any precision."""
    if rate == 0:
        return Rational(Fraction(1))

    def at(digits: int) -> Decimal:
        with precision(digits + 8 + len(str(int(rate)))):
            return (-decimal(rate)).exp()

    return Computable(at)


def toss(number: Real, count: int, source: BitSource) -> Coins:
    """Toss coins that all come up with the same probability."""
    low, high = number.edges(WORD)
    if number.ends(WORD) and low in (0, 1 << WORD):
        return np.full(count, low > 0)
    coins = np.empty(count, np.bool_)
    for start in range(0, count, BLOCK):
        part = coins[start : start + BLOCK]
        words = source.words(part.size)
        np.less(words, np.uint64(low), out=part)
        for i in undecided(words, low, high):
            part[i] = falls_below(number, int(words[i]), source)
    return coins


def undecided(words: Words, low: int, high: int) -> npt.NDArray[np.intp]:
    """Find the words that one word does not tell from the probability."""
    if low == high:
        return np.flatnonzero(words == np.uint64(low))
    return np.flatnonzero((words >= np.uint64(low)) & (words <= np.uint64(high)))


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


def toss_packed(number: Real, count: int, source: BitSource) -> Words:
    """Toss 64 coins in each word, comparing 64 uniforms with p digit by digit.

    Where p has the digit 1 and U the digit 0, U < p; the other way round U > p; equal digits
    leave it open. Each digit halves the open coins, so about nine words decide 64 of them.
    """
    packed = np.zeros(count, np.uint64)
    for start in range(0, count, BLOCK):
        toss_block(number, packed[start : start + BLOCK], source)
    return packed


def toss_block(number: Real, packed: Words, source: BitSource) -> None:
    """Toss the coins of one block in place."""
    low, high = number.edges(WORD)
    ends = number.ends(WORD)
    if ends and low == 1 << WORD:
        packed[:] = FULL
        return
    sure = WORD - (low ^ high).bit_length()  # leading digits of p that are certain
    where, lanes = np.arange(packed.size), np.full(packed.size, FULL, np.uint64)
    for digit in range(sure):
        if ends and not low << digit & FULL:
            return  # p has no digit left: what is open lies above
        drawn = source.words(where.size)
        if low >> (WORD - 1 - digit) & 1:
            packed[where] |= lanes & ~drawn
            lanes &= drawn
        else:
            lanes &= ~drawn
        still = np.flatnonzero(lanes)
        if still.size < where.size:
            where, lanes = where[still], lanes[still]
    known = low >> (WORD - sure) << (WORD - sure)
    for i, open_ in zip(where, lanes.tolist(), strict=True):
        packed[i] |= settle_lanes(number, open_, known, sure, source)


def settle_lanes(number: Real, open_: int, known: int, sure: int, source: BitSource) -> np.uint64:
    """Decide one by one the coins whose uniforms agree with p in all its certain digits."""
    settled = 0
    for lane in range(WORD):
        if open_ >> lane & 1:
            word = known | (one_word(source) >> sure if sure < WORD else 0)
            settled |= falls_below(number, word, source) << lane
    return np.uint64(settled)
