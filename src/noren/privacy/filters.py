"""The two filters of an account: they say whether the next question can still be paid.

Adding prices that were fixed in advance is one thing; here each price may be chosen after seeing
earlier answers. A filter is a rule that stays valid then, because it stops before a fixed
inequality would break (proofs: docs/proofs/privacy/filters.md):

    pure   sum of epsilon <= E and sum of delta <= d    gives (E, d)
    zcdp   sum of rho <= R and sum of delta <= d        gives d-approximate R-zCDP

An answer's price is rounded up to whole units, a budget down, and only running totals are
kept, so a question is decided in constant time. A total (epsilon, delta) becomes a zcdp total
by keeping half of delta for the deltas of questions and the rest for the conversion:
rho = zcdp_rho(epsilon, (delta / 2) / (1 - delta / 2)).

`zcdp` suits many small questions, `pure` few large ones. Other filters: `noren.privacy.adaptive`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from noren.errors import AdjacencyMismatch, BudgetRefused, GuaranteeMismatch, ParameterError
from noren.privacy.adjacency import Adjacency
from noren.privacy.affordable import largest_epsilon, readable
from noren.privacy.amounts import (
    DELTA_UNIT,
    EPSILON_UNIT,
    RHO_UNIT,
    Amounts,
    from_units,
    to_units_down,
    to_units_up,
)
from noren.privacy.charges import pure_to_zcdp_charge
from noren.privacy.guarantee import Guarantee, legal_conversions
from noren.privacy.numbers import shown
from noren.privacy.zcdp import zcdp_rho_budget

PURE = "pure"
ZCDP = "zcdp"


class AccountFilter(Protocol):
    """What an account asks of its filter. `spent` and charges are whole units."""

    @property
    def kind(self) -> str:
        """The word for it: 'pure' or 'zcdp'."""

    @property
    def adjacency(self) -> Adjacency:
        """Who is protected."""

    @property
    def total(self) -> Amounts:
        """All that may be spent."""

    def charge(self, price: Guarantee) -> Amounts:
        """Give what a guarantee costs here, rounded up."""

    def stated(self, spent: Amounts) -> Guarantee:
        """Say what amounts are worth, as a guarantee."""

    def largest(self, left: Amounts, like: Guarantee) -> Guarantee | None:
        """Give the largest single price of the same form that fits, or None."""


@dataclass(frozen=True, slots=True)
class PureFilter:
    """Add up epsilon and delta.

    Examples
    --------
    >>> from noren.privacy import ADD_REMOVE, Adjacency, Guarantee
    >>> budget = Guarantee(Adjacency(ADD_REMOVE), epsilon=1)
    >>> PureFilter.opened(budget).charge(Guarantee(budget.adjacency, epsilon="0.1"))
    Amounts(main=100000000000, delta=0)
    """

    adjacency: Adjacency
    total: Amounts

    @classmethod
    def opened(cls, budget: Guarantee) -> PureFilter:
        """Turn a budget, which must state epsilon alone or with delta, into a filter."""
        if budget.epsilon is None or budget.rho is not None:
            raise _wrong_budget(budget, PURE, "epsilon, or epsilon and delta")
        total = Amounts(
            to_units_down(budget.epsilon, EPSILON_UNIT), to_units_down(budget.delta, DELTA_UNIT)
        )
        return cls(budget.adjacency, _not_empty(total, budget))

    @property
    def kind(self) -> str:
        """The word for it."""
        return PURE

    def charge(self, price: Guarantee) -> Amounts:
        """Give the epsilon and delta of a guarantee; one that states rho only is refused."""
        require_same_neighbors(self.adjacency, price)
        if price.epsilon is None:
            raise GuaranteeMismatch(
                f"The question states rho {shown(price.rho)} only, but a 'pure' account adds up "
                "epsilon. Ask it on a 'zcdp' account, or ask a question that states epsilon."
            )
        return Amounts(
            to_units_up(price.epsilon, EPSILON_UNIT), to_units_up(price.delta, DELTA_UNIT)
        )

    def stated(self, spent: Amounts) -> Guarantee:
        """Say what amounts are worth: (epsilon, delta)."""
        epsilon, delta = from_units(spent.main, EPSILON_UNIT), from_units(spent.delta, DELTA_UNIT)
        return Guarantee(self.adjacency, epsilon, delta)

    def largest(self, left: Amounts, like: Guarantee) -> Guarantee | None:
        """Give the largest single price of the same form and the same delta, or None."""
        if like.epsilon is None or not _fits(left, like.delta):
            return None  # a price that states rho only has no form that fits here
        return Guarantee(self.adjacency, readable(left.main, EPSILON_UNIT), like.delta)


@dataclass(frozen=True, slots=True)
class ZcdpFilter:
    """Add up rho, and delta beside it.

    Examples
    --------
    >>> from noren.privacy import ADD_REMOVE, Adjacency, Guarantee
    >>> budget = Guarantee(Adjacency(ADD_REMOVE), epsilon=1, delta="1e-6")
    >>> print(ZcdpFilter.opened(budget).stated(ZcdpFilter.opened(budget).total))
    delta 5e-07, rho 0.02293744765 (one record is added or removed)
    """

    adjacency: Adjacency
    total: Amounts

    @classmethod
    def opened(cls, budget: Guarantee) -> ZcdpFilter:
        """Turn a budget, which must state rho, or epsilon and delta > 0, into a filter."""
        if (budget.epsilon is None) == (budget.rho is None) or (
            budget.epsilon is not None and not budget.delta
        ):
            raise _wrong_budget(budget, ZCDP, "rho, or epsilon and a delta above 0")
        rho, delta = rho_total(budget)
        total = Amounts(to_units_down(rho, RHO_UNIT), to_units_down(delta, DELTA_UNIT))
        return cls(budget.adjacency, _not_empty(total, budget))

    @property
    def kind(self) -> str:
        """The word for it."""
        return ZCDP

    def charge(self, price: Guarantee) -> Amounts:
        """Give a guarantee's own rho where it states one, else epsilon * tanh(epsilon / 2)."""
        require_same_neighbors(self.adjacency, price)
        if price.rho is not None:
            rho, delta = price.rho, price.rho_delta
        else:
            assert price.epsilon is not None  # a guarantee states one of the two
            rho, delta = pure_to_zcdp_charge(price.epsilon), price.delta
        return Amounts(to_units_up(rho, RHO_UNIT), to_units_up(delta, DELTA_UNIT))

    def stated(self, spent: Amounts) -> Guarantee:
        """Say what amounts are worth: rho, with its delta."""
        rho, delta = from_units(spent.main, RHO_UNIT), from_units(spent.delta, DELTA_UNIT)
        return Guarantee(self.adjacency, delta=delta, rho=rho)

    def largest(self, left: Amounts, like: Guarantee) -> Guarantee | None:
        """Give the largest single price of the same form and the same delta, or None."""
        if like.rho is not None:
            rho, fits = readable(left.main, RHO_UNIT), _fits(left, like.rho_delta)
            return Guarantee(self.adjacency, delta=like.rho_delta, rho=rho) if fits else None
        if not _fits(left, like.delta):
            return None
        return Guarantee(self.adjacency, largest_epsilon(left.main), like.delta)


