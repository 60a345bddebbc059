"""Integer weights of a law of lies, so that what is drawn keeps its ratio limits exactly.

A pattern with j lies has the same weight as every other pattern with j lies. Tail weights of useful
laws reach e**-200 of the largest, which floats cannot hold beside it; integers can. Each weight is
2**64 e**l(j), rounded down, and then lowered until both limits hold as exact inequalities:

    no weight above floor(E 2**64),        E  <= e**epsilon       any two patterns
    no weight above floor(E1 times the next),  E1 <= e**slot_epsilon  patterns one sign apart

with E and E1 rational lower bounds at 200 fractional bits. Both passes keep the weights
non-increasing in j, so a pattern with more lies never weighs more, and no upward step needs a cap.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import comb, e, floor, log2, log10

UNIT_BITS = 64  # the least weight is 2**64: what rounding down takes away is below 6e-20 of it
RATIO_BITS = 200
GUARD_DIGITS = 40
DIGIT = log2(10) / log2(e)  # ln 10


def exponential_floor(x: Fraction, bits: int = RATIO_BITS) -> int:
    """Give an integer certainly not above 2**bits e**x, and within a few units of it."""
    digits = floor(float(x) / DIGIT) + floor(bits * log10(2)) + GUARD_DIGITS
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        value = (Decimal(x.numerator) / Decimal(x.denominator)).exp() * (Decimal(2) ** bits)
        slack = value.scaleb(20 - digits)
    return floor(Fraction(value) - Fraction(slack))


def lowered(
    exponents: Sequence[Fraction], epsilon: Fraction, slot_epsilon: Fraction
) -> tuple[int, ...]:
    """Turn non-increasing exponents l(0), l(1), .. into weights that keep both limits."""
    unit = 1 << UNIT_BITS
    rounded = {x: exponential_floor(x, UNIT_BITS) if x else unit for x in set(exponents)}
    weights = [rounded[x] for x in exponents]
    top = exponential_floor(epsilon) * unit >> RATIO_BITS
    weights = [min(weight, top) for weight in weights]
    step = exponential_floor(slot_epsilon)
    for j in range(len(weights) - 2, -1, -1):
        weights[j] = min(weights[j], step * weights[j + 1] >> RATIO_BITS)
    return tuple(weights)


def keeps_limits(weights: Sequence[int], epsilon: Fraction, slot_epsilon: Fraction) -> bool:
    """Check both ratio limits on the integers themselves."""
    if min(weights) <= 0:
        return False
    most, step = exponential_floor(epsilon), exponential_floor(slot_epsilon)
    if max(weights) << RATIO_BITS > most * min(weights):
        return False
    return all(max(a, b) << RATIO_BITS <= step * min(a, b) for a, b in pairwise(weights))


def lie_masses(weights: Sequence[int]) -> list[int]:
    """Give C(k, j) w_j: how many of `sum` draws have j lies."""
    k = len(weights) - 1
    return [comb(k, j) * weight for j, weight in enumerate(weights)]


def exact_contrast(weights: Sequence[int]) -> Fraction:
    """Give P(truth) - P(lie) of one report, as the exact fraction of integers that it is."""
    k, masses = len(weights) - 1, lie_masses(weights)
    return Fraction(sum(mass * (k - 2 * j) for j, mass in enumerate(masses)), k * sum(masses))
