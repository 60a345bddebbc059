"""Guarantees, their sums, and the conversions that are legal."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import AdjacencyMismatch, GuaranteeMismatch, ParameterError
from noren.privacy import (
    ADD_REMOVE,
    BIT,
    LOCAL,
    SUBSTITUTE,
    USER,
    ZERO_OUT,
    Adjacency,
    Guarantee,
    group_delta,
    zcdp_delta,
)
from noren.privacy.charges import pure_to_zcdp_charge
from noren.privacy.conversion import group_delta_charge
from noren.privacy.zcdp import zcdp_epsilon_charge

HERE = Adjacency(ADD_REMOVE)
BITS = Adjacency(SUBSTITUTE, BIT)
SIZES = st.fractions(Fraction(1, 100), 2)


def test_pure_becomes_rho_at_its_tight_value():
    assert Guarantee(HERE, epsilon=1).as_zcdp() == Guarantee(HERE, rho=pure_to_zcdp_charge(1))
    approximate = Guarantee(HERE, epsilon=1, delta="1e-6").as_zcdp()
    assert (approximate.rho, approximate.delta) == (pure_to_zcdp_charge(1), Fraction("1e-6"))


def test_an_own_rho_is_kept_and_its_delta_is_not_epsilons():
    both = Guarantee(HERE, epsilon=1, delta="1e-6", rho="0.1")
    assert both.as_zcdp() == Guarantee(HERE, rho="0.1")
    own = Guarantee(HERE, delta="1e-6", rho="0.1")
    assert own.as_zcdp() == own


def test_rho_becomes_epsilon_at_a_larger_delta_only():
    assert Guarantee(HERE, rho="0.1").as_approximate("1e-6").epsilon == (
        zcdp_epsilon_charge("0.1", "1e-6")
    )
    approximate = Guarantee(HERE, delta="1e-7", rho="0.1")
    assert approximate.as_approximate("1e-6").epsilon > zcdp_epsilon_charge("0.1", "1e-6")
    for delta in ("1e-7", "0"):
        with pytest.raises(ParameterError, match="above 1e-07, the delta that this guarantee"):
            approximate.as_approximate(delta)


@given(SIZES, st.sampled_from(["1e-9", "1e-3", "0.2"]))
def test_a_pure_guarantee_is_at_most_the_profile_of_randomized_response(epsilon, delta):
    found = Guarantee(HERE, epsilon=epsilon).as_approximate(delta)
    top = math.exp(epsilon)
    exact = max(0.0, math.log(max(1.0, top - float(delta) * (1 + top))))
    assert float(found.epsilon) == pytest.approx(exact, abs=1e-12)
    assert found.epsilon <= epsilon


def test_an_approximate_guarantee_may_trade_delta_for_epsilon():
    given_ = Guarantee(HERE, epsilon=1, delta="1e-6")
    assert given_.as_approximate("1e-6") == given_
    assert given_.as_approximate("1e-2").epsilon < 1
    with pytest.raises(ParameterError):
        given_.as_approximate("1e-7")


@given(SIZES, st.sampled_from(["0", "1e-7"]))
def test_substitution_is_two_steps(epsilon, delta):
    found = Guarantee(HERE, epsilon=epsilon, delta=delta).as_substitute()
    assert (found.adjacency, found.epsilon) == (Adjacency(SUBSTITUTE), 2 * epsilon)
    exact = (1 + math.exp(epsilon)) * float(delta)
    assert exact <= float(found.delta) * (1 + 1e-12) <= exact * (1 + 1e-11)
    assert Guarantee(HERE, rho=epsilon).as_substitute() == Guarantee("substitute", rho=4 * epsilon)


def test_substitution_keeps_the_person_and_the_words():
    person = Adjacency(ADD_REMOVE, USER, max_records=3, within="same status")
    found = Guarantee(person, epsilon=1).as_substitute().adjacency
    assert found == Adjacency(SUBSTITUTE, USER, max_records=3, within="same status")


@pytest.mark.parametrize(
    "adjacency", [Adjacency(SUBSTITUTE), BITS, Adjacency(ZERO_OUT), Adjacency.read("local")]
)
def test_there_is_no_other_way_to_substitute(adjacency):
    with pytest.raises(AdjacencyMismatch, match="'one record is added or removed'"):
        Guarantee(adjacency, epsilon=1).as_substitute()


def test_there_is_no_way_from_substitute_to_add_remove():
    assert not any("remove" in name for name in dir(Guarantee))
    with pytest.raises(AdjacencyMismatch, match="no conversion to add-remove"):
        Guarantee("substitute", epsilon=1) + Guarantee("add-remove", epsilon=1)


@given(SIZES, st.integers(1, 6))
def test_groups_grow_as_proved(epsilon, size):
    found = Guarantee(HERE, epsilon=epsilon, delta="1e-7", rho=epsilon).as_group(size)
    assert found.adjacency == Adjacency(ADD_REMOVE, USER, max_records=size)
    assert (found.epsilon, found.rho) == (size * epsilon, size**2 * epsilon)
    steps = sum(math.exp(i * epsilon) for i in range(size)) * 1e-7
    assert float(found.delta) == pytest.approx(steps, rel=1e-12)


def test_the_group_delta_is_rounded_up_and_at_most_one():
    assert group_delta(0, "1e-6", 5) == 5e-6
    assert group_delta("1e-40", "1e-6", 5) == pytest.approx(5e-6, rel=1e-12)
    assert group_delta(3, "0.1", 10) == 1
    assert group_delta_charge(1, "1e-6", 2) >= Fraction("1e-6") * (1 + Fraction(math.e) - 1 + 1)
    with pytest.raises(GuaranteeMismatch, match="its delta reaches 1"):
        Guarantee(HERE, epsilon=3, delta="0.1").as_group(10)


def test_group_delta_bounds_an_enumerated_group():
    """Three steps of a mechanism that fails openly: its three-step delta stays below the bound."""
    e, d = 0.5, 0.01
    step = [(1 - d) / (1 + math.exp(e)) * math.exp(e), (1 - d) / (1 + math.exp(e)), d, 0.0]
    far = [step[1], step[0], 0.0, d]
    measured = sum(max(0.0, p - math.exp(3 * e) * q) for p, q in zip(step, far, strict=True))
    assert measured <= group_delta(e, d, 3)


def test_bits_become_records_and_groups_of_bits():
    one = Guarantee(BITS, epsilon="0.1")
    assert one.as_record(16) == Guarantee("substitute", epsilon="1.6")
    assert one.as_group(3).adjacency == Adjacency(SUBSTITUTE, BIT, within="any 3 bits")
    assert one.as_group(3).as_record(16).adjacency.within == "any 3 bits"
    with pytest.raises(AdjacencyMismatch):
        Guarantee(HERE, epsilon=1).as_record(16)


def test_a_group_of_substituted_records_is_a_person_with_as_many_rows_as_before():
    """No number of substitutions changes how many records there are; a person's rows may."""
    once = Adjacency(SUBSTITUTE)
    assert once.distance(["x"], ["x", "y"]) == math.inf
    assert Adjacency(SUBSTITUTE, USER, 2).distance([(1, "x")], [(1, "x"), (1, "y")]) == 1
    pair = Guarantee(once, epsilon=1).as_group(2)
    assert pair.adjacency == Adjacency(SUBSTITUTE, USER, 2, within="as many rows as before")
    assert pair.adjacency != Adjacency(SUBSTITUTE, USER, 2)
    assert Guarantee(once, epsilon=1).as_group(1).adjacency == Adjacency(SUBSTITUTE, USER)


