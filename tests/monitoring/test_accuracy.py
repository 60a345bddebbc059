"""Variances and the published choice of m: oracles, and an independent enumeration."""

from itertools import product
from math import comb, log, sinh, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from noren.monitoring import best_m, block_law, estimate, published_variance, variance
from noren.monitoring.accuracy import PEAK, people_needed, published_chances, usefulness


def test_the_published_choice_of_m_matches_the_oracles():
    found = PEAK
    assert found == pytest.approx(0.5743192851628, abs=1e-13)
    assert usefulness(PEAK) == pytest.approx(0.3323383855962, rel=1e-12)
    assert usefulness(1) == pytest.approx(0.2921137556915, rel=1e-12)
    assert usefulness(0.5) == pytest.approx(0.3292617975740, rel=1e-12)
    assert [best_m(*it) for it in [(100, 10), (100, 50), (1000, 200), (100, 100)]] == [
        6,
        29,
        115,
        57,
    ]


@given(horizon=st.integers(1, 400), epsilon=st.floats(0.01, 900))
def test_the_published_m_is_the_best_of_all(horizon, epsilon):
    best = max(usefulness(m / epsilon) for m in range(1, horizon + 1))
    assert usefulness(best_m(horizon, epsilon) / epsilon) == pytest.approx(best, rel=1e-12)


def test_the_best_budget_of_one_coin_and_where_two_reports_begin_to_pay():
    """Worst case, few of many people: k c**2 for coins, and for the block law."""
    a = brentq(lambda x: sinh(x) - 2 * x, 1, 3)
    assert a == pytest.approx(2.17731898496531, abs=1e-12)
    budgets = np.linspace(1, 4, 3001)
    assert budgets[np.argmax(np.tanh(budgets / 2) ** 2 / budgets)] == pytest.approx(a, abs=1e-3)
    start = log(1 + 2 * sqrt(2))
    assert start == pytest.approx(1.34245404645353, abs=1e-12)
    for epsilon, two_pay in ((start - 1e-6, False), (start + 1e-6, True)):
        one, two = (k * block_law(k, epsilon).contrast ** 2 for k in (1, 2))
        assert (two > one) == two_pay


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0, 5.634125076462e-4), (0.2, 1.0226692589645e-3), (0.5, 1.7115543859418e-3),
     (0.8, 2.4004395129191e-3), (1, 2.8596962642373e-3)],
)  # fmt: skip
def test_the_published_variance_matches_the_oracles(share, expected):
    assert published_variance(10_000, 100, 6, 10, 0, share) == pytest.approx(expected, rel=1e-12)
    mirrored = published_variance(10_000, 100, 6, 10, 1, 1 - share)  # r = 1 is r = 0, mirrored
    assert mirrored == pytest.approx(expected, rel=1e-12)


def test_the_variance_matches_the_oracles():
    assert variance(10_000, 400, tanh(1.25), 0.8) == pytest.approx(6.27594424005e-4, rel=1e-11)
    assert variance(10_000, 600, tanh(10 / 12), 0.8) == pytest.approx(
        7.29156195947705e-4, rel=1e-11
    )
    assert variance(10_000, 100, tanh(0.5), 0.8) == pytest.approx(0.010790894357919505, rel=1e-12)
    assert variance(4, 2, 0.5, 0.5) == pytest.approx(0.458333333333333, rel=1e-14)
    assert variance(10_000, 1000, block_law(10, 10).contrast, 0.8) == pytest.approx(
        1.6780058895654e-4, rel=1e-11
    )
    assert variance(1, 1, 0.5, 1) == pytest.approx(0.75)  # one person: no sampling error
    assert variance(5, 5, 1, 0.4) == 0


def test_the_variance_is_exact_by_enumeration():
    """Every choice of people and every pattern of lies, for 5 people of whom 2 hold a 1."""
    bits, held, c = (1, 1, 0, 0, 0), 3, 0.3
    from itertools import combinations

    mean = square = 0.0
    for who in combinations(range(5), held):
        for lies in product((0, 1), repeat=held):
            chance = np.prod([(1 - c) / 2 if lie else (1 + c) / 2 for lie in lies]) / comb(5, held)
            found = estimate(sum(bits[i] ^ lie for i, lie in zip(who, lies, strict=True)), held, c)
            mean, square = mean + chance * found, square + chance * found**2
    assert mean == pytest.approx(0.4)
    assert square - mean**2 == pytest.approx(variance(5, held, c, 0.4), rel=1e-12)


@pytest.mark.parametrize(
    ("horizon", "m", "epsilon", "r"), [(3, 2, 2, 0), (4, 1, 1, 0.5), (2, 2, 5, 1)]
)
def test_the_published_chances_are_exact_by_enumeration(horizon, m, epsilon, r):
    p, q, gap = published_chances(horizon, m, epsilon, r)
    keep = np.exp(epsilon / m) / (1 + np.exp(epsilon / m))
    part = m / horizon
    assert p == pytest.approx(part * keep + (1 - part) * r)
    assert q == pytest.approx(part * (1 - keep) + (1 - part) * r)
    assert gap == pytest.approx(p - q)


def test_people_needed_matches_the_oracle():
    assert people_needed(96, 1, tanh(0.5), 0.8, 0.02) == 259_362


def test_extreme_prices_do_not_overflow():
    assert 0 < published_variance(100, 10, 1, 5000, 0, 0.5) < 1
    assert best_m(50, 1e6) == 50
    assert block_law(3, 900).contrast == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: variance(0, 1, 0.5, 0.5), "n_people"),
        (lambda: variance(5, 6, 0.5, 0.5), "reports"),
        (lambda: variance(5, 0, 0.5, 0.5), "reports"), (lambda: variance(5, 2, 0, 0.5), "contrast"),
        (lambda: variance(5, 2, 1e-10, 0.5), "contrast"),
        (lambda: variance(5, 2, 1.1, 0.5), "contrast"),
        (lambda: variance(5, 2, 0.5, -0.1), "share"),
        (lambda: variance(5, 2, 0.5, np.nan), "share"),
        (lambda: best_m(0, 1), "horizon"), (lambda: best_m(5, -1), "epsilon"),
        (lambda: published_variance(9, 5, 6, 1, 0, 0.5), "m"),
        (lambda: published_variance(9, 5, 2, 1, 1.5, 0.5), "r"),
        (lambda: people_needed(9, 1, 0.5, 0.5, 0), "sd"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=f"^{name} is"):
        call()
