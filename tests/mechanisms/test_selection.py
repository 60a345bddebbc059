"""The best of some candidates: exact laws, their prices, misuse."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import Noise
from noren.audit.enumerated import law_of
from noren.audit.exact import log_ratio
from noren.audit.law import p_value
from noren.errors import ParameterError
from noren.mechanisms import BestCandidate, Scores
from noren.mechanisms.selection import CHARGES, strongest
from noren.noise import laws
from noren.privacy import ADD_REMOVE, SUBSTITUTE, USER, Adjacency
from noren.privacy.numbers import exact
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9
METHODS = ("permute-and-flip", "exponential")
NAMES = ("x", "y", "z")


def question(adjacency="substitute", bounds=(0, 1), candidates=NAMES, **settings):
    price = {} if "rho" in settings else {"epsilon": 1}
    return BestCandidate(
        candidates=candidates, bounds=bounds, adjacency=adjacency, **(price | settings)
    )


def law(asked, scores):
    """Enumerate what the question's own code chooses."""
    statistic = Scores(np.array(scores), asked.bounds)
    found, _ = law_of(lambda noise: asked.answer(statistic, noise).index)
    return [float(found.get(str(r), 0)) for r in range(len(scores))]


# 1. oracle


@pytest.mark.parametrize(
    ("method", "masses"),
    [
        ("exponential", [0.186323723225848, 0.307195885718498, 0.506480391055654]),
        ("permute-and-flip", [0.146751360560983, 0.266076969831578, 0.587171669607439]),
    ],
)
def test_what_is_drawn_has_the_law_of_the_oracle_table(method, masses):
    """One record replaced moves two scores apart by 2, so c = epsilon / 2."""
    assert law(question(method=method), [0, 1, 2]) == pytest.approx(masses, rel=1e-12)


def test_equal_best_candidates_are_equally_likely():
    asked = question(candidates=tuple("abcd"), epsilon=2)
    expected = [0.469707770315844] * 2 + [0.0445502654956138, 0.0160341938726975]
    assert law(asked, [3, 3, 1, 0]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("method", "rho"), [(METHODS[0], 0.46211715726), (METHODS[1], 0.1233015615)]
)
def test_each_method_has_its_own_rho(method, rho):
    assert float(question(method=method).guarantee.rho) == pytest.approx(rho, rel=1e-9)


@pytest.mark.parametrize(
    ("adjacency", "bounds", "spread"),
    [
        (Adjacency(ADD_REMOVE), (0, 1), 1),
        (Adjacency(ADD_REMOVE), (3, 5), 2),
        (Adjacency(SUBSTITUTE), (-1, 1), 4),
        (Adjacency(SUBSTITUTE, USER, 3), (0, 1), 6),
    ],
)
def test_only_the_width_of_the_bounds_counts(adjacency, bounds, spread):
    assert question(adjacency, bounds).spread == spread


def test_the_price_decides_the_method():
    assert question(epsilon=1).method == "permute-and-flip"
    by_rho = question(rho="0.1233015614")
    assert by_rho.method == "exponential"
    assert float(by_rho.strength) == pytest.approx(1, rel=1e-8)


# 2. property


@given(
    scores=st.lists(st.integers(0, 6), min_size=2, max_size=4),
    record=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    old=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    method=st.sampled_from(METHODS),
    epsilon=st.sampled_from(["0.1", "1", "3"]),
)
def test_no_neighbours_differ_by_more_than_epsilon(scores, record, old, method, epsilon):
    m = len(scores)
    for adjacency, left in (("add-remove", [0] * m), ("substitute", old)):
        asked = question(adjacency, (0, 2), tuple("abcd"[:m]), method=method, epsilon=epsilon)
        moved = [s + new - gone for s, new, gone in zip(scores, record, left, strict=False)]
        p, q = law(asked, scores), law(asked, moved)
        losses = [math.log(a / b) for a, b in zip(p, q, strict=True)]
        assert max(map(abs, losses)) <= float(epsilon) * (1 + 1e-12)
        assert sum(a * loss for a, loss in zip(p, losses, strict=True)) <= asked.guarantee.rho
        if method == "exponential":
            assert max(losses) - min(losses) <= float(epsilon) * (1 + 1e-12)


