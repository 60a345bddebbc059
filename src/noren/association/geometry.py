"""The chi-squared test of a table, exactly, and the unit circle that it is.

Maths
    chi2 = N x^2 / (n1 n2 cases controls), x = a * controls - b * cases, n1 = a + b, n2 = N - n1,
    and 0 where nobody or everybody carries the variant. It lies between 0 and N. The decision is 1
    if chi2 > tau. With u = (N - 2 n1)/N and v = 2 x / sqrt(tau N cases controls),
    u^2 + v^2 = 1 + 4 (n1/N)(n2/N)(chi2/tau - 1): a table is significant outside the unit circle.

Accuracy
    A decision that is released is exact. It compares q N x^2 with p n1 n2 cases controls for
    tau = p/q. Doubles decide unless the two sides agree to 1e-13 of their sum; such items, and
    everything where products could leave 63 bits, are done in whole numbers of any length.
    `tau` is the exact value given: a float is that double, "3.84" is 96/25.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from noren.association.statistic import Counts, Flags, Floats, Tables, plain
from noren.errors import ParameterError
from noren.privacy.numbers import exact

NEAR = 1e-13  # at most 8 roundings stand between the two sides, each below 1.2e-16
LARGEST_EXACT_PEOPLE = 2**31  # up to here x fits 63 bits
SMALLEST_TAU = Fraction(1, 10**100)  # below, products of doubles could underflow
USUAL = "Usual are 3.84 (level 0.05) and 29.716785 (level 5e-8)."


def read_tau(tau: object) -> Fraction:
    """Read a threshold of chi-squared as the exact value given.

    Examples
    --------
    >>> read_tau("3.84") == read_tau(3.84)
    False
    """
    number = exact("tau", tau)
    if isinstance(tau, float):  # unlike a price, a threshold is the double itself
        number = Fraction(tau)
    if number <= 0:
        raise ParameterError("tau", tau, "a positive, finite number", USUAL)
    if number < SMALLEST_TAU:
        raise ParameterError("tau", tau, f"at least {float(SMALLEST_TAU):g}", USUAL)
    return number


def chi_squared(tables: Tables) -> Any:
    """Give chi-squared (one degree of freedom) of each table; secret, as the tables are.

    Examples
    --------
    >>> chi_squared(Tables(15, 5, 20, 20))
    10.0
    """
    x, n1, n2 = parts(tables)
    groups = float(tables.cases) * float(tables.controls)
    free = n1 * n2
    squared = x * x * tables.people / (np.where(free > 0, free, 1) * groups)
    return plain(np.where(free > 0, squared, 0.0))


def unit_circle_norm_squared(tables: Tables, tau: object) -> Any:
    """Give ||T||^2 of each table, which is above 1 if and only if the table is significant.

    Examples
    --------
    >>> round(unit_circle_norm_squared(Tables(15, 5, 20, 20), 3.84), 11)
    2.60416666667
    """
    x, n1, n2 = parts(tables)
    groups = float(tables.cases) * float(tables.controls)
    level = (n2 - n1) / tables.people
    return plain(level * level + 4 * x * x / (float(read_tau(tau)) * tables.people * groups))


def is_significant(tables: Tables, tau: object) -> Any:
    """Decide chi2 > tau for each table, exactly; secret, as the tables are.

    Examples
    --------
    >>> is_significant(Tables(6, 2, 8, 8), 4), is_significant(Tables(7, 2, 8, 8), 4)
    (False, True)
    """
    threshold = read_tau(tau)
    decided = np.zeros(tables.a.shape, bool)
    if tables.people > LARGEST_EXACT_PEOPLE:
        again: Any = np.ones(tables.a.shape, bool)
    else:
        decided, again = compare(tables, float(threshold))
    for place in zip(*np.nonzero(np.atleast_1d(again)), strict=True):
        a, b = int(np.atleast_1d(tables.a)[place]), int(np.atleast_1d(tables.b)[place])
        decided[place if decided.ndim else ()] = exceeds(a, b, tables, threshold)
    return plain(decided)


def compare(tables: Tables, tau: float) -> tuple[Flags, Flags]:
    """Decide in doubles, and say which items are too near to a tie for that."""
    x, n1, n2 = parts(tables)
    left = x * x * tables.people
    right = tau * n1 * n2 * (float(tables.cases) * float(tables.controls))
    near = np.abs(left - right) <= NEAR * (left + right)
    return np.asarray(left > right), np.asarray(near & (n1 > 0) & (n2 > 0))


def exceeds(a: int, b: int, tables: Tables, tau: Fraction) -> bool:
    """Decide chi2 > tau for one table in whole numbers of any length."""
    x, n1 = a * tables.controls - b * tables.cases, a + b
    n2 = tables.people - n1
    left = tau.denominator * tables.people * x * x
    return left > tau.numerator * n1 * n2 * tables.cases * tables.controls


def parts(tables: Tables) -> tuple[Floats, Floats, Floats]:
    """Give x, n1 and n2 as doubles (x exact before it is rounded once)."""
    wide: Any = object if tables.people > LARGEST_EXACT_PEOPLE else np.int64
    a: Counts = tables.a.astype(wide)
    b: Counts = tables.b.astype(wide)
    x = np.asarray(a * tables.controls - b * tables.cases, dtype=np.float64)
    n1 = np.asarray(a + b, dtype=np.float64)
    return x, n1, np.asarray(tables.people - (a + b), dtype=np.float64)
