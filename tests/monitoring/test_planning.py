"""Plans, strategies, schedules: oracles, what is chosen and why, bad input."""

from collections import Counter
from fractions import Fraction
from math import sqrt, tanh

import pytest
from scipy.stats import binomtest

from noren.errors import FileProblem, ParameterError
from noren.monitoring import strategies
from noren.monitoring.planning import plan
from noren.monitoring.plans import MonitoringPlan, Timetable
from noren.monitoring.schedule import ClosedSchedule, open_slots, ranks
from noren.monitoring.simulation import simulate
from noren.monitoring.strategies import Setting, in_slots, published
from noren.monitoring.tree import average_variance, intervals, tree_share, tree_variance


@pytest.mark.parametrize(
    ("epsilon", "k", "variance"),
    [(1, 1, 0.010790894358), (2, 2, 0.0028392102852757), (10, 10, 1.6780058895654e-4)],
)
def test_the_number_of_reports_matches_the_oracles(epsilon, k, variance):
    found = plan(10_000, 100, epsilon, 0.8, slot_epsilon=None)
    assert (found.chosen.name, found.chosen.reports) == ("block", k)
    assert found.sd**2 == pytest.approx(variance, rel=1e-9)


IMPROVEMENT = [  # epsilon, m*, independent (m, gain), ramp (k, c, gain), block (k, gain)
    (1, 1, (1, 2.75), (1, 0.462117, 2.75), (1, 2.75)),
    (2, 1, (1, 3.67), (2, 0.614979, 4.39), (2, 4.39)),
    (3, 2, (1, 3.94), (32, 0.203781, 4.59), (3, 6.18)),
    (4, 2, (2, 3.65), (7, 0.548647, 5.92), (3, 7.87)),
    (5, 3, (2, 3.87), (100, 0.183928, 6.90), (4, 9.34)),
    (10, 6, (4, 3.82), (100, 0.320212, 10.97), (10, 14.31)),
    (20, 11, (7, 3.73), (99, 0.510579, 15.87), (23, 19.85)),
    (50, 29, (18, 3.42), (100, 0.696660, 14.47), (71, 42.38)),
]


@pytest.mark.parametrize(("epsilon", "m", "independent", "ramp", "block"), IMPROVEMENT)
def test_the_improvement_table_is_recomputed(epsilon, m, independent, ramp, block):
    slot = Fraction(epsilon) / m
    setting = Setting(people=10_000, horizon=100, epsilon=Fraction(epsilon), slot_epsilon=slot,
                      threshold=0.8)  # fmt: skip
    paper = published(setting)
    assert paper.reports == m

    def gain(strategy):
        return (paper.sd_at_threshold / strategy.sd_at_threshold) ** 2

    known, sloped, flat = (in_slots(name, setting) for name in ("independent", "ramp", "block"))
    assert (known.reports, sloped.reports, flat.reports) == (independent[0], ramp[0], block[0])
    assert sloped.law.contrast == pytest.approx(ramp[1], abs=1e-6)
    assert [gain(it) for it in (known, sloped, flat)] == pytest.approx(
        [independent[1], ramp[2], block[1]], abs=0.0051
    )


def test_the_default_charges_a_slot_what_the_published_scheme_does():
    found = plan(10_000, 100, 10, 0.8)
    assert found.chosen.slot_epsilon == Fraction(10, 6)
    assert str(found.guarantee).startswith("epsilon 10 ")
    assert "one epoch" in str(found.guarantee)
    assert "one slot" in str(found.slot_guarantee)


def test_people_needed_and_margins():
    found = plan(9600, 96, 1, 0.8)
    assert found.people_for(0.02) == 259_362
    assert found.margin == pytest.approx((1.6448536269514722 + 0.8416212335729143) * found.sd)
    assert found.power_at(1) > found.power_at(0.9) > 0.05 > found.power_at(0.8)
    better = plan(found.people_for(0.02), 96, 1, 0.8)
    assert better.sd <= 0.02
    tiny = plan(1000, 100, 1, 0.5, strategy="published")
    assert plan(tiny.people_for(tiny.sd / 3), 100, 1, 0.5, strategy="published").sd == (
        pytest.approx(tiny.sd / 3, rel=1e-3)
    )


def test_people_for_a_margin_make_it_the_detectable_one():
    found = plan(9600, 96, 1, 0.8)
    better = plan(found.people_for_margin(0.05), 96, 1, 0.8)
    assert better.margin == pytest.approx(0.05, rel=1e-3)
    assert better.margin <= 0.05


