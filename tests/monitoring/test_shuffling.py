"""Shuffling: oracles, brute force over small groups, and what is not claimed."""

from itertools import product
from math import exp

import numpy as np
import pytest

from noren.errors import NotPrivate
from noren.monitoring import shuffle_floor, shuffled_epsilon
from noren.monitoring.planning import plan
from noren.monitoring.shuffling import (
    Pair,
    clones_delta,
    clones_pair,
    shuffled_epsilon_over_slots,
    shuffled_plan,
)


@pytest.mark.parametrize(
    ("reports", "local", "delta", "expected"),
    [(100, 1, 1e-5, 0.407817894710), (1000, 1, 1e-8, 0.162844222951),
     (10**4, 2, 1e-8, 0.112651070334), (10**5, 4, 1e-8, 0.109726530710)],
)  # fmt: skip
def test_the_floor_matches_the_oracles(reports, local, delta, expected):
    assert shuffle_floor(reports, local, delta) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    ("reports", "local", "delta", "expected"),
    [(100, 1, 1e-5, 0.407817894710), (500, 1, 1e-6, 0.187064272497),
     (1000, 1, 1e-8, 0.162946825689), (50, 1, 1e-4, 0.501953077919)],
)  # fmt: skip
def test_the_exact_bound_matches_the_oracles_and_is_the_choice(reports, local, delta, expected):
    assert shuffled_epsilon(reports, local, delta) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    ("reports", "local", "delta", "expected"),
    [(100, 1, 1e-5, 0.443596276286), (1000, 1, 1e-8, 0.188586146253),
     (10**4, 1, 1e-8, 0.056447328982), (10**4, 2, 1e-8, 0.145976171735),
     (10**5, 4, 1e-8, 0.150667888599), (10**6, 6, 1e-8, 0.131800848740)],
)  # fmt: skip
def test_the_clones_bound_matches_the_oracles(reports, local, delta, expected):
    assert shuffled_epsilon(reports, local, delta, "clones") == pytest.approx(expected, abs=1e-11)
    if reports > 2000:
        assert shuffled_epsilon(reports, local, delta) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    ("reports", "local", "expected"),
    [(10**4, 1, 0.24081), (10**5, 4, 0.59123), (10**6, 6, 0.53930)],
)
def test_the_closed_form_matches_the_published_formula(reports, local, expected):
    assert shuffled_epsilon(reports, local, 1e-8, "closed") == pytest.approx(expected, abs=6e-6)


def test_deltas_match_the_oracles():
    deltas = [Pair.of(10, 1, ones).delta(0.5) for ones in range(10)]
    assert deltas[0] == pytest.approx(0.0181116489165905, rel=1e-12)
    assert max(deltas) == deltas[1] == pytest.approx(0.0214976594356163, rel=1e-12)
    assert deltas == pytest.approx(deltas[::-1], rel=1e-10)
    assert clones_delta(10, 1, 0.5) == pytest.approx(0.0277553292173903, rel=1e-12)


def test_the_law_of_the_count_is_right_by_brute_force():
    p, q = 1 / (1 + exp(-0.7)), 1 / (1 + exp(0.7))
    for ones in range(4):
        others = [1] * ones + [0] * (3 - ones)
        laws = []
        for mine in (1, 0):
            law = np.zeros(5)
            for said in product((0, 1), repeat=4):
                bits = [mine, *others]
                law[sum(said)] += np.prod(
                    [p if a == b else q for a, b in zip(said, bits, strict=True)]
                )
            laws.append(law)
        pair = Pair.of(4, 0.7, ones)
        assert pair.up == pytest.approx(laws[0])
        assert pair.down == pytest.approx(laws[1])


@pytest.mark.parametrize("local", [0.3, 1, 3])
def test_the_bounds_are_in_order(local):
    for reports in (2, 5, 40, 300):
        floor = shuffle_floor(reports, local, 1e-6)
        found = shuffled_epsilon(reports, local, 1e-6)
        assert floor - 1e-12 <= found <= shuffled_epsilon(reports, local, 1e-6, "clones") + 1e-12
        assert found <= local


def test_all_others_equal_is_no_guarantee():
    floor = shuffle_floor(10, 1, 0.0181116489165905)
    assert Pair.of(10, 1, 1).delta(floor) > 0.0181116489165905 * 1.15


def test_the_pair_of_clones_has_the_delta_of_the_bound():
    up, down = clones_pair(300, 1.0)
    for epsilon in (0.05, 0.2, 0.4):
        direct = np.maximum(0, up - exp(epsilon) * down).sum()
        assert direct == pytest.approx(clones_delta(300, 1.0, epsilon), rel=1e-10)
        assert direct == pytest.approx(np.maximum(0, down - exp(epsilon) * up).sum(), rel=1e-10)
    assert up.sum() == pytest.approx(1, abs=1e-12)


def test_slots_with_coins_of_their_own_compose():
    one = shuffled_epsilon(300, 1, 1e-6, "clones")
    assert shuffled_epsilon_over_slots(300, 1, 1e-6, 1) == pytest.approx(one, rel=1e-3)
    three = shuffled_epsilon_over_slots(300, 1, 1e-6, 3)
    assert one < three < 3 * one


@pytest.mark.slow
def test_five_slots_match_the_composition_by_dp_accounting():
    assert shuffled_epsilon_over_slots(10**4, 1, 1e-8, 5) == pytest.approx(0.13104, abs=1e-4)


def test_a_plan_states_what_shuffling_leaves():
    one = plan(10_000, 10, 1, 0.5, reports=1)
    assert shuffled_plan(one, 1e-8) == shuffled_epsilon(1000, 1, 1e-8)
    coins = plan(10_000, 10, 1, 0.5, strategy="independent", reports=2)
    assert shuffled_plan(coins, 1e-8) == shuffled_epsilon_over_slots(2000, 0.5, 1e-8, 2) < 1
    rolling = plan(10_000, 10, 1, 0.5, strategy="rolling", reports=1)
    assert shuffled_plan(rolling, 1e-8) == shuffled_plan(one, 1e-8)


@pytest.mark.parametrize("strategy", ["block", "ramp", "published", "tree"])
def test_no_plan_whose_lies_are_drawn_together_claims_shuffling(strategy):
    made = plan(10_000, 8, 2, 0.5, strategy=strategy, reports=2)
    with pytest.raises(NotPrivate, match="local epsilon holds"):
        shuffled_plan(made, 1e-8)


def test_nothing_is_claimed_for_lies_that_were_drawn_together():
    with pytest.raises(NotPrivate, match="1 only"):
        shuffled_epsilon(1000, 1, 1e-6, reports_per_person=3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: shuffled_epsilon(0, 1, 1e-6), "reports"),
        (lambda: shuffled_epsilon(10, 0, 1e-6), "epsilon"),
        (lambda: shuffled_epsilon(10, 1, 0), "delta"),
        (lambda: shuffled_epsilon(10, 1, 1), "delta"),
        (lambda: shuffled_epsilon(10, 1, 0.1, "best"), "bound"),
        (lambda: shuffled_epsilon(2001, 1, 0.1, "exact"), "reports"),
        (lambda: shuffled_epsilon(100, 3, 1e-6, "closed"), "epsilon0"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=f"^{name} is"):
        call()
