"""Whole numbers for budgets: what is paid is rounded up, what may be spent is rounded down.

epsilon and rho are counted in units of 1e-12, delta in units of 1e-18; both fit 64 bits. A sum
of floats with a tolerance overspends; a sum of whole numbers cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from noren.errors import ParameterError
from noren.privacy.numbers import shown

EPSILON_UNIT = Fraction(1, 10**12)
RHO_UNIT = Fraction(1, 10**12)
DELTA_UNIT = Fraction(1, 10**18)
LARGEST = 2**63 - 1


def to_units_up(value: Fraction, unit: Fraction) -> int:
    """Count the units of a charge: never fewer than it is worth.

    Examples
    --------
    >>> to_units_up(Fraction(1, 3), EPSILON_UNIT)
    333333333334
    """
    return _fitting(-((-value) // unit), value, unit)


def to_units_down(value: Fraction, unit: Fraction) -> int:
    """Count the units of a budget: never more than it is worth."""
    return _fitting(value // unit, value, unit)


def from_units(count: int, unit: Fraction) -> Fraction:
    """Give the exact amount of a number of units."""
    return count * unit


def _fitting(count: int, value: Fraction, unit: Fraction) -> int:
    """Refuse what a signed 64-bit field cannot hold."""
    if not 0 <= count <= LARGEST:
        raise ParameterError(
            "amount",
            shown(value),
            f"between 0 and {shown(LARGEST * unit)}",
            "A budget as large as this protects nobody.",
        )
    return count


@dataclass(frozen=True, slots=True)
class Amounts:
    """Two whole numbers that a filter adds up: its main amount (epsilon or rho) and delta."""

    main: int
    delta: int = 0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.main + other.main, self.delta + other.delta)

    def __sub__(self, other: Amounts) -> Amounts:
        return Amounts(self.main - other.main, self.delta - other.delta)

    def within(self, total: Amounts) -> bool:
        """Say whether neither amount passes the total."""
        return self.main <= total.main and self.delta <= total.delta
