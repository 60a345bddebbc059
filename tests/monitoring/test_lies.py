"""Laws of lies: oracles, both ratio limits on the integers, every pattern enumerated."""

from fractions import Fraction
from itertools import product
from math import comb, inf, log, tanh

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from noren.errors import ParameterError
from noren.monitoring import block_law, ramp_law
from noren.monitoring.lies import best_contrast, breakpoints, contrasts_at, independent_law
from noren.monitoring.weights import exponential_floor, keeps_limits


@pytest.mark.parametrize(
    ("k", "epsilon", "j0", "contrast"),
    [
        (2, 2, 0, 0.614979458970125), (3, 3, 0, 0.7046394161324), (4, 4, 0, 0.7701088320253),
        (10, 10, 0, 0.9555738076919), (99, 10, 33, 0.3254994197680),
        (331, 200, 8, 0.9501039920097), (3, 4, 0, 0.8701259697622),
    ],
)  # fmt: skip
def test_block_laws_match_the_oracles(k, epsilon, j0, contrast):
    law = block_law(k, epsilon)
    assert law.offset == j0
    assert law.contrast == pytest.approx(contrast, rel=1e-12)


@pytest.mark.parametrize(
    ("k", "epsilon", "slot", "offset", "contrast"),
    [
        (10, 10, 2, 10, 0.7566414417658), (100, 10, 1, 42, 0.3069596882659),
        (6, 6, 2, 6, 0.7340205682281), (4, 3, 1, 3, 0.4490908655536),
        (10, 10, Fraction(5, 3), 10, 0.6808359014199),
    ],
)  # fmt: skip
def test_ramp_laws_match_the_oracles(k, epsilon, slot, offset, contrast):
    law = ramp_law(k, epsilon, slot)
    assert law.offset == offset
    assert law.contrast == pytest.approx(contrast, rel=1e-12)


def test_a_slot_price_of_one_share_gives_independent_coins():
    assert ramp_law(100, 10, Fraction(1, 10)).contrast == pytest.approx(tanh(0.05), rel=1e-12)
    coin = independent_law(100, 10)
    assert coin.contrast == pytest.approx(tanh(0.05), rel=1e-12)
    assert coin.reports == 1


@pytest.mark.parametrize(
    ("law", "chances"),
    [
        (block_law(4, 4), [0.7844770300237, 0.05747279199368, 0.08620918799052,
                           0.05747279199368, 0.01436819799842]),
        (block_law(5, 3), [0.1370902687975, 0.6854513439875, 0.06825322585190,
                           0.06825322585190, 0.03412661292596, 0.006825322585190]),
        (ramp_law(10, 10, Fraction(5, 3)), [0.1770541394701, 0.3344120732730,
                                            0.2842302687101, 0.1431577689267]),
    ],
)  # fmt: skip
def test_chances_of_a_number_of_lies_match_the_oracles(law, chances):
    assert law.lie_probabilities[: len(chances)] == pytest.approx(chances, rel=1e-12)
    assert sum(law.lie_probabilities) == pytest.approx(1, abs=1e-12)


def test_a_slot_price_above_the_whole_is_the_whole():
    assert ramp_law(3, 2, 5).weights == block_law(3, 2).weights
    assert ramp_law(1, 2, 1).contrast == pytest.approx(tanh(0.5), rel=1e-12)


prices = st.fractions(Fraction(1, 10**9), 200, max_denominator=10**9)


@given(k=st.integers(1, 100), epsilon=prices, slot=prices)
def test_the_integers_keep_both_limits(k, epsilon, slot):
    try:
        law = ramp_law(k, epsilon, slot)
    except ParameterError:  # a contrast below 1e-9 is refused
        return
    assert keeps_limits(law.weights, law.epsilon, law.slot_epsilon)
    assert list(law.weights) == sorted(law.weights, reverse=True)
    quick = best_contrast(k, epsilon, slot)  # a difference of chances, in floats
    assert law.contrast == pytest.approx(quick, rel=1e-9, abs=1e-13)


def test_the_check_of_the_limits_can_tell():
    law = block_law(4, 4)
    raised = (law.weights[0] + (law.weights[0] >> 60), *law.weights[1:])
    assert not keeps_limits(raised, law.epsilon, law.slot_epsilon)
    assert not keeps_limits((*law.weights[:-1], 0), law.epsilon, law.slot_epsilon)
    ramp = ramp_law(4, 3, 1)
    assert not keeps_limits(ramp.weights, ramp.epsilon, Fraction(99, 100))


@given(prices)
def test_the_exponential_is_a_tight_lower_bound(x):
    term = series = 1 << 700  # Taylor's series, each term rounded down
    for n in range(1, 1200):
        term = term * x.numerator // (n * x.denominator)
        series += term
    assert series >> 500 in (exponential_floor(x), exponential_floor(x) + 1)


