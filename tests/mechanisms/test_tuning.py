"""The best of several private answers: three prices, whatever the number of runs."""

import json
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import Guarantee, Noise
from noren.audit.cases import tuned
from noren.audit.enumerated import EnumeratedNoise, law_of
from noren.audit.law import p_value
from noren.audit.mechanisms import tuned_law
from noren.errors import AdjacencyMismatch, NotPrivate, ParameterError
from noren.ledger import Ledger
from noren.mechanisms import (
    Alternatives,
    BestOfPrivate,
    BoundedSum,
    CellCounts,
    Sum,
    fine_grid,
)
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9
GRID = fine_grid(0, 1, missing=0)
ONE = BoundedSum(grid=GRID, adjacency="add-remove", epsilon=1)


def question(*candidates, g="0.5", score="total"):
    return BestOfPrivate(candidates=candidates or (ONE, ONE), score=score, g=g)


# 1. oracle


def test_the_price_is_three_times_the_largest():
    half = BoundedSum(grid=GRID, adjacency="add-remove", epsilon="0.5")
    assert question(half, ONE).guarantee.epsilon == 3
    assert float(question(half, ONE).guarantee.rho) == pytest.approx(2.7154447609346, rel=1e-10)
    assert question(half, half, half, g="0.001").guarantee.epsilon == Fraction(3, 2)


def released(masses, g):
    """Give the law of the best of a geometric number of runs, outcomes from worst to best."""
    sums = np.concatenate([[0], np.cumsum(masses)])
    pgf = g * sums / (1 - (1 - g) * sums)
    return np.diff(pgf)


def test_the_closed_form_is_the_sum_over_runs():
    p, g, runs = np.array([0.5, 0.3, 0.2]), 0.01, np.arange(1, 6000)
    weights = g * (1 - g) ** (runs - 1)
    middle = (weights * (0.8**runs - 0.5**runs)).sum()
    assert released(p, g)[1] == pytest.approx(middle, rel=1e-12)


def test_three_prices_are_needed():
    """A rare outcome more likely by e, and a better, less rare one less likely by e."""
    e, rare, best = math.exp(1), 1e-9, 1e-6
    p = np.array([1 - e * rare - best, e * rare, best])
    q = np.array([1 - rare - e * best, rare, e * best])
    assert np.abs(np.log(p / q)).max() <= 1 + 1e-9
    worst = [np.abs(np.log(released(p, g) / released(q, g))).max() for g in (0.5, 1e-3, 1e-9)]
    assert worst == sorted(worst)
    assert 2.99 < worst[-1] <= 3


# 2. property


@given(
    weights=st.lists(st.floats(0.01, 1), min_size=3, max_size=3),
    tilt=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    g=st.floats(1e-6, 1),
)
def test_three_times_the_price_of_a_run_is_enough(weights, tilt, g):
    p = np.array(weights) / sum(weights)
    q = p * np.exp(tilt)
    q /= q.sum()
    epsilon = np.abs(np.log(p / q)).max()
    ratio = np.log(released(p, g) / released(q, g))
    assert np.abs(ratio).max() <= 3 * epsilon + 1e-7


class FixedRuns(EnumeratedNoise):
    """Enumerated noise that lets exactly so many runs happen."""

    runs = 1

    def bernoulli(self, p, size=None):
        FixedRuns.left -= 1
        return FixedRuns.left == 0


def test_the_code_keeps_the_best_run_and_nothing_else(monkeypatch):
    """Given 1 and 2 runs, what the code releases is the best of that many independent runs."""
    case = tuned("0.5", epsilon=1)
    statistic = case.statistic(((0, 2, 2),))
    monkeypatch.setattr("noren.audit.enumerated.EnumeratedNoise", FixedRuns)
    found = {}
    for runs in (1, 2):

        def ask(noise, runs=runs):
            FixedRuns.left = runs
            answer = case.question.answer(statistic, noise)
            return [answer.best.index, -answer.chosen]

        law, lost = law_of(ask)
        assert abs(lost) < 1e-40
        found[runs] = {tuple(json.loads(rank)): float(p) for rank, p in law.items()}
    ranks = sorted(found[1])
    once = np.cumsum([found[1][rank] for rank in ranks])
    twice = np.cumsum([found[2][rank] for rank in ranks])
    assert twice == pytest.approx(once**2, rel=1e-12)


def test_the_forecast_says_how_likely_a_candidate_is_tried():
    figures = question(*[ONE] * 5, g="0.1").forecast().figures
    runs = np.arange(1, 2000)
    missed = (0.1 * 0.9 ** (runs - 1) * 0.8**runs).sum()
    assert figures["probability that a candidate is tried"] == pytest.approx(1 - missed)
    assert figures["expected runs"] == 10


# 3. statistical


