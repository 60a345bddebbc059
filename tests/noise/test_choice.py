"""Choices by weight: exact, whatever the weights."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.noise import Noise
from noren.noise.choice import choose_in_window, choose_real
from noren.noise.reals import FULL, precision
from noren.noise.sources import TapeSource
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9 / 4


def decimals(weights):
    def at(digits):
        with precision(digits):
            return [Decimal(w.numerator) / w.denominator for w in weights]

    return at


@given(
    weights=st.lists(st.fractions(0, 5, max_denominator=50), min_size=1, max_size=8).filter(any),
    place=st.integers(0, 7),
    offset=st.integers(-2, 2),
    last=st.integers(0, FULL),
)
def test_a_choice_is_the_first_sum_above_the_uniform(weights, place, offset, last):
    sums = [sum(weights[: i + 1]) for i in range(len(weights))]
    edge = int(sums[place % len(sums)] / sums[-1] * 2**64)
    words = [min(max(edge + offset, 0), FULL), last, 1 << 62, 5]
    spelled = sum(Fraction(word, 1 << 64 * (i + 1)) for i, word in enumerate(words))
    expected = next(i for i, below in enumerate(sums) if below > spelled * sums[-1])
    source = TapeSource(words)
    assert choose_real(decimals(weights), source) == expected
    assert weights[expected] > 0


def test_the_word_in_hand_is_kept():
    source = TapeSource([0, 7])
    assert choose_real(decimals([Fraction(1), Fraction(1)]), source, word=1 << 63) == 1
    assert source.left == 0  # 2**63 is the boundary itself: it took both words


def test_a_cut_window_reaches_further_with_more_digits():
    """Weights 1, 1/2, 1/4, .. without an end: F(k) = 1 - 2**-(k+1)."""
    asked = []

    def window(digits):
        asked.append(digits)
        return 0, [Decimal(1) / 2**k for k in range(int(digits * 3.4) + 40)]

    assert choose_in_window(window, TapeSource([FULL, FULL, FULL, 1 << 63, 1])) == 193
    assert asked[-1] > asked[0]


def test_whole_weights_are_chosen_in_proportion(fit):
    noise = seeded_noise(1)
    weights = [3, 0, 10**30, 2 * 10**30]
    drawn = [noise.choose(weights) for _ in range(20_000)]
    assert fit(drawn, 0, [1e-9, 0, 1 / 3, 2 / 3]) > FALSE_ALARM
    assert fit(drawn, 0, [1e-9, 0, 0.4, 0.6]) < FALSE_ALARM


def test_real_weights_are_chosen_in_proportion(fit):
    noise = seeded_noise(2)
    drawn = [noise.choose(lambda d: [Decimal(2).sqrt(), Decimal(1)]) for _ in range(5000)]
    p = 2**0.5 / (1 + 2**0.5)
    assert fit(drawn, 0, [p, 1 - p]) > FALSE_ALARM
    assert fit(drawn, 0, [0.5, 0.5]) < FALSE_ALARM


@pytest.mark.parametrize("weights", [[1], np.array([0, 4])])
def test_a_single_possibility_is_certain(weights):
    assert Noise().choose(weights) == len(weights) - 1