def rho_total(budget: Guarantee) -> tuple[Fraction, Fraction]:
    """Give the (rho, delta) total of a budget for a zcdp account.

    Of a total (epsilon, delta), d = delta / 2 is kept for questions; with
    rho = zcdp_rho(epsilon, d / (1 - d)) the whole is (epsilon, d + (1 - d) d / (1 - d)) =
    (epsilon, delta)-DP.
    """
    if budget.epsilon is None:
        assert budget.rho is not None  # a guarantee states one of the two
        return budget.rho, budget.delta
    half = budget.delta / 2
    return zcdp_rho_budget(budget.epsilon, half / (1 - half)), half


def open_filter(budget: Guarantee, kind: str | None = None) -> PureFilter | ZcdpFilter:
    """Choose the filter of a new account: 'zcdp' unless asked otherwise.

    Epsilon alone, without delta, has no rho total: it opens 'pure'.
    """
    if kind is None:
        kind = PURE if budget.form == "pure" else ZCDP
    if kind not in (PURE, ZCDP):
        raise ParameterError(
            "filter", kind, "'pure' or 'zcdp'", "zcdp suits many small questions, pure few large."
        )
    return PureFilter.opened(budget) if kind == PURE else ZcdpFilter.opened(budget)


def largest_of_each_form(account: AccountFilter, left: Amounts) -> tuple[Guarantee, ...]:
    """Give the largest single price of each form that still fits: pure, approximate, rho.

    The approximate one is stated at all the delta that is left.
    """
    delta = from_units(left.delta, DELTA_UNIT)
    forms = [Guarantee(account.adjacency, epsilon=0), Guarantee(account.adjacency, rho=0)]
    if delta:
        forms.insert(1, Guarantee(account.adjacency, epsilon=0, delta=delta))
    found = (account.largest(left, form) for form in forms)
    return tuple(price for price in found if price is not None)


