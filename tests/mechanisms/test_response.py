"""Randomized response: each person's report is private, the shares are unbiased."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import Noise
from noren.audit.enumerated import law_of
from noren.audit.law import p_value
from noren.errors import ParameterError
from noren.mechanisms import RandomizedResponse, Responses
from noren.privacy import LOCAL, USER, Adjacency
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9


def question(k=4, epsilon=1, adjacency="local"):
    names = tuple(f"c{j}" for j in range(k))
    return RandomizedResponse(categories=names, adjacency=adjacency, epsilon=epsilon)


# 1. oracle


@pytest.mark.parametrize(("k", "keep"), [(2, 0.731058578630005), (10, 0.231969316684074)])
def test_the_truth_is_kept_as_often_as_the_oracle_table_says(k, keep):
    asked = question(k)
    assert asked.lying + asked.contrast == pytest.approx(keep, rel=1e-12)
    law, _ = law_of(lambda noise: asked.answer(Responses([1]), noise).reports[1])
    assert float(law["1"]) == pytest.approx(keep, rel=1e-12)


@pytest.mark.parametrize(("k", "rho"), [(2, 0.4621171573), (4, 0.3004891819), (10, 0.1481329734)])
def test_each_number_of_categories_has_its_own_rho(k, rho):
    assert float(question(k).guarantee.rho) == pytest.approx(rho, rel=1e-9)


# 2. property


@given(k=st.integers(2, 5), epsilon=st.sampled_from(["0.1", "1", "4"]))
def test_no_input_changes_a_report_by_more_than_epsilon_and_some_by_all_of_it(k, epsilon):
    asked = question(k, epsilon)
    laws = [
        law_of(lambda noise, x=x: int(asked.answer(Responses([x]), noise).reports.argmax()))[0]
        for x in range(k)
    ]
    worst = max(float((p[y] / q[y]).ln()) for p in laws for q in laws for y in p)
    assert worst == pytest.approx(float(epsilon), rel=1e-12)


@given(codes=st.lists(st.integers(0, 2), min_size=1, max_size=3))
def test_shares_are_unbiased(codes):
    """Average over all reports that these people may give, with their exact probabilities."""
    asked = question(3, "0.5")
    law, _ = law_of(lambda noise: asked.answer(Responses(codes), noise))
    answers = [(float(p), asked.restore(json.loads(record))) for record, p in law.items()]
    mean = sum(p * answer.shares for p, answer in answers)
    assert mean == pytest.approx(np.bincount(codes, minlength=3) / len(codes), abs=1e-12)
    spread = sum(p * (answer.shares - mean) ** 2 for p, answer in answers)
    assert max(spread) <= asked.forecast({"people": len(codes)}).variance + 1e-12


@given(epsilon=st.floats(0.01, 900), k=st.integers(2, 1000))
def test_probabilities_stay_sane_at_any_epsilon(epsilon, k):
    asked = question(k, epsilon)
    assert 0 <= asked.lying < 1 / k
    assert 0 < asked.contrast <= 1
    assert (k - 1) * asked.lying + asked.lying + asked.contrast == pytest.approx(1, rel=1e-9)


# 3. statistical


def test_reports_follow_their_law_and_the_test_can_tell():
    drawn = question(4).answer(Responses([1] * 20_000), seeded_noise(51)).reports

    def expected(epsilon):
        keep = np.exp(epsilon) / (np.exp(epsilon) + 3)
        return np.array([(1 - keep) / 3, keep, (1 - keep) / 3, (1 - keep) / 3])

    assert p_value(drawn, expected(1)) > FALSE_ALARM
    assert p_value(drawn, expected(0.8)) < FALSE_ALARM
    assert p_value(drawn, expected(1.2)) < FALSE_ALARM


def test_margins_hold_about_as_often_as_they_say():
    asked, noise = question(2, "0.5"), seeded_noise(52)
    people = Responses([1] * 300 + [0] * 700)
    answers = [asked.answer(people, noise) for _ in range(1000)]
    held = np.mean([abs(a.shares[1] - 0.3) <= a.margin(0.9)[1] for a in answers])
    short = np.mean([abs(a.shares[1] - 0.3) <= 0.7 * a.margin(0.9)[1] for a in answers])
    assert held > 0.9 - 6.1 * np.sqrt(0.09 / 1000)
    assert short < 0.9 - 6.1 * np.sqrt(0.09 / 1000)


# 4. misuse


def test_seeded_noise_can_never_pass_for_private():
    answer = question().answer(Responses([1]), seeded_noise(0))
    assert "NOT PRIVATE" in str(answer)
    assert answer.guarantee is None


@pytest.mark.parametrize("adjacency", ["add-remove", "substitute", "bit", None])
def test_only_local_neighbours_are_proved(adjacency):
    with pytest.raises(ParameterError, match="adjacency"):
        question(adjacency=adjacency)


def test_words_that_narrow_the_neighbours_stay_with_the_guarantee():
    narrow = Adjacency(LOCAL, within="one epoch")
    assert "one epoch" in str(question(adjacency=narrow).guarantee)


def test_a_code_out_of_range_is_moved_and_not_refused():
    counted = question().answer(Responses([-5, 99]), Noise()).reports
    assert counted.sum() == 2


def test_categories_and_people_are_public_and_needed():
    with pytest.raises(ParameterError, match="at least two"):
        question(1)
    with pytest.raises(ParameterError, match="people"):
        question().answer(Responses(np.array([], int)), Noise())
    with pytest.raises(ParameterError, match="grid"):
        Responses([0.5])


def test_an_answer_shows_its_shares_and_comes_back():
    answer = question().answer(Responses([0, 1, 1]) + Responses([3]), Noise())
    made = json.loads(json.dumps(answer.to_dict()))
    assert sum(made["value"]["reports"]) == answer.people == 4
    assert answer.question.restore(made["value"]).to_dict() == answer.to_dict()
    assert "largest share" in answer.headline
    assert sum(answer.shares) == pytest.approx(1)
    [rows] = answer.chart().to_dict()["datasets"].values()
    assert len(rows) == 4


def test_a_person_who_could_report_more_than_once_is_refused():
    with pytest.raises(ParameterError, match="reports once"):
        question(adjacency=Adjacency(LOCAL, USER, 3))
