"""No sequence of asks, however chosen, passes an account's total.

What was granted is added up here again, from the questions themselves, exactly: epsilons as
fractions, and their rho at 60 digits by another formula than the product's. The asker adapts:
some of its questions are the largest that the last refusal or balance named.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_asker import WHO, Tally

from noren import Guarantee, Ledger
from noren.errors import BudgetRefused

EXAMPLES = 60
amounts = st.one_of(
    st.floats(1e-9, 2),  # floats are read as their shortest decimals
    st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 2 / 3, 1e-12, 5e-13]),
    st.fractions(Fraction(1, 10**15), 2),
)
deltas = st.sampled_from([0, 0, 1e-7, 3e-7, Fraction(1, 3 * 10**7), 1e-18, 3e-19])
moves = st.lists(st.tuples(st.sampled_from(["pure", "delta", "rho", "most"]), amounts, deltas))


def exact_rho(price: Guarantee) -> Fraction:
    """Give rho at 60 digits: epsilon (e^epsilon - 1) / (e^epsilon + 1), or what is stated."""
    if price.rho is not None:
        return price.rho
    with localcontext() as context:
        context.prec = 60
        epsilon = Decimal(price.epsilon.numerator) / Decimal(price.epsilon.denominator)
        grown = epsilon.exp()
        return Fraction(epsilon * (grown - 1) / (grown + 1))


def wanted(move, ledger, last):
    """Choose the next price: one of three forms, or the largest that the ledger names."""
    form, amount, delta = move
    if form == "most":
        affordable = ledger.balance("cohort").largest
        return affordable[len(last) % len(affordable)] if affordable else None
    if form == "rho":
        return Guarantee(WHO, rho=amount, delta=delta)
    return Guarantee(WHO, epsilon=amount, delta=delta if form == "delta" else 0)


def granted(total, kind, asks, allowed):
    """Ask a whole sequence; give the prices that were granted."""
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("cohort", total, filter=kind)
        paid = []
        for move in asks:
            price = wanted(move, ledger, paid)
            if price is None or (price.epsilon is None and not allowed):
                continue
            try:
                ledger.ask("cohort", Tally(price=price, size=0), 0)
            except BudgetRefused:
                assert move[0] != "most"  # what the ledger calls affordable is affordable
            else:
                paid.append(price)
        ledger.verify()
        return paid


@settings(max_examples=EXAMPLES)
@given(epsilon=amounts.filter(lambda e: e >= 1e-6), delta=deltas, asks=moves)
def test_a_pure_account_never_passes_epsilon_or_delta(epsilon, delta, asks):
    total = Guarantee(WHO, epsilon=epsilon, delta=delta)
    paid = granted(total, "pure", asks, allowed=False)
    assert sum(price.epsilon for price in paid) <= total.epsilon
    assert sum(price.delta for price in paid) <= total.delta


@settings(max_examples=EXAMPLES)
@given(rho=amounts.filter(lambda r: r >= 1e-6), delta=deltas, asks=moves)
def test_a_zcdp_account_never_passes_rho_or_delta(rho, delta, asks):
    total = Guarantee(WHO, rho=rho, delta=delta)
    paid = granted(total, "zcdp", asks, allowed=True)
    assert sum(map(exact_rho, paid)) <= total.rho
    assert sum(price.delta for price in paid) <= total.delta


@settings(max_examples=EXAMPLES)
@given(asks=moves)
def test_a_zcdp_account_never_passes_its_epsilon_and_delta(asks):
    total = Guarantee(WHO, epsilon=2, delta="2e-6")
    paid = granted(total, "zcdp", asks, allowed=True)
    rho, delta = sum(map(exact_rho, paid)), sum(price.delta for price in paid)
    assert delta <= total.delta / 2
    if rho:
        left = (total.delta - delta) / (1 - delta)  # (e, d + (1 - d) left), d what was paid
        assert best_epsilon(float(rho), float(left)) <= float(total.epsilon) * (1 + 1e-9)


def best_epsilon(rho: float, delta: float) -> float:
    """Convert by brute force over orders 1 + b: each is valid, so the least is too."""

    def at(b):
        return (1 + b) * rho + (b * np.log1p(-1 / (1 + b)) - np.log(1 + b) - np.log(delta)) / b

    coarse = np.geomspace(1e-3, 1e6, 2001)
    best = coarse[np.argmin(at(coarse))]
    return float(np.min(at(best * np.linspace(0.98, 1.02, 20_001))))


@settings(max_examples=EXAMPLES)
@given(
    asks=st.lists(
        st.tuples(amounts, st.one_of(st.none(), st.sets(st.sampled_from("abcd")))), max_size=12
    )
)
def test_no_column_ever_passes_its_budget(asks):
    spent = dict.fromkeys("abcd", Fraction(0))
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("cells", Guarantee("bit", epsilon=1), columns=list("abcd"))
        for epsilon, columns in asks:
            price = Guarantee("bit", epsilon=epsilon)
            chosen = None if columns is None else tuple(columns)
            try:
                ledger.ask("cells", Tally(price=price, columns=chosen, size=0), 0)
            except BudgetRefused:
                continue
            for name in spent if columns is None else columns:
                spent[name] += price.epsilon
        ledger.verify()
        kept = ledger.balance("cells").columns
    assert max(spent.values()) <= 1
    assert all(spent[name] <= kept[name] <= spent[name] + len(asks) * 10**-12 for name in spent)


@pytest.mark.parametrize("kind", ["pure", "zcdp"])
def test_rounding_is_always_to_the_safe_side(kind):
    """A third of a unit costs a unit; three thirds of a budget do not fit where they would."""
    with Ledger.open("sqlite://") as ledger:
        budget = {"epsilon": "1e-12"} if kind == "pure" else {"rho": "1e-12"}
        ledger.create_account("small", Guarantee(WHO, **budget), filter=kind)
        third = {name: Fraction(1, 3 * 10**12) for name in budget}
        ledger.ask("small", Tally(price=Guarantee(WHO, **third)), 0)
        with pytest.raises(BudgetRefused):
            ledger.ask("small", Tally(price=Guarantee(WHO, **third)), 0)
