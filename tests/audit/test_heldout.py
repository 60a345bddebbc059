"""The held-out bound: right to the digit, rarely wrong, and able to see."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta

from noren.audit.heldout import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    detectable,
    draws_needed,
    epsilon_lower_bound,
    held_out,
    learn,
)

ORACLES = Path(__file__).parents[1] / "oracles" / "primitives.json"
ROWS = [row for row in json.loads(ORACLES.read_text()) if row["row"] in (58, 59)]


# 1. oracle


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['row']}-{row['function']}")
def test_bounds_match_the_oracle_table(row):
    given = {name: float(value) for name, value in row["arguments"].items()}
    if row["function"] == "epsilon_lower_bound":
        found = epsilon_lower_bound(
            int(given["first"]), int(given["second"]), int(given["trials"]),
            alpha=given["alpha"], delta=given["delta"],
        )  # fmt: skip
    else:
        bound = {
            "clopper_pearson_lower": clopper_pearson_lower,
            "clopper_pearson_upper": clopper_pearson_upper,
        }[row["function"]]
        found = bound(int(given["successes"]), int(given["trials"]), given["tail"])
    assert found == pytest.approx(float(row["value"]), rel=10.0 ** -row["digits"])


def test_the_five_oracle_rows_are_there():
    assert len(ROWS) == 5


def test_bounds_at_the_ends_say_nothing():
    assert clopper_pearson_lower(0, 50, 0.025) == 0
    assert clopper_pearson_upper(50, 50, 0.025) == 1
    assert epsilon_lower_bound(0, 0, 50, alpha=0.05) == -math.inf
    assert epsilon_lower_bound(5, 0, 50, alpha=0.05, delta=0.5) == -math.inf


RESPONSE_DRAWS = {  # binary response: draws for 90 % detection of (1 + excess) epsilon, measured
    (0.1, 0.05): 1.31e6, (0.1, 0.25): 53_600, (0.1, 1.0): 3_300,
    (0.5, 0.1): 14_600, (0.5, 0.25): 2_350, (0.5, 0.5): 612,
    (1.0, 0.05): 18_000, (1.0, 0.1): 4_550, (1.0, 0.25): 775, (1.0, 0.5): 212,
    (3.0, 0.05): 10_600, (3.0, 0.1): 2_950, (3.0, 0.25): 618,
}  # fmt: skip


@pytest.mark.parametrize(("epsilon", "excess"), RESPONSE_DRAWS)
def test_the_power_formula_agrees_with_measured_draws(epsilon, excess):
    true = (1 + excess) * epsilon
    p1 = 1 / (1 + math.exp(-true))
    needed = draws_needed(p1, 1 - p1, epsilon=epsilon, excess=excess)
    assert needed == pytest.approx(
        RESPONSE_DRAWS[epsilon, excess], rel=0.25 if epsilon < 3 else 0.35
    )
    seen = detectable(p1, 1 - p1, epsilon=epsilon, draws=round(needed))
    assert seen == pytest.approx(true, rel=1e-3)


# 3. statistical


def bounds(p1, p0, draws, repeats, alpha=0.05, seed=3):
    """Repeat the held-out half for an event with these probabilities."""
    random = np.random.default_rng(seed)
    first, second = random.binomial(draws, p1, repeats), random.binomial(draws, p0, repeats)
    low = beta.ppf(alpha / 2, first, draws - first + 1)
    return np.log(low / beta.ppf(1 - alpha / 2, second + 1, draws - second))


@pytest.mark.parametrize(("epsilon", "rate"), [(0.1, 0.0024), (1, 0.0052), (3, 0.0196)])
def test_a_tight_mechanism_seldom_raises_a_false_alarm(epsilon, rate):
    keep = 1 / (1 + math.exp(-epsilon))
    alarms = (bounds(keep, 1 - keep, 4_550, 200_000) > epsilon).mean()
    assert alarms < 0.05
    assert alarms == pytest.approx(rate, rel=0.25)


@pytest.mark.parametrize(("epsilon", "excess"), [(1.0, 0.25), (0.5, 0.5), (3.0, 0.1)])
def test_a_violation_is_seen_with_the_power_stated(epsilon, excess):
    keep = 1 / (1 + math.exp(-(1 + excess) * epsilon))
    draws = RESPONSE_DRAWS[epsilon, excess]
    assert (bounds(keep, 1 - keep, draws, 20_000) > epsilon).mean() == pytest.approx(0.9, abs=0.03)
    assert (bounds(keep, 1 - keep, draws // 4, 20_000) > epsilon).mean() < 0.6


def responses(keep, draws, seed):
    """Draw both sides of a binary response, as columns."""
    random = np.random.default_rng(seed)
    return [(random.random((draws, 1)) < p).astype(float) for p in (keep, 1 - keep)]


def test_the_event_is_found_and_its_bound_is_near_the_truth():
    found = held_out(*responses(1 / (1 + math.exp(-1)), 20_000, 5), epsilon=1.0)
    assert 0.9 < found.epsilon_lower < 1
    assert 1.05 < found.detects < 1.15
    assert found.draws == 10_000


def test_either_direction_may_hold_the_event():
    few, many = (np.zeros((4000, 1)) for _ in range(2))
    many[:40] = 1.0
    np.random.default_rng(0).shuffle(many)
    assert held_out(few, many, epsilon=0.1).epsilon_lower > 1
    assert held_out(many, few, epsilon=0.1).epsilon_lower > 1


def test_a_vector_is_judged_by_all_its_coordinates():
    random = np.random.default_rng(7)
    first, second = random.laplace(size=(4000, 6)), random.laplace(size=(4000, 6))
    first += 0.5  # epsilon 0.5 in each coordinate, 3 together
    together = held_out(first, second, epsilon=0.5).epsilon_lower
    alone = held_out(first[:, :1], second[:, :1], epsilon=0.5).epsilon_lower
    assert alone < 0.5 < 1.5 < together < 3


def test_choosing_and_counting_on_one_half_would_raise_false_alarms():
    """The reason for the split: with many cells, noise alone looks like an event."""
    random = np.random.default_rng(9)
    fooled = honest = 0
    for _ in range(40):
        first, second = (random.integers(0, 100, (400, 1)).astype(float) for _ in range(2))
        event = learn(first[:200], second[:200], alpha=0.05, delta=0)
        fooled += epsilon_lower_bound(
            event.count(first[:200]), event.count(second[:200]), 200, alpha=0.05
        ) > 0.1  # fmt: skip
        honest += held_out(first, second, epsilon=0.1).epsilon_lower > 0.1
    assert fooled > 20
    assert honest <= 4


DIFFPRIVLIB = """
from diffprivlib.mechanisms import Geometric, Laplace

