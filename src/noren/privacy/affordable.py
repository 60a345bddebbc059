"""The largest price that an amount of rho still pays, in digits that people can type."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from noren.privacy.amounts import EPSILON_UNIT, RHO_UNIT, from_units, to_units_up
from noren.privacy.charges import pure_to_zcdp_charge


def largest_epsilon(rho_units: int) -> Fraction:
    """Find the largest whole number of epsilon units whose charge fits."""
    return readable(_last(lambda n: _pure_units(n) <= rho_units), EPSILON_UNIT)


def readable(units: int, unit: Fraction) -> Fraction:
    """Round down to ten digits, so that the amount that people read can itself be asked for."""
    dropped = 10 ** max(0, len(str(units)) - 10)
    return from_units(units // dropped * dropped, unit)


def _pure_units(epsilon_units: int) -> int:
    """Give the rho units that an epsilon costs."""
    epsilon = from_units(epsilon_units, EPSILON_UNIT)
    return to_units_up(pure_to_zcdp_charge(epsilon), RHO_UNIT)


def _last(holds: Callable[[int], bool]) -> int:
    """Find the last whole number, at least 0, at which a condition that ends once still holds."""
    high = 1
    while holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
