"""Numbers known to any precision, and the comparison of a lazy uniform with one.

A uniform U in [0, 1) is drawn 64 bits at a time. After some words, U lies in
[w, w + 1) / 2**bits. Whether U < p is decided as soon as w differs from floor(2**bits p); only
equality asks for another word. The word in hand is kept, never redrawn (that would bias), so the
event U < p has probability p exactly, whatever p is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Protocol

from noren.noise.sources import BitSource, one_word

WORD = 64
FULL = (1 << WORD) - 1
DIGITS = 60  # serve two words; each further word takes 20 more
CLOSE = Decimal("1e-10")  # a dropped fraction this near to 0 or 1 asks for more digits
SLACK = 6  # a number asked for with d digits may be wrong by 10**(SLACK - d)


class Real(Protocol):
    """A number of [0, 1] that is known to any precision."""

    def at(self, digits: int) -> Decimal:
        """Give the number, wrong by less than 10**(SLACK - digits)."""

    def edges(self, bits: int) -> tuple[int, int]:
        """Give two whole numbers, nearly always equal, that hold floor(2**bits p) between them."""

    def ends(self, bits: int) -> bool:
        """Whether all binary digits after these are known to be zero."""


@dataclass(frozen=True, slots=True)
class Rational:
    """A rational number of [0, 1]."""

    value: Fraction

    def at(self, digits: int) -> Decimal:
        """Divide to that many digits."""
        with precision(digits):
            return decimal(self.value)

    def edges(self, bits: int) -> tuple[int, int]:
        """Divide exactly."""
        edge = (self.value.numerator << bits) // self.value.denominator
        return edge, edge

    def ends(self, bits: int) -> bool:
        """Whether the denominator divides 2**bits."""
        return (1 << bits) % self.value.denominator == 0


@dataclass(frozen=True, slots=True)
class Computable:
    """A number given by a function from digits to a decimal.

    It may be a finite binary fraction in disguise: then its edges differ by one at every length,
    and a comparison still ends, as soon as a drawn word is neither all zeros nor all ones.
    """

    compute: Callable[[int], Decimal]

    def at(self, digits: int) -> Decimal:
        """Compute it, in a context of somewhat more digits."""
        with precision(digits + 10):
            return self.compute(digits)

    def edges(self, bits: int) -> tuple[int, int]:
        """Take the whole parts at both ends of what is known."""
        digits = digits_for(bits)
        with precision(digits + 10):
            scaled = self.compute(digits) * (1 << bits)
            error = Decimal(1 << bits).scaleb(SLACK - digits)
            ends = (scaled - error).__floor__(), (scaled + error).__floor__()
        low, high = (min(max(end, 0), (1 << bits) - 1) for end in ends)
        return low, high

    def ends(self, bits: int) -> bool:
        """Say no: nothing is known of all further digits."""
        return False


def precision(digits: int) -> AbstractContextManager[Context]:
    """Compute with that many digits and the widest exponents, whatever context the caller set."""
    return localcontext(
        Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX)
    )


def decimal(number: Fraction) -> Decimal:
    """Divide in the current precision."""
    return Decimal(number.numerator) / number.denominator


def digits_for(bits: int) -> int:
    """Say how many decimal digits serve that many bits."""
    return DIGITS + 20 * max(0, -(-bits // WORD) - 2)


def certain_floors(values_at: Callable[[int], list[Decimal]], bits: int) -> list[int]:
    """Give floor(2**bits v) for positive numbers v below 1, raising the precision until sure.

    A floor of 0 is sure unless the value is near 1, because the numbers are known to be positive.
    No 2**bits v may be a whole number, or no precision would do.
    """
    digits, close = digits_for(bits), CLOSE
    while True:
        with precision(digits):
            scaled = [value * (1 << bits) for value in values_at(digits)]
            floors = [int(value) for value in scaled]
            parts = [value - floor for value, floor in zip(scaled, floors, strict=True)]
            if all(
                (part > close or not floor) and part < 1 - close
                for part, floor in zip(parts, floors, strict=True)
            ):
                return floors
        digits, close = digits + 20, close.scaleb(-20)


def falls_below(number: Real, word: int, source: BitSource) -> bool:
    """Decide U < number, where `word` holds the first 64 bits of U."""
    bits = WORD
    while True:
        low, high = number.edges(bits)
        if word < low:
            return True
        if word > high or number.ends(bits):
            return False
        word = word << WORD | one_word(source)
        bits += WORD
