"""What a scan of many tests costs: one total in, the price of each test derived, both shown."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from noren.association.composition import per_test_epsilon
from noren.privacy import Adjacency, Guarantee
from noren.privacy.charges import pure_to_zcdp_charge

per_test = lru_cache(maxsize=64)(per_test_epsilon)
"""Give what each of some tests may spend of a total (epsilon, delta); kept, because it is asked
again for every forecast, price and draw."""


def scan_guarantee(
    adjacency: Adjacency, epsilon: Fraction, delta: Fraction, tests: int
) -> Guarantee:
    """State the price of a scan: the total that was asked for, and its own rho.

    Each of the tests is pure at e, so rho is M e tanh(e/2), which a zCDP account charges instead.
    """
    each = per_test(epsilon, delta, tests)
    return Guarantee(adjacency, epsilon, delta, tests * pure_to_zcdp_charge(each))


def prices(each: Fraction, tests: int, epsilon: Fraction, delta: Fraction) -> dict[str, object]:
    """Name both prices for a record."""
    return {
        "tests": tests,
        "epsilon_per_test": float(each),
        "epsilon_total": float(epsilon),
        "delta_total": float(delta),
    }
