"""Which way of choosing the top K suits a scan: a public rule of the public number r.

Maths
    r = 2 ln C(M, K) / (epsilon sqrt(4 m1 m2 / N)): the gap between scores that one exponential
    mechanism over sets must overcome, in units of what one z is worth. The limits were fitted on
    simulated scans (balanced, 20 planted hits of |z| 5.5 to 12); they decide how much is found,
    never how private it is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from noren.association.loci import Groups, Loci
from noren.errors import ParameterError
from noren.privacy.numbers import exact, whole

SET, PEEL, TAU_SET, TAU_PEEL = "set", "peel", "tau+set", "tau+peel"
METHODS = (SET, PEEL, TAU_SET, TAU_PEEL)
EASY, HARD = 1.8, 2.4  # limits of r
OUTLOOK = (
    "at such r at least 0.9 of the true top were found in simulations",
    "at such r about 0.9 of the true top were found in simulations",
    "at such r between 0.5 and 0.9 of the true top were found in simulations; choose fewer, loci "
    "instead of variants, or more epsilon",
)
OUTLOOK_WITHOUT_DELTA = (
    "at such r few of the true top were found in simulations without a delta; allow one (1e-6), "
    "or choose fewer, loci instead of variants, or more epsilon"
)


def difficulty(units: int, top: int, epsilon: Fraction, gap: float) -> float:
    """Give r.

    Examples
    --------
    >>> round(difficulty(100_000, 20, Fraction(1), 50_000**0.5), 2)
    1.68
    """
    ways = math.lgamma(units + 1) - math.lgamma(top + 1) - math.lgamma(units - top + 1)
    return 2 * ways / (float(epsilon) * gap)


def outlook(r: float, *, with_delta: bool) -> str:
    """Say what was found in simulations at such r."""
    if r > HARD and not with_delta:
        return OUTLOOK_WITHOUT_DELTA
    return OUTLOOK[(r > EASY) + (r > HARD)]


def read_method(given: str | None, r: float, *, ordered: bool, can_cut: bool) -> str:
    """Take a method by name, or the one that the rule says."""
    method = given or by_rule(r, ordered=ordered, can_cut=can_cut)
    if method not in METHODS:
        raise ParameterError("method", repr(given), f"one of {', '.join(METHODS)}")
    if method.startswith("tau") and not can_cut:
        raise ParameterError(
            "method",
            f"'{method}'",
            "'set' or 'peel' here",
            "A threshold is chosen from 20.25 on, and needs one more candidate than is chosen.",
        )
    if ordered and method.endswith(SET):
        raise ParameterError("method", f"'{method}'", "'peel' or 'tau+peel' for an order")
    return method


def by_rule(r: float, *, ordered: bool, can_cut: bool) -> str:
    """Choose a method by the public number r.

    Examples
    --------
    >>> by_rule(0.5, ordered=False, can_cut=True), by_rule(3, ordered=False, can_cut=True)
    ('tau+set', 'peel')
    """
    if r <= EASY and can_cut:
        return TAU_PEEL if ordered else TAU_SET
    return PEEL if ordered or r > HARD else SET


def read_loci(given: Any, variants: int) -> Groups:
    """Take a map of exactly these variants."""
    if given is not None and (not isinstance(given, Loci) or given.of.size != variants):
        raise ParameterError(
            "loci", f"{given!r}", f"a Loci map of the {variants} variants, or left out"
        )
    return given


def read_top(given: object, units: int) -> int:
    """Take how many are chosen: between 1 and all."""
    top = whole("top", given, 1)
    if top > units:
        raise ParameterError("top", given, f"at most {units}, all there are")
    return top


def read_part(given: object, total: Fraction) -> Fraction | None:
    """Take the part of the total that pays for scores."""
    if given is None:
        return None
    part = exact("scores_epsilon", given)
    if not 0 < part < total:
        raise ParameterError(
            "scores_epsilon", given, f"above 0 and below the total epsilon, {float(total):g}"
        )
    return part
