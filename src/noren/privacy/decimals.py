"""Decimal arithmetic that errs on the safe side.

A charge is computed with 60 digits, more where the formula cancels, moved by 1e-45 of itself in
the safe direction and rounded that way to 40 digits: far wider than the error of the arithmetic
(below 1e-50), far narrower than the unit of a budget. What is paid is rounded up, what may be
spent is rounded down.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

DIGITS = 60
KEPT_DIGITS = 40
SLACK = Decimal("1e-45")
TINY = Fraction(1, 10**30)


def precise(smallest: Fraction = Fraction(1)) -> AbstractContextManager[Context]:
    """Open a context whose digits outlast a cancellation down to the cube of `smallest`."""
    lost = max(0, len(str(smallest.denominator)) - len(str(max(1, smallest.numerator))))
    return localcontext(Context(prec=DIGITS + 3 * lost, Emax=MAX_EMAX, Emin=MIN_EMIN))


def decimal(value: Fraction) -> Decimal:
    """Give the nearest decimal of the open context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def rounded_up(value: Decimal) -> Fraction:
    """Give a fraction that is certainly not below what was computed."""
    return _rounded(value, value + abs(value) * SLACK, ROUND_CEILING)


def rounded_down(value: Decimal) -> Fraction:
    """Give a fraction that is certainly not above what was computed."""
    return _rounded(value, value - abs(value) * SLACK, ROUND_FLOOR)


def _rounded(value: Decimal, moved: Decimal, direction: str) -> Fraction:
    """Round a moved value to the kept digits; zero stays zero."""
    if not value:
        return Fraction(0)
    keep = Context(prec=KEPT_DIGITS, rounding=direction, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return Fraction(keep.plus(moved))
