"""Uniform integers, orders and subsets.

Maths
    A word w is redrawn while w > 2**64 - 1 - (2**64 mod n), so that the words kept fall into
    whole groups of n, and w mod n is exactly uniform. (The bound is an inclusive word, because
    for n a power of two the number of words kept, 2**64, does not fit in one.) Larger n takes
    several words. An order sorts independent 64-bit keys, drawn again should two be equal:
    given that all differ, every order is equally likely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from noren.noise.inversion import BLOCK, Integers
from noren.noise.reals import FULL, WORD
from noren.noise.sources import BitSource, Words, one_word


def draw_below(n: int, count: int, source: BitSource) -> npt.NDArray[Any]:
    """Draw integers of 0..n-1: 64-bit ones where n allows, Python's own otherwise."""
    if n > 1 << 63:
        return np.array([long_below(n, source) for _ in range(count)] or [], object)
    drawn = np.empty(count, np.uint64)
    for start in range(0, count, BLOCK):
        part = drawn[start : start + BLOCK]
        part[:] = whole_groups(n, part.size, source)
        multiples = part // np.uint64(n)  # a quotient is several times faster than a remainder
        multiples *= np.uint64(n)
        part -= multiples
    return drawn.view(np.int64)


def whole_groups(n: int, count: int, source: BitSource) -> Words:
    """Draw words, again where they lie beyond the last whole group of n."""
    last = np.uint64(FULL - (1 << WORD) % n)
    words = source.words(count)
    again = np.flatnonzero(words > last)
    if again.size:
        words = words.copy()
    while again.size:
        words[again] = source.words(again.size)
        again = again[words[again] > last]
    return words


def one_below(n: int, source: BitSource) -> int:
    """Draw one integer of 0..n-1."""
    return int(draw_below(n, 1, source)[0])


def long_below(n: int, source: BitSource) -> int:
    """Draw one integer of 0..n-1 from several words."""
    length = -(-(n - 1).bit_length() // WORD)
    last = (1 << WORD * length) - 1 - (1 << WORD * length) % n
    while True:
        drawn = 0
        for _ in range(length):
            drawn = drawn << WORD | one_word(source)
        if drawn <= last:
            return drawn % n


def draw_permutation(n: int, source: BitSource) -> Integers:
    """Order 0..n-1 uniformly at random."""
    while True:
        keys = source.words(n)
        order = np.argsort(keys)
        ranked = keys[order]
        if not np.any(ranked[1:] == ranked[:-1]):
            return order


def draw_subset(n: int, size: int, source: BitSource) -> Integers:
    """Choose `size` of 0..n-1 uniformly at random, in increasing order.

    A small subset is made of the first distinct values of a uniform sequence.
    """
    if size * 16 > n:
        return np.sort(draw_permutation(n, source)[:size])
    chosen = np.empty(0, np.int64)
    while chosen.size < size:
        chosen = np.union1d(chosen, draw_below(n, size - chosen.size, source))
    return chosen
