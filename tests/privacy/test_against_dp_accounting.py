"""Our accountant beside dp-accounting's, which runs in an environment of its own."""

from __future__ import annotations

import pytest

from noren.privacy import (
    ADD_REMOVE,
    Adjacency,
    compose_profiles,
    discrete_gaussian_profile,
    discrete_laplace_profile,
    gaussian_profile,
    laplace_profile,
    randomized_response_profile,
    sampled_gaussian_profile,
)
from noren.privacy.accountant import compose
from noren.privacy.lattice import PureLoss
from noren.privacy.numbers import read_epsilon

HERE = Adjacency(ADD_REMOVE)

THEIRS = """
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters as Price

def bracket(make, count, delta):
    both = [make(side).self_compose(count).get_epsilon_for_delta(delta) for side in (False, True)]
    return [float(end) for end in both]

def made(kind, a, b, h):
    return {
        "laplace": lambda s: pld.from_laplace_mechanism(
            1 / a, pessimistic_estimate=s, value_discretization_interval=h),
        "gaussian": lambda s: pld.from_gaussian_mechanism(
            a, pessimistic_estimate=s, value_discretization_interval=h),
        "sampled": lambda s: pld.from_gaussian_mechanism(
            a, sampling_prob=b, pessimistic_estimate=s, value_discretization_interval=h),
        "discrete laplace": lambda s: pld.from_discrete_laplace_mechanism(
            a / b, sensitivity=int(b), pessimistic_estimate=s, value_discretization_interval=h),
        "discrete gaussian": lambda s: pld.from_discrete_gaussian_mechanism(
            a, sensitivity=int(b), pessimistic_estimate=s, value_discretization_interval=h),
        "price": lambda s: pld.from_privacy_parameters(
            Price(a, b), value_discretization_interval=h),
    }[kind]

print(json.dumps([bracket(made(k, a, b, h), n, d) for k, a, b, n, d, h in given]))
"""

# kind, its two parameters, copies, delta, their grid
CASES = [
    ("laplace", 0.1, 0, 100, 1e-6, 1e-5),
    ("laplace", 0.5, 0, 37, 1e-5, 1e-5),
    ("gaussian", 4.0, 0, 50, 1e-6, 1e-5),
    ("sampled", 1.0, 0.01, 1000, 1e-6, 1e-5),
    ("sampled", 2.0, 0.3, 20, 1e-8, 1e-5),
    ("discrete laplace", 0.5, 1, 40, 1e-6, 1e-5),
    ("discrete laplace", 0.9, 3, 25, 1e-6, 1e-5),
    ("discrete gaussian", 4.0, 1, 10, 1e-6, 1e-5),
    ("discrete gaussian", 7.0, 2, 30, 1e-9, 1e-5),
    ("price", 0.3, 1e-9, 30, 1e-6, 1e-5),
]


def ours(kind, a, b):
    if kind == "laplace":
        return laplace_profile(HERE, a)
    if kind == "gaussian":
        return gaussian_profile(HERE, a)
    if kind == "sampled":
        return sampled_gaussian_profile(HERE, a, b)
    if kind == "discrete laplace":
        return discrete_laplace_profile(HERE, a, b)
    return discrete_gaussian_profile(HERE, a * a, b)


@pytest.mark.slow
def test_both_brackets_hold_one_truth(peer):
    theirs = peer("dp-accounting", THEIRS, CASES)
    for (kind, a, b, count, delta, _), (low, high) in zip(CASES, theirs, strict=True):
        if kind == "price":
            found = compose([(PureLoss(read_epsilon(a), b), count)]).epsilon(delta)
        else:
            found = compose_profiles([ours(kind, a, b)] * count).epsilon(delta)
        assert found.low <= high * (1 + 1e-7), (kind, found, high)
        if kind != "price":  # theirs has no optimistic form
            assert low <= found.high * (1 + 1e-7), (kind, found, low)
        assert found.high <= high * (1 + 1e-6), (kind, found, high)  # ours is at least as tight
        assert found.high == pytest.approx(high, rel=2e-3)


@pytest.mark.slow
def test_randomized_response_agrees(peer):
    program = """
from dp_accounting.pld import privacy_loss_distribution as pld
import math
found = []
for epsilon, k, count, delta in given:
    noise = k / (math.exp(epsilon) + k - 1)
    one = pld.from_randomized_response(noise, k, value_discretization_interval=1e-5)
    found.append(one.self_compose(count).get_epsilon_for_delta(delta))
print(json.dumps(found))
"""
    cases = [(0.5, 2, 20, 1e-6), (1.0, 10, 7, 1e-5), (0.2, 100, 60, 1e-7)]
    for (epsilon, k, count, delta), high in zip(
        cases, peer("dp-accounting", program, cases), strict=True
    ):
        profile = randomized_response_profile(HERE, epsilon, k)
        found = compose_profiles([profile] * count).epsilon(delta)
        assert found.high == pytest.approx(high, rel=1e-3, abs=2e-3)
        assert found.high <= high * (1 + 1e-6)