def test_draws_follow_their_law_and_the_test_can_tell():
    case, noise = tuned("0.3", epsilon=1), seeded_noise(61)
    statistic = case.statistic(((0, 2, 2),))
    law = tuned_law(case.question, statistic)
    names = sorted(law)
    drawn = [case.question.answer(statistic, noise) for _ in range(3000)]
    seen = [names.index(f"{answer.chosen}:{answer.best.index}") for answer in drawn]
    counts = np.bincount(seen, minlength=len(names))
    other = tuned_law(tuned("0.5", epsilon=1).question, statistic)
    assert p_value(counts, np.array([float(law[name]) for name in names])) > FALSE_ALARM
    assert p_value(counts, np.array([float(other[name]) for name in names])) < FALSE_ALARM


# 4. misuse


def test_a_candidate_without_pure_privacy_is_refused():
    by_rho = BoundedSum(grid=GRID, adjacency="add-remove", rho="0.1")
    with pytest.raises(NotPrivate, match="pure"):
        question(ONE, by_rho)


def test_candidates_protect_the_same_neighbours():
    other = CellCounts(cells=("a",), adjacency="substitute", epsilon=1)
    with pytest.raises(AdjacencyMismatch):
        question(ONE, other)


@pytest.mark.parametrize("g", [0, -1, 2, "half"])
def test_g_is_a_probability_above_zero(g):
    with pytest.raises(ParameterError):
        question(g=g)


def test_candidates_scores_and_statistics_are_stated_in_full():
    with pytest.raises(ParameterError, match="at least one"):
        BestOfPrivate(candidates=(), score="total", g=1)
    with pytest.raises(ParameterError, match="released field"):
        question(score="_secret")
    with pytest.raises(ParameterError, match="one for each"):
        question().answer(Alternatives((Sum.of([1], GRID),)), Noise())


def test_a_score_that_is_not_a_number_never_wins():
    asked = question()
    assert asked.score_of(SimpleNamespace(total=math.nan)) == -math.inf
    assert asked.score_of(SimpleNamespace(total=2)) == 2


def test_the_answer_holds_the_winner_alone_and_comes_back():
    both = Alternatives((Sum.of([1] * 500, GRID), Sum.of([0], GRID)))
    answer = question(g="0.01").answer(both + both, Noise())
    made = json.loads(json.dumps(answer.to_dict()))
    assert set(made["value"]) == {"chosen", "best", "secure"}
    again = answer.question.restore(made["value"])
    assert again.best.total == answer.best.total
    assert "won" in str(answer)
    assert answer.chart() is not None
    assert repr(both) == "Alternatives(2 statistics)"


def test_the_winner_states_the_price_of_the_choice_and_not_its_own():
    both = Alternatives((Sum.of([1], GRID), Sum.of([0], GRID)))
    answer = question().answer(both, Noise())
    assert answer.best.guarantee == answer.guarantee != ONE.guarantee
    assert answer.best.uncertainty == ONE.forecast()
    assert answer.question.restore(answer.record()).best.guarantee == answer.guarantee


def test_a_restored_winner_of_seeded_noise_is_marked_too():
    both = Alternatives((Sum.of([1], GRID), Sum.of([0], GRID)))
    with Ledger.open("sqlite://", testing=True) as ledger:
        ledger.create_account("people", Guarantee("add-remove", epsilon=9))
        for _ in range(2):
            answer = ledger.ask("people", question(), both, request_id="one", noise=seeded_noise(1))
            assert "NOT PRIVATE" in str(answer.best)
            assert answer.best.guarantee is None
            assert answer.best.receipt == answer.receipt


def test_a_record_of_seeded_noise_never_comes_back_as_a_private_answer():
    both = Alternatives((Sum.of([1], GRID), Sum.of([0], GRID)))
    record = question().answer(both, seeded_noise(1)).record()
    silent = {name: field for name, field in record.items() if name != "secure"}
    for kept in (record, silent):
        assert question().restore(kept).guarantee is None
        assert question().restore(kept).best.guarantee is None


def test_statistics_that_do_not_fit_a_candidate_are_refused_before_any_run():
    other = Sum.of([1], fine_grid(0, 2, missing=0))
    with pytest.raises(ParameterError, match="grid"):
        question().check(Alternatives((Sum.of([1], GRID), other)))
    with pytest.raises(ParameterError, match="one for each"):
        question().check(Alternatives((Sum.of([1], GRID),)))


@pytest.mark.parametrize("score", ["nothing", "margin", "headline"])
def test_a_score_that_no_answer_releases_is_refused_in_words(score):
    both = Alternatives((Sum.of([1], GRID), Sum.of([0], GRID)))
    with pytest.raises(ParameterError, match="every candidate releases"):
        question(score=score).answer(both, Noise())


def test_seeded_noise_can_never_pass_for_private():
    both = Alternatives((Sum.of([1], GRID), Sum.of([0], GRID)))
    answer = question().answer(both, seeded_noise(0))
    assert "NOT PRIVATE" in str(answer)
    assert answer.guarantee is None
