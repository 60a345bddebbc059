"""Large scales: digits, signs and rejections, walked with a tape."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from noren.errors import DrawRefused
from noren.noise import coins, gaussian, laplace
from noren.noise.gaussian import draw_gaussian
from noren.noise.laplace import BASE, digit_laws, draw_geometric, draw_laplace
from noren.noise.reals import FULL
from noren.noise.sources import SeededTestSource, TapeSource
from noren.noise.tails import DigitLaw, GeometricLaw

NEGATIVE = 0x80  # the first coin of a word is the highest bit of its first byte
SCALE = Fraction(1000)


def test_a_negative_zero_is_drawn_again():
    half = 1 << 63  # the median of the magnitude: 1 - r**(k+1) > 1/2 first at k = 693
    source = TapeSource([0, NEGATIVE, half, 0])
    assert draw_laplace(SCALE, 1, source).tolist() == [693]
    assert source.left == 0
    assert draw_laplace(SCALE, 1, TapeSource([0, 0])).tolist() == [0]
    assert draw_laplace(SCALE, 1, TapeSource([half, NEGATIVE])).tolist() == [-693]
    twice = TapeSource([0, NEGATIVE, 0, NEGATIVE, half, NEGATIVE])
    assert draw_laplace(SCALE, 1, twice).tolist() == [-693]


def test_only_what_was_rejected_is_drawn_again():
    signs = NEGATIVE | 0x20  # the first and the third are negative
    source = TapeSource([0, 1 << 63, 0, signs, 1 << 63, 1 << 62, NEGATIVE])
    assert draw_laplace(SCALE, 3, source).tolist() == [-693, 693, 287]


@pytest.mark.parametrize("scale", [1400, 1500, 10**6, 10**9, 1 << 52])
def test_digits_split_a_scale_until_one_table_holds_the_rest(scale):
    *digits, top = digit_laws(Fraction(scale))
    assert all(isinstance(law, DigitLaw) and law.base == BASE for law in digits)
    assert isinstance(top, GeometricLaw)
    assert top.scale * BASE ** len(digits) == scale
    assert top.reach <= laplace.LONGEST_TABLE
    assert not digits or GeometricLaw(top.scale * BASE).reach > laplace.LONGEST_TABLE


def test_digits_are_put_together_and_the_top_one_has_the_open_tail():
    scale = Fraction(2000)
    for top, digit in ((0, 0), (1 << 63, 1 << 63), (FULL - 5, 77), (5, FULL)):
        drawn = draw_geometric(scale, 1, TapeSource([top, digit]))[0]
        r = math.exp(-1 / 2000)
        v = math.floor((math.log(2**64 - top) - 64 * math.log(2)) / math.log(r**BASE))
        low = math.floor(math.log1p(-digit / 2**64 * (1 - r**BASE)) / math.log(r))
        assert drawn == v * BASE + min(low, BASE - 1)
    beyond = draw_geometric(scale, 1, TapeSource([FULL, 1 << 63, 0]))[0]  # U = 1 - 2**-65
    assert beyond == math.floor(65 * math.log(2) * 2000 / BASE) * BASE


def test_a_lower_digit_that_ties_takes_another_word():
    law = DigitLaw(Fraction(2000), BASE)
    edge = int(laplace.table_of(law).thresholds[500])
    below = draw_geometric(Fraction(2000), 1, TapeSource([0, edge, 0]))[0]
    above = draw_geometric(Fraction(2000), 1, TapeSource([0, edge, FULL]))[0]
    assert (below, above) == (500, 501)


def test_a_geometric_draw_beyond_64_bits_is_refused(monkeypatch):
    monkeypatch.setattr(laplace, "LARGEST", 1 << 20)
    with pytest.raises(DrawRefused, match="64-bit"):
        draw_geometric(Fraction(10**6), 1000, SeededTestSource(1))


def test_proposals_are_accepted_by_exact_coins(monkeypatch):
    variance = Fraction(10**8)
    fast = draw_gaussian(variance, 300, SeededTestSource(2))
    monkeypatch.setattr(coins, "FILTER", 2.0)  # every coin is tossed with decimals
    assert np.array_equal(draw_gaussian(variance, 300, SeededTestSource(2)), fast)


def test_the_two_ways_to_draw_a_gaussian_have_one_law(fit, monkeypatch):
    variance = Fraction(900)
    monkeypatch.setattr(gaussian, "LARGEST_TABLE_VARIANCE", 1)
    rejected = draw_gaussian(variance, 300_000, SeededTestSource(3))
    k = np.arange(-300, 301)
    weights = np.exp(-(k**2) / 1800)
    assert fit(rejected, -300, weights / weights.sum()) > 1e-11
    wrong = np.exp(-(k**2) / 1900)
    assert fit(rejected, -300, wrong / wrong.sum()) < 1e-11
