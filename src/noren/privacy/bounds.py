"""All valid bounds on questions that are fixed in advance, and the smallest of them.

Each bound is a theorem on its own, so the smallest is one too:

    basic       epsilons and deltas add
    advanced    Kairouz, Oh, Viswanath: sum e tanh(e / 2) + sqrt(2 ln(1 / d') sum e^2)
    optimal     the exact composition of equal prices
    zcdp        rhos add, then the best order
    accountant  the convolution of the privacy losses; a part without a profile counts as the
                worst mechanism of its (epsilon, delta)

Amounts are rounded up; the accountant's floats by one part in 10^9, far above their error.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from noren.errors import ParameterError
from noren.privacy.composition import (
    advanced_composition_epsilon_charge,
    optimal_composition_epsilon_charge,
    spare_delta,
)
from noren.privacy.conversion import as_zcdp
from noren.privacy.guarantee import Guarantee
from noren.privacy.zcdp import zcdp_epsilon_charge

if TYPE_CHECKING:
    from noren.privacy.losses import Loss

FLOAT_SLACK = Fraction(1, 10**9)
MOST_KINDS = 64  # different losses that the accountant convolves; beyond, it takes too long

Directions: TypeAlias = "tuple[Loss, ...]"


@dataclass(frozen=True, slots=True)
class Tightest:
    """The price of a plan, the bound that won, and every bound's epsilon."""

    guarantee: Guarantee
    bound: str
    epsilons: tuple[tuple[str, Fraction], ...]


@lru_cache(maxsize=256)
def tightest(
    prices: tuple[Guarantee, ...], losses: tuple[Directions, ...], delta: Fraction | None
) -> Tightest:
    """Give the smallest price of a plan at a delta; None asks for rho."""
    rho, rho_delta = _total_rho(prices)
    adjacency = prices[0].adjacency
    if delta is None:
        return Tightest(Guarantee(adjacency, delta=rho_delta, rho=rho), "zcdp", ())
    found = _epsilons(prices, losses, delta)
    stated = None if rho_delta else rho
    if not found and not delta and stated is not None:
        return Tightest(Guarantee(adjacency, rho=stated), "zcdp", ())
    if not found:
        least = sum((price.delta for price in prices), Fraction(0))
        raise ParameterError(
            "delta",
            delta,
            f"above {float(least):.6g}, the deltas of the parts together",
            "Ask for a larger delta, or for the plan's rho: delta=None.",
        )
    bound = min(found, key=lambda name: found[name])
    spent = sum((price.delta for price in prices), Fraction(0)) if bound == "basic" else delta
    guarantee = Guarantee(adjacency, found[bound], spent, stated)
    return Tightest(guarantee, bound, tuple(found.items()))


def _epsilons(
    prices: tuple[Guarantee, ...], losses: tuple[Directions, ...], delta: Fraction
) -> dict[str, Fraction]:
    """Give each bound that holds at this delta; of equals, the simplest comes first."""
    found = _from_epsilons(prices, delta)
    rho, rho_delta = _total_rho(prices)
    if delta > rho_delta:
        found["zcdp"] = zcdp_epsilon_charge(rho, delta, rho_delta)
    if delta and (any(losses) or "optimal" not in found):
        composed = _accountant(prices, losses, delta)
        if composed is not None:
            found["accountant"] = composed
    return found


def _from_epsilons(prices: tuple[Guarantee, ...], delta: Fraction) -> dict[str, Fraction]:
    """Give the bounds that need an epsilon of every part."""
    epsilons = [price.epsilon for price in prices if price.epsilon is not None]
    if len(epsilons) < len(prices):
        return {}
    found = {}
    if sum(price.delta for price in prices) <= delta:
        found["basic"] = sum(epsilons, Fraction(0))
    try:
        spare = spare_delta(delta, [(price.delta, 1) for price in prices])
    except ParameterError:
        return found
    if spare:
        found["advanced"] = advanced_composition_epsilon_charge(epsilons, spare)
    first = prices[0]
    equal = all((p.epsilon, p.delta) == (first.epsilon, first.delta) for p in prices)
    if equal and epsilons[0] and len(prices) > 1:
        found["optimal"] = optimal_composition_epsilon_charge(
            epsilons[0], len(prices), delta, first.delta
        )
    return found


def _accountant(
    prices: tuple[Guarantee, ...], losses: tuple[Directions, ...], delta: Fraction
) -> Fraction | None:
    """Give the accountant's epsilon, or None where it has nothing to say."""
    import math

    from noren.privacy.accountant import compose, merged
    from noren.privacy.lattice import PureLoss

    parts: list[Directions] = []
    for price, own in zip(prices, losses, strict=True):
        if own:
            parts.append(own)
        elif price.epsilon:
            parts.append((PureLoss(price.epsilon, math.nextafter(float(price.delta), 1.0)),))
        elif price.epsilon is None or price.delta:
            return None
    forward = merged((part[0], 1) for part in parts)
    backward = merged((part[-1], 1) for part in parts)
    if not parts or max(len(forward), len(backward)) > MOST_KINDS:
        return None
    try:
        epsilon = compose(forward, backward).epsilon(math.nextafter(float(delta), 0.0)).high
    except ParameterError:  # a delta or a loss beyond what floats resolve: other bounds remain
        return None
    return None if math.isinf(epsilon) else Fraction(epsilon) * (1 + FLOAT_SLACK)


def _total_rho(prices: tuple[Guarantee, ...]) -> tuple[Fraction, Fraction]:
    """Add up rho, and the deltas that belong to it."""
    stated = [as_zcdp(price) for price in prices]
    rho = sum((price.rho for price in stated if price.rho is not None), Fraction(0))
    return rho, sum((price.rho_delta for price in stated), Fraction(0))
