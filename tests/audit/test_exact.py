"""Exact enumeration: of laws, of universes, of code, of added noise."""

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from noren.audit.additive import worst_cost
from noren.audit.enumerated import EnumeratedNoise, Walk, law_of
from noren.audit.exact import hockey_stick, largest_rho, log_ratio, neighbours, universe, worst_of
from noren.audit.noise import selection_epsilon
from noren.noise import laws
from noren.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, USER, Adjacency


def response(k, epsilon, truth):
    keep = Decimal(epsilon).exp()
    return {j: (keep if j == truth else Decimal(1)) / (keep + k - 1) for j in range(k)}


def shifted(draw, by, window=60):
    """Enumerate an integer draw, moved."""
    found, _ = law_of(lambda noise: by + draw(noise), window=window)
    return found


# 1. oracle


def test_permute_and_flip_reaches_its_epsilon_and_the_exponential_mechanism_does_not():
    assert selection_epsilon(laws.permute_and_flip_law) == 1.0
    assert selection_epsilon(laws.exponential_mechanism_law) == pytest.approx(
        0.8746872490, rel=1e-10
    )


def test_binary_response_has_the_delta_of_the_oracle_table():
    found = hockey_stick(response(2, 1, 0), response(2, 1, 1), Fraction(1, 2))
    assert found == pytest.approx(0.287649136644968, rel=1e-12)


@pytest.mark.parametrize(("variance", "delta"), [(16, 3.05545464926682e-6), (1, 0.141351339405622)])
def test_discrete_gaussian_noise_has_the_delta_of_the_oracle_table(variance, delta):
    laws_ = [shifted(lambda noise: noise.discrete_gaussian(variance), by) for by in (0, 1)]
    assert hockey_stick(*laws_, Fraction(1)) == pytest.approx(delta, rel=1e-12)


@pytest.mark.parametrize(("d", "rho"), [(1, 0.4621171573), (2, 0.3934693403), (5, 0.3720739949)])
def test_discrete_laplace_noise_has_the_rho_of_the_table(d, rho):
    p, q = (shifted(lambda noise: noise.discrete_laplace(d), by, 30 * d) for by in (0, d))
    assert largest_rho(p, q, Decimal("1e-9")) == pytest.approx(rho, rel=1e-9)
    assert log_ratio(p, q, Decimal("1e-9")) == pytest.approx(1, rel=1e-12)


def test_many_categories_cost_more_than_their_kullback_leibler_divergence():
    p, q = response(10, 1, 0), response(10, 1, 1)
    divergence = sum(float(p[y]) * float((p[y] / q[y]).ln()) for y in p)
    assert divergence < largest_rho(p, q) <= 0.1481329734 * (1 + 1e-9)


def test_an_outcome_that_only_one_side_reaches_is_infinite():
    p, q = {0: Decimal("0.5"), 1: Decimal("0.5")}, {0: Decimal(1)}
    assert log_ratio(p, q) == math.inf
    assert largest_rho(p, q) == math.inf
    assert log_ratio(q, p) == pytest.approx(math.log(2))
    assert hockey_stick(p, q, Fraction(3)) == 0.5


# 2. universes and walks


@pytest.mark.parametrize(
    ("adjacency", "size", "datasets"),
    [
        (Adjacency(ADD_REMOVE), 2, 1 + 2 + 4),
        (Adjacency(SUBSTITUTE), 2, 4),
        (Adjacency(LOCAL), 1, 2),
        (Adjacency(ADD_REMOVE, USER, 2), 1, 1 + 5),
        (Adjacency(SUBSTITUTE, USER, 2), 1, 5),
    ],
)
def test_a_universe_holds_every_dataset_once_and_its_neighbours_are_neighbours(
    adjacency, size, datasets
):
    found = universe(adjacency, "ab", size)
    assert len(found) == len(set(found)) == datasets
    pairs = list(neighbours(adjacency, found))
    assert pairs
    assert all(adjacency.distance(a, b) == 1 for a, b in pairs)
    assert all((b, a) in pairs for a, b in pairs)


def test_worst_of_looks_at_both_directions():
    one = {"y": Decimal("0.9"), "n": Decimal("0.1")}
    two = {"y": Decimal("0.5"), "n": Decimal("0.5")}
    worst = worst_of({(0,): one, (1,): two}.__getitem__, [((0,), (1,)), ((1,), (0,))])
    assert worst.log_ratio == pytest.approx(math.log(5))
    assert worst.pairs == 2


def test_every_path_of_adaptive_draws_is_walked_with_its_probability():
    def ask(noise):
        drawn = noise.integers_below(3)
        return [drawn, *(bool(noise.bernoulli("0.25")) for _ in range(drawn))]

    law, lost = law_of(ask)
    assert abs(lost) < Decimal("1e-45")
    assert len(law) == 1 + 2 + 4
    assert law["[2, true, true]"] == pytest.approx(Decimal(1) / 48)


def test_a_cut_law_says_what_it_lost():
    law, lost = law_of(lambda noise: noise.discrete_laplace(1, 2).tolist(), window=3)
    r = math.exp(-1)
    inside = 1 - 2 * r**4 / (1 + r)
    assert len(law) == 49
    assert float(lost) == pytest.approx(1 - inside**2, rel=1e-9)


def test_a_law_that_is_not_enumerated_is_refused_and_never_drawn():
    noise = EnumeratedNoise(Walk(), 3)
    assert not noise.secure
    with pytest.raises(NotImplementedError):
        noise.hypergeometric(3, 3, 2, 5)


# added noise


def test_added_noise_is_measured_exactly():
    epsilon, rho = worst_cost(lambda x, noise: x + noise.discrete_laplace("2.5"), pairwise((0, 3)))
    assert epsilon == 1.2
    assert rho == pytest.approx(float(laws_rho(Fraction(6, 5), 3)))
    epsilon, rho = worst_cost(lambda x, noise: x + noise.discrete_gaussian(8), pairwise((0, 4)))
    assert (epsilon, rho) == (math.inf, 1.0)


def laws_rho(epsilon, d):
    from noren.privacy.charges import discrete_laplace_rho_charge

    return discrete_laplace_rho_charge(epsilon, d)


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x, noise: (x + noise.discrete_laplace(1)) * 2,
        lambda x, noise: (x + noise.discrete_laplace(1)) / 2,
        lambda x, noise: x + noise.discrete_laplace(1 + x),
        lambda x, noise: [x, x + noise.discrete_laplace(1)],
        lambda x, noise: max(0, x + noise.discrete_laplace(1)),
        lambda x, noise: x,
    ],
    ids=["scaled", "float", "scale from data", "bare", "clamped", "no noise"],
)
def test_what_does_not_simply_add_noise_is_never_taken_for_private(mechanism):
    assert worst_cost(mechanism, [(0, 1)])[0] == math.inf


def test_the_enumerated_selections_are_laws():
    for draw in ("exponential_mechanism", "permute_and_flip"):
        law, lost = law_of(lambda noise, d=draw: getattr(noise, d)(np.array([0, 3, 3]), 2))
        assert abs(lost) < Decimal("1e-45")
        assert law["1"] == pytest.approx(law["2"])
        assert Counter(law).most_common(3)[-1][0] == "0"
