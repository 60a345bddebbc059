"""The published decisions: their laws, what they really guarantee, and where that ends."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from noren.association import CaseControl, Tables, significance_probability
from noren.association.as_published import CASES_ONLY, PUBLISHED, PublishedDecisions
from noren.association.codings import CODINGS, read_coding
from noren.association.significance import laplace_margin
from noren.audit.enumerated import law_of
from noren.audit.exact import log_ratio
from noren.errors import NotPrivate, ParameterError
from noren.testing import seeded_noise

ANY_SIZES = tuple(method for method in PUBLISHED if method != "fienberg")


def question(**settings) -> PublishedDecisions:
    given = {"design": CaseControl(cases=200, controls=200), "variants": 1, "tau": "3.84"}
    return PublishedDecisions(**given | {"epsilon_per_test": 1, "method": "yu"} | settings)


def chance(asked: PublishedDecisions, tables: Tables) -> float:
    law = law_of(lambda noise: asked.answer(tables, noise))[0]
    return float(sum(mass for key, mass in law.items() if "true" in key))


@pytest.mark.parametrize(
    ("epsilon", "method", "probability"),
    [
        ("0.1", "unit-circle", 0.831902978549),
        (1, "unit-circle", 0.999990777044),
        ("0.1", "unit-circle-tight", 0.892979449327),
        ("0.1", "yu", 0.597207544006),
        (1, "yu", 0.942444975862),
        ("0.1", "fienberg", 0.597207544006),
    ],
)
def test_the_bit_is_drawn_with_the_probability_of_the_oracle_table(epsilon, method, probability):
    asked = question(epsilon_per_test=epsilon, method=method)
    found = chance(asked, Tables([130], [95], 200, 200))
    assert found == pytest.approx(probability, abs=5e-9)  # the noise is enlarged by 1e-9


@pytest.mark.parametrize(
    ("method", "shape"),
    [(method, shape) for method in ANY_SIZES for shape in ((4, 4), (6, 6), (3, 8), (7, 2))]
    + [("fienberg", (4, 4)), ("fienberg", (6, 6))],
)
def test_over_all_neighbours_no_bit_costs_more_than_its_epsilon(method, shape):
    design = CaseControl(cases=shape[0], controls=shape[1])
    asked = question(design=design, tau=2, epsilon_per_test="0.9", method=method)
    laws = {}
    for a, b in itertools.product(range(shape[0] + 1), range(shape[1] + 1)):
        laws[a, b] = law_of(lambda noise, a=a, b=b: asked.answer(Tables([a], [b], *shape), noise))[
            0
        ]
    worst = 0.0
    for a, b in laws:
        others = [(a + 1, b)] if method == "yu-controls-public" else [(a + 1, b), (a, b + 1)]
        for other in others:
            if other in laws:
                worst = max(
                    worst,
                    log_ratio(laws[a, b], laws[other]),
                    log_ratio(laws[other], laws[a, b]),
                )
    assert 0.25 < worst <= 0.9 * (1 + 1e-12)


def test_the_published_unit_circle_spends_less_than_it_claims():
    """Balanced groups: its constant is too large by the root of 2."""
    found = {}
    for method in ("unit-circle", "unit-circle-tight"):
        tables = Tables([6, 5], [3, 3], 6, 6)
        z = laplace_margin(tables, 2, 1, method)
        found[method] = abs(float(z[0] - z[1]))
    assert found["unit-circle-tight"] == pytest.approx(1, rel=1e-12)
    assert found["unit-circle"] == pytest.approx(1 / math.sqrt(2), rel=1e-12)


def test_the_rounding_of_large_groups_is_paid_for():
    """At N = 2^25 the plain z of neighbours differ by more than epsilon, enlarged ones never."""
    half = 2**24
    rng = np.random.default_rng(5)
    a = np.concatenate([np.array([half]), rng.integers(half // 2, half, 20_000)])
    b = np.concatenate([np.array([half // 2]), rng.integers(0, half, 20_000)])
    asked = question(
        design=CaseControl(cases=half, controls=half), variants=len(a), method="unit-circle-tight"
    )
    here, there = Tables(a, b, half, half), Tables(a - 1, b, half, half)
    assert np.abs(asked.margins(here) - asked.margins(there)).max() <= 1
    plain = [laplace_margin(t, "3.84", 1, "unit-circle-tight") for t in (here, there)]
    assert np.abs(plain[0] - plain[1]).max() > 1 + 1e-9


def test_the_total_of_the_paper_s_experiment_is_stated():
    asked = question(variants=311, epsilon_per_test="0.5", method="unit-circle")
    assert asked.guarantee.epsilon == Fraction("155.5")
    with_delta = question(variants=311, epsilon_per_test="0.5", delta="1e-6").guarantee
    assert float(with_delta.epsilon) == pytest.approx(76.8501381498, rel=1e-9)
    assert "155.5" in str(asked.forecast())


def test_public_controls_are_not_protected_and_the_guarantee_says_so():
    asked = question(method="yu-controls-public")
    assert asked.guarantee.adjacency == CASES_ONLY
    assert asked.guarantee.adjacency != question().guarantee.adjacency
    assert "the carrier counts of the controls" in asked.assumed_public


def test_a_released_number_with_public_controls_noise_is_not_private():
    """The log density ratio of two tables that differ in one control, at the output 200."""
    (first, second), y = ((5, 5), (5, 6)), 200

    def log_density(table: tuple[int, int]) -> float:
        from noren.association import chi_squared
        from noren.association.sensitivities import yu_controls_public_sensitivity

        tables = Tables(*table, 10, 10)
        scale = float(yu_controls_public_sensitivity(tables))
        return -abs(y - float(chi_squared(tables))) / scale - math.log(2 * scale)

    assert abs(log_density(first) - log_density(second)) == pytest.approx(1.6974, abs=1e-4)


@pytest.mark.parametrize("method", ANY_SIZES)
def test_bits_are_drawn_as_often_as_they_should_be(method):
    many = 20_000
    tables = Tables(np.full(many, 110), np.full(many, 95), 200, 200)
    asked = question(variants=many, method=method, epsilon_per_test="0.5")
    ones = int(asked.answer(tables, seeded_noise(6)).bits.sum())
    p = float(significance_probability(Tables(110, 95, 200, 200), "3.84", "0.5", method))
    assert abs(ones - many * p) < 6.2 * math.sqrt(many * p * (1 - p))


def test_a_monomorphic_variant_is_called_half_of_the_time():
    for people in (20, 2000):
        asked = question(
            design=CaseControl(cases=people, controls=people), method="unit-circle", tau="3.84"
        )
        assert chance(asked, Tables([0], [0], people, people)) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"method": "distance"}, "method"),
        ({"epsilon_per_test": 0}, "epsilon"),
        ({"tau": -1}, "tau"),
        ({"method": "fienberg", "design": CaseControl(cases=3, controls=4)}, "fienberg"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(settings, name):
    with pytest.raises(ParameterError, match=name):
        question(**settings)


def test_seeded_noise_can_never_pass_for_private():
    answer = question().answer(Tables([130], [95], 200, 200), seeded_noise(0))
    assert "NOT PRIVATE" in str(answer)
    assert answer.question.restore(answer.record()).bits.tolist() == answer.bits.tolist()


# Tests that have no proof


@pytest.mark.parametrize("name", ["trend", "Cochran-Armitage", "additive", "genotype", "2x3"])
def test_a_test_without_a_proof_is_refused_by_name(name):
    with pytest.raises(NotPrivate, match=r"The (trend|genotype) test cannot be asked privately"):
        read_coding(name)


def test_codings_are_read_by_all_their_names():
    assert [read_coding(name) for name in CODINGS] == list(CODINGS)
    assert read_coding("dominant") == "carrier"
    with pytest.raises(ParameterError, match="coding"):
        read_coding("haplotype")


def trend(cases: tuple[int, ...], controls: tuple[int, ...]) -> float:
    """Give the Cochran-Armitage statistic of two lists of allele counts."""
    m1, m2, n = len(cases), len(controls), len(cases) + len(controls)
    a, total = sum(cases), sum(cases) + sum(controls)
    squares = sum(x * x for x in (*cases, *controls))
    spread = n * squares - total * total
    return n * (n * a - m1 * total) ** 2 / (m1 * m2 * spread) if spread else 0.0


def test_the_trend_statistic_moves_further_than_the_constant_of_the_2x2_test():
    """Three cases and three controls: 5.647, where the constant of the 2x2 test is 3."""
    worst = 0.0
    groups = list(itertools.combinations_with_replacement((0, 1, 2), 3))
    for cases, controls in itertools.product(groups, repeat=2):
        here = trend(cases, controls)
        for place, other in itertools.product(range(3), (0, 1, 2)):
            moved = (*cases[:place], other, *cases[place + 1 :])
            worst = max(worst, abs(here - trend(moved, controls)))
            moved = (*controls[:place], other, *controls[place + 1 :])
            worst = max(worst, abs(here - trend(cases, moved)))
    assert worst == pytest.approx(5.647, abs=5e-4)
