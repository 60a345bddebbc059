"""Float laws that are never released, and randomness that is no secret."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from noren.errors import ParameterError
from noren.noise import Noise, idealized, public
from noren.noise.reals import FULL
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9 / 6


def test_the_module_and_its_mark_say_that_the_law_is_idealized():
    assert "IDEALIZED" in idealized.__doc__
    assert idealized.IDEALIZED == "law of the linear term idealized"


def test_normals_are_normal_and_the_test_can_tell():
    draws = idealized.normal_vector(200_000, 4, seeded_noise(1)) / 2
    assert stats.kstest(draws, "norm").pvalue > FALSE_ALARM
    assert stats.kstest(draws * 1.03, "norm").pvalue < FALSE_ALARM


@pytest.mark.parametrize(("dimension", "rate"), [(1, 1), (3, "0.5"), (20, 7)])
def test_a_gamma_sphere_has_its_radius_and_its_direction(dimension, rate):
    noise = seeded_noise(2)
    drawn = np.array([idealized.gamma_sphere(dimension, rate, noise) for _ in range(5000)])
    radius = np.linalg.norm(drawn, axis=1)
    law = stats.gamma(dimension, scale=1 / float(rate))
    assert stats.kstest(radius, law.cdf).pvalue > FALSE_ALARM
    assert stats.kstest(radius * 1.2, law.cdf).pvalue < FALSE_ALARM
    if dimension == 3:  # a coordinate of a uniform direction in three dimensions is uniform
        heights = drawn[:, 2] / radius
        assert stats.kstest(heights, stats.uniform(-1, 2).cdf).pvalue > FALSE_ALARM
    if dimension == 1:
        assert abs(np.sign(drawn).sum()) < 7 * math.sqrt(5000)


def test_the_ends_of_the_uniforms_stay_inside(tape):
    ends = idealized.open_uniforms(np.array([0, FULL], np.uint64))
    assert ends[0] == 2.0**-53
    assert ends[1] == 1 - 2.0**-53
    assert np.isfinite(idealized.standard_normals(4, tape([0, 1, FULL, FULL - 1]))).all()


@pytest.mark.parametrize(("dimension", "rate"), [(0, 1), (1.5, 1), (2, 0), (2, math.inf)])
def test_a_sphere_that_cannot_be_is_refused(dimension, rate):
    with pytest.raises(ParameterError):
        idealized.gamma_sphere(dimension, rate, Noise())


def test_public_randomness_repeats_and_wants_a_seed():
    assert np.array_equal(public.generator(3).random(5), public.generator(3).random(5))
    assert np.array_equal(
        public.generator([1, 2]).random(5), np.random.default_rng([1, 2]).random(5)
    )
    with pytest.raises(TypeError, match="seed"):
        public.generator(None)