@given(
    scores=st.lists(st.integers(0, 40), min_size=1, max_size=6),
    method=st.sampled_from(METHODS),
    confidence=st.sampled_from([0.5, 0.95]),
)
def test_the_chosen_score_is_near_the_best_as_often_as_said(scores, method, confidence):
    asked = question(
        "add-remove", candidates=tuple("abcdef"[: len(scores)]), method=method, epsilon="0.7"
    )
    masses, margin = law(asked, scores), asked.margin(confidence)
    far = sum(p for p, s in zip(masses, scores, strict=True) if max(scores) - s > margin)
    loss = sum(p * (max(scores) - s) for p, s in zip(masses, scores, strict=True))
    assert far <= 1 - confidence
    assert loss <= asked.forecast().figures["expected loss at most"] + 1e-12


@given(rho=st.fractions("1e-9", 5), method=st.sampled_from(METHODS))
def test_rho_buys_the_largest_epsilon_it_pays_for(rho, method):
    epsilon = strongest(rho, method)
    assert CHARGES[method](epsilon) <= rho
    assert CHARGES[method](epsilon * (1 + exact("x", "1e-10"))) > rho


@given(rows=st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=1, max_size=9))
def test_scores_are_clamped_and_merge(rows):
    whole = Scores.of(rows, (0, 2))
    parts = Scores.of(rows[:1], (0, 2)) + Scores.of(np.array(rows[1:], int).reshape(-1, 3), (0, 2))
    assert whole.values.tolist() == parts.values.tolist()
    assert whole.values.tolist() == np.clip(rows, 0, 2).sum(axis=0).tolist()


def test_permute_and_flip_is_tight_and_the_exponential_mechanism_is_not():
    """Every score may move by 1 on its own: the worst neighbour of 0, 1, 2 is known."""

    def worst(of):
        base = dict(enumerate(of([0, 1, 2], 1)))
        grid = [(a, b, c) for a in (-1, 0, 1) for b in (0, 1, 2) for c in (1, 2, 3)]
        other = [dict(enumerate(of(scores, 1))) for scores in grid]
        return max(max(log_ratio(base, p), log_ratio(p, base)) for p in other)

    assert worst(laws.permute_and_flip_law) == 1.0
    assert worst(laws.exponential_mechanism_law) == pytest.approx(0.8746872490, rel=1e-10)


# 3. statistical


@pytest.mark.parametrize("method", METHODS)
def test_draws_follow_their_law_and_the_test_can_tell(method):
    noise, asked = seeded_noise(41), question(method=method)
    statistic = Scores(np.array([0, 1, 2]), (0, 1))
    drawn = np.bincount([asked.answer(statistic, noise).index for _ in range(5000)], minlength=3)
    assert p_value(drawn, np.array(law(asked, [0, 1, 2]))) > FALSE_ALARM
    for epsilon in ("0.75", "1.25"):
        wrong = np.array(law(question(method=method, epsilon=epsilon), [0, 1, 2]))
        assert p_value(drawn, wrong) < FALSE_ALARM


# 4. misuse


def test_seeded_noise_can_never_pass_for_private():
    answer = question().answer(Scores(np.array([1, 2, 3]), (0, 1)), seeded_noise(0))
    assert "NOT PRIVATE" in str(answer)
    assert answer.guarantee is None


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0.5, 1), (0, 2**40)])
def test_bounds_are_public_whole_numbers(bounds):
    with pytest.raises(ParameterError, match="bound"):
        question(bounds=bounds)


def test_real_scores_need_a_grid():
    with pytest.raises(ParameterError, match="grid"):
        Scores.of([[0.5, 1.0, 0.25]], (0, 1))


def test_scores_counted_with_other_bounds_are_refused():
    with pytest.raises(ParameterError, match="bounds") as refusal:
        question().answer(Scores(np.array([123456, 2, 3]), (0, 2)), Noise())
    assert "123456" not in str(refusal.value)
    with pytest.raises(ParameterError, match="bounds"):
        Scores(np.array([1]), (0, 2)) + Scores(np.array([1]), (0, 3))


def test_an_unknown_method_and_foreign_neighbours_are_refused():
    with pytest.raises(ParameterError, match="permute-and-flip"):
        question(method="laplace")
    with pytest.raises(ParameterError, match="adjacency"):
        question("local")


def test_an_answer_shows_its_choice_and_comes_back():
    answer = question(epsilon=50).answer(Scores(np.array([1, 2, 90]), (0, 1)), Noise())
    assert answer.candidate == "z"
    assert "z" in answer.headline
    assert answer.question.restore(json.loads(json.dumps(answer.record()))) == answer
    assert "90" not in json.dumps(answer.to_dict())
    assert answer.chart().to_dict()["encoding"]["x"]["field"] == "candidate"
