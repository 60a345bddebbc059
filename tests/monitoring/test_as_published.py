"""The published scheme and its errata: each has a number."""

from itertools import combinations, product
from math import comb, exp, log, sqrt, tanh

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.monitoring import best_m, block_law, published_variance, variance
from noren.monitoring.as_published import (
    bernstein_bound,
    bound_condition,
    bound_constant,
    published_bound,
)


def test_the_published_bound_matches_its_oracles():
    assert bound_constant(100, 6, 10) == pytest.approx(0.33203950998834, rel=1e-12)
    assert bound_condition(100, 6, 10) == pytest.approx(0.23285651806099, rel=1e-12)
    assert published_bound(10_000, 100, 6, 10, 0.15) == pytest.approx(16.577080385263, rel=1e-12)


def test_bernstein_needs_no_condition_and_is_not_weaker():
    assert bernstein_bound(10_000, 100, 6, 10, 0.15) == pytest.approx(5.5204742467, rel=1e-9)
    assert bernstein_bound(10_000, 100, 6, 10, 0.5) < 1
    with pytest.raises(ValueError, match=r"^alpha is"):
        published_bound(10_000, 100, 6, 10, 0.5)


@given(
    horizon=st.integers(1, 50), m=st.integers(1, 50), epsilon=st.floats(0.05, 50),
    part=st.floats(0.001, 0.999), r=st.floats(0, 1),
)  # fmt: skip
def test_bernstein_is_never_weaker(horizon, m, epsilon, part, r):
    m = min(m, horizon)
    alpha = part * min(1.5, bound_condition(horizon, m, epsilon, r))
    given_args = (1000, horizon, m, epsilon, alpha, r)
    assert bernstein_bound(*given_args) <= published_bound(*given_args) * (1 + 1e-9)


def test_r_0_is_not_optimal():
    zero, one = (published_variance(10_000, 100, 6, 10, r, 0.8) for r in (0, 1))
    assert (zero, one) == pytest.approx((2.4004395129e-3, 1.0226692590e-3), rel=1e-9)


def test_dummies_are_not_needed():
    assert variance(10_000, 400, tanh(1.25), 0.8) == pytest.approx(6.2759442401e-4, rel=1e-9)


def test_m_star_does_not_minimize_the_error():
    assert best_m(200, 200) == 115
    known = [variance(10**5, 10**5 * m // 200, tanh(100 / m), 0.8) for m in (115, 200)]
    published = [published_variance(10**5, 200, m, 200, 0, 0.8) for m in (115, 200)]
    assert published == pytest.approx([1.3265e-5, 9.2067e-6], rel=1e-4)
    assert known[1] == pytest.approx(published[1], rel=1e-9)
    small = [published_variance(10**4, 100, m, 100, 0, 0.8) for m in (57, 100)]
    assert small == pytest.approx([1.3329e-4, 9.2067e-5], rel=1e-4)


def test_the_error_grows_for_small_epsilon():
    found = sqrt(variance(10**6, 10**4, tanh(0.005), 0.5))
    assert found == pytest.approx(1.0000082, abs=1e-7)


def transcripts(states, m, epsilon, r):
    """P(transcript) of the published scheme, by brute force over slots, lies and dummies."""
    slots, a = len(states), epsilon / m
    keep = 1 / (1 + exp(-a))
    found = {}
    choices = list(combinations(range(slots), m))
    for said in product((0, 1), repeat=slots):
        total = 0.0
        for mine in choices:
            chance = 1.0
            for t in range(slots):
                if t in mine:
                    chance *= keep if said[t] == states[t] else 1 - keep
                else:
                    chance *= r if said[t] else 1 - r
            total += chance / len(choices)
        found[said] = total
    return found


@pytest.mark.parametrize(
    ("slots", "m", "epsilon", "r"), [(3, 2, 2, 0), (3, 2, 2, 0.5), (4, 2, 1, 0)]
)
def test_the_published_scheme_costs_exactly_epsilon_for_trajectories(slots, m, epsilon, r):
    laws = {s: transcripts(s, m, epsilon, r) for s in product((0, 1), repeat=slots)}

    def worst(pairs):
        return max(log(p[y] / q[y]) for p, q in pairs for y in p if p[y] > 0)

    everybody = worst((p, q) for p in laws.values() for q in laws.values())
    assert everybody <= epsilon * (1 + 1e-12)
    if r == 0:
        assert everybody == pytest.approx(epsilon)
        near = [(laws[a], laws[b]) for a in laws for b in laws
                if sum(map(int.__ne__, a, b)) == 1]  # fmt: skip
        assert worst(near) == pytest.approx(epsilon / m)


def test_remembering_one_noisy_bit_per_value_protects_no_trajectory():
    """RAPPOR's way: alternating transcripts are impossible for constant states."""
    keep = 1 / (1 + exp(-1))
    constant = dict.fromkeys(product((0, 1), repeat=2), 0.0)
    changing = dict(constant)
    for stored in product((0, 1), repeat=2):  # what is said of 0, and of 1
        chance = (keep if stored[0] == 0 else 1 - keep) * (keep if stored[1] == 1 else 1 - keep)
        constant[stored[0], stored[0]] += chance
        changing[stored[0], stored[1]] += chance
    assert constant[0, 1] == 0
    assert changing[0, 1] == pytest.approx(keep**2) == pytest.approx(0.5344, abs=1e-4)


def test_informative_silence_biases():
    """Response rates of .95 and .60 by state move a share of .8 by +.0636."""
    heard = 0.8 * 0.95 / (0.8 * 0.95 + 0.2 * 0.6)
    assert heard - 0.8 == pytest.approx(0.0636, abs=5e-5)


@pytest.mark.parametrize(("k", "epsilon", "expected"), [(2, 2, 2.868), (10, 10, 13.09)])
def test_lies_drawn_together_in_cycles_cost_more_in_a_straddling_window(k, epsilon, expected):
    """A window over two cycles sees i slots at the end of one and k - i at the start of the next.

    The marginal of j slots of a block law is again a law by numbers of lies; its largest ratio is
    that of no lie to all lies.
    """
    weights = block_law(k, epsilon).weights

    def marginal(j):
        return [sum(comb(k - j, m) * weights[lies + m] for m in range(k - j + 1))
                for lies in (0, j)]  # fmt: skip

    def cost(j):
        most, least = marginal(j)
        return log(most) - log(least)

    assert max(cost(i) + cost(k - i) for i in range(k + 1)) == pytest.approx(expected, abs=5e-3)
    assert expected > epsilon
