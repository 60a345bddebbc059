"""The other filters, and what cannot be said at all."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren import privacy
from noren.errors import AdjacencyMismatch, BudgetRefused, GuaranteeMismatch, ParameterError
from noren.privacy import (
    ADD_REMOVE,
    SUBSTITUTE,
    Adjacency,
    AdvancedFilter,
    GaussianFilter,
    Guarantee,
    Meter,
    PureFilter,
    RenyiFilter,
    ZcdpFilter,
)
from noren.privacy.adaptive import renyi_charge

HERE = Adjacency(ADD_REMOVE)
EPSILONS = st.lists(st.fractions(0, Fraction(1, 2)), max_size=60)


def pure(epsilon) -> Guarantee:
    return Guarantee(HERE, epsilon=epsilon)


def spend_all(meter: Meter, prices) -> list:
    paid = []
    for price in prices:
        if meter.admits(price):
            meter.spend(price)
            paid.append(price)
        else:
            before = meter.spent
            with pytest.raises(BudgetRefused):
                meter.spend(price)
            assert meter.spent == before
    return paid


@given(EPSILONS)
@settings(max_examples=60)
def test_the_advanced_filter_holds_its_inequality(epsilons):
    paid = spend_all(Meter(AdvancedFilter(HERE, 2, "1e-6")), map(pure, epsilons))
    squares = float(sum(price.epsilon**2 for price in paid))
    assert math.sqrt(2 * math.log(1e6) * squares) + squares / 2 <= 2 * (1 + 1e-14)


def test_the_advanced_filter_spends_all_it_may():
    meter = Meter(AdvancedFilter(HERE, "5.75653", "1e-6", "1e-9"))
    spend_all(meter, [pure("0.1")] * 100)
    assert not meter.admits(pure("0.01"))
    assert meter.admits(pure("0.001"))
    assert AdvancedFilter(HERE, 1, "1e-6", "1e-9").guarantee.delta == Fraction("1.001e-6")


@given(EPSILONS)
@settings(max_examples=30)
def test_the_zcdp_filter_admits_what_the_advanced_one_does(epsilons):
    """The advanced filter never beats rho at epsilon tanh(epsilon / 2), tightly converted."""
    advanced = AdvancedFilter(HERE, 2, "1e-6")
    zcdp = ZcdpFilter.opened(Guarantee(HERE, rho=privacy.zcdp_rho(2, "1e-6")))
    paid = spend_all(Meter(advanced), map(pure, epsilons))
    meter = Meter(zcdp)
    for price in paid:
        meter.spend(price)


@given(st.lists(st.fractions(0, 1), max_size=40))
def test_the_gaussian_filter_adds_squares(mus):
    paid = spend_all(Meter(GaussianFilter(HERE, 2)), mus)
    assert sum(mu**2 for mu in paid) <= 4


def test_the_gaussian_filter_takes_no_guarantee():
    with pytest.raises(GuaranteeMismatch, match="discrete Gaussian is not mu-GDP: charge its rho"):
        GaussianFilter(HERE, 1).charge(Guarantee(HERE, rho=1))


@given(EPSILONS, st.sampled_from(["1.5", "2", "8", "100"]))
@settings(max_examples=40)
def test_the_renyi_filter_adds_divergences_of_one_order(epsilons, order):
    renyi = RenyiFilter(HERE, order, "1.2")
    paid = spend_all(Meter(renyi), map(pure, epsilons))
    a = float(order)
    total = sum(
        math.log((math.exp(a * e) + math.exp((1 - a) * e)) / (1 + math.exp(e))) / (a - 1)
        for e in (float(price.epsilon) for price in paid)
    )
    assert total <= 1.2 * (1 + 1e-12)


def test_a_renyi_price_is_the_smaller_of_its_forms():
    renyi = RenyiFilter(HERE, 2, 1)
    assert renyi.charge(Guarantee(HERE, epsilon=1, rho="0.1")).main == 2 * 10**11
    assert renyi.charge(Guarantee(HERE, rho="0.1")).main == 2 * 10**11
    assert renyi.charge(pure(1)).main < 10**12
    assert renyi_charge("50", "100") <= 50
    with pytest.raises(GuaranteeMismatch, match="has a delta"):
        renyi.charge(Guarantee(HERE, epsilon=1, delta="1e-9"))
    with pytest.raises(ParameterError, match="above 1"):
        RenyiFilter(HERE, 1, 1)


def test_the_renyi_filter_states_its_epsilon():
    # at the order that is best for rho = 0.1 and epsilon 1, the two conversions agree
    order = privacy.zcdp.zcdp_order("0.1", 1)
    renyi = RenyiFilter(HERE, order, order * 0.1)
    assert renyi.epsilon(privacy.zcdp_delta("0.1", 1)) == pytest.approx(1, rel=1e-9)


def test_a_tenth_of_rho_costs_ten_percent_less_at_its_own_order():
    assert float(renyi_charge(1, "1.000001")) == pytest.approx(math.tanh(0.5), rel=1e-5)


def test_filters_run_together_all_must_admit():
    small = PureFilter.opened(pure("0.2"))
    wide = ZcdpFilter.opened(Guarantee(HERE, rho=1))
    meter = Meter(small, wide)
    meter.spend(pure("0.15"))
    assert Meter(wide).admits(pure("0.1"))
    assert not meter.admits(pure("0.1"))
    with pytest.raises(BudgetRefused, match="Nothing was charged"):
        meter.spend(pure("0.1"))
    assert meter.spent[1] == wide.charge(pure("0.15"))


def test_there_is_no_or_of_filters_and_no_curve_filter():
    assert not {"Or", "Either", "AnyOf"} & {*dir(privacy), *dir(privacy.adaptive)}
    profile = privacy.discrete_laplace_profile(HERE, 1)
    with pytest.raises(AttributeError):
        Meter(profile).admits(pure(1))
    with pytest.raises(ParameterError, match="at least one filter"):
        Meter()


@pytest.mark.parametrize(
    "one", [AdvancedFilter(HERE, 1, "1e-6"), RenyiFilter(HERE, 2, 1)], ids=["advanced", "renyi"]
)
def test_prices_under_other_neighbors_are_refused(one):
    with pytest.raises(AdjacencyMismatch):
        one.charge(Guarantee(Adjacency(SUBSTITUTE), epsilon=1))


def test_the_advanced_filter_takes_epsilons_only():
    with pytest.raises(GuaranteeMismatch, match="squared epsilons"):
        AdvancedFilter(HERE, 1, "1e-6").charge(Guarantee(HERE, rho=1))


def test_a_meter_keeps_totals_only():
    meter = Meter(PureFilter.opened(pure(1)))
    for _ in range(50):
        meter.spend(pure("0.001"))
    assert vars(meter).keys() == {"_filters", "_spent"}
    assert meter.spent == (PureFilter.opened(pure(1)).charge(pure("0.05")),)