def refuse_or_charge(account: AccountFilter, spent: Amounts, price: Guarantee) -> Amounts:
    """Give the charge of a question that fits, or raise `BudgetRefused` in words."""
    charge = account.charge(price)
    left = account.total - spent
    if charge.within(left):
        return charge
    raise BudgetRefused(_refusal(account, left, price, charge))


def require_same_neighbors(adjacency: Adjacency, price: Guarantee) -> None:
    """Refuse a price that protects someone else than the account does."""
    if price.adjacency != adjacency:
        raise AdjacencyMismatch(adjacency, price.adjacency, legal_conversions(price.adjacency))


def _refusal(account: AccountFilter, left: Amounts, price: Guarantee, charge: Amounts) -> str:
    """Say requested, remaining, missing and affordable; all of it public."""
    missing = Amounts(max(0, charge.main - left.main), max(0, charge.delta - left.delta))
    found = [account.largest(left, form) for form in _forms(price)]
    affordable = " or ".join(_worded(one) for one in found if one is not None)
    advice = "It affords no question of this form and delta."
    if affordable:
        advice = f"The largest such question it affords: {affordable}."
    return (
        f"The question asks for {price}, which costs {_short(account, charge)}; the account has "
        f"{_short(account, left)} left, so {_short(account, missing)} is missing. {advice}"
    )


def _short(account: AccountFilter, amounts: Amounts) -> str:
    """Write amounts without repeating the adjacency."""
    return _worded(account.stated(amounts))


def _worded(price: Guarantee) -> str:
    """Write a price without its adjacency."""
    return str(price).removesuffix(f" ({price.adjacency})")


def _forms(price: Guarantee) -> list[Guarantee]:
    """Take a price that states two amounts apart, for both can be asked for."""
    if price.epsilon is None or price.rho is None:
        return [price]
    epsilon = Guarantee(price.adjacency, price.epsilon, price.delta)
    return [epsilon, Guarantee(price.adjacency, rho=price.rho)]


def _fits(left: Amounts, delta: Fraction) -> bool:
    """Say whether anything is left, and a question's delta with it."""
    return left.main > 0 and to_units_up(delta, DELTA_UNIT) <= left.delta


def _not_empty(total: Amounts, budget: Guarantee) -> Amounts:
    """Refuse a budget that rounds down to nothing."""
    if not total.main:
        raise ParameterError(
            "budget", budget, "worth at least one unit of 1e-12", "It affords no question at all."
        )
    return total


def _wrong_budget(budget: Guarantee, kind: str, accepted: str) -> GuaranteeMismatch:
    """Say what a budget must state."""
    return GuaranteeMismatch(
        f"The budget states {budget}, but a '{kind}' account needs {accepted}, one of the two "
        "forms only. State another budget, or open the other kind of account."
    )
