"""Whitened moments: the worked example, the bound of one row, and what is released of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noren.reweighting import BasisSums, Moments, WhitenedBasis, calibration_weights
from noren.reweighting.calibration import calibrate, shrinkage
from noren.reweighting.whitening import Whitening, raw_moments
from noren.testing import seeded_noise

pytestmark = pytest.mark.filterwarnings("ignore::noren.errors.NotPrivateWarning")
PUBLIC = np.array([-1, -0.4, 0.1, 0.5, 0.9, 1.2, 1.6, 2.1, 2.7, 3.3])[:, None]
PRIVATE = np.array([1.1, 1.4, 1.6, 1.8, 1.9, 2, 2.1, 2.3, 2.4, 2.6, 2.8, 3.1])[:, None]
WEIGHTS = [
    .4862234104418, .6507964998466, .7979640725082, .9156013627029, 1.0269664793019,
    1.1027176433092, 1.1886006559269, 1.2643469180582, 1.2992688105753, 1.2675141468291,
]  # fmt: skip


def test_the_worked_example_of_moments_and_slack():
    whitening = Whitening.of(PUBLIC, 2)
    assert whitening.radius == pytest.approx(2.2885452547563676, rel=1e-12)
    z, public = whitening.values(PRIVATE).mean(axis=0), whitening.values(PUBLIC)
    assert z == pytest.approx([0.7103245064082596, 0.3198681839521877], rel=1e-11)
    v = 3 * (2 * whitening.radius / (12 * 10)) ** 2
    assert v == pytest.approx(0.0043645328192232, rel=1e-12)
    spread, sampling = np.cov(public, rowvar=False), 1 / 12 + 1 / 10
    kappa = shrinkage(z - public.mean(axis=0), v, np.trace(spread) / 2, sampling)
    assert kappa == pytest.approx(8.600310010550, rel=1e-11)
    fit = calibrate(public, z, v * np.eye(2) + spread * sampling, kappa)
    assert fit.raw == pytest.approx(WEIGHTS, rel=1e-6)


def test_whitened_public_rows_have_unit_spread_and_the_root_turns_them_back():
    rows = np.random.default_rng(0).standard_normal((400, 3)) @ np.diag([1, 5, 0.1])
    whitening = Whitening.of(rows, 3)
    z = (raw_moments(rows, 3) - whitening.shift) @ whitening.turn
    assert np.cov(z, rowvar=False) == pytest.approx(np.eye(9), abs=1e-8)
    assert z @ whitening.root.T + whitening.shift == pytest.approx(raw_moments(rows, 3), abs=1e-9)
    assert np.quantile(np.linalg.norm(z, axis=1), 0.95) == pytest.approx(whitening.radius)


def test_moments_that_say_the_same_are_left_out():
    rows = np.random.default_rng(1).standard_normal((100, 2))
    assert Whitening.of(np.column_stack([rows, rows[:, 0]]), 1).size == 2
    flags = (rows[:, :1] > 0).astype(float)
    assert Whitening.of(flags, 2).size == 1  # a flag is its own square


BASIS = WhitenedBasis.of(np.random.default_rng(2).standard_normal((200, 3)), 3)
NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(arrays(np.float64, (4, 3), elements=NUMBERS))
def test_no_row_is_longer_than_the_bound_whatever_it_holds(rows):
    steps = BASIS.steps(rows)
    assert ((steps * steps).sum(axis=1) <= BASIS.reach**2).all()


def test_a_row_has_the_same_steps_wherever_it_stands():
    rows = np.random.default_rng(3).standard_normal((257, 3))
    steps = BASIS.steps(rows)
    for size in (1, 2, 3, 7, 64, 255):
        for start in (0, 1, 5):
            part = BASIS.steps(rows[start : start + size])
            assert (part == steps[start : start + size]).all()
    assert (BASIS.total(rows) == steps.sum(axis=0)).all()


def test_the_secret_number_of_rows_is_paid_for_with_a_tenth():
    question = Moments(basis=BASIS, adjacency="add-remove", epsilon=1)
    law = question.law
    assert law.sum.epsilon + law.count.epsilon == 1
    assert float(law.count.epsilon) == pytest.approx(0.1)
    assert law.sum.reach == BASIS.reach
    assert question.guarantee.epsilon == 1
    rho = Moments(basis=BASIS, adjacency="add-remove", rho="0.1").guarantee
    assert rho.rho == pytest.approx(0.1)
    assert rho.epsilon is None
    one = WhitenedBasis.of(PUBLIC, 1)
    alone = Moments(basis=one, adjacency="add-remove", epsilon=1).law
    assert float(alone.count.epsilon) == pytest.approx(0.35)


@pytest.mark.parametrize("adjacency", ["add-remove", "substitute"])
def test_the_stated_covariance_is_that_of_the_released_moments(adjacency):
    n = 4000
    records = n if adjacency == "substitute" else None
    basis = WhitenedBasis.of(np.random.default_rng(4).standard_normal((300, 2)), 2)
    rows = np.random.default_rng(5).standard_normal((n, 2)) + np.array([0.5, 0.0])
    statistic = BasisSums.of(rows, basis)
    question = Moments(basis=basis, adjacency=adjacency, epsilon="0.5", records=records)
    noise = seeded_noise(6)
    releases = [question.answer(statistic, noise) for _ in range(600)]
    found = np.cov(np.array([release.moments for release in releases]), rowvar=False)
    stated = np.mean([release.covariance for release in releases], axis=0)
    assert np.diag(found) == pytest.approx(np.diag(stated), rel=0.35)
    exact = statistic.steps / (basis.unit * n)
    mean = np.mean([release.moments for release in releases], axis=0)
    assert np.abs(mean - exact).max() < 6 * np.sqrt(np.diag(stated).max() / 600)
    assert releases[0].records == pytest.approx(n, rel=0.3)


def test_calibration_reaches_whitened_moments_and_other_rows():
    rng = np.random.default_rng(7)
    public, private = rng.standard_normal((500, 2)), rng.standard_normal((5000, 2)) * 0.8 + [1, 0]
    basis = WhitenedBasis.of(public, 2)
    question = Moments(basis=basis, adjacency="substitute", epsilon=2, records=5000)
    weights = calibration_weights(question.answer(BasisSums.of(private, basis), NOISE), public)
    assert weights.values @ public / 500 == pytest.approx([1, 0], abs=0.15)
    assert weights.values.mean() == pytest.approx(1)
    assert weights.predict(public) == pytest.approx(weights.values, rel=1e-9)
    assert weights.unsupported == ()


NOISE = seeded_noise(8)


@pytest.fixture(autouse=True)
def same_draws_in_any_order():
    global NOISE
    NOISE = seeded_noise(8)
