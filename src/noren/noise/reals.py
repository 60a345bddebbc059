"""Numbers known to any precision, and the comparison of a lazy uniform with one.

A uniform U in [0, 1) is drawn 64 bits at a time. After some words, U lies in
[w, w + 1) / 2**bits. Whether U < p is decided as soon as w differs from floor(2**bits p); only
equality asks for another word. The word in hand is kept, never redrawn (that would bias), so the
event U < p has probability p exactly, whatever p is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Protocol

from noren.noise.sources import BitSource, one_word

WORD = 64
FULL = (1 << WORD) - 1
DIGITS = 60  # serve two words; each further word takes 20 more
CLOSE = Decimal("1e-10")  # a dropped fraction this near to 0 or 1 asks for more digits


class Real(Protocol):
    """A number of [0, 1] that is known to any precision."""

    def floor(self, bits: int) -> int:
        """Give the whole part of 2**bits times the number."""

    def ends(self, bits: int) -> bool:
        """Whether all binary digits after these are known to be zero."""


@dataclass(frozen=True, slots=True)
class Rational:
    """A rational number of [0, 1]."""

    value: Fraction

    def floor(self, bits: int) -> int:
        """Divide exactly."""
        return (self.value.numerator << bits) // self.value.denominator

    def ends(self, bits: int) -> bool:
        """Whether the denominator divides 2**bits."""
        return (1 << bits) % self.value.denominator == 0


@dataclass(frozen=True, slots=True)
class Computable:
    """An irrational number of (0, 1), as a function from digits to a decimal."""

    at: Callable[[int], Decimal]

    def floor(self, bits: int) -> int:
        """Compute with as many digits as the floor needs."""
        return certain_floors(lambda digits: [self.at(digits)], bits)[0]

    def ends(self, bits: int) -> bool:
        """Say no: the digits of an irrational number do not end."""
        return False


def digits_for(bits: int) -> int:
    """Say how many decimal digits serve that many bits."""
    return DIGITS + 20 * max(0, -(-bits // WORD) - 2)


def certain_floors(values_at: Callable[[int], list[Decimal]], bits: int) -> list[int]:
    """Give floor(2**bits v) for positive numbers v below 1, raising the precision until sure.

    A floor of 0 is sure unless the value is near 1, because the numbers are known to be positive.
    """
    digits, close = digits_for(bits), CLOSE
    while True:
        with localcontext() as context:
            context.prec = digits
            scaled = [value * (1 << bits) for value in values_at(digits)]
            floors = [int(value) for value in scaled]
            rest = (value - floor for value, floor in zip(scaled, floors, strict=True))
            sure = (
                (close < part or floor == 0) and part < 1 - close
                for part, floor in zip(rest, floors, strict=True)
            )
            if all(sure):
                return floors
        digits, close = digits + 20, close.scaleb(-20)


def falls_below(number: Real, word: int, source: BitSource) -> bool:
    """Decide U < number, where `word` holds the first 64 bits of U."""
    bits = WORD
    while (edge := number.floor(bits)) == word and not number.ends(bits):
        word = word << WORD | one_word(source)
        bits += WORD
    return word < edge
