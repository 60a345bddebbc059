"""Scores of a scan: the price of all tests, what is read from them, and that nothing is mixed."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from noren import Guarantee, Noise
from noren.association import CaseControl, DistanceScores, Tables, p_value, signed_distance
from noren.association.composition import total_epsilon
from noren.association.corrections import bonferroni, holm
from noren.audit.additive import worst_cost
from noren.data.sites import Sites
from noren.errors import BudgetRefused, NotPrivate, ParameterError
from noren.ledger import Ledger
from noren.privacy import pure_to_zcdp
from noren.question import identity
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9
STUDY = CaseControl(cases=200, controls=200)
TABLES = Tables([130, 60, 0, 95, 100], [95, 60, 0, 130, 99], 200, 200)
SHAPES = [(2, 2), (3, 5), (6, 6), (4, 9), (1, 7), (8, 3)]


def question(**settings) -> DistanceScores:
    given = {"design": STUDY, "variants": 5, "epsilon": 2, "mode": "agreement", "tau": "3.84"}
    return DistanceScores(**given | settings)


@pytest.mark.parametrize(
    ("distance", "epsilon", "wrong"),
    [
        (1, "0.1", 0.47502081252106),
        (1, 1, 0.268941421369995),
        (3, "0.5", 0.138889450256954),
        (10, "0.1", 0.19312905011639),
        (100, "0.1", 2.38340182383102e-05),
    ],
)
def test_the_chance_of_a_wrong_bit_is_that_of_the_oracle_table(distance, epsilon, wrong):
    found = question(variants=1, epsilon=epsilon).wrong_bit(distance)
    assert found == pytest.approx(wrong, rel=1e-12)


def test_the_total_is_stated_and_the_price_of_one_test_is_derived():
    asked = question(variants=311, epsilon=1, delta="1e-6")
    assert float(asked.per_test) == pytest.approx(0.01348, abs=5e-6)
    assert total_epsilon(asked.per_test, "1e-6", 311) <= 1
    price = asked.guarantee
    assert (price.epsilon, price.delta) == (1, Fraction(1, 10**6))
    assert float(price.rho) == pytest.approx(311 * pure_to_zcdp(asked.per_test), rel=1e-9)
    assert price.adjacency.within == "same status"
    assert question(variants=4, epsilon=1).per_test == Fraction(1, 4)


def all_tables(cases: int, controls: int, step: int = 1) -> dict[tuple[int, int], Tables]:
    return {
        (a, b): Tables([a], [b], cases, controls, step)
        for a, b in itertools.product(range(cases + 1), range(controls + 1))
    }


def neighbours(tables: dict, reach: int = 1):
    for (a, b), first in tables.items():
        for move in range(1, reach + 1):
            for other in ((a + move, b), (a, b + move)):
                if other in tables:
                    yield first, tables[other]
                    yield tables[other], first


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("tau", [1, "1.5"])
def test_the_worst_log_ratio_over_all_neighbours_is_exactly_epsilon(shape, tau):
    asked = question(
        design=CaseControl(cases=shape[0], controls=shape[1]), variants=1, epsilon="0.7", tau=tau
    )
    pairs = neighbours(all_tables(*shape))
    epsilon, rho = worst_cost(lambda tables, noise: asked.answer(tables, noise), pairs)
    assert epsilon == pytest.approx(0.7, rel=1e-12)
    assert rho == pytest.approx(pure_to_zcdp("0.7"), rel=1e-12)


def test_the_worst_log_ratio_is_epsilon_when_alleles_are_counted():
    design = CaseControl(cases=8, controls=12, step=2)
    asked = question(design=design, variants=1, epsilon="0.7", tau=2)
    pairs = neighbours(all_tables(8, 12, 2), reach=2)
    epsilon, _ = worst_cost(lambda tables, noise: asked.answer(tables, noise), pairs)
    assert epsilon == pytest.approx(0.7, rel=1e-12)


def test_one_row_that_changes_all_tests_costs_the_stated_total():
    study = CaseControl(cases=6, controls=6)
    asked = question(design=study, variants=3, epsilon="1.2", tau=2)
    base = Tables([6, 5, 1], [1, 0, 5], 6, 6)
    moved = Tables([5, 4, 2], [1, 0, 5], 6, 6)
    epsilon, _ = worst_cost(lambda t, noise: asked.answer(t, noise), [(base, moved)])
    assert epsilon == pytest.approx(1.2, rel=1e-12)


@given(
    a=st.integers(0, 40), b=st.integers(0, 60), y=st.integers(-60, 60), up=st.booleans(),
    epsilon=st.floats(0.01, 3),
)  # fmt: skip
def test_no_neighbour_makes_an_output_more_than_e_to_the_epsilon_as_likely(a, b, y, up, epsilon):
    study = CaseControl(cases=40, controls=60)
    other = (min(a + 1, 40), b) if up else (a, min(b + 1, 60))
    here, there = (
        int(study.scores(Tables([x], [z], 40, 60), Fraction("3.84"))[0]) for x, z in ((a, b), other)
    )
    assert abs(abs(y - here) - abs(y - there)) * epsilon <= epsilon * (1 + 1e-12)


def fit_to_law(drawn: np.ndarray, epsilon: float) -> float:
    """Compare draws with the two-sided geometric law at a scale of 1/epsilon."""
    t, reach = np.exp(-epsilon), 12
    inside = (1 - t) / (1 + t) * t ** np.abs(np.arange(-reach, reach + 1))
    masses = np.concatenate([[t ** (reach + 1) / (1 + t)], inside, [t ** (reach + 1) / (1 + t)]])
    seen = np.bincount(np.clip(drawn, -reach - 1, reach + 1) + reach + 1, minlength=masses.size)
    expected = masses * drawn.size
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), masses.size - 1))


def test_noise_follows_its_law_and_the_test_can_tell():
    many = 40_000
    asked = question(variants=many, epsilon=many * Fraction(2, 5))
    tables = Tables(np.full(many, 130), np.full(many, 95), 200, 200)
    drawn = asked.answer(tables, seeded_noise(5)).scores - 16
    assert fit_to_law(drawn, 0.4) > FALSE_ALARM
    assert fit_to_law(drawn, 0.5) < FALSE_ALARM
    assert fit_to_law(drawn, 0.3) < FALSE_ALARM


def test_decisions_that_agree_are_the_signs_of_the_scores():
    answer = question(epsilon=1000).answer(TABLES, Noise())
    truth = signed_distance(TABLES, "3.84") > 0
    assert answer.decisions().tolist() == truth.tolist()
    assert answer.decisions().tolist() == (answer.scores >= 1).tolist()
    assert "mode: agrees with the plain test at tau" in answer.marks
    assert set(answer.columns()) == {"snp", "score", "significant"}


def test_decisions_of_a_valid_test_come_from_corrected_p_values():
    asked = question(mode="valid", tau=None, alpha="0.01", epsilon=3)
    answer = asked.answer(TABLES, seeded_noise(2))
    p = answer.p_values()
    alone = [p_value(int(y), 200, 200, asked.tau, asked.per_test) for y in answer.scores]
    assert p.tolist() == pytest.approx(alone)
    assert answer.adjusted().tolist() == pytest.approx(holm(p).tolist())
    assert answer.adjusted("bonferroni").tolist() == pytest.approx(bonferroni(p).tolist())
    assert answer.decisions().tolist() == (holm(p) <= 0.01).tolist()
    assert (answer.p_values("common_rate") <= p * 1.001 + 1e-15).all()
    assert set(answer.columns()) == {"snp", "score", "p", "p_adjusted", "associated"}
    assert "mode: valid test at level alpha" in answer.marks


def test_the_threshold_of_a_valid_test_suits_its_level_and_can_be_set():
    asked = question(mode="valid", tau=None, variants=1000, epsilon=1000, alpha="0.05")
    assert asked.tau == asked.design.best_tau(Fraction(1), Fraction(1, 20_000))
    assert 10 < float(asked.tau) < 20
    assert question(mode="valid", tau=2).tau == 2


def test_the_error_of_the_first_kind_stays_below_alpha():
    """2,000 scans of three null variants: no more false calls than the level allows."""
    rng = np.random.default_rng(7)
    study = CaseControl(cases=50, controls=50)
    asked = DistanceScores(design=study, variants=3, epsilon=3, alpha="0.1")
    noise, calls = seeded_noise(3), 0
    for _ in range(400):
        rates = rng.choice([0.02, 0.1, 0.5], 3)
        tables = Tables(rng.binomial(50, rates), rng.binomial(50, rates), 50, 50)
        calls += bool(asked.answer(tables, noise).decisions().any())
    assert calls <= 400 * 0.1 + 6 * (400 * 0.1 * 0.9) ** 0.5


def test_ranks_begin_with_the_highest_score():
    answer = question().answer(TABLES, seeded_noise(1))
    restored = answer.question.restore({"scores": np.array([5, 9, 5, -1, 9])})
    assert restored.ranks.tolist() == [3, 1, 3, 5, 1]


def test_a_common_variant_is_called_from_about_the_forecast_on():
    study = CaseControl(cases=5000, controls=5000)
    asked = DistanceScores(design=study, variants=100, epsilon=10)
    z = asked.callable_from()
    rng, noise = np.random.default_rng(3), seeded_noise(9)
    shift = z * np.sqrt(0.25 * 2 / 5000)
    called = []
    for _ in range(6):
        a = rng.binomial(5000, 0.5 + shift / 2, 100)
        b = rng.binomial(5000, 0.5 - shift / 2, 100)
        answer = asked.answer(Tables(a, b, 5000, 5000), noise)
        called.append((answer.adjusted("bonferroni") <= 0.05).mean())
    assert 0.25 < np.mean(called) < 0.75  # about half of those at the border


def test_a_ledger_charges_once_and_gives_the_same_answer_again():
    sites = Sites(tuple(f"rs{i}" for i in range(5)), positions=tuple(range(5)))
    asked = question(variants=sites, mode="valid", tau=None)
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("cohort", Guarantee(asked.guarantee.adjacency, epsilon=3))
        first = ledger.ask("cohort", asked, TABLES, request_id="scan")
        again = ledger.ask("cohort", asked, TABLES, request_id="scan")
        assert first.scores.tolist() == again.scores.tolist()
        assert first.receipt.account == "cohort"
        with pytest.raises(BudgetRefused):
            ledger.ask("cohort", asked, TABLES)
        assert "rs3" not in str(ledger.export("cohort"))  # the list stands by its digest


def test_the_list_of_variants_is_part_of_the_identity():
    one, two = (Sites(("a", "b", "c", "d", last)) for last in "ef")
    assert identity(question(variants=one)) != identity(question(variants=two))
    assert identity(question(variants=one)) == identity(question(variants=Sites(one.names)))


def test_the_record_of_an_answer_says_everything_public():
    made = question(delta="1e-6").answer(TABLES, Noise()).to_dict()
    settings = made["settings"]
    assert settings["mode"] == "agreement"
    assert settings["tests"] == 5
    assert settings["epsilon_total"] == 2
    assert 0.4 < settings["epsilon_per_test"] < 2
    assert settings["design"] == {"cases": 200, "controls": 200, "step": 1}
    assert len(made["value"]["scores"]) == 5
    assert any("who is which" in text for text in made["assumed_public"])


def test_seeded_noise_can_never_pass_for_private():
    answer = question().answer(TABLES, seeded_noise(0))
    assert "NOT PRIVATE" in str(answer)
    assert answer.guarantee is None


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"mode": "both"}, "mode"),
        ({"tau": None}, "tau"),
        ({"tau": 0}, "tau"),
        ({"tau": 400}, "tau"),
        ({"alpha": "0.05"}, "alpha"),
        ({"mode": "valid", "alpha": 0}, "alpha"),
        ({"mode": "valid", "alpha": 1}, "alpha"),
        ({"variants": 0}, "variants"),
        ({"variants": ["rs1"]}, "variants"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(settings, name):
    with pytest.raises(ParameterError, match=name):
        question(**settings)


@pytest.mark.parametrize(
    "tables",
    [
        Tables([1, 2], [1, 2], 200, 200),
        Tables([1] * 5, [2] * 5, 200, 201),
        Tables([1] * 5, [2] * 5, 200, 200, 2),
        [1, 2, 3, 4, 5],
    ],
)
def test_tables_of_another_study_are_refused_before_anything_is_drawn(tables):
    with pytest.raises(ParameterError, match="statistic"):
        question().answer(tables, Noise())


def test_a_null_hypothesis_without_a_law_is_refused():
    answer = question(mode="valid", tau=None).answer(TABLES, Noise())
    with pytest.raises(NotPrivate, match="null is 'none'"):
        answer.p_values("none")
    with pytest.raises(ParameterError, match="correction"):
        answer.adjusted("hochberg")


def test_only_noise_is_accepted_as_noise():
    with pytest.raises(ParameterError, match="noise"):
        question().answer(TABLES, np.random.default_rng(0))
