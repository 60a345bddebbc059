"""Noise that Euclid's norm prices: its law, its price, what it refuses."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammainc
from scipy.stats import kstest

from noren.errors import ParameterError
from noren.mechanisms.ball import BallNoise, draw_lattice
from noren.privacy import SUBSTITUTE, Adjacency
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9 / 4
ADJACENCY = Adjacency(SUBSTITUTE)
pytestmark = pytest.mark.filterwarnings("ignore::noren.errors.NotPrivateWarning")


def ball(size=2, reach=10, epsilon=None, rho=None):
    price = (None if x is None else Fraction(x) for x in (epsilon, rho))
    return BallNoise(ADJACENCY, size, Fraction(reach), *price)


def test_the_masses_of_neighbours_differ_by_at_most_epsilon_and_reach_it():
    reach, epsilon = 5, Decimal(1)
    shift = (3, 4)  # Euclid's length is 5
    worst = Decimal(0)
    with localcontext() as context:
        context.prec = 40
        for x in range(-30, 31):
            for y in range(-30, 31):
                far = Decimal((x - shift[0]) ** 2 + (y - shift[1]) ** 2).sqrt()
                near = Decimal(x * x + y * y).sqrt()
                worst = max(worst, epsilon / reach * abs(far - near))
    assert worst <= 1
    assert worst == pytest.approx(1)  # along the line through both


def test_small_lattice_draws_follow_their_exact_law_and_the_test_can_tell():
    draws = np.array([draw_lattice(Fraction(2), 2, NOISE) for _ in range(6000)])

    def surprise(scale):
        places = np.arange(-60, 61)
        squares = places[:, None] ** 2 + places**2
        masses = np.exp(-np.sqrt(squares) / scale)
        masses /= masses.sum()
        seen = {(int(a), int(b)) for a, b in draws}
        cells = [(a, b) for a in range(-2, 3) for b in range(-2, 3)]
        assert seen.intersection(cells)
        wanted = np.array([masses[a + 60, b + 60] for a, b in cells])
        found = np.array([(draws == cell).all(axis=1).sum() for cell in cells])
        rest, left = 1 - wanted.sum(), len(draws) - found.sum()
        wanted, found = np.append(wanted, rest), np.append(found, left)
        statistic = ((found - wanted * len(draws)) ** 2 / (wanted * len(draws))).sum()
        return 1 - gammainc(len(cells) / 2, statistic / 2)

    assert surprise(2) > FALSE_ALARM
    assert surprise(2.4) < FALSE_ALARM
    assert surprise(1.6) < FALSE_ALARM


NOISE = seeded_noise(41)


@pytest.fixture(autouse=True)
def same_draws_in_any_order():
    global NOISE
    NOISE = seeded_noise(41)


@pytest.mark.parametrize("size", [1, 5, 12])
def test_the_radius_is_gamma(size):
    scale = Fraction(1 << 20)
    draws = np.array([draw_lattice(scale, size, NOISE) for _ in range(1000)])
    radius = np.sqrt((draws.astype(float) ** 2).sum(axis=1)) / float(scale)
    assert kstest(radius, lambda r: gammainc(size, r)).pvalue > FALSE_ALARM
    assert kstest(radius, lambda r: gammainc(size, r * 1.4)).pvalue < 1e-4


def test_the_stated_variance_and_margin_are_those_of_the_draws():
    law = ball(size=3, reach=1 << 20, epsilon=2)
    draws = np.array([law.draw(NOISE) for _ in range(1500)], float)
    assert np.mean(draws**2) == pytest.approx(law.variance, rel=0.15)
    inside = np.mean(np.sqrt((draws**2).sum(axis=1)) <= law.margin(0.95))
    assert inside == pytest.approx(0.95, abs=0.035)


def test_the_price_in_rho_is_the_gaussian_one():
    law = ball(size=100, reach=10, rho="0.125")
    assert law.parameter == Fraction(100) / Fraction("0.25")
    assert law.guarantee.rho == Fraction("0.125")
    assert law.guarantee.epsilon is None
    assert law.draw(NOISE).shape == (100,)
    assert law.mechanism.norm == "L2 squared"
    assert law.margin(0.95) == pytest.approx(math.sqrt(400 * 124.342), rel=1e-3)


def test_an_epsilon_buys_at_most_thirty_coordinates():
    assert ball(size=30, epsilon=1).guarantee.epsilon == 1
    with pytest.raises(ParameterError, match="at most 30"):
        ball(size=31, epsilon=1)