def test_groups_of_persons_say_so():
    person = Adjacency(ADD_REMOVE, USER, max_records=2, within="one hospital")
    assert Guarantee(person, epsilon=1).as_group(4).adjacency.within == (
        "one hospital, any 4 persons"
    )
    with pytest.raises(AdjacencyMismatch, match="add up instead"):
        Guarantee(Adjacency(LOCAL), epsilon=1).as_group(2)


@pytest.mark.parametrize("convert", [lambda g: g.as_group(2), lambda g: g.as_substitute()])
def test_approximate_zcdp_has_no_group_rule(convert):
    with pytest.raises(GuaranteeMismatch, match=r"as_approximate\(delta\)"):
        convert(Guarantee(HERE, delta="1e-6", rho="0.1"))
    assert convert(Guarantee(HERE, delta="1e-6", rho="0.1").as_approximate("1e-5")).delta


def test_sums_need_a_common_form_and_common_neighbors():
    pure, in_rho = Guarantee(HERE, epsilon="0.1"), Guarantee(HERE, rho="0.01")
    assert (pure + pure).epsilon == Fraction(1, 5)
    with pytest.raises(GuaranteeMismatch, match="pure guarantee and a zCDP one"):
        pure + in_rho
    assert (pure.as_zcdp() + in_rho).rho == pure_to_zcdp_charge("0.1") + Fraction(1, 100)
    with pytest.raises(AdjacencyMismatch, match=r"added or removed.*null record"):
        pure + Guarantee(Adjacency(ZERO_OUT), epsilon=1)


def test_a_delta_stays_with_the_amount_it_belongs_to():
    both = Guarantee(HERE, epsilon=1, delta="1e-6", rho="0.1")
    in_rho = Guarantee(HERE, delta="1e-7", rho="0.1")
    total = both + in_rho
    assert (total.epsilon, total.rho, total.delta) == (None, Fraction(1, 5), Fraction("1e-7"))
    assert (both + both).delta == Fraction("2e-6")


def test_within_is_part_of_who_is_protected():
    one = Guarantee(Adjacency(LOCAL, USER, within="one epoch"), epsilon=1)
    with pytest.raises(AdjacencyMismatch, match="one epoch"):
        one + Guarantee(Adjacency(LOCAL, USER, within="one slot"), epsilon=1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "epsilon is left out"),
        ({"epsilon": -1}, "epsilon is -1"),
        ({"epsilon": float("inf")}, "finite number"),
        ({"epsilon": 1, "delta": 1}, "below 1"),
        ({"epsilon": 1, "delta": -0.1}, "at least 0"),
        ({"rho": "nan"}, "finite number"),
    ],
)
def test_a_price_that_says_nothing_is_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        Guarantee(HERE, **settings)


def test_an_adjacency_is_never_guessed():
    with pytest.raises(ParameterError, match="no default"):
        Guarantee(None, epsilon=1)


def test_an_approximate_zcdp_sum_converts_to_what_its_parts_allow():
    """d-approximate rho-zCDP at epsilon has delta d + (1 - d) delta_rho(epsilon)."""
    total = Guarantee(HERE, delta="1e-7", rho="0.1")
    epsilon = total.as_approximate("1e-6").epsilon
    back = 1e-7 + (1 - 1e-7) * zcdp_delta("0.1", epsilon)
    assert back == pytest.approx(1e-6, rel=1e-9)
    assert np.isfinite(float(epsilon))
