"""Draws follow their laws, and the tests could tell if they did not.

Laws come from SciPy or from weights as they are defined, never from the code under test.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from noren.errors import ParameterError
from noren.noise import Noise
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9 / 60  # the file makes fewer than 60 such tests
MANY = 1_000_000


def laplace_masses(scale, reach):
    return stats.dlaplace(1 / scale).pmf(np.arange(-reach, reach + 1))


def gaussian_masses(variance, reach):
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    return weights / weights.sum()


def geometric_masses(scale, reach):
    return -np.expm1(-1 / scale) * np.exp(-np.arange(reach) / scale)


@pytest.mark.parametrize("scale", [0.3, 1, 2.5, 40, 700, 3000])
def test_discrete_laplace_follows_its_law(fit, scale):
    draws = seeded_noise(1).discrete_laplace(scale, MANY)
    reach = math.ceil(20 * scale) + 10
    assert fit(draws, -reach, laplace_masses(scale, reach)) > FALSE_ALARM
    for wrong in (0.95, 1.05):  # five in a hundred too little or too much noise is seen
        assert fit(draws, -reach, laplace_masses(scale * wrong, reach)) < FALSE_ALARM


@pytest.mark.parametrize("variance", [0.1, 1, 20, 400**2, 5001**2])
def test_discrete_gaussian_follows_its_law(fit, variance):
    draws = seeded_noise(2).discrete_gaussian(variance, MANY)
    reach = math.ceil(8 * math.sqrt(variance)) + 5
    assert fit(draws, -reach, gaussian_masses(variance, reach)) > FALSE_ALARM
    for wrong in (0.95, 1.05):
        assert fit(draws, -reach, gaussian_masses(variance * wrong, reach)) < FALSE_ALARM


@pytest.mark.parametrize("scale", [0.2, 3, 1400, 2000])
def test_geometric_follows_its_law(fit, scale):
    draws = seeded_noise(3).geometric(scale, MANY)
    reach = math.ceil(20 * scale) + 10
    assert fit(draws, 0, geometric_masses(scale, reach)) > FALSE_ALARM
    for wrong in (0.95, 1.05):
        assert fit(draws, 0, geometric_masses(scale * wrong, reach)) < FALSE_ALARM


@pytest.mark.parametrize("scale", [1e5, 1e9, 2.0**52])
def test_large_scales_follow_the_exponential_law_that_they_approach(scale):
    draws = seeded_noise(4).discrete_laplace(scale, 200_000)
    signs = np.sign(draws)
    assert abs(signs.sum()) < 6.5 * math.sqrt(draws.size)
    sizes = (np.abs(draws) + seeded_noise(5).integers_below(1 << 40, draws.size) / 2**40) / scale
    assert stats.kstest(sizes, "expon").pvalue > FALSE_ALARM
    assert stats.kstest(sizes * 1.03, "expon").pvalue < FALSE_ALARM


def test_the_low_digits_of_a_large_scale_are_uniform(fit):
    draws = np.abs(seeded_noise(6).discrete_laplace(1e9, MANY)) % 1024
    assert fit(draws, 0, np.full(1024, 1 / 1024)) > FALSE_ALARM


def test_a_large_gaussian_follows_the_normal_law_that_it_approaches():
    draws = seeded_noise(7).discrete_gaussian(10**12, 200_000) / 10**6
    assert stats.kstest(draws, "norm").pvalue > FALSE_ALARM
    assert stats.kstest(draws * 1.03, "norm").pvalue < FALSE_ALARM


@pytest.mark.parametrize(
    ("p", "chance", "wrong"),
    [
        ("0.5", 0.5, 0.49),
        ("1/3", 1 / 3, 0.34),
        ("0.999", 0.999, 0.9985),
        ("1e-4", 1e-4, 2e-4),
        (0.1, 0.1, 0.103),
    ],
)
def test_coins_come_up_as_often_as_they_should(p, chance, wrong):
    count = int(seeded_noise(8).bernoulli(p, MANY).sum())
    assert stats.binomtest(count, MANY, chance).pvalue > FALSE_ALARM
    assert stats.binomtest(count, MANY, wrong).pvalue < FALSE_ALARM


@pytest.mark.parametrize(("x", "rate"), [("0.001", 0.001), (1, 1), ("7/2", 3.5)])
def test_exponential_coins_come_up_as_often_as_they_should(x, rate):
    count = int(seeded_noise(9).bernoulli_exp(x, MANY).sum())
    assert stats.binomtest(count, MANY, math.exp(-rate)).pvalue > FALSE_ALARM
    assert stats.binomtest(count, MANY, math.exp(-1.5 * rate)).pvalue < FALSE_ALARM


@pytest.mark.parametrize("n", [1, 2, 7, 64, 1000])
def test_integers_below_are_uniform(fit, n):
    draws = seeded_noise(10).integers_below(n, MANY)
    assert draws.min() >= 0
    assert draws.max() < n
    if n > 1:
        tilted = np.linspace(0.96, 1.04, n) / n
        assert fit(draws, 0, np.full(n, 1 / n)) > FALSE_ALARM
        assert fit(draws, 0, tilted) < FALSE_ALARM


def test_integers_below_a_large_number_reach_both_halves():
    for n in (2**63, 2**63 + 1, 2**64, 10**40):
        draws = seeded_noise(11).integers_below(n, 4000)
        assert all(0 <= int(draw) < n for draw in draws)
        upper = sum(int(draw) >= n // 2 for draw in draws)
        assert abs(upper - 2000) < 7 * math.sqrt(1000)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1), (5, "0.5"), (1000, 8)])
def test_randomized_response_keeps_and_leaves_as_it_should(fit, k, epsilon):
    true = 3 % k
    reports = seeded_noise(12).randomized_response(np.full(MANY, true), k, epsilon)
    kept = math.exp(float(epsilon))
    masses = np.full(k, 1 / (kept + k - 1))
    masses[true] *= kept
    assert fit(reports, 0, masses) > FALSE_ALARM
    wrong = np.full(k, 1 / (kept * 1.05 + k - 1))
    wrong[true] *= kept * 1.05
    assert fit(reports, 0, wrong) < FALSE_ALARM


def test_randomized_response_moves_strangers_inside_without_a_word():
    noise = Noise()
    values = np.array([-(2**62), -1, 4, 2**62])
    assert noise.randomized_response(values, 4, 500).tolist() == [0, 0, 3, 3]
    for given in (np.array([2**63, 5], np.uint64), np.array([200, 5], np.uint8)):
        assert noise.randomized_response(given, 1000, 500).tolist()[1] == 5
    assert noise.randomized_response(np.array([[True, False]]), 2, 500).tolist() == [[1, 0]]
    assert values.tolist() == [-(2**62), -1, 4, 2**62]


@pytest.mark.parametrize(
    "draw",
    [
        lambda noise, size: noise.discrete_laplace(2, size),
        lambda noise, size: noise.discrete_laplace(10**6, size),
        lambda noise, size: noise.discrete_gaussian(2, size),
        lambda noise, size: noise.discrete_gaussian(10**8, size),
        lambda noise, size: noise.geometric(2, size),
        lambda noise, size: noise.integers_below(9, size),
        lambda noise, size: noise.binomial(9, "0.5", size),
        lambda noise, size: noise.hypergeometric(5, 6, 7, size),
    ],
)
def test_size_gives_one_number_or_an_array_of_that_shape(draw):
    noise = Noise()
    assert type(draw(noise, None)) is int
    for size, shape in ((0, (0,)), (3, (3,)), ((2, 3), (2, 3)), ((), ())):
        drawn = draw(noise, size)
        assert drawn.shape == shape
        assert drawn.dtype == np.int64


def test_coins_are_python_bools_or_arrays_of_bools():
    assert type(Noise().bernoulli("0.5")) is bool
    assert Noise().bernoulli("0.5", (2, 2)).dtype == np.bool_
    assert Noise().bernoulli(0, 3).tolist() == [False] * 3
    assert Noise().bernoulli(1, 3).tolist() == [True] * 3
    assert Noise().bernoulli_exp(0, 3).tolist() == [True] * 3
    assert type(Noise().integers_below(10**30)) is int


@pytest.mark.parametrize(
    ("call", "named"),
    [
        *(
            (lambda noise, bad=bad: noise.discrete_laplace(bad), "scale")
            for bad in (0, -1, math.inf, math.nan, None, "x", True, 2**53)
        ),
        *(
            (lambda noise, bad=bad: noise.geometric(bad), "scale")
            for bad in (0, -2, math.inf, 2**53)
        ),
        *(
            (lambda noise, bad=bad: noise.discrete_gaussian(bad), "variance")
            for bad in (0, -1, math.inf, math.nan, None, 2**105)
        ),
        *((lambda noise, bad=bad: noise.bernoulli(bad), "p") for bad in (-0.1, 1.1, None)),
        *((lambda noise, bad=bad: noise.integers_below(bad), "n") for bad in (0, -3, 1.5)),
        *(
            (lambda noise, bad=bad: noise.randomized_response([0], 2, bad), "epsilon")
            for bad in (0, -1, math.inf, None)
        ),
        (lambda noise: noise.randomized_response([0], 1, 1), "k"),
        (lambda noise: noise.randomized_response([0], 2**63, 1), "k"),
        (lambda noise: noise.randomized_response([0.5], 2, 1), "values"),
        (lambda noise: noise.bernoulli_exp(-1), "x"),
        (lambda noise: noise.discrete_laplace(1, -1), "size"),
        (lambda noise: noise.subset(3, 4), "k"),
        (lambda noise: noise.binomial(2**40, "0.5"), "n"),
        (lambda noise: noise.hypergeometric(3, 4, 8), "taken"),
        (lambda noise: noise.choose([]), "weights"),
        (lambda noise: noise.choose([0, 0]), "weights"),
        (lambda noise: noise.choose([1, -1]), "a weight"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(call, named):
    with pytest.raises(ParameterError) as refused:
        call(Noise())
    assert refused.value.name == named
    assert "must be" in str(refused.value)
