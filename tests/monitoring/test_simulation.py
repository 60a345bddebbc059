"""Simulation: the laws, both ways against each other and against the formulas."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from noren.monitoring.planning import plan
from noren.monitoring.simulation import f_measures, one_slot_of_people, simulate
from noren.monitoring.tree import tree_variance
from noren.monitoring.tree_simulation import simulate_tree
from noren.noise.public import generator

FALSE_ALARM = 1e-9
SHARES = [0.1, 0.5, 0.8, 0.95]


def spread_fits(estimates, truth, variance):
    """P-value of the squared errors for a variance (they are nearly normal here)."""
    total = ((estimates - truth) ** 2).sum() / variance
    return 2 * min(chi2.sf(total, len(estimates)), chi2.cdf(total, len(estimates)))


@pytest.mark.parametrize("strategy", ["published", "independent", "ramp", "block", "rolling"])
@pytest.mark.parametrize("exact", [False, True])
def test_estimates_have_no_bias_and_the_stated_variance(strategy, exact):
    made = plan(2000, 4, 2, 0.8, strategy=strategy, reports=2)
    found = simulate(made, SHARES, seed=3, runs=150 if exact else 600, exact=exact)
    column = 2  # the share of 0.8, where the plan states its deviation
    errors = found.estimates[:, column]
    assert abs(errors.mean() - 0.8) < 6.5 * made.sd / sqrt(len(errors))
    assert spread_fits(errors, 0.8, made.sd**2) > FALSE_ALARM
    assert spread_fits(errors, 0.8, made.sd**2 / 3) < FALSE_ALARM
    assert spread_fits(errors, 0.8, made.sd**2 * 3) < FALSE_ALARM


def test_one_person_lies_in_a_dependent_way_only_when_simulated_exactly():
    """The mean over slots of block k = T = 10: 5.5 times the variance of independent slots."""
    made = plan(2000, 10, 10, 0.8, strategy="block", reports=10)
    found = simulate(made, [0.8] * 10, seed=5, runs=250, exact=True)
    ratio = found.estimates.mean(axis=1).var() / (made.sd**2 / 10)
    assert ratio == pytest.approx(5.5, abs=2.5)
    apart = simulate(made, [0.8] * 10, seed=5, runs=250)
    assert apart.estimates.mean(axis=1).var() / (made.sd**2 / 10) < 2


def test_the_same_seed_gives_the_same_and_another_one_another():
    made = plan(500, 4, 2, 0.5)
    first, again, other = (simulate(made, SHARES, seed=s).ones.tolist() for s in (1, 1, 2))
    assert first == again != other


def test_counts_are_those_of_the_schedule():
    found = simulate(plan(1003, 4, 2, 0.5, reports=3), SHARES, seed=1, runs=5, exact=True)
    assert (found.reports.sum(axis=1) == 3 * 1003).all()
    assert set(np.unique(found.reports)) <= {752, 753}
    assert found.rmse() > 0


def test_the_f_measure_is_what_it_says():
    said = np.array([[True, True, False], [False, False, False], [True, False, True]])
    assert f_measures(said, np.array([True, False, True])) == pytest.approx([0.5, 0, 1])


@pytest.mark.parametrize("lie", [0.25, 0.1234567, 0.5, 0.001])
@pytest.mark.parametrize("bit", [0, 1])
def test_one_report_of_many_people_has_the_right_law(lie, bit):
    people = np.full(1_000_003, bit, np.uint8)
    ones = one_slot_of_people(people, lie, generator(9))
    lies = people.size - ones if bit else ones
    assert binomtest(lies, people.size, lie).pvalue > FALSE_ALARM
    assert binomtest(lies, people.size, lie * (1.3 if lie < 0.01 else 1.05)).pvalue < FALSE_ALARM


def test_one_report_of_many_people_varies_as_a_binomial():
    """Chances whose edge is wide (a quarter of a 256th): 800 runs of 3000 people, half with a 1."""
    lie, draw = (20 + 0.75) / 256, generator(10)
    bits = np.arange(3000, dtype=np.uint8) % 2
    ones = np.array([one_slot_of_people(bits, lie, draw) for _ in range(800)])
    assert spread_fits(ones, 1500, 3000 * lie * (1 - lie)) > FALSE_ALARM
    assert spread_fits(ones, 1500, 3000 * lie * (1 - lie) * 1.5) < FALSE_ALARM


def people_of_two_changes(people, slots):
    """People whose bit starts at 0, goes up once and comes down once."""
    draw = generator(4)
    first, last = np.sort(draw.integers(0, slots + 1, (people, 2)), axis=1).T[:, :, None]
    return (np.arange(slots) >= first) & (np.arange(slots) < last)


def test_the_tree_has_no_bias_and_at_most_its_variance():
    made = plan(2000, 16, 2, 0.5, strategy="tree", max_changes=2)
    found = simulate_tree(made, people_of_two_changes(2000, 16), seed=6, runs=120)
    bound = np.array([tree_variance(t, 2000, 16, made.chosen.law.contrast) for t in range(1, 17)])
    bias = (found.estimates.mean(axis=0) - found.shares) / np.sqrt(bound / 120)
    assert np.abs(bias).max() < 6.5
    ratio = (((found.estimates - found.shares) ** 2).mean(axis=0) / bound).mean()
    assert 0.8 < ratio < 1.2
    assert (found.reports[:, -1] == 2000).all()  # every level has an interval that ends there


def test_the_tree_is_biased_by_people_who_change_too_often():
    made = plan(2000, 16, 4, 0.5, strategy="tree", max_changes=1)
    found = simulate_tree(made, people_of_two_changes(2000, 16), seed=6, runs=60)
    off = found.estimates.mean(axis=0) - found.shares
    assert np.abs(off).max() > 0.1


def test_the_tree_is_simulated_from_people_only():
    made = plan(20, 4, 2, 0.5, strategy="tree", max_changes=1)
    for wrong in (np.zeros((20, 3)), np.full((20, 4), 2)):
        with pytest.raises(ValueError, match=r"^trajectories is"):
            simulate_tree(made, wrong, seed=1)
    with pytest.raises(ValueError, match=r"^plan is"):
        simulate_tree(plan(20, 4, 2, 0.5), np.zeros((20, 4)), seed=1)


def test_bad_input_is_refused_by_name():
    made = plan(500, 4, 2, 0.5)
    for shares in ([0.5], [0.5, 0.5, 0.5, 1.1], [0.5, 0.5, 0.5, float("nan")]):
        with pytest.raises(ValueError, match=r"^shares is"):
            simulate(made, shares, seed=1)
    with pytest.raises(ValueError, match=r"^runs is"):
        simulate(made, SHARES, seed=1, runs=0)
    with pytest.raises(ValueError, match=r"^plan is"):
        simulate(plan(500, 4, 2, 0.5, strategy="tree", max_changes=1), SHARES, seed=1)