floats, whole = Laplace(epsilon=1, sensitivity=1), Geometric(epsilon=1, sensitivity=1)
print(json.dumps([[mechanism.randomise(n) for _ in range(20_000)]
                  for mechanism in (floats, whole) for n in (1, 0)]))
"""


@pytest.mark.slow
def test_diffprivlib_s_float_noise_leaks_in_its_last_bits_and_its_integers_do_not(peer):
    drawn = [np.array(sample, float)[:, None] for sample in peer("diffprivlib", DIFFPRIVLIB)]
    floats, whole = drawn[:2], drawn[2:]
    assert held_out(*floats, epsilon=1, alpha=1e-6, bits=True).epsilon_lower > 3
    assert held_out(*floats, epsilon=1, alpha=1e-6).epsilon_lower <= 1
    assert held_out(*whole, epsilon=1, alpha=1e-6, bits=True).epsilon_lower <= 1


def test_last_bits_are_looked_at_in_floats_only_and_find_float_noise():
    random = np.random.default_rng(3)
    one, none = (random.laplace(size=(4000, 1)) + n for n in (1, 0))
    assert held_out(one, none, epsilon=1).epsilon_lower <= 1
    assert held_out(one, none, epsilon=1, bits=True).epsilon_lower > 3
    assert held_out(*(np.round(x * 1024) / 1024 for x in (one, none)), epsilon=1,
                    bits=True).epsilon_lower <= 1  # fmt: skip