def test_all_slots_together_are_as_accurate_as_said():
    """Simulated: of 400 epochs at most 5 % have a slot that is further off."""
    made = plan(2000, 20, 2, 0.5, strategy="block", reports=2)
    limit = made.accuracy(0.05)
    truth = [0.5] * 20
    worst = abs(simulate(made, truth, seed=3, runs=400).estimates - 0.5).max(axis=1)
    assert binomtest(int((worst >= limit).sum()), 400, 0.05, alternative="greater").pvalue > 1e-9
    assert (worst >= limit / 1.5).mean() > 0.2  # and not by much too careful a bound
    assert made.accuracy(0.01) > limit > 3 * made.sd
    assert plan(2000, 16, 2, 0.5, strategy="tree", max_changes=1).accuracy(0.05) is None


def test_power_is_the_binomial_tail_and_alpha_its_value_at_the_threshold():
    found = plan(10_000, 10, 2, 0.5, rule="confident", alpha=0.01)
    assert found.power_at(0.5) <= 0.01
    assert plan(10_000, 10, 2, 0.5, all_slots=True, alpha=0.01).alpha == pytest.approx(0.001)


def test_the_tree_competes_only_when_changes_are_declared_and_it_is_better():
    assert plan(10**6, 1024, 1, 0.8).chosen.name == "ramp"
    assert plan(10**6, 1024, 1, 0.8, max_changes=2).chosen.name == "tree"
    assert plan(10**6, 64, 1, 0.8, max_changes=2).chosen.name == "ramp"
    assert plan(10**6, 1000, 1, 0.8, max_changes=2).chosen.name == "ramp"  # no power of two
    with pytest.raises(ParameterError, match="power of two"):
        plan(1000, 100, 1, 0.5, strategy="tree", max_changes=1)


def test_the_tree_is_compared_where_the_number_of_reports_is_chosen():
    """It errs alike at every share; reports in slots err less at a threshold near 1."""
    usual = plan(10**5, 512, 4, 0.95, max_changes=1)
    worst = plan(10**5, 512, 4, 0.95, max_changes=1, worst_case=True)
    assert (usual.chosen.name, worst.chosen.name) == ("ramp", "tree")
    assert all(usual.sd <= it.sd_at_threshold for it in usual.candidates if it.name == "tree")


