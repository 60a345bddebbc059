"""Draw one- and two-sided geometric variables, at any scale.

Maths
    A geometric variable with ratio r = exp(-1/t) splits as X = V m + R, with V geometric of ratio
    r**m and R, independent, proportional to r**k on 0 <= k < m: the digits of X in base m are
    independent. So a scale whose table would be too long is drawn digit by digit.
    The two-sided law (discrete Laplace) is then a sign times a magnitude, where (negative, 0) is
    drawn again: P(k) is proportional to r**abs(k) for every integer k.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from noren.errors import DrawRefused, ParameterError
from noren.noise.inversion import BLOCK, LARGEST, Integers, Table, table_of
from noren.noise.sources import BitSource
from noren.noise.tails import DigitLaw, GeometricLaw, LaplaceLaw, TailLaw

LONGEST_TABLE = 1 << 16
BASE = 1024
LARGEST_SCALE = 1 << 52


def small_enough(name: str, scale: Fraction) -> Fraction:
    """Refuse a scale whose draws would not fit 64-bit integers."""
    if scale > LARGEST_SCALE:
        raise ParameterError(
            name, float(scale), "at most 2**52 grid steps", "Choose a coarser public grid."
        )
    return scale


@lru_cache(maxsize=64)
def digit_laws(scale: Fraction) -> tuple[TailLaw, ...]:
    """Split a geometric law into digits, lowest first; the last has the open tail."""
    laws: list[TailLaw] = []
    while GeometricLaw(scale).reach > LONGEST_TABLE:
        laws.append(DigitLaw(scale, BASE))
        scale /= BASE
    return (*laws, GeometricLaw(scale))


def draw_geometric(scale: Fraction, count: int, source: BitSource) -> Integers:
    """Draw from P(k) = (1 - r) r**k, k >= 0."""
    *digits, top = digit_laws(scale)
    drawn = table_of(top).draw(source, count)
    for law in reversed(digits):
        if count and int(drawn.max()) > LARGEST // BASE:
            raise DrawRefused("A draw left the range of 64-bit integers. Choose a coarser grid.")
        drawn *= BASE
        drawn += table_of(law).draw(source, count)
    return drawn


@lru_cache(maxsize=64)
def laplace_table(scale: Fraction) -> Table | None:
    """Give the table of a scale, unless it would be too long."""
    law = LaplaceLaw(scale)
    return table_of(law) if 2 * law.reach <= LONGEST_TABLE else None


def draw_laplace(scale: Fraction, count: int, source: BitSource) -> Integers:
    """Draw from P(k) proportional to r**abs(k)."""
    table = laplace_table(scale)
    if table is not None:
        return table.draw(source, count)
    drawn = np.empty(count, np.int64)
    for start in range(0, count, BLOCK):
        part = drawn[start : start + BLOCK]
        part[:] = draw_signed(scale, part.size, source)
        open_ = np.flatnonzero(part == REJECTED)
        while open_.size:
            part[open_] = draw_signed(scale, open_.size, source)
            open_ = open_[part[open_] == REJECTED]
    return drawn


REJECTED = np.iinfo(np.int64).min


def draw_signed(scale: Fraction, count: int, source: BitSource) -> Integers:
    """Draw sign times magnitude; a negative zero becomes REJECTED."""
    magnitude = draw_geometric(scale, count, source)
    negative = fair_bits(count, source)
    drawn = np.where(negative, -magnitude, magnitude)
    drawn[negative & (magnitude == 0)] = REJECTED
    return drawn


def fair_bits(count: int, source: BitSource) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Give independent fair coins, 64 from each word."""
    words = source.words(-(-count // 64))
    return np.unpackbits(words.view(np.uint8), count=count).view(np.bool_)
