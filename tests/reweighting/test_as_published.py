"""The paper's variants: what they release, what they cost, and what they refuse."""

from fractions import Fraction

import numpy as np
import pytest

from noren.errors import ParameterError
from noren.noise import Noise
from noren.reweighting import EncodedRows, ulsif
from noren.reweighting.as_published import PublishedRatio, with_private_rows_as_centres
from noren.reweighting.as_published_sampled import PublishedCentresRatio

RNG = np.random.default_rng(3)
PUBLIC, PRIVATE = RNG.normal(1, 1, 50), RNG.normal(2, 0.5, 2000)


@pytest.fixture(autouse=True)
def same_draws_in_any_order():
    global RNG
    RNG = np.random.default_rng(3)


def public_centres(**settings):
    given = {"centres": PUBLIC[:20], "sigma": 0.5, "ridge": 0.1, "adjacency": "substitute"}
    return PublishedRatio(**(given | {"epsilon": 10**6, "records": 2000} | settings))


def sampled(**settings):
    given = {"box": [[-3.0, 5.0]], "centres": 100, "sigma": 0.5, "ridge": 0.1, "epsilon": 2}
    return PublishedCentresRatio(
        **(given | {"adjacency": "substitute", "records": 2000} | settings)
    )


def test_without_noise_to_speak_of_it_is_the_plain_fit():
    release = public_centres().answer(EncodedRows.of(PRIVATE), Noise())
    wanted = ulsif(PRIVATE, PUBLIC, PUBLIC[:20], 0.5, 0.1).weights(PUBLIC)
    assert release.weights(PUBLIC) == pytest.approx(wanted, abs=1e-4)


def test_the_noise_of_a_moment_has_the_papers_scale():
    law = public_centres(epsilon=1).law
    assert law.parameter / (1 << 20) / 2000 == Fraction(20, 2000)  # b / (n epsilon)


def test_a_choice_made_on_private_rows_leaves_no_guarantee():
    question = public_centres(selected_on_private_rows=True)
    with pytest.raises(ParameterError, match="without a guarantee"):
        _ = question.guarantee
    release = question.answer(EncodedRows.of(PRIVATE), Noise())
    assert release.guarantee is None
    assert "chosen on the private rows" in str(release)


def test_real_rows_are_published_only_where_that_is_said_by_name():
    settings = {"centres": 10, "sigma": 0.5, "ridge": 0.1, "epsilon": 1, "noise": Noise()}
    with pytest.raises(ParameterError, match="publish_real_private_records"):
        with_private_rows_as_centres(PRIVATE, **settings)
    release = with_private_rows_as_centres(PRIVATE, **settings, publish_real_private_records=True)
    assert set(release.centres.ravel()) <= set(PRIVATE)
    assert release.guarantee is None
    assert "not a privacy mechanism" in str(release)


class Telling(Noise):
    """Noise that adds nothing and orders rows in a known way."""

    def permutation(self, n):
        return np.arange(n)[::-1]

    def discrete_laplace(self, scale, size=None):
        return np.zeros(size, np.int64)


def test_sampled_centres_come_in_the_order_of_drawing():
    question = sampled()
    rows = np.linspace(-2, 4, 2000)
    release = question.answer(EncodedRows.of(rows), Telling())
    centres = release.centre_steps.ravel() * float(question.grid)
    assert centres == pytest.approx(rows[::-1][:100], abs=float(question.grid))


def test_sampled_centres_are_clipped_to_the_box_and_the_price_is_the_total():
    question = sampled()
    rows = np.full(2000, 1e9)
    release = question.answer(EncodedRows.of(rows), Telling())
    assert (release.centre_steps * float(question.grid) == 5).all()
    assert question.guarantee.epsilon == 2
    assert question.inner(release.centre_steps).guarantee.epsilon == 1
    inner = question.centre_law
    assert float(inner.epsilon) == pytest.approx(3.5657406303, rel=1e-9)  # of 1 at b / n = 0.05
    assert release.guarantee == question.guarantee
    again = question.restore(release.record())
    assert again.weights(PUBLIC) == pytest.approx(release.weights(PUBLIC))


@pytest.mark.parametrize("wrong", [{"box": [[1.0, 1.0]]}, {"centre_share": 1}, {"centres": 0}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ParameterError):
        sampled(**wrong)
