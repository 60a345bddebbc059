"""What no private search can do: caps against linear programs, and the rules that attain them."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from noren.similarity import clamped_geometric, plan, published_loss, top_one_cap
from noren.similarity.as_published import published_law
from noren.similarity.planning import named_first


def best_by_linear_program(n, most, epsilon, lead):
    """Maximize how often the leader is named, over all private rules that treat records alike.

    A rule is one law for each vector of scores up to relabeling: variables P(name i | scores) of
    sorted scores, equal scores being named equally often.
    """
    states = [u for u in product(range(most + 1), repeat=n) if tuple(sorted(u, reverse=True)) == u]
    place = {(u, i): k for k, (u, i) in enumerate((u, i) for u in states for i in range(n))}
    equal, equals, below, belows = [], [], [], []

    def row(*entries):
        made = np.zeros(len(place))
        for where, value in entries:
            made[where] += value
        return made

    for u in states:
        equal.append(row(*((place[u, i], 1) for i in range(n))))
        equals.append(1)
        for i in range(n - 1):
            if u[i] == u[i + 1]:
                equal.append(row((place[u, i], 1), (place[u, i + 1], -1)))
                equals.append(0)
        for j in range(n):
            if u[j] == most:
                continue
            raised = list(u)
            raised[j] += 1
            order = sorted(range(n), key=lambda i, v=raised: (-v[i], i))
            other = tuple(raised[i] for i in order)
            for size in range(1, n):
                for event in {tuple(sorted(p[:size])) for p in permutations(range(n))}:
                    here = [(place[u, i], 1.0) for i in event]
                    there = [(place[other, order.index(i)], 1.0) for i in event]
                    for one, two in ((here, there), (there, here)):
                        scaled = [(k, -math.exp(epsilon) * value) for k, value in two]
                        below.append(row(*one, *scaled))
                        belows.append(0)
    goal = (lead, *[0] * (n - 1))
    found = linprog(
        -row((place[goal, 0], 1)), np.array(below), belows, np.array(equal), equals, bounds=(0, 1)
    )
    return -found.fun


@pytest.mark.parametrize(("n", "lead"), [(2, 1), (2, 3), (3, 1), (3, 2), (4, 2)])
@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_no_rule_names_the_best_record_more_often_than_the_cap(n, lead, epsilon):
    most = best_by_linear_program(n, lead, epsilon, lead)
    cap = top_one_cap(n, epsilon, lead)
    assert named_first(n, epsilon, lead) <= most * (1 + 1e-9)
    assert most <= cap * (1 + 1e-7)
    assert most == pytest.approx(cap, rel=1e-6)  # and it is attained here


def test_permute_and_flip_names_the_leader_as_the_formula_says():
    n, epsilon, lead = 4, 1.0, 2
    p = math.exp(-epsilon * lead)
    total = 0.0
    for order in permutations(range(n)):  # record 0 leads; the others are refused or taken
        total += (1 - p) ** order.index(0) / math.factorial(n)
    assert named_first(n, epsilon, lead) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_odds_of_naming_matches_are_attained_by_a_private_rule(n, epsilon):
    def law(s):
        weights = [0.01 * math.exp(epsilon * (2 * own - sum(s))) for own in s]
        return [*weights, 1 - sum(weights)]

    worst = 0.0
    for s in product((0, 1), repeat=n):
        for i in range(n):
            other = tuple(1 - own if j == i else own for j, own in enumerate(s))
            ratios = np.log(np.array(law(s)) / np.array(law(other)))
            worst = max(worst, np.abs(ratios).max())
    assert worst == pytest.approx(epsilon, rel=1e-12)
    for matches in range(1, n):
        named = law([1] * matches + [0] * (n - matches))
        right, wrong = sum(named[:matches]), sum(named[matches:n])
        together = plan(n, 4, 2, epsilon, 1, k=1).naming_odds(matches)[1]
        assert right / wrong == pytest.approx(together, rel=1e-12)


def test_a_lie_for_each_record_attains_the_odds_of_rules_for_each_record_alone():
    lie = 1 / (1 + math.e)
    alone, together = plan(1000, 4, 2, 1, 1, k=1).naming_odds(3)
    assert 3 * (1 - lie) / (997 * lie) == pytest.approx(alone, rel=1e-12)
    assert together == pytest.approx(0.022, abs=5e-4)


def test_permute_and_flip_on_two_records_beats_the_odds_of_each_record_alone():
    """n = 2, one match: 2 e^epsilon - 1 right ones for each wrong one."""
    for epsilon in (0.5, 1.0, 2.0):
        p = math.exp(-epsilon)
        right = 0.5 + 0.5 * (1 - p)
        assert right / (1 - right) == pytest.approx(2 * math.exp(epsilon) - 1, rel=1e-12)
        assert math.exp(epsilon) < right / (1 - right) < math.exp(2 * epsilon)


@given(st.floats(0.1, 4), st.integers(2, 6), st.integers(0, 10**9))
def test_every_private_channel_of_one_bit_comes_from_randomized_response(epsilon, outcomes, seed):
    public = np.random.default_rng(seed)
    ratio = np.exp(public.uniform(-epsilon, epsilon, outcomes))
    ratio[0], ratio[1] = math.exp(epsilon), math.exp(-epsilon)
    # choose masses so that both rows sum to 1: mix an outcome above 1 with one below
    base = public.random(outcomes) + 0.1
    high, low = base[ratio > 1], base[ratio <= 1]
    up = float(high @ (ratio[ratio > 1] - 1))
    down = float(low @ (1 - ratio[ratio <= 1]))
    base[ratio <= 1] *= up / down
    zero = base / base.sum()
    one = zero * ratio
    assert one.sum() == pytest.approx(1)
    f = 1 / (1 + math.exp(epsilon))
    rest = np.array([(1 - f) * zero - f * one, (1 - f) * one - f * zero]) / (1 - 2 * f)
    assert rest.min() > -1e-12
    assert rest.sum(axis=1) == pytest.approx([1, 1])


def derivable(law, loss):
    """Tell whether a law of scores can be made from geometric noise of that loss."""
    a = math.exp(-loss)
    inner = range(1, len(law) - 1)
    gaps = [(1 + a * a) * law[u] - a * (law[u - 1] + law[u + 1]) for u in inner]
    return all((gap >= -1e-12).all() for gap in gaps)


def test_the_papers_scores_cannot_be_derived_from_geometric_noise_of_their_own_loss():
    for q in (2, 4, 8):
        assert not derivable(published_law(q + 1, math.log(2)), published_loss(q, math.log(2)))
    law = published_law(3, math.log(2))
    a = math.exp(-published_loss(2, math.log(2)))
    assert a == pytest.approx(0.4375)
    left, right = (1 + a * a) * law[1, 0], a * (law[0, 0] + law[2, 0])
    assert (left, right) == pytest.approx((0.297852, 0.3125), abs=1e-6)
    clamped = np.array([clamped_geometric(4, 1, u) for u in range(5)])
    assert derivable(clamped, 1.0)
