"""Private selection: the algorithms have the laws, and the laws are private."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import chain, combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.noise import Noise, coins, selection
from noren.noise.laws import exponential_mechanism_law, permute_and_flip_law
from noren.noise.reals import FULL, precision
from noren.noise.sources import TapeSource
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9 / 20
MANY = 20_000
BOTH = ["exponential_mechanism", "permute_and_flip"]

scores_lists = st.lists(st.integers(0, 6), min_size=1, max_size=6)


def adds_up(law):
    with precision(60):
        return abs(sum(law) - 1) < Decimal("1e-45")


def flipping_all(chances):
    """Flip all coins, then choose among the successes uniformly: the algorithm, enumerated."""
    indices = range(len(chances))
    law = [Fraction(0)] * len(chances)
    every = chain.from_iterable(combinations(indices, r) for r in range(1, len(chances) + 1))
    for successes in every:
        p = math.prod(chances[i] if i in successes else 1 - chances[i] for i in indices)
        for i in successes:
            law[i] += p / len(successes)
    return law


def in_random_order(chances):
    """Visit in random order and accept: permute-and-flip as it is published, enumerated."""
    law = [Fraction(0)] * len(chances)
    orders = list(permutations(range(len(chances))))
    for order in orders:
        left = Fraction(1, len(orders))
        for i in order:
            law[i] += left * chances[i]
            left *= 1 - chances[i]
    return law


@given(st.lists(st.fractions(0, 1, max_denominator=30), max_size=4))
def test_flipping_all_coins_is_permute_and_flip(others):
    chances = [Fraction(1), *others]
    assert flipping_all(chances) == in_random_order(chances)


@given(scores_lists, st.sampled_from(["0.5", "1", "3"]))
def test_the_law_of_permute_and_flip_is_that_of_its_enumeration(scores, epsilon):
    best = max(scores)
    chances = [Fraction(math.exp(float(epsilon) / 2 * (s - best))) for s in scores]
    law = permute_and_flip_law(scores, epsilon)
    assert [float(p) for p in law] == pytest.approx([float(p) for p in flipping_all(chances)])
    assert adds_up(law)


def test_the_law_of_many_candidates_still_adds_up():
    law = permute_and_flip_law([i % 7 for i in range(150)], 1)
    assert adds_up(law)
    assert all(p > 0 for p in law)


@pytest.mark.parametrize("law_of", [exponential_mechanism_law, permute_and_flip_law])
@given(scores=scores_lists, data=st.data(), epsilon=st.sampled_from(["0.1", "1", "4"]))
def test_scores_that_move_by_one_move_no_output_by_more_than_epsilon(law_of, scores, data, epsilon):
    steps = data.draw(st.lists(st.integers(-1, 1), min_size=len(scores), max_size=len(scores)))
    moved = [s + step for s, step in zip(scores, steps, strict=True)]
    bound = Decimal(epsilon) * (1 + Decimal("1e-12"))
    for p, q in zip(law_of(scores, epsilon), law_of(moved, epsilon), strict=True):
        assert abs((p / q).ln()) <= bound
    raised = [s + abs(step) for s, step in zip(scores, steps, strict=True)]
    laws = (law_of(values, epsilon, monotone=True) for values in (scores, raised))
    for p, q in zip(*laws, strict=True):
        assert abs((p / q).ln()) <= bound


@pytest.mark.parametrize(
    ("law_of", "largest"),
    [(permute_and_flip_law, 1.0), (exponential_mechanism_law, 0.8746872490)],
)
def test_the_worst_ratio_of_the_oracle_is_attained(law_of, largest):
    law = law_of([0, 1, 2], 1)
    worst = 0.0
    for steps in np.ndindex(3, 3, 3):
        moved = law_of([s + step - 1 for s, step in zip([0, 1, 2], steps, strict=True)], 1)
        worst = max(worst, *(abs(float((p / q).ln())) for p, q in zip(law, moved, strict=True)))
    assert worst == pytest.approx(largest, abs=5e-11)


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize(
    ("scores", "epsilon", "sensitivity", "monotone"),
    [
        ([0, 1, 2], 1, 1, False),
        ([3, 3, 1, 0], 2, 1, True),
        ([0.5, -7.25, 30.0], "0.3", "3.5", False),
    ],
)
def test_selections_follow_their_laws(fit, mechanism, scores, epsilon, sensitivity, monotone):
    law_of = {"exponential_mechanism": exponential_mechanism_law}.get(
        mechanism, permute_and_flip_law
    )
    select = getattr(seeded_noise(1), mechanism)
    drawn = [select(scores, epsilon, sensitivity, monotone=monotone) for _ in range(MANY)]
    law = [float(p) for p in law_of(scores, epsilon, sensitivity, monotone=monotone)]
    assert fit(drawn, 0, law) > FALSE_ALARM
    other = [float(p) for p in law_of(scores, epsilon, sensitivity, monotone=not monotone)]
    assert fit(drawn, 0, other) < FALSE_ALARM


@pytest.mark.parametrize("mechanism", BOTH)
def test_many_candidates_are_chosen_by_their_law(fit, mechanism):
    scores = np.repeat([0, 1, 2], [4000, 2500, 50])
    noise = seeded_noise(2)
    drawn = np.array([getattr(noise, mechanism)(scores, 4) for _ in range(4000)])
    weights = np.exp(2.0 * scores)
    law = weights / weights.sum()
    if mechanism == "permute_and_flip":  # the same integral, by quadrature over three levels
        t, w = np.polynomial.legendre.leggauss(400)
        t, p = (t + 1) / 2, np.exp(2.0 * (scores - 2))
        values, sizes = np.unique(p, return_counts=True)
        log_all = sizes @ np.log1p(-np.outer(values, t))
        integral = {q: (w / 2 * np.exp(log_all - np.log1p(-t * q))).sum() for q in values}
        law = np.array([q * integral[q] for q in p])
        assert law.sum() == pytest.approx(1, abs=1e-9)
    assert fit(drawn, 0, law) > FALSE_ALARM
    assert fit(drawn, 0, np.full(scores.size, 1 / scores.size)) < FALSE_ALARM


@settings(max_examples=30)
@given(size=st.sampled_from([1, 5, 1024, 1025, 5000, 1024**2 + 3]), seed=st.integers(0, 2**32))
def test_block_sums_find_the_weight_that_holds_the_point(size, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 1000, size)
    weights[rng.integers(size)] = 1000
    uniform = float(rng.random())
    found = selection.nearly_chosen(weights.astype(float), uniform)
    sums = np.cumsum(weights)
    expected = int(np.searchsorted(sums, uniform * sums[-1], side="right"))
    assert found in (expected, None)
    assert found is not None or size > 10**6 or uniform < 1e-9


def test_a_point_near_a_boundary_is_left_to_exact_arithmetic():
    for uniform in (0.5, 0.5 - 2.0**-42, 0.5 + 2.0**-42, 1 - 2.0**-53):
        assert selection.nearly_chosen(np.ones(4), uniform) is None
    assert selection.nearly_chosen(np.ones(4), 0.5 + 2.0**-39) == 2
    assert selection.nearly_chosen(np.ones(4), 0.5 - 2.0**-39) == 1
    assert selection.nearly_chosen(np.ones(3000), 1024 / 3000) is None
    assert selection.nearly_chosen(np.ones(4), 0.0) == 0


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ([1 << 63, 0, 1], 1),
        ([(1 << 63) - 1, FULL, FULL - 1], 0),
        ([FULL, 5], 1),
    ],
)
def test_the_exponential_mechanism_decides_a_boundary_on_the_same_word(tape, words, chosen):
    assert tape(words).exponential_mechanism([7, 7], 1) == chosen


@pytest.mark.parametrize(
    "scores", [[0, 3, 1, 1], [0.1, 0.3, -5.0], np.array([0, 250, 3], np.uint8)]
)
def test_exact_weights_choose_as_the_fast_ones_do(monkeypatch, scores):
    words = np.random.default_rng(5).integers(0, 2**64, 60, dtype=np.uint64).tolist()
    fast = [Noise(TapeSource([w])).exponential_mechanism(scores, 1) for w in words]
    monkeypatch.setattr(selection, "MARGIN", 2.0)
    exact = [Noise(TapeSource([w])).exponential_mechanism(scores, 1) for w in words]
    assert fast == exact


def test_exact_coins_flip_as_the_fast_ones_do(monkeypatch):
    scores = np.random.default_rng(6).normal(size=300)
    fast = [seeded_noise(i).permute_and_flip(scores, 1) for i in range(5)]
    monkeypatch.setattr(coins, "FILTER", 2.0)
    exact = [seeded_noise(i).permute_and_flip(scores, 1) for i in range(5)]
    assert fast == exact
    monkeypatch.setattr(selection, "BLOCK", 128)  # the same words in blocks of another length
    assert [seeded_noise(i).permute_and_flip(scores, 1) for i in range(5)] == fast


def test_the_smallest_key_wins_and_ties_are_drawn_again(tape):
    flips = [FULL, 0, 0]  # the best succeeds whatever its word; the others by small words
    assert tape([*flips, 9, 5, 7]).permute_and_flip([2, 1, 1], 1) == 1
    assert tape([*flips, 5, 5, 7, 8, 8, 4, 3]).permute_and_flip([2, 1, 1], 1) == 1
    assert tape([*flips, 5, 5, 7, 3, 4]).permute_and_flip([2, 1, 1], 1) == 0
    assert tape([FULL, FULL, FULL]).permute_and_flip([2, 1, 1], 1) == 0


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([-(2**63), 2**63 - 1], 1),
        (np.array([2**64 - 1, 0], np.uint64), 0),
        ([-1.7e308, 1.7e308, 0.0], 1),
        (np.array([1, 200], np.uint8), 1),
        (np.array([3.5, -1], np.float32), 0),
    ],
)
def test_extreme_scores_neither_overflow_nor_wrap(mechanism, scores, best):
    assert getattr(Noise(), mechanism)(scores, 1000) == best


@pytest.mark.parametrize("mechanism", BOTH)
def test_the_widest_scores_at_the_smallest_rate_are_told_apart(fit, mechanism):
    """c (max - s) = 1 although max - s overflows a float."""
    noise = seeded_noise(3)
    epsilon = Fraction(1) / (Fraction(1.5e308) * 1)  # c = epsilon / 2, the gap 3e308
    drawn = [getattr(noise, mechanism)([-1.5e308, 1.5e308], epsilon) for _ in range(4000)]
    p = {"exponential_mechanism": 1 / (1 + math.e)}.get(mechanism, 0.5 / math.e)
    assert fit(drawn, 0, [p, 1 - p]) > FALSE_ALARM


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize(
    ("scores", "epsilon", "sensitivity", "named"),
    [
        ([], 1, 1, "scores"),
        ([[1, 2]], 1, 1, "scores"),
        (["a"], 1, 1, "scores"),
        ([True], 1, 1, "scores"),
        ([1.0, math.nan], 1, 1, "scores"),
        ([1.0, math.inf], 1, 1, "scores"),
        ([1], 0, 1, "epsilon"),
        ([1], math.inf, 1, "epsilon"),
        ([1], None, 1, "epsilon"),
        ([1], 1, 0, "sensitivity"),
        ([1], 1, -1, "sensitivity"),
        ([1], "1e300", "1e-300", "epsilon / sensitivity"),
        ([1], "1e400", 1, "epsilon"),
    ],
)
def test_what_cannot_be_selected_is_refused_by_name(mechanism, scores, epsilon, sensitivity, named):
    with pytest.raises(ParameterError) as refused:
        getattr(Noise(), mechanism)(scores, epsilon, sensitivity)
    assert refused.value.name == named
    assert "nan" not in str(refused.value)
