"""How an adaptive question shares out its price: fixed by public rules before the first draw.

Maths (s = n epsilon, n the public number of rows or its public order of magnitude)
    s < 1000     one round with everything, no directions
    else         0.2 on directions, two rounds of 0.3, a last stage of 0.2 on all columns; where
                 there can be no directions 0.35, 0.35, 0.3
    Each round gives 0.2 of its share to choosing a pair of columns, 0.8 to releasing it.
    Directions: whitened moments of the numeric columns, of order 3 if their pv at this share is at
    most 1, else of order 1. Priced in epsilon they need at most 30 moments; with more, there are no
    directions. Priced in rho they are released with discrete Gaussian noise.
    Where the number of rows is secret, 0.05 of the price buys it and all shares are times 0.95.

Privacy
    The shares add up to the price, whatever is drawn: epsilons to epsilon. In rho, with epsilon
    the sum over parts: the number and each release as Laplace noise of their own sensitivity, each
    choice z - 1 - ln z, z = e / (1 - exp(-e)), the directions s tanh(s / 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noren.mechanisms.additive import IntegerNoise
from noren.mechanisms.ball import MOST
from noren.privacy import ADD_REMOVE, Adjacency, Guarantee
from noren.privacy.charges import exponential_mechanism_rho_charge, pure_to_zcdp_charge
from noren.reweighting.grid_basis import UNIT
from noren.reweighting.public_basis import ENOUGH
from noren.reweighting.rows import Floats
from noren.reweighting.whitened_basis import WhitenedBasis

COUNT_SHARE = Fraction(1, 20)
CHOICE_SHARE = Fraction(1, 5)
HIGHEST_PV = 1.0
FEWEST_COLUMNS = 4
NUMBER = "number of rows"


@dataclass(frozen=True, slots=True)
class Shares:
    """Parts of a whole price."""

    count: Fraction
    directions: Fraction
    rounds: tuple[Fraction, ...]
    last: Fraction
    order: int = 0

    def items(self, epsilon: Fraction) -> list[tuple[str, Fraction]]:
        """List every draw with its epsilon."""
        found = [(NUMBER, self.count * epsilon)]
        found.append(("directions", self.directions * epsilon))
        for i, share in enumerate(self.rounds):
            found.append((f"choice {i + 1}", CHOICE_SHARE * share * epsilon))
            found.append((f"pair {i + 1}", (1 - CHOICE_SHARE) * share * epsilon))
        found.append(("all columns", self.last * epsilon))
        return [(name, part) for name, part in found if part]


def without_directions(strength: float) -> Shares:
    """Give the shares that need no directions."""
    if strength < ENOUGH:
        return Shares(Fraction(0), Fraction(0), (Fraction(1),), Fraction(0))
    part = Fraction(35, 100)
    return Shares(Fraction(0), Fraction(0), (part, part), Fraction(3, 10))


def direction_bases(values: Floats) -> tuple[WhitenedBasis, ...]:
    """Give the whitened moments of the public numeric columns, of order 3 and of order 1."""
    if values.shape[1] < 2:
        return ()
    return tuple(WhitenedBasis.of(values, order) for order in (3, 1))


def shares_for(
    bases: tuple[WhitenedBasis, ...],
    strength: float,
    epsilon: Fraction,
    rows: float,
    adjacency: Adjacency,
    by: str,
) -> Shares:
    """Share out the price; `bases` may find directions, `by` is "epsilon" or "rho"."""
    hidden = adjacency.relation is ADD_REMOVE
    own = without_directions(strength)
    if strength >= ENOUGH and bases:
        share = Fraction(1, 5)
        price = share * epsilon * (1 - COUNT_SHARE if hidden else 1)
        order = order_for(bases, price, rows, adjacency, by)
        if order:
            part = Fraction(3, 10)
            own = Shares(Fraction(0), share, (part, part), Fraction(1, 5), order)
    if not hidden:
        return own
    rest = 1 - COUNT_SHARE
    rounds = tuple(rest * share for share in own.rounds)
    return Shares(COUNT_SHARE, rest * own.directions, rounds, rest * own.last, own.order)


def order_for(
    bases: tuple[WhitenedBasis, ...], price: Fraction, rows: float, adjacency: Adjacency, by: str
) -> int:
    """Give the order of the moments that find directions; 0 for none."""
    for basis in bases:
        law = basis.law(adjacency, *direction_price(price, "rho"))  # any number of moments
        variance = law.variance
        if by == "epsilon":
            own = price if law.count is None else price * basis.sum_share
            variance = (basis.size + 1) * float(law.sum.reach / own) ** 2
        pv = basis.size * variance / (basis.unit * rows) ** 2
        if basis is bases[-1] or pv <= HIGHEST_PV:
            return basis.whitening.order if by == "rho" or basis.size <= MOST else 0
    return 0


def direction_price(share: Fraction, by: str) -> tuple[Fraction | None, Fraction | None]:
    """Give the price of the directions as (epsilon, rho)."""
    return (share, None) if by == "epsilon" else (None, pure_to_zcdp_charge(share))


def price_of(shares: Shares, epsilon: Fraction, adjacency: Adjacency, by: str) -> Guarantee:
    """Add up every draw."""
    rho = Fraction(0)
    hidden = adjacency.relation is ADD_REMOVE
    worst: tuple[int, ...] = (UNIT * adjacency.max_records,) if hidden else (UNIT, UNIT)
    for name, part in shares.items(epsilon):
        if name.startswith("choice"):
            rho += exponential_mechanism_rho_charge(part)
        elif name == "directions":
            rho += pure_to_zcdp_charge(part)
        else:
            moved = (adjacency.max_records,) if name == NUMBER else worst
            charged: Any = IntegerNoise(adjacency, moved, part, None).guarantee.rho
            rho += charged
    return Guarantee(adjacency, epsilon=epsilon if by == "epsilon" else None, rho=rho)


def epsilon_within(rho: Fraction, cost: Any) -> Fraction:
    """Give the largest epsilon, to 12 digits, whose shares cost at most this rho."""
    high = Fraction(1)
    while cost(high) <= rho:
        high *= 2
    low = Fraction(0)
    while high - low > high / 10**6:
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= rho else (low, middle)
    scale = 10**9 if low > 1 else 10**15
    return Fraction(int(low * scale), scale)
