"""How a number given by a person is read.

One rule for scales, variances, probabilities, epsilons, rhos and deltas: an int, a Fraction, a
Decimal or a decimal string is the number it says; a float is its shortest decimal, so that 0.1
means one tenth, once, for the noise and for the charge. (The double nearest to 0.1 itself is
larger: ten charges of it would not fit a budget of 1.)
"""

from __future__ import annotations

import operator
import re
from decimal import Decimal
from fractions import Fraction
from typing import SupportsFloat, SupportsIndex, TypeAlias

from noren.errors import ParameterError

Number: TypeAlias = int | float | str | Fraction | Decimal

LARGEST = Fraction(10**300)  # floats reach a little further, and forecasts are made of them
LARGEST_WHOLE = 10**100  # floats of what is computed with whole numbers must not overflow
ENDLESS = re.compile(r"[eE][+-]?[\d_]{5}")  # an exponent that would take memory without end


def exact(name: str, value: object) -> Fraction:
    """Read one public number exactly.

    Examples
    --------
    >>> exact("epsilon", 0.1)
    Fraction(1, 10)
    >>> exact("epsilon", "2.5e-3")
    Fraction(1, 400)
    """
    accepted = "a finite number (int, float, Fraction, Decimal or decimal string)"
    if value is None or isinstance(value, bool):
        raise ParameterError(name, value, accepted, "Noren chooses none for you.")
    number = as_fraction(value)
    if number is None:
        advice = "Write one tenth as 0.1, '0.1' or Fraction(1, 10)."
        raise ParameterError(name, value, accepted, advice)
    if abs(number) > LARGEST:
        raise ParameterError(name, value, "at most 1e300 in size", "Choose another unit.")
    return number


def as_fraction(value: object) -> Fraction | None:
    """Give the number that something says, or None where it says none."""
    try:
        if isinstance(value, Fraction):
            return value
        if isinstance(value, int):
            return Fraction(value)
        if isinstance(value, (Decimal, str)):
            return None if ENDLESS.search(str(value)) else Fraction(value)
        if isinstance(value, SupportsIndex):
            return Fraction(operator.index(value))
        if isinstance(value, SupportsFloat):
            return Fraction(repr(float(value)))
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        pass
    return None


def positive(name: str, value: object, advice: str = "Choose a public number above 0.") -> Fraction:
    """Read a number that must be positive."""
    number = exact(name, value)
    if number <= 0:
        raise ParameterError(name, value, "a positive, finite number", advice)
    return number


def not_negative(name: str, value: object) -> Fraction:
    """Read a number that must not be negative."""
    number = exact(name, value)
    if number < 0:
        raise ParameterError(
            name, value, "zero or a positive, finite number", "Amounts of privacy loss only add up."
        )
    return number


def read_epsilon(value: object) -> Fraction:
    """Read an epsilon: positive and finite, never defaulted."""
    return positive("epsilon", value, "Smaller is more private; 0.1 to 1 is usual.")


def read_delta(value: object) -> Fraction:
    """Read a delta: in [0, 1)."""
    number = exact("delta", value)
    if not 0 <= number < 1:
        raise ParameterError(
            "delta", value, "at least 0 and below 1", "Far below one over the number of people."
        )
    return number


def probability(name: str, value: object) -> Fraction:
    """Read a number in [0, 1]."""
    number = exact(name, value)
    if not 0 <= number <= 1:
        raise ParameterError(name, value, "between 0 and 1", "Write five percent as 0.05.")
    return number


def whole(name: str, value: object, minimum: int | None = None) -> int:
    """Read an integer, optionally not below a minimum.

    Examples
    --------
    >>> whole("people", "1e3", 1)
    1000
    >>> whole("people", 10**200)
    Traceback (most recent call last):
    ...
    noren.errors.ParameterError: people is too large, but it must be a whole number, of at most...
    """
    if type(value) is int and (minimum is None or value >= minimum) and abs(value) <= LARGEST_WHOLE:
        return value
    accepted = "a whole number" if minimum is None else f"a whole number, at least {minimum}"
    number = exact(name, value)
    if number.denominator != 1 or (minimum is not None and number < minimum):
        example = max(1, minimum or 0)
        raise ParameterError(name, value, accepted, f"Write it without a fraction, as {example}.")
    if abs(number) > LARGEST_WHOLE:
        raise ParameterError(
            name, "too large", f"{accepted}, of at most 100 digits", "Look for digits too many."
        )
    return int(number)


def shown(value: Fraction | int | float | None) -> str:
    """Write a public amount for people: whole numbers whole, the rest to 10 significant digits."""
    if value is None:
        return "none"
    return str(int(value)) if value == int(value) else f"{float(value):.10g}"


def as_float(value: Fraction | int | None) -> float | None:
    """Give the float nearest to an exact amount (None stays None)."""
    return None if value is None else float(value)