@pytest.mark.parametrize(
    ("k", "epsilon", "slot"), [(1, 1, 1), (3, 2, 1), (5, 3, 1.25), (8, 6, 0.9), (8, 2, 2)]
)
def test_no_exchangeable_law_has_a_larger_contrast(k, epsilon, slot):
    """The linear-fractional program over all exchangeable laws, made linear by scaling."""
    masses = np.array([comb(k, j) for j in range(k + 1)])
    goal = -masses * (1 - 2 * np.arange(k + 1) / k)
    limits = []
    for a in range(k + 1):
        for b in range(k + 1):
            if a != b:
                row = np.zeros(k + 1)
                row[a], row[b] = 1, -np.exp(slot if abs(a - b) == 1 else epsilon)
                limits.append(row)
    found = linprog(goal, np.array(limits), np.zeros(len(limits)), masses[None, :], [1])
    assert ramp_law(k, epsilon, slot).contrast == pytest.approx(-found.fun, abs=1e-7)


@given(k=st.integers(1, 40), epsilon=st.floats(0.1, 30), slot=st.floats(0.02, 5))
def test_the_quick_search_finds_what_trying_every_breakpoint_finds(k, epsilon, slot):
    slot = min(slot, epsilon)
    price, step = Fraction(repr(epsilon)), Fraction(repr(slot))
    offsets = np.array([float(offset) for offset in breakpoints(k, price, step)])
    whole = contrasts_at(offsets, k, epsilon, slot).max()
    assert best_contrast(k, price, step) == pytest.approx(whole, rel=1e-12)


def transcripts(law, rule):
    """Give P(transcript) for states that may depend on what was sent: rule(sent) -> bit."""
    total = sum(comb(law.reports, j) * weight for j, weight in enumerate(law.weights))
    found = {}
    for lies in product((0, 1), repeat=law.reports):
        sent = []
        for lie in lies:
            sent.append(rule(tuple(sent)) ^ lie)
        found[tuple(sent)] = Fraction(law.weights[sum(lies)], total)
    assert len(found) == 2**law.reports  # a bijection
    return found


def rules(k):
    """Give every adaptive rule: a bit for every history."""
    histories = [h for n in range(k) for h in product((0, 1), repeat=n)]
    for bits in product((0, 1), repeat=len(histories)):
        yield dict(zip(histories, bits, strict=True)).__getitem__


def worst(laws):
    return max(
        log(p[y] / q[y]) for p in laws for q in laws for y in p
    )  # fmt: skip


@pytest.mark.parametrize("law", [block_law(3, 2), ramp_law(3, 2, 1)], ids=["block", "ramp"])
def test_every_adaptive_rule_costs_exactly_epsilon(law):
    laws = [transcripts(law, rule) for rule in rules(3)]
    assert len(laws) == 128
    assert worst(laws) == pytest.approx(float(law.epsilon), rel=1e-12)
    assert worst(laws) <= float(law.epsilon) * (1 + 1e-15)


def test_a_ramp_costs_its_two_prices_exactly():
    law = ramp_law(4, 3, 1)
    states = list(product((0, 1), repeat=4))
    laws = {s: transcripts(law, lambda sent, s=s: s[len(sent)]) for s in states}
    assert worst(list(laws.values())) == pytest.approx(3, rel=1e-12)
    near = [
        log(laws[a][y] / laws[b][y])
        for a in states for b in states if sum(map(int.__ne__, a, b)) == 1 for y in laws[a]
    ]  # fmt: skip
    assert max(near) == pytest.approx(1, rel=1e-12)
    two = [
        log(laws[a][y] / laws[b][y])
        for a in states for b in states if sum(map(int.__ne__, a, b)) == 2 for y in laws[a]
    ]  # fmt: skip
    assert max(two) <= 2 * (1 + 1e-12)


def test_a_state_that_knows_an_unused_lie_would_break_the_guarantee():
    """Why the pattern is never shown: state 2 = product of both lies makes a ratio infinite."""
    law = block_law(2, 2)
    seen = {}
    for lies in product((1, -1), repeat=2):
        sent = (lies[0], lies[0] * lies[1] * lies[1])
        seen[sent] = seen.get(sent, 0) + law.weights[lies.count(-1)]
    ordinary = {lies: law.weights[lies.count(-1)] for lies in product((1, -1), repeat=2)}
    ratio = max(log(p / seen[y]) if y in seen else inf for y, p in ordinary.items())
    assert ratio == inf


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: block_law(5000, 1), "k"), (lambda: ramp_law(5000, 4, 2), "k"),
        (lambda: block_law(0, 1), "k"), (lambda: block_law(2.5, 1), "k"),
        (lambda: block_law(2, 0), "epsilon"), (lambda: block_law(2, float("inf")), "epsilon"),
        (lambda: block_law(2, float("nan")), "epsilon"),
        (lambda: ramp_law(2, 1, 0), "slot_epsilon"),
        (lambda: ramp_law(2, 1, None), "slot_epsilon"), (lambda: block_law(1, 1e-12), "epsilon"),
    ],
)  # fmt: skip
def test_a_law_that_makes_no_sense_is_refused_by_name(make, name):
    with pytest.raises(ValueError, match=f"^{name} is"):
        make()


def test_a_law_does_not_show_its_weights():
    assert "weights" not in repr(block_law(2, 1))
