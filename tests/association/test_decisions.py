"""Decisions: bits of the scores and nothing else. (That none better exist: test_significance.)"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from noren import Noise
from noren.association import CaseControl, Decisions, Tables, signed_distance
from noren.audit.enumerated import law_of
from noren.audit.exact import log_ratio
from noren.errors import ParameterError
from noren.testing import seeded_noise

STUDY = CaseControl(cases=4, controls=4)
TAU = Fraction(2)
BOX = list(itertools.product(range(5), range(5)))
DISTANCE = np.array([signed_distance(Tables(a, b, 4, 4), TAU) for a, b in BOX])


def question(**settings) -> Decisions:
    return Decisions(**{"design": STUDY, "variants": 1, "epsilon": 1, "tau": TAU} | settings)


def bit_law(table: tuple[int, int], asked: Decisions, window: int = 40) -> dict:
    tables = Tables([table[0]], [table[1]], 4, 4)
    return law_of(lambda noise: asked.answer(tables, noise), window=window)[0]


def test_the_bit_has_the_law_of_the_formula():
    for table, signed in zip(BOX, DISTANCE, strict=True):
        law = bit_law(table, question())
        wrong = math.exp(-(abs(signed) - 1)) / (1 + math.e)
        one = float(sum(mass for key, mass in law.items() if "true" in key))
        assert one == pytest.approx(1 - wrong if signed > 0 else wrong, abs=1e-15)


def test_over_all_neighbours_the_worst_log_ratio_is_exactly_epsilon():
    laws = {table: bit_law(table, question(epsilon="0.8"), window=60) for table in BOX}
    worst = max(
        log_ratio(laws[x], laws[y])
        for x, y in itertools.permutations(BOX, 2)
        if abs(x[0] - y[0]) + abs(x[1] - y[1]) == 1
    )
    assert worst == pytest.approx(0.8, rel=1e-12)


def test_a_threshold_that_nothing_can_pass_is_free():
    settled = question(tau=8, variants=3)
    assert settled.guarantee.epsilon == settled.guarantee.rho == 0
    assert "no data can pass" in str(settled.forecast())
    answer = settled.answer(Tables([4, 0, 2], [0, 4, 2], 4, 4), Noise())
    assert not answer.bits.any()
    assert answer.question.settings["epsilon_total"] == 0


def test_the_price_is_that_of_the_scores():
    asked = question(variants=7, epsilon=2, delta="1e-5")
    assert asked.guarantee == asked.scores.guarantee
    assert asked.mechanisms == asked.scores.mechanisms


def test_scores_never_reach_the_answer():
    answer = question().answer(Tables([4], [0], 4, 4), Noise())
    assert set(answer.record()) == {"bits", "secure"}
    assert answer.bits.dtype == bool
    assert not any(hasattr(answer, name) for name in ("scores", "p_values"))


def test_a_stored_answer_comes_back():
    answer = question(variants=2).answer(Tables([4, 1], [0, 1], 4, 4), seeded_noise(3))
    again = answer.question.restore(answer.record())
    assert again.bits.tolist() == answer.bits.tolist()
    assert again.columns()["significant"].tolist() == answer.bits.tolist()
    assert "called significant" in again.headline


@pytest.mark.parametrize("settings", [{"epsilon": -1}, {"tau": 0}, {"tau": None}, {"delta": 2}])
def test_a_setting_that_makes_no_sense_is_refused_by_name(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        question(**settings)


def test_seeded_noise_can_never_pass_for_private():
    assert "NOT PRIVATE" in str(question().answer(Tables([4], [0], 4, 4), seeded_noise(0)))
