"""Integer noise: one statement of what may change, exact prices."""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import Guarantee
from noren.errors import ParameterError
from noren.mechanisms import Counts, Responses, Scores, Sum, fine_grid
from noren.mechanisms.additive import IntegerNoise, integers, read_price, require_noise
from noren.privacy import ADD_REMOVE, Adjacency
from noren.privacy.charges import discrete_laplace_rho_charge

ADDED = Adjacency(ADD_REMOVE)
ONE = Fraction(1)


def law(worst, epsilon=None, rho=None):
    return IntegerNoise(ADDED, tuple(worst), *read_price(epsilon, rho))


# 1. oracle


@pytest.mark.parametrize(
    ("epsilon", "variance", "margin"), [("1", 1.8413471884, 3), ("0.1", 199.8334166336, 30)]
)
def test_error_matches_the_oracle_table(epsilon, variance, margin):
    noise = law((1,), epsilon=epsilon)
    assert noise.variance == pytest.approx(variance, rel=1e-9)
    assert noise.margin(0.95) == margin


def test_prices_of_small_changes_match_their_closed_forms():
    assert float(law((1,), epsilon=1).guarantee.rho) == pytest.approx(np.tanh(0.5), rel=1e-12)
    assert float(law((1, 1), epsilon=1).guarantee.rho) == pytest.approx(np.tanh(0.25), rel=1e-12)
    assert float(law((2,), epsilon=1).guarantee.rho) == pytest.approx(0.3934693403, rel=1e-9)
    assert float(law((5,), epsilon=1).guarantee.rho) == pytest.approx(0.3720739949, rel=1e-9)


def test_gaussian_noise_is_priced_by_the_squared_length_of_the_worst_change():
    noise = law((3, 4), rho="0.5")
    assert noise.parameter == 25
    assert noise.guarantee == Guarantee(ADDED, rho="0.5")
    assert noise.mechanism(2).sensitivity == 25


# 2. property


@st.composite
def majorized(draw):
    """Draw w, and d made from it by evening out and shrinking: weakly majorized by w."""
    worst = draw(st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any))
    change = sorted(worst, reverse=True)
    for _ in range(draw(st.integers(0, 4))):
        i, j = draw(st.integers(0, len(change) - 1)), draw(st.integers(0, len(change) - 1))
        if change[i] > change[j]:
            moved = draw(st.integers(0, (change[i] - change[j]) // 2))
            change[i] -= moved
            change[j] += moved
    shrunk = [draw(st.integers(0, value)) for value in change]
    return worst, shrunk if draw(st.booleans()) else change


@given(pair=majorized(), epsilon=st.fractions("0.01", 5))
def test_no_majorized_change_costs_more_than_the_worst_one(pair, epsilon):
    worst, change = pair
    sums = zip(
        accumulate(sorted(change, reverse=True)), accumulate(sorted(worst, reverse=True)),
        strict=True,
    )  # fmt: skip
    assert all(ours <= theirs for ours, theirs in sums)
    worst = [w for w in worst if w]
    noise = law(worst, epsilon=epsilon)
    scale = noise.parameter
    spent = sum((discrete_laplace_rho_charge(d / scale, d) for d in change if d), Fraction(0))
    assert sum(change) / scale <= epsilon
    assert spent <= noise.guarantee.rho * (1 + Fraction(1, 10**12))
    assert sum(d * d for d in change) / (2 * law(worst, rho=1).parameter) <= 1


@given(
    epsilon=st.fractions("0.02", 5),
    changes=st.lists(st.integers(0, 3), min_size=1, max_size=3).filter(any),
    outputs=st.lists(st.integers(-30, 30), min_size=3, max_size=3),
)
def test_one_change_moves_no_output_by_more_than_epsilon(epsilon, changes, outputs):
    scale = law([c for c in changes if c], epsilon=epsilon).parameter
    log_ratio = sum((abs(y - c) - abs(y)) / scale for y, c in zip(outputs, changes, strict=False))
    assert abs(log_ratio) <= epsilon


@given(epsilon=st.fractions("0.02", 5), confidence=st.floats(0.5, 0.999))
def test_a_margin_is_the_smallest_that_holds(epsilon, confidence):
    noise = law((1,), epsilon=epsilon)
    r, m = np.exp(-float(epsilon)), noise.margin(confidence)
    outside = 2 * r ** (m + 1) / (1 + r)
    assert outside <= (1 - confidence) * (1 + 1e-9)
    assert m == 0 or outside / r > (1 - confidence) * (1 - 1e-9)


# 4. misuse


@pytest.mark.parametrize("prices", [(None, None), (1, 1)])
def test_a_price_is_stated_once(prices):
    with pytest.raises(ParameterError, match="either epsilon or rho"):
        read_price(*prices)


@pytest.mark.parametrize("bad", [0, -1, float("inf"), float("nan"), "much", True])
def test_a_price_is_positive_and_finite(bad):
    with pytest.raises(ParameterError):
        read_price(bad, None)
    with pytest.raises(ParameterError):
        read_price(None, bad)


@pytest.mark.parametrize("random", [7, None, np.random.default_rng(1)])
def test_only_noise_is_noise(random):
    with pytest.raises(ParameterError, match=r"noren\.Noise"):
        require_noise(random)


@pytest.mark.parametrize("given_", [[0.5, 1.5], np.array([1.0]), [[1, 2]], ["3"]])
def test_real_data_needs_a_grid_before_integer_noise(given_):
    with pytest.raises(ParameterError, match="grid") as refusal:
        integers("counts", given_)
    assert "0.5" not in str(refusal.value)
    assert "1.5" not in str(refusal.value)


@pytest.mark.parametrize(
    "count",
    [
        lambda: Sum.of([1.0, "Ann has it"], fine_grid(0, 1, missing=0)),
        lambda: Sum.of([[1.0], [1.0, 2.0, 3.0]], fine_grid(0, 1, missing=0)),
        lambda: Counts.of(["Ann has it", "no"], cells=2),
        lambda: Counts.of([[1], [1, 2, 3]], cells=2),
        lambda: Scores.of([[1], [1, 2, 3]], bounds=(0, 1)),
        lambda: Responses([1, None]),
    ],
)
def test_what_records_hold_is_never_quoted(count):
    with pytest.raises(ParameterError) as caught:
        count()
    text = str(caught.value)
    assert not any(word in text for word in ("Ann", "U10", "2", "3"))
    assert caught.value.__context__ is None