@pytest.mark.parametrize(
    ("epsilon", "first"), [(1, {1: 128, 2: 512, 3: 1024}), (4, {1: 512, 2: 512, 3: 1024})]
)
def test_the_tree_wins_from_the_stated_horizons(epsilon, first):
    for changes, start in first.items():
        for horizon in (start // 2, start):
            setting = Setting(people=10**7, horizon=horizon, epsilon=Fraction(epsilon),
                              slot_epsilon=None, threshold=0.5)  # fmt: skip
            flat = in_slots("block", setting).sd_at_half ** 2
            tree = average_variance(10**7, horizon, changes, Fraction(epsilon))
            assert (tree < flat) == (horizon == start), (changes, horizon)


def test_the_tree_matches_its_oracles():
    assert average_variance(10**6, 1024, 3, Fraction(1)) == pytest.approx(1.03039397242686e-3)
    assert average_variance(10**5, 256, 3, Fraction(4)) == pytest.approx(4.7595089511780e-4)
    assert intervals(13) == [(3, 8), (2, 12), (0, 13)]
    assert tree_variance(13, 100, 16, 0.5) == pytest.approx(3 * 5 / 25)
    counts = {(1, 2): (7, 10), (0, 3): (4, 10)}
    assert tree_share(3, lambda *node: counts[node], 0.5) == pytest.approx(0.8 - 0.4)
    assert tree_share(3, lambda *node: (0, 0), 0.5) is None


def test_rolling_spends_its_epsilon_in_every_window():
    found = plan(10_000, 96, 2, 0.5, rolling=48)
    assert (found.chosen.name, found.horizon) == ("rolling", 48)
    assert found.guarantee.adjacency.within == "any 48 slots"
    assert found.chosen.law.contrast == pytest.approx(tanh(1 / found.chosen.reports))


def test_choices_for_the_worst_case_may_differ():
    usual = plan(100_000, 100, 6, 0.99, slot_epsilon=None)
    worst = plan(100_000, 100, 6, 0.99, slot_epsilon=None, worst_case=True)
    assert worst.chosen.sd_at_half <= usual.chosen.sd_at_half
    assert usual.sd <= worst.sd


@pytest.mark.parametrize(
    "strategy", ["published", "independent", "ramp", "block", "rolling", "tree"]
)
def test_a_plan_survives_its_json(strategy):
    import json

    made = plan(1000, 16, 2, 0.4, strategy=strategy, max_changes=2, rule="confident")
    again = MonitoringPlan.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again.to_dict() == made.to_dict()
    assert again.guarantee.epsilon == 2
    assert again.chosen.channel == made.chosen.channel
    assert str(again) == str(made)


def test_a_plan_with_other_weights_is_refused():
    made = plan(1000, 16, 2, 0.4).to_dict()
    made["weights"][0] = str(int(made["weights"][0]) * 2)
    with pytest.raises(ParameterError, match="weights"):
        MonitoringPlan.from_dict(made)
    with pytest.raises(FileProblem, match="not a monitoring plan"):
        MonitoringPlan.from_dict({"task": "x"})


@pytest.mark.parametrize(
    ("times", "name"),
    [({"grace_seconds": 60}, "grace_seconds"), ({"grace_seconds": -1}, "grace_seconds"),
     ({"slot_seconds": 0}, "slot_seconds"), ({"slot_seconds": float("inf")}, "slot_seconds"),
     ({"origin": float("nan")}, "origin")],
)  # fmt: skip
def test_a_timetable_decides_each_slot_before_the_next_is_over(times, name):
    with pytest.raises(ParameterError, match=f"^{name} is"):
        Timetable(**{"slot_seconds": 60, **times})


def test_a_large_epsilon_and_few_reports_are_said():
    with pytest.warns(UserWarning, match="above 10"):
        found = plan(1000, 100, 20, 0.5)
    assert "above 10" in found.notes[0]
    assert "fewer than 100 reports" in plan(1000, 100, 1, 0.5).notes[0]
    assert plan(100_000, 100, 1, 0.5).notes == ()


@pytest.mark.filterwarnings("ignore:epsilon")
def test_reports_that_all_are_true_have_no_error():
    found = plan(1000, 10, 800, 0.5)
    assert found.chosen.law.contrast == 1
    assert found.sd == 0
    assert found.forecast().margin_95 == 0


def test_a_long_epoch_has_a_plan_whose_integers_can_be_held(monkeypatch):
    setting = plan(10**6, 1000, 4, 0.5, strategy="ramp")
    assert setting.chosen.reports > 900
    monkeypatch.setattr(strategies, "MOST_TOGETHER", 50)
    fewer = plan(10**6, 1000, 4, 0.5, strategy="ramp")
    assert fewer.chosen.reports <= 50
    assert fewer.sd < 1.01 * setting.sd  # fewer are hardly worse


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: plan(0, 10, 1, 0.5), "n_people"), (lambda: plan(10, 0, 1, 0.5), "horizon"),
        (lambda: plan(10, 5, -1, 0.5), "epsilon"), (lambda: plan(10, 5, 1, 0), "threshold"),
        (lambda: plan(10, 5, 1, 1), "threshold"),
        (lambda: plan(10, 5, 1, float("nan")), "threshold"),
        (lambda: plan(10, 5, 1, 0.5, slot_epsilon=0), "slot_epsilon"),
        (lambda: plan(10, 5, 1, 0.5, reports=6), "reports"),
        (lambda: plan(10, 5, 1, 0.5, reports=0), "reports"),
        (lambda: plan(10, 50, 1, 0.5, reports=2), "n_people"),
        (lambda: plan(10, 50, 1, 0.5, strategy="memoise"), "strategy"),
        (lambda: plan(10, 5, 1, 0.5, r=2), "r"), (lambda: plan(10, 5, 1, 0.5, rule="x"), "rule"),
        (lambda: plan(10, 5, 1, 0.5, alpha=0), "alpha"),
        (lambda: plan(10, 5, 1, 0.5, power=1), "power"),
        (lambda: plan(10, 5, 1, 0.5, task="a b"), "task"),
        (lambda: plan(10, 4, 1, 0.5, strategy="tree"), "max_changes"),
        (lambda: plan(1000, 10, "1e-12", 0.5), "epsilon"),
        (lambda: plan(9, 9, 1e4, 0.5), "epsilon"),
        (lambda: plan(9, 9000, 1, 0.5, strategy="block", reports=5000), "k"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=f"^{name} is"):
        call()


def test_the_closed_schedule_is_even_and_gives_k_different_slots():
    people = [f"person {i}" for i in range(1003)]
    order = ranks(b"epoch key", people)
    schedule = ClosedSchedule(b"epoch key", 24, 5)
    slots = [schedule.slots(order[person]) for person in people]
    assert all(len(set(mine)) == 5 for mine in slots)
    held = Counter(slot for mine in slots for slot in mine)
    assert set(held) == set(range(1, 25))
    assert set(held.values()) == {208, 209}
    assert sorted(order.values()) == list(range(1003))
    assert ranks(b"other key", people) != order


def test_the_open_schedule_is_spread_evenly():
    held = Counter(s for i in range(3000) for s in open_slots(b"key", f"p{i}", 10, 3))
    assert sum(held.values()) == 9000
    assert all(abs(held[s] - 900) < 6.5 * sqrt(3000 * 0.3 * 0.7) for s in range(1, 11))
    assert open_slots(b"key", "p1", 10, 3) == open_slots(b"key", "p1", 10, 3)


def test_more_people_than_there_can_be_are_refused_in_words():
    with pytest.raises(ParameterError, match="at most 1,000,000,000,000"):
        plan(10**30, 4, epsilon=2, threshold=0.5)
