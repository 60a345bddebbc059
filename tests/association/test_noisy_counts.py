"""Noisy counts: one price buys both, whatever is counted."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from noren import Guarantee, Noise
from noren.association import CaseControl, NoisyCounts, Tables
from noren.audit.additive import worst_cost
from noren.errors import ParameterError
from noren.ledger import Ledger
from noren.privacy import discrete_laplace_rho
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9
STUDY = CaseControl(cases=200, controls=200)


def question(**settings) -> NoisyCounts:
    return NoisyCounts(**{"design": STUDY, "variants": 2, "epsilon": 1} | settings)


def one_person(cases: int, controls: int, step: int):
    """Give every pair of tables that one person's genotype takes into each other."""
    for a, b in itertools.product(range(cases + 1), range(controls + 1)):
        here = Tables([a], [b], cases, controls, step)
        for move in range(1, step + 1):
            if a + move <= cases:
                yield here, Tables([a + move], [b], cases, controls, step)
            if b + move <= controls:
                yield here, Tables([a], [b + move], cases, controls, step)


@pytest.mark.parametrize(("shape", "step"), [((3, 4), 1), ((4, 6), 2)])
def test_over_all_neighbours_the_cost_is_exactly_that_stated(shape, step):
    design = CaseControl(cases=shape[0], controls=shape[1], step=step)
    asked = question(design=design, variants=1, epsilon="0.7")
    epsilon, rho = worst_cost(lambda t, noise: asked.answer(t, noise), one_person(*shape, step))
    assert epsilon == pytest.approx(0.7, rel=1e-12)
    assert rho == pytest.approx(discrete_laplace_rho("0.7", step), rel=1e-12)
    assert float(asked.guarantee.rho) == pytest.approx(rho, rel=1e-12)


def test_one_row_that_changes_all_variants_costs_the_total():
    asked = question(variants=3, epsilon="1.5")
    base, moved = Tables([9, 8, 7], [1, 2, 3], 200, 200), Tables([8, 9, 6], [1, 2, 3], 200, 200)
    epsilon, _ = worst_cost(lambda t, noise: asked.answer(t, noise), [(base, moved)])
    assert epsilon == pytest.approx(1.5, rel=1e-12)


def test_alleles_get_noise_of_twice_the_scale():
    people = question(variants=1)
    alleles = question(variants=1, design=CaseControl(cases=400, controls=400, step=2))
    assert alleles.scale == 2 * people.scale == 2


def test_noise_follows_its_law_and_the_test_can_tell():
    many = 20_000
    asked = question(variants=many, epsilon=many * Fraction(4, 5))
    tables = Tables(np.full(many, 100), np.full(many, 50), 200, 200)
    answer = asked.answer(tables, seeded_noise(8))
    drawn = np.concatenate([answer.a - 100, answer.b - 50])

    def fit(epsilon: float) -> float:
        t, reach = np.exp(-epsilon), 7
        masses = (1 - t) / (1 + t) * t ** np.abs(np.arange(-reach, reach + 1))
        masses[[0, -1]] = t**reach / (1 + t)
        seen = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=masses.size)
        return float(
            chi2.sf(((seen - masses * drawn.size) ** 2 / (masses * drawn.size)).sum(), 2 * reach)
        )

    assert fit(0.8) > FALSE_ALARM
    assert fit(1.0) < FALSE_ALARM
    assert fit(0.6) < FALSE_ALARM


def test_what_follows_from_the_counts_is_free_and_kept_in_range():
    answer = question().restore({"a": np.array([130, -4]), "b": np.array([95, 260])})
    assert (answer.clipped.a.tolist(), answer.clipped.b.tolist()) == ([130, 0], [95, 200])
    assert answer.decisions("3.84").tolist() == [True, True]
    assert [rate.tolist() for rate in answer.rates] == [[0.65, 0.0], [0.475, 1.0]]
    assert answer.odds_ratios[0] == pytest.approx(130.5 / 70.5 / (95.5 / 105.5))
    assert set(answer.columns()) == {"snp", "a", "b", "odds_ratio"}
    assert answer.columns("3.84")["significant"].tolist() == [True, True]


def test_a_ledger_stores_the_counts():
    asked = question()
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("cohort", Guarantee(asked.guarantee.adjacency, epsilon=2))
        first = ledger.ask("cohort", asked, Tables([1, 2], [3, 4], 200, 200), request_id="x")
        again = ledger.ask("cohort", asked, Tables([1, 2], [3, 4], 200, 200), request_id="x")
    assert (first.a.tolist(), first.b.tolist()) == (again.a.tolist(), again.b.tolist())


def test_decisions_from_counts_err_more_often_than_decisions_asked_for():
    """Exact error of clipped counts against that of the score, mid-box, at one price."""
    t = np.exp(-0.5)
    z = np.arange(-60, 61)
    mass = (1 - t) / (1 + t) * t ** np.abs(z)
    a, b = np.meshgrid(np.clip(130 + z, 0, 200), np.clip(108 + z, 0, 200), indexing="ij")
    near = NoisyCounts(design=STUDY, variants=a.size, epsilon=1).restore(
        {"a": a.ravel(), "b": b.ravel()}
    )
    right = near.decisions("3.84").reshape(a.shape)
    from_counts = 1 - float(mass @ right @ mass)
    from noren.association import error_probability

    assert error_probability(Tables(130, 108, 200, 200), "3.84", "0.5", "distance") < from_counts


@pytest.mark.parametrize("settings", [{"epsilon": 0}, {"delta": 1}, {"variants": 0}])
def test_a_setting_that_makes_no_sense_is_refused_by_name(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        question(**settings)


def test_seeded_noise_can_never_pass_for_private():
    answer = question().answer(Tables([1, 2], [3, 4], 200, 200), seeded_noise(0))
    assert "NOT PRIVATE" in str(answer)
    assert question().answer(Tables([1, 2], [3, 4], 200, 200), Noise()).guarantee is not None
