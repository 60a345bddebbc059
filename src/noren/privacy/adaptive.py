"""More filters for prices chosen along the way, beside the two that accounts use.

Each keeps running totals in whole units and refuses before its inequality would break
(proofs: docs/proofs/privacy/filters.md). S is the sum of squared epsilons or mus.

    AdvancedFilter   sqrt(2 ln(1 / d') S) + S / 2 <= E, sum of delta <= d   gives (E, d' + d)
    GaussianFilter   S <= mu^2, for continuous Gaussian mechanisms outside Noren only: mu-GDP
    RenyiFilter      sum of epsilon_a <= B at one order a, fixed in advance: (a, B)-Renyi DP

The advanced filter never beats the zcdp filter; it is a cross-check. Noren's own discrete
Gaussian is not mu-GDP and is charged in rho.

A `Meter` runs filters together: a price must fit all of them. Going on while one *or* the other
still has room is not valid, so there is no way to say it. Nor is a composed curve (the accountant)
a filter: stopping when the curve crosses a target can cost more than the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from noren.errors import BudgetRefused, GuaranteeMismatch, ParameterError
from noren.privacy.adjacency import Adjacency
from noren.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, Amounts, to_units_down, to_units_up
from noren.privacy.decimals import decimal, precise, rounded_down, rounded_up
from noren.privacy.filters import require_same_neighbors
from noren.privacy.guarantee import Guarantee
from noren.privacy.numbers import Number, exact, not_negative, positive, read_delta, shown

SQUARE_UNIT = EPSILON_UNIT**2


class AdaptiveFilter(Protocol):
    """A rule that stays valid when each price depends on earlier answers."""

    @property
    def total(self) -> Amounts:
        """All that may be spent, in whole units, rounded down."""

    def charge(self, price: Any) -> Amounts:
        """Give what a price costs here, in the same units, rounded up."""


class Meter:
    """Running totals of filters that must all admit a price before its question runs.

    Examples
    --------
    >>> from noren.privacy import ADD_REMOVE, PureFilter
    >>> here = Adjacency(ADD_REMOVE)
    >>> meter = Meter(PureFilter.opened(Guarantee(here, epsilon=1)))
    >>> for _ in range(10):
    ...     meter.spend(Guarantee(here, epsilon="0.1"))
    >>> meter.admits(Guarantee(here, epsilon="1e-12"))
    False
    """

    def __init__(self, *filters: AdaptiveFilter) -> None:
        if not filters:
            raise ParameterError("filters", "none", "at least one filter", "One is enough.")
        self._filters = filters
        self._spent = tuple(Amounts(0) for _ in filters)

    @property
    def spent(self) -> tuple[Amounts, ...]:
        """The total of each filter so far."""
        return self._spent

    def admits(self, price: Any) -> bool:
        """Say whether every filter has room for a price."""
        return all(
            after.within(one.total)
            for one, after in zip(self._filters, self._after(price), strict=True)
        )

    def spend(self, price: Any) -> None:
        """Charge every filter, before the question runs; or none, and refuse."""
        if not self.admits(price):
            raise BudgetRefused(
                f"The price {price} would pass a filter's total. Nothing was charged; ask for less."
            )
        self._spent = self._after(price)

    def _after(self, price: Any) -> tuple[Amounts, ...]:
        """Add a price to every total."""
        charges = (one.charge(price) for one in self._filters)
        return tuple(spent + charge for spent, charge in zip(self._spent, charges, strict=True))


@dataclass(frozen=True, slots=True)
class AdvancedFilter:
    """Add up squared epsilons (Whitehouse et al. 2023): (epsilon, slack + delta) in all."""

    adjacency: Adjacency
    epsilon: Fraction
    slack: Fraction
    delta: Fraction

    def __init__(
        self, adjacency: Adjacency | str, epsilon: Number, slack: Number, delta: Number = 0
    ) -> None:
        put = object.__setattr__
        put(self, "adjacency", Adjacency.read(adjacency))
        put(self, "epsilon", positive("epsilon", epsilon))
        put(self, "slack", positive("slack", read_delta(slack), "It is the theorem's own delta."))
        put(self, "delta", read_delta(delta))

    @property
    def total(self) -> Amounts:
        """Solve sqrt(2 L S) + S / 2 = E: S = (sqrt(2 L + 2 E) - sqrt(2 L))^2, L = ln(1 / d')."""
        with precise(min(self.epsilon, Fraction(1))):
            twice_log = -2 * decimal(self.slack).ln()
            root = (twice_log + 2 * decimal(self.epsilon)).sqrt() - twice_log.sqrt()
            squares = rounded_down(root * root)
        return Amounts(int(squares / SQUARE_UNIT), to_units_down(self.delta, DELTA_UNIT))

    @property
    def guarantee(self) -> Guarantee:
        """What holds at every moment, whatever was asked."""
        return Guarantee(self.adjacency, self.epsilon, self.slack + self.delta)

    def charge(self, price: Guarantee) -> Amounts:
        """Give epsilon squared, and delta."""
        require_same_neighbors(self.adjacency, price)
        if price.epsilon is None:
            raise GuaranteeMismatch(
                f"The price ({price}) is in rho, but this filter adds up squared epsilons. "
                "State epsilon: as_approximate(delta)."
            )
        size = to_units_up(price.epsilon, EPSILON_UNIT)
        return Amounts(size * size, to_units_up(price.delta, DELTA_UNIT))


@dataclass(frozen=True, slots=True)
class GaussianFilter:
    """Add up squared mus of continuous Gaussian mechanisms (Smith and Thakurta 2022): mu-GDP."""

    adjacency: Adjacency
    mu: Fraction

    def __init__(self, adjacency: Adjacency | str, mu: Number) -> None:
        object.__setattr__(self, "adjacency", Adjacency.read(adjacency))
        object.__setattr__(self, "mu", positive("mu", mu))

    @property
    def total(self) -> Amounts:
        """Give mu^2."""
        return Amounts(to_units_down(self.mu, EPSILON_UNIT) ** 2)

    def charge(self, mu: Number | Guarantee) -> Amounts:
        """Give the square of one mechanism's mu = sensitivity / sigma."""
        if isinstance(mu, Guarantee):
            raise GuaranteeMismatch(
                f"The price ({mu}) is not a mu. This filter is for continuous Gaussian mechanisms "
                "outside Noren; Noren's discrete Gaussian is not mu-GDP: charge its rho."
            )
        return Amounts(to_units_up(not_negative("mu", mu), EPSILON_UNIT) ** 2)


@dataclass(frozen=True, slots=True)
class RenyiFilter:
    """Add up the Renyi divergences of one order that was fixed in advance."""

    adjacency: Adjacency
    order: Fraction
    bound: Fraction

    def __init__(self, adjacency: Adjacency | str, order: Number, bound: Number) -> None:
        put = object.__setattr__
        put(self, "adjacency", Adjacency.read(adjacency))
        put(self, "order", exact("order", order))
        put(self, "bound", positive("bound", bound))
        if self.order <= 1:
            raise ParameterError("order", shown(self.order), "above 1", "2 to 64 is usual.")

    @property
    def total(self) -> Amounts:
        """Give the bound."""
        return Amounts(to_units_down(self.bound, EPSILON_UNIT))

    def epsilon(self, delta: Number) -> float:
        """Give the epsilon at a delta of the whole, at this order."""
        target = positive("delta", read_delta(delta))
        with precise(min(self.order - 1, 1 / self.order)):
            a = decimal(self.order)
            part = a * (1 - 1 / a).ln() - (a - 1).ln() - decimal(target).ln()
            return max(0.0, float(rounded_up(decimal(self.bound) + part / (a - 1))))

    def charge(self, price: Guarantee) -> Amounts:
        """Give the divergence of a pure or zCDP price: the smaller of its forms."""
        require_same_neighbors(self.adjacency, price)
        if price.delta:
            raise GuaranteeMismatch(
                f"The price ({price}) has a delta, which a Renyi filter cannot add up. "
                "Use a zcdp filter."
            )
        forms = []
        if price.rho is not None:
            forms.append(self.order * price.rho)
        if price.epsilon is not None:
            forms.append(renyi_charge(price.epsilon, self.order))
        return Amounts(to_units_up(min(forms), EPSILON_UNIT))


def renyi_charge(epsilon: Number, order: Number) -> Fraction:
    """Give the Renyi divergence of any epsilon-DP mechanism, rounded up.

    The worst is randomized response:
    ln((e^(a epsilon) + e^((1 - a) epsilon)) / (1 + e^epsilon)) / (a - 1).
    """
    size, a = not_negative("epsilon", epsilon), exact("order", order)
    if not size:
        return Fraction(0)
    with precise(min(size, a - 1)):
        e, order_ = decimal(size), decimal(a)
        top = (order_ * e).exp() + ((1 - order_) * e).exp()
        return min(size, rounded_up((top / (1 + e.exp())).ln() / (order_ - 1)))
