"""Uniform integers, orders and subsets."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.noise import Noise
from noren.noise.reals import FULL
from noren.noise.sources import TapeSource
from noren.noise.uniform import draw_below, draw_permutation
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9 / 10


@pytest.mark.parametrize("n", [1, 2, 1 << 32, 1 << 62, 1 << 63])
def test_a_power_of_two_redraws_nothing(n):
    source = TapeSource([FULL, 0, 5])
    assert draw_below(n, 2, source).tolist() == [FULL % n, 0]
    assert source.left == 1


@pytest.mark.parametrize("n", [3, 10, (1 << 63) - 1, (1 << 63) - 25])
def test_the_words_beyond_whole_groups_are_redrawn(n):
    last = FULL - (1 << 64) % n
    assert draw_below(n, 1, TapeSource([last])).tolist() == [n - 1]
    if last < FULL:
        source = TapeSource([last + 1, 4, FULL, last + 1, 8])
        assert draw_below(n, 2, source).tolist() == [8 % n, 4 % n]
        assert source.left == 0


@pytest.mark.parametrize("n", [(1 << 63) + 1, 1 << 64, (1 << 64) + 1, 3**100])
def test_long_integers_take_whole_words_and_redraw_the_rest(n):
    length = 1 if n <= 1 << 64 else 2 if n <= 1 << 128 else 3
    whole = 1 << 64 * length
    last = whole - 1 - whole % n
    spell = lambda number: [number >> 64 * i & FULL for i in reversed(range(length))]  # noqa: E731
    assert draw_below(n, 1, TapeSource(spell(last)))[0] == n - 1
    if last < whole - 1:
        source = TapeSource([*spell(last + 1), *spell(6)])
        assert draw_below(n, 1, source)[0] == 6
        assert source.left == 0


def test_equal_keys_are_drawn_again():
    source = TapeSource([4, 9, 4, 30, 10, 20])
    assert draw_permutation(3, source).tolist() == [1, 2, 0]
    assert source.left == 0


@pytest.mark.parametrize("n", [0, 1, 2, 5000])
def test_a_permutation_holds_everything_once(n):
    assert np.array_equal(np.sort(Noise().permutation(n)), np.arange(n))


def test_every_order_is_equally_likely(fit):
    noise = seeded_noise(1)
    places = {order: i for i, order in enumerate(permutations(range(4)))}
    drawn = [places[tuple(noise.permutation(4).tolist())] for _ in range(20_000)]
    assert fit(drawn, 0, np.full(24, 1 / 24)) > FALSE_ALARM


@given(n=st.integers(0, 400), share=st.floats(0, 1))
def test_a_subset_has_its_size_and_repeats_nothing(n, share):
    size = round(share * n)
    subset = Noise().subset(n, size)
    assert subset.size == size
    assert subset.dtype == np.int64
    assert np.all(np.diff(subset) > 0)
    assert not size or (subset[0] >= 0 and subset[-1] < n)


@pytest.mark.parametrize(("n", "size"), [(6, 3), (40, 2), (33, 1)])
def test_every_subset_is_equally_likely(fit, n, size):
    noise = seeded_noise(2)
    places = {chosen: i for i, chosen in enumerate(combinations(range(n), size))}
    drawn = [places[tuple(noise.subset(n, size).tolist())] for _ in range(20_000)]
    assert fit(drawn, 0, np.full(len(places), 1 / len(places))) > FALSE_ALARM
    assert len(places) == math.comb(n, size)


def test_a_small_subset_is_made_of_the_first_distinct_values(tape):
    assert tape([5, 5, 7, 5, 9]).subset(64, 3).tolist() == [5, 7, 9]
