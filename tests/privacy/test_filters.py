"""Accounts' filters: totals that no adaptive sequence can pass, and what a refusal says."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.errors import AdjacencyMismatch, BudgetRefused, GuaranteeMismatch, ParameterError
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency, Guarantee, zcdp_rho
from noren.privacy.amounts import (
    DELTA_UNIT,
    EPSILON_UNIT,
    LARGEST,
    RHO_UNIT,
    Amounts,
    from_units,
    to_units_down,
    to_units_up,
)
from noren.privacy.charges import pure_to_zcdp_charge
from noren.privacy.filters import (
    PureFilter,
    ZcdpFilter,
    largest_of_each_form,
    open_filter,
    refuse_or_charge,
)

HERE = Adjacency(ADD_REMOVE)
PURE = open_filter(Guarantee(HERE, epsilon=1, delta="1e-6"), "pure")
ZCDP = open_filter(Guarantee(HERE, epsilon=1, delta="1e-6"))
SIZES = st.fractions(0, Fraction(1, 3))
DELTAS = st.sampled_from(["0", "1e-8", "3e-7"])
PRICES = st.one_of(
    st.builds(lambda e, d: Guarantee(HERE, e, d), SIZES, DELTAS),
    st.builds(lambda e, r: Guarantee(HERE, e, rho=r), SIZES, SIZES),
    st.builds(lambda r, d: Guarantee(HERE, delta=d, rho=r / 50), SIZES, DELTAS),
)


@pytest.mark.parametrize("account", [PURE, ZCDP], ids=["pure", "zcdp"])
@given(st.lists(PRICES, max_size=60), st.data())
@settings(max_examples=60)
def test_no_adaptive_sequence_passes_the_total(account, prices, data):
    """Later prices may depend on whether earlier ones were refused: a spiteful asker."""
    spent, exact_main, exact_delta = Amounts(0), Fraction(0), Fraction(0)
    for price in prices:
        if account is PURE and price.epsilon is None:
            continue
        try:
            spent = spent + refuse_or_charge(account, spent, price)
        except BudgetRefused:
            left = account.largest(account.total - spent, price)
            if left is None or not data.draw(st.booleans()):
                continue
            price = left  # ask for exactly what the refusal offered: it must be granted
            spent = spent + refuse_or_charge(account, spent, price)
        if account is PURE:
            exact_main, exact_delta = exact_main + price.epsilon, exact_delta + price.delta
        else:
            in_rho = price.as_zcdp()
            exact_main, exact_delta = exact_main + in_rho.rho, exact_delta + in_rho.delta
        assert spent.within(account.total)
    total = account.stated(account.total)
    main = total.epsilon if account is PURE else total.rho
    assert exact_main <= main
    assert exact_delta <= total.delta


@given(SIZES, DELTAS)
def test_charges_are_rounded_up_and_budgets_down(size, delta):
    price = Guarantee(HERE, size, delta)
    in_pure, in_zcdp = PURE.charge(price), ZCDP.charge(price)
    assert 0 <= from_units(in_pure.main, EPSILON_UNIT) - size < EPSILON_UNIT
    assert 0 <= from_units(in_zcdp.main, RHO_UNIT) - pure_to_zcdp_charge(size) < RHO_UNIT
    assert from_units(in_pure.delta, DELTA_UNIT) == Fraction(delta)
    budget = PureFilter.opened(Guarantee(HERE, size + 1, delta))
    assert 0 <= size + 1 - budget.stated(budget.total).epsilon < EPSILON_UNIT


def test_ten_tenths_fit_and_nothing_more():
    spent = Amounts(0)
    for _ in range(10):
        spent = spent + refuse_or_charge(PURE, spent, Guarantee(HERE, epsilon=0.1))
    assert PURE.total - spent == Amounts(0, 10**12)
    with pytest.raises(BudgetRefused):
        refuse_or_charge(PURE, spent, Guarantee(HERE, epsilon="1e-12"))


def test_half_of_delta_is_kept_for_questions():
    half = Fraction("5e-7")
    total = ZCDP.stated(ZCDP.total)
    assert total.delta == half
    assert float(total.rho) == pytest.approx(zcdp_rho(1, half / (1 - half)), abs=2e-12)
    shown = total.as_approximate("1e-6")
    assert 1 - 1e-9 < shown.epsilon <= 1


def test_a_total_with_all_its_delta_in_rho_affords_no_pure_question_above_0_221():
    account = ZcdpFilter.opened(Guarantee(HERE, rho=zcdp_rho(1, "1e-6")))
    found = account.largest(account.total, Guarantee(HERE, epsilon=1))
    assert Fraction("0.221") < found.epsilon < Fraction("0.2215")


@given(st.integers(1, 10**13))
@settings(max_examples=40)
def test_the_largest_affordable_question_is_affordable_and_the_largest(rho_units):
    left = Amounts(rho_units, 0)
    found = ZCDP.largest(left, Guarantee(HERE, epsilon=1))
    assert ZCDP.charge(found).within(left)
    more = found.epsilon * (1 + Fraction(2, 10**9)) + EPSILON_UNIT
    assert not ZCDP.charge(Guarantee(HERE, epsilon=more)).within(left)


def test_the_printed_amount_can_be_asked_for():
    for price in largest_of_each_form(ZCDP, ZCDP.total):
        printed = price.epsilon if price.rho is None else price.rho
        assert Fraction(f"{float(printed):.10g}") == printed
        assert refuse_or_charge(ZCDP, Amounts(0), price)


def test_each_form_that_is_left_is_offered():
    forms = [price.form for price in largest_of_each_form(ZCDP, ZCDP.total)]
    assert forms == ["pure", "approximate", "zCDP"]
    assert [p.form for p in largest_of_each_form(PURE, Amounts(5, 0))] == ["pure"]
    assert largest_of_each_form(ZCDP, Amounts(0, 10**12)) == ()


def test_a_refusal_names_requested_remaining_missing_and_affordable():
    price = Guarantee(HERE, epsilon="0.3")
    with pytest.raises(BudgetRefused) as refused:
        refuse_or_charge(PURE, Amounts(8 * 10**11), price)
    assert str(refused.value) == (
        "The question asks for epsilon 0.3 (one record is added or removed), which costs epsilon "
        "0.3; the account has epsilon 0.2, delta 1e-06 left, so epsilon 0.1 is missing. The "
        "largest such question it affords: epsilon 0.2."
    )
    with pytest.raises(BudgetRefused, match="affords no question of this form and delta"):
        refuse_or_charge(PURE, Amounts(0), Guarantee(HERE, epsilon="0.1", delta="2e-6"))


def test_a_price_in_two_forms_is_offered_both():
    both = Guarantee(HERE, epsilon=3, rho=2)
    with pytest.raises(BudgetRefused, match=r"affords: epsilon 0\.214\d+ or rho 0\.0229\d+\.$"):
        refuse_or_charge(ZCDP, Amounts(0), both)
    with pytest.raises(BudgetRefused, match=r"affords: epsilon 1\.$"):
        refuse_or_charge(PURE, Amounts(0), both)


def test_an_own_rho_is_charged_where_there_is_one():
    both = Guarantee(HERE, epsilon=1, delta="1e-7", rho="0.001")
    assert ZCDP.charge(both) == Amounts(10**9, 0)
    assert PURE.charge(both) == Amounts(10**12, 10**11)


def test_a_question_in_rho_alone_is_refused_by_a_pure_account():
    with pytest.raises(GuaranteeMismatch, match=r"states rho 0\.1 only, but a 'pure' account"):
        PURE.charge(Guarantee(HERE, rho="0.1"))
    assert PURE.largest(PURE.total, Guarantee(HERE, rho="0.1")) is None


def test_other_neighbors_are_refused_with_both_names():
    with pytest.raises(AdjacencyMismatch, match=r"added or removed.*replaced by any other"):
        ZCDP.charge(Guarantee(Adjacency(SUBSTITUTE), epsilon=1))


@pytest.mark.parametrize(
    ("budget", "kind"),
    [
        (Guarantee(HERE, epsilon=1), "zcdp"),
        (Guarantee(HERE, rho=1), "pure"),
        (Guarantee(HERE, epsilon=1, delta="1e-6", rho=1), "pure"),
        (Guarantee(HERE, epsilon=1, delta="1e-6", rho=1), "zcdp"),
    ],
)
def test_a_budget_of_the_wrong_form_is_refused(budget, kind):
    with pytest.raises(GuaranteeMismatch, match=f"a '{kind}' account needs"):
        open_filter(budget, kind)


def test_the_kind_follows_from_the_budget_unless_it_is_named():
    assert open_filter(Guarantee(HERE, epsilon=1)).kind == "pure"
    assert open_filter(Guarantee(HERE, rho=1)).kind == "zcdp"
    assert ZCDP.kind == "zcdp"
    with pytest.raises(ParameterError, match="'pure' or 'zcdp'"):
        open_filter(Guarantee(HERE, rho=1), "both")
    with pytest.raises(ParameterError, match="at least one unit"):
        open_filter(Guarantee(HERE, rho="1e-13"))


def test_amounts_fit_64_bits_or_are_refused():
    assert to_units_up(LARGEST * RHO_UNIT, RHO_UNIT) == 2**63 - 1
    for wrong in (LARGEST * RHO_UNIT + RHO_UNIT, Fraction(-1)):
        with pytest.raises(ParameterError, match="protects nobody"):
            to_units_up(wrong, RHO_UNIT)
    assert to_units_down(Fraction(999, 1000) * DELTA_UNIT, DELTA_UNIT) == 0
    assert Amounts(3, 4) - Amounts(1, 1) == Amounts(2, 3)
    assert not Amounts(3, 4).within(Amounts(9, 3))
