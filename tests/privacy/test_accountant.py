"""The accountant's bracket: around exact values, ordered, and honest about what it resolves."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.errors import AdjacencyMismatch, ParameterError
from noren.privacy import (
    ADD_REMOVE,
    SUBSTITUTE,
    Adjacency,
    accountant,
    amplified_epsilon,
    compose_profiles,
    discrete_gaussian_profile,
    discrete_laplace_profile,
    finite_profile,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_profile,
    gaussian_sigma,
    gdp_epsilon,
    laplace_delta,
    laplace_profile,
    optimal_composition_delta,
    optimal_composition_epsilon,
    randomized_response_delta,
    randomized_response_profile,
    sampled_gaussian_profile,
    zcdp_epsilon,
)
from noren.privacy.accountant import compose
from noren.privacy.grids import TAIL
from noren.privacy.lattice import DiscreteGaussianLoss, DiscreteLaplaceLoss, PureLoss, ResponseLoss
from noren.privacy.losses import FiniteLoss, GaussianLoss, LaplaceLoss, SampledGaussianLoss

HERE = Adjacency(ADD_REMOVE)
SMALL = st.lists(st.integers(1, 9), min_size=3, max_size=3)


def enumerated(tables, epsilon: float) -> float:
    """Compose finite mechanisms through all their joint outputs."""
    total = 0.0
    for outputs in itertools.product(*(range(len(p)) for p, _ in tables)):
        p = math.prod(table[0][o] for table, o in zip(tables, outputs, strict=True))
        q = math.prod(table[1][o] for table, o in zip(tables, outputs, strict=True))
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


def law(weights) -> tuple[float, ...]:
    return tuple(w / sum(weights) for w in weights)


@given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=4), st.floats(0, 2))
@settings(max_examples=40)
def test_any_finite_mechanisms_lie_in_the_bracket(pairs, epsilon):
    tables = [(law(p), law(q)) for p, q in pairs]
    found = compose([(FiniteLoss(p, q), 1) for p, q in tables], step=1e-3).delta(epsilon)
    exact = enumerated(tables, epsilon)
    assert found.low - 1e-12 <= exact <= found.high + 1e-12
    assert found.width <= 8e-3


@given(st.floats(0.2, 3), st.integers(2, 5), st.integers(1, 4), st.floats(0, 4))
@settings(max_examples=40)
def test_k_ary_randomized_response_is_composed_exactly(epsilon0, k, count, epsilon):
    low = 1 / (math.exp(epsilon0) + k - 1)
    p = [math.exp(epsilon0) * low, *[low] * (k - 1)]
    q = [low, math.exp(epsilon0) * low, *[low] * (k - 2)]
    loss = ResponseLoss(Fraction(epsilon0), k)
    found = compose([(loss, count)]).delta(epsilon)
    assert found.width < 1e-14
    assert found.high == pytest.approx(enumerated([(p, q)] * count, epsilon), abs=1e-13)


@pytest.mark.parametrize("shift", [1, 2, 5])
def test_discrete_laplace_has_the_losses_of_its_pmf(shift):
    k = np.arange(-400, 401)
    p, q = (np.exp(-np.abs(k - m) * 0.5 / shift) for m in (0, shift))
    for epsilon in (0, 0.2, 0.49):
        exact = np.maximum(p - math.exp(epsilon) * q, 0).sum() / p.sum()
        assert DiscreteLaplaceLoss(Fraction(1, 2), shift).delta(epsilon) == pytest.approx(exact)


def test_a_lattice_needs_no_rounding_and_no_fft():
    profiles = [discrete_laplace_profile(HERE, "0.1")] * 60 + [
        discrete_gaussian_profile(HERE, 16)
    ] * 3
    found = compose_profiles(profiles)
    assert found.epsilon(1e-30).width == 0
    assert found.delta(1.0).width == 0


def test_an_exact_composition_resolves_tiny_deltas():
    found = compose([(ResponseLoss(Fraction(1, 10)), 100)])
    for epsilon in (2.0, 8.0, 9.7):
        exact = optimal_composition_delta("0.1", 100, epsilon)
        assert found.delta(epsilon).high == pytest.approx(exact, rel=1e-9)
    assert exact < 1e-25


@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize("step", [None, 2e-3])
def test_laplace_answers_lie_in_the_bracket(count, step):
    composed = compose([(LaplaceLoss(Fraction(3, 10)), count)], step=step)
    for epsilon in (0, 0.1, 0.25):
        exact, found = laplace_delta("0.3", epsilon, count), composed.delta(epsilon)
        assert found.low <= exact * (1 + 1e-12)
        assert exact <= found.high * (1 + 1e-12)
        assert found.width < 1e-3


@pytest.mark.parametrize(("sigma", "count"), [(1, 1), (4, 10), (30, 900)])
@pytest.mark.parametrize("step", [None, 3e-3])
def test_gaussians_lie_in_the_bracket(sigma, count, step):
    composed = compose([(GaussianLoss(1 / sigma), count)], step=step)
    found, exact = composed.epsilon(1e-6), gaussian_epsilon(sigma, "1e-6", count)
    assert found.low <= exact <= found.high
    assert found.high <= exact * 1.02
    assert found.width < (1e-4 if step is None else 0.2)


@given(st.floats(5e-4, 0.02), st.integers(1, 60))
@settings(max_examples=25)
def test_both_ends_keep_their_order_on_every_grid(step, count):
    parts = [(LaplaceLoss(Fraction(1, 5)), count), (GaussianLoss(0.1), 1 + count // 7)]
    found = compose(parts, step=step)
    for epsilon in (0.0, 0.5, 2.0):
        assert found.delta(epsilon).low <= found.delta(epsilon).high
    assert found.epsilon(1e-6).low <= found.epsilon(1e-6).high


def test_a_finer_grid_closes_the_bracket_quadratically():
    parts = [(GaussianLoss(0.2), 30)]
    widths = [compose(parts, step=h).epsilon(1e-6).width for h in (8e-3, 4e-3, 2e-3)]
    assert widths[0] > 3 * widths[1] > 9 * widths[2] > 0


def test_sampling_costs_less_than_the_amplified_formula_and_more_than_nothing():
    profile = sampled_gaussian_profile(HERE, 1, "0.1")
    for epsilon in (1.0, 2.0):
        sampled = amplified_epsilon(epsilon, "0.1")
        assert profile.delta_of_eps(sampled) <= 0.1 * gaussian_delta(epsilon, 1) * (1 + 1e-9)
        assert profile.delta_of_eps(sampled) == pytest.approx(0.1 * gaussian_delta(epsilon, 1))
        assert profile.delta_of_eps(epsilon) < gaussian_delta(epsilon, 1)


def test_the_mixture_decides_and_the_other_direction_alone_claims_too_little():
    removed, added = (SampledGaussianLoss(1.0, 0.01, side) for side in (True, False))
    both = compose([(removed, 1000)], [(added, 1000)], step=1e-4).epsilon(1e-6).high
    mixture = compose([(removed, 1000)], step=1e-4).epsilon(1e-6).high
    other = compose([(added, 1000)], step=1e-4).epsilon(1e-6).high
    assert both == mixture
    assert other == pytest.approx(1.589, abs=2e-3)


def test_sampling_everybody_is_not_sampling():
    whole = sampled_gaussian_profile(HERE, 2, 1)
    assert whole.delta_of_eps(0.7) == pytest.approx(gaussian_delta(0.7, 2))


def test_outputs_that_one_side_never_gives_are_lost_at_once():
    leaky = FiniteLoss((0.5, 0.4, 0.1), (0.5, 0.5, 0.0))
    assert leaky.infinite == 0.1
    found = compose([(leaky, 3)], step=1e-3)
    assert found.delta(50.0).high == pytest.approx(1 - 0.9**3, rel=1e-9)
    assert found.epsilon(0.2).high == math.inf
    assert finite_profile(HERE, [(leaky.p, leaky.q)]).delta_of_eps(9) == pytest.approx(0.1)


def test_the_worst_mechanism_of_a_price_is_the_optimal_composition():
    epsilon = compose([(PureLoss(Fraction(1, 2)), 20)]).epsilon(1e-6).high
    assert epsilon == pytest.approx(optimal_composition_epsilon("0.5", 20, "1e-6"), rel=1e-12)
    with_delta = compose([(PureLoss(Fraction(1, 2), 1e-8), 20)])
    assert epsilon < with_delta.epsilon(1e-6).high < math.inf
    assert with_delta.epsilon(1.9e-7).high == math.inf


def test_composition_beats_rho_and_is_not_beaten_by_adding():
    profile = discrete_laplace_profile(HERE, 1)
    found = compose_profiles([profile] * 10).epsilon(1e-6).high
    assert found < 10 < zcdp_epsilon(10 * math.tanh(0.5), "1e-6")


def test_deltas_below_the_noise_of_an_fft_are_refused():
    composed = compose([(LaplaceLoss(Fraction(1, 10)), 400)], step=1e-3)
    with pytest.raises(ParameterError, match="Use a closed form"):
        composed.epsilon(1e-13)
    with pytest.raises(ParameterError, match=r"at least 1\.64e-12 for a composition"):
        composed.delta(39.9)


def test_what_a_window_cuts_off_is_counted():
    composed = compose([(LaplaceLoss(Fraction(1, 10)), 400)], step=1e-3)
    low, high = composed.sides[0]
    assert high.slack > 2 * TAIL > 0 > low.slack
    assert len(high.losses) < 400 * 0.2 / 1e-3


def test_losses_beyond_floats_are_refused():
    with pytest.raises(ParameterError, match="at most 500"):
        compose([(GaussianLoss(40.0), 1)])


def test_mixed_neighbors_are_refused():
    with pytest.raises(AdjacencyMismatch):
        compose_profiles([gaussian_profile(HERE, 1), gaussian_profile(Adjacency(SUBSTITUTE), 1)])
    with pytest.raises(AdjacencyMismatch, match="'add-remove' neighbors only"):
        sampled_gaussian_profile(Adjacency(SUBSTITUTE), 1, "0.1")


@pytest.mark.parametrize(
    "profile",
    [
        laplace_profile(HERE, 1),
        gaussian_profile(HERE, 2),
        discrete_laplace_profile(HERE, 1, 3),
        discrete_gaussian_profile(HERE, 9, 2),
        randomized_response_profile(HERE, 1, 4),
        sampled_gaussian_profile(HERE, 1, "0.2"),
    ],
    ids=["laplace", "gaussian", "discrete-laplace", "discrete-gaussian", "response", "sampled"],
)
def test_a_profile_alone_agrees_with_its_composition(profile):
    composed = compose_profiles([profile])
    for epsilon in (0.05, 0.5, 0.9):
        found, exact = composed.delta(epsilon), profile.delta_of_eps(epsilon)
        assert found.low - 1e-14 <= exact <= found.high + 1e-14
        assert found.width < 1e-4
    assert profile.delta_of_eps(profile.epsilon("1e-3")) == pytest.approx(1e-3, rel=1e-6)


def test_a_group_curve_is_valid_and_no_worse_than_equal_steps():
    profile = discrete_laplace_profile(HERE, "0.5")
    pair = profile.as_group(2)
    true = discrete_laplace_profile(HERE, 1, 2)  # the same noise, moved by two
    assert pair.adjacency == Adjacency(ADD_REMOVE, pair.adjacency.unit, max_records=2)
    for epsilon in (0.0, 0.3, 0.9):
        equal = (1 + math.exp(epsilon / 2)) * profile.delta_of_eps(epsilon / 2)
        assert true.delta_of_eps(epsilon) <= pair.delta_of_eps(epsilon) <= equal + 1e-15
    assert profile.as_group(3).delta_of_eps(1.5) == 0


def test_a_response_profile_is_the_closed_form():
    profile = randomized_response_profile(HERE, 1, 5)
    assert profile.delta_of_eps(0.3) == pytest.approx(randomized_response_delta(1, 0.3, 5))


@pytest.mark.parametrize(
    ("loss", "count"),
    [
        (ResponseLoss(Fraction(1, 10)), 2000),
        (DiscreteLaplaceLoss(Fraction(1, 20), 3), 900),
        (DiscreteGaussianLoss(Fraction(100), 1), 30),
    ],
    ids=["response", "laplace", "gaussian"],
)
def test_the_slack_of_an_fft_covers_its_error(loss, count, monkeypatch):
    monkeypatch.setattr(accountant, "DIRECT_POINTS", 2**15)
    exact = compose([(loss, count)])
    monkeypatch.setattr(accountant, "DIRECT_POINTS", 0)
    circular = compose([(loss, count)])
    slack = circular.sides[0][1].slack
    assert exact.sides[0][1].slack == 0 < slack < 1e-11
    for delta in (1e-2, 1e-6, 1e-10):
        epsilon = exact.epsilon(delta).high
        found = circular.delta(epsilon)
        assert found.low <= delta <= found.high
        assert abs((found.low + found.high) / 2 - delta) < slack / 8


def test_a_curve_that_never_reaches_a_delta_has_an_infinite_epsilon():
    open_failure = finite_profile(HERE, [((0.5, 0.5), (1.0, 0.0)), ((1.0, 0.0), (0.5, 0.5))])
    assert open_failure.epsilon("1e-6") == math.inf
    assert open_failure.epsilon("0.5") < 1
    assert gaussian_profile(HERE, 1).epsilon(0) == math.inf
    assert laplace_profile(HERE, 1).epsilon(0) == pytest.approx(1)


@pytest.mark.parametrize("ask", [gaussian_sigma, gdp_epsilon])
def test_a_gaussian_delta_below_the_range_of_floats_is_refused(ask):
    with pytest.raises(ParameterError, match="at least 1e-300"):
        ask(1, "1e-400")
