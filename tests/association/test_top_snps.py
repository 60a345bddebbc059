"""The top K: one total for all draws, the public rule, and what the answer gives for free."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from noren import Guarantee, Noise
from noren.association import CaseControl, Loci, Tables, TopSnps, chi_squared, p_value
from noren.association.cut_choice import candidates, choose_cut
from noren.association.distance import scores
from noren.association.top_rule import by_rule, difficulty
from noren.audit.enumerated import law_of
from noren.audit.exact import log_ratio
from noren.data.sites import Sites
from noren.errors import ParameterError
from noren.ledger import Ledger
from noren.privacy import bounded_range_delta, exponential_mechanism_rho, pure_to_zcdp
from noren.testing import seeded_noise

STUDY = CaseControl(cases=2500, controls=2500)


def question(**settings) -> TopSnps:
    return TopSnps(**{"design": STUDY, "variants": 1000, "top": 5, "epsilon": 3} | settings)


def planted(m1: int, m2: int, variants: int, hits: int, seed: int) -> Tables:
    """Generate tables with some hits, the first variants."""
    rng = np.random.default_rng(seed)
    rate, z = rng.uniform(0.1, 0.5, variants), np.zeros(variants)
    z[:hits] = np.linspace(5.5, 12, hits)
    shift = z * np.sqrt(rate * (1 - rate) * (1 / m1 + 1 / m2)) / 2
    a, b = (
        rng.binomial(m1, np.clip(rate + shift, 0, 1)),
        rng.binomial(m2, rate - shift * (rate > shift)),
    )
    return Tables(a, b, m1, m2)


# The price


@pytest.mark.parametrize(
    ("top", "epsilon", "each"), [(5, 1, 0.2302), (10, 1, 0.1511), (20, 1, 0.1046), (20, 3, 0.2887)]
)
def test_rounds_with_a_delta_get_the_shares_of_the_oracle_table(top, epsilon, each):
    asked = question(top=top, epsilon=epsilon, delta="1e-6", method="peel")
    assert each <= float(asked.per_round) < each + 1e-4
    assert bounded_range_delta(asked.per_round, top, epsilon) <= 1e-6


def test_rounds_without_a_delta_share_equally():
    assert question(method="peel").per_round == Fraction(3, 5)


def test_a_set_takes_no_share_and_no_delta():
    asked = question(method="set", delta="1e-6")
    assert asked.per_round == 3
    assert asked.guarantee.delta == 0
    assert float(asked.guarantee.rho) == pytest.approx(exponential_mechanism_rho(3), rel=1e-9)


def test_a_threshold_takes_a_tenth():
    asked = question(method="tau+set")
    assert (asked.cut_epsilon, asked.per_round) == (Fraction(3, 10), Fraction(27, 10))
    expected = exponential_mechanism_rho("0.3") + exponential_mechanism_rho("2.7")
    assert float(asked.guarantee.rho) == pytest.approx(expected, rel=1e-9)


def test_scores_of_the_chosen_take_their_part_of_the_same_total():
    asked = question(method="tau+peel", delta="1e-6", scores_epsilon=1)
    assert asked.guarantee.epsilon == 3
    assert asked.deltas == (Fraction(1, 2 * 10**6), Fraction(1, 2 * 10**6))
    assert asked.cut_epsilon == Fraction(2, 10)
    assert asked.per_score > Fraction(1, 5)
    rho = (
        exponential_mechanism_rho("0.2")
        + 5 * exponential_mechanism_rho(asked.per_round)
        + 5 * pure_to_zcdp(asked.per_score)
    )
    assert float(asked.guarantee.rho) == pytest.approx(rho, rel=1e-9)
    alone = question(method="set", delta="1e-6", scores_epsilon=1)
    assert alone.deltas == (0, Fraction(1, 10**6))


def test_one_choice_needs_no_delta():
    assert question(top=1, method="peel", delta="1e-6").guarantee.delta == 0


# The public rule


@pytest.mark.parametrize(
    ("people", "variants", "top", "epsilon", "r"),
    [
        (5_000, 10**5, 1, 3, 0.1),
        (5_000, 10**5, 5, 1, 1.5),
        (5_000, 10**5, 10, 1, 2.8),
        (5_000, 10**5, 20, 1, 5.3),
        (50_000, 3 * 10**4, 20, "0.5", 2.9),
        (50_000, 10**6, 20, 1, 2.1),
        (500_000, 3 * 10**4, 20, "0.2", 2.3),
        (500_000, 10**6, 20, 1, 0.7),
    ],
)
def test_r_is_that_of_the_measured_table(people, variants, top, epsilon, r):
    study = CaseControl(cases=people // 2, controls=people // 2)
    found = difficulty(variants, top, Fraction(epsilon), study.gap)
    assert found == pytest.approx(r, abs=0.06)


def test_the_rule_follows_r():
    words = [by_rule(r, ordered=False, can_cut=True) for r in (1.8, 1.9, 2.4, 2.5)]
    assert words == ["tau+set", "set", "set", "peel"]
    words = [by_rule(r, ordered=True, can_cut=True) for r in (1.8, 1.9)]
    assert words == ["tau+peel", "peel"]
    assert by_rule(1, ordered=False, can_cut=False) == "set"


def test_without_delta_the_forecast_warns_where_little_is_found():
    hard = question(variants=100_000, top=20, epsilon=1)
    assert hard.method == "peel"
    assert "allow one (1e-6)" in str(hard.forecast())
    assert "0.5 and 0.9" in str(
        question(variants=100_000, top=20, epsilon=1, delta="1e-6").forecast()
    )


# The threshold


class Stub:
    """A design whose scores are given outright, threshold by threshold."""

    def is_reachable(self, tau):
        return tau <= 25

    def leading(self, statistic, tau, groups, many):
        return np.sort(np.array(statistic[tau == 25]))[::-1][:many]


def test_the_choice_of_a_threshold_is_private_over_all_moves_of_all_scores():
    assert candidates(Stub()) == (Fraction("20.25"), Fraction(25))
    base = ((2, 1, -3), (3, 0, -1))
    epsilon, worst = Fraction(1, 2), 0.0

    def law(statistic):
        return law_of(lambda noise: str(choose_cut(Stub(), statistic, None, 1, epsilon, noise)))[0]

    for moves in itertools.product((-1, 0, 1), repeat=6):
        other = tuple(tuple(base[i][j] + moves[3 * i + j] for j in range(3)) for i in (0, 1))
        worst = max(worst, log_ratio(law(base), law(other)), log_ratio(law(other), law(base)))
    assert 0.25 < worst <= 0.5 + 1e-12


def test_the_threshold_comes_to_lie_below_the_k_th_strongest():
    tables = planted(2500, 2500, 500, 20, seed=1)
    noise = seeded_noise(3)
    cuts = [float(choose_cut(STUDY, tables, None, 5, Fraction(50), noise)) for _ in range(3)]
    strongest = np.sort(chi_squared(tables))[::-1]
    for cut in cuts:
        assert strongest[7] < cut < strongest[2]


# The whole question, enumerated


def rows_apart(tables: Tables):
    """Give every table set that one person can reach: a case or a control changes any variants."""
    for group in ("a", "b"):
        for moves in itertools.product((-1, 0, 1), repeat=len(tables)):
            a, b = tables.a.copy(), tables.b.copy()
            changed = a if group == "a" else b
            changed += np.array(moves)
            limit = tables.cases if group == "a" else tables.controls
            if (changed >= 0).all() and (changed <= limit).all():
                yield Tables(a, b, tables.cases, tables.controls)


@pytest.mark.parametrize("method", ["set", "peel", "tau+set", "tau+peel"])
def test_the_whole_question_is_private_over_all_rows_of_one_person(method):
    study = CaseControl(cases=12, controls=14)
    asked = TopSnps(
        design=study, variants=3, top=2, epsilon=1, tau=3, method=method,
        ordered=method.endswith("peel"),
    )  # fmt: skip

    def law(tables):
        return law_of(lambda noise: asked.answer(tables, noise))[0]

    worst = 0.0
    for base in (Tables([9, 8, 4], [2, 3, 6], 12, 14), Tables([12, 11, 0], [0, 1, 0], 12, 14)):
        here = law(base)
        for other in rows_apart(base):
            there = law(other)
            worst = max(worst, log_ratio(here, there), log_ratio(there, here))
    assert 0.2 < worst <= 1 + 1e-12


def test_released_scores_keep_the_total_too():
    study = CaseControl(cases=8, controls=8)
    asked = TopSnps(
        design=study, variants=2, top=1, epsilon=1, tau=3, method="set", scores_epsilon="0.5"
    )

    def law(tables):
        return law_of(lambda noise: asked.answer(tables, noise), window=12)[0]

    base, worst = Tables([7, 3], [1, 3], 8, 8), 0.0
    here = law(base)
    for other in rows_apart(base):
        there = law(other)
        worst = max(worst, log_ratio(here, there, Decimal("1e-3")))
    assert 0.5 < worst <= 1 + 1e-12


# The answer


def test_strong_hits_are_found_and_named():
    tables = planted(2500, 2500, 1000, 5, seed=2)
    sites = Sites(tuple(f"rs{i}" for i in range(1000)))
    asked = question(variants=sites, epsilon=10)
    answer = asked.answer(tables, seeded_noise(1))
    assert asked.method == "tau+set"
    assert answer.names == ["rs0", "rs1", "rs2", "rs3", "rs4"]
    assert answer.tau in candidates(STUDY)
    assert answer.scores is None
    assert "rank" not in answer.columns()


def test_an_order_is_given_where_it_was_asked_for():
    tables = planted(2500, 2500, 1000, 5, seed=2)
    answer = question(epsilon=100, ordered=True).answer(tables, seeded_noise(1))
    truth = np.argsort(-scores(tables, answer.tau))[:5]
    assert answer.chosen.tolist() == truth.tolist()
    assert answer.columns()["rank"] == [1, 2, 3, 4, 5]


def test_p_values_of_the_chosen_are_corrected_for_all_variants():
    tables = planted(2500, 2500, 1000, 5, seed=2)
    asked = question(epsilon=10, scores_epsilon=3)
    answer = asked.answer(tables, seeded_noise(1))
    alone = p_value(answer.scores, 2500, 2500, asked.tau, asked.per_score)
    assert answer.p_values().tolist() == pytest.approx(alone.tolist())
    assert answer.adjusted().tolist() == pytest.approx(np.minimum(1, 1000 * alone).tolist())
    assert abs(answer.scores - scores(tables, asked.tau)[answer.chosen]).max() < 60
    assert {"score", "p", "p_adjusted"} <= set(answer.columns())


def test_loci_are_chosen_by_their_best_variant_and_corrected_for_all_variants():
    tables = planted(2500, 2500, 1000, 10, seed=2)  # the first ten are hits: two loci of five
    loci = Loci.named([f"block {i // 5}" for i in range(1000)])
    asked = question(top=2, loci=loci, epsilon=10, scores_epsilon=3)
    assert (asked.unit, asked.units) == ("locus", 200)
    answer = asked.answer(tables, seeded_noise(1))
    assert answer.names == ["block 0", "block 1"]
    alone = p_value(answer.scores, 2500, 2500, asked.tau, asked.per_score)
    assert answer.p_values().tolist() == pytest.approx(np.minimum(1, 5 * alone).tolist())
    assert answer.adjusted().tolist() == pytest.approx(np.minimum(1, 1000 * alone).tolist())
    assert answer.columns()["locus"] == answer.names


def test_a_ledger_stores_the_choice():
    tables = planted(2500, 2500, 1000, 5, seed=2)
    asked = question(scores_epsilon=1)
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("cohort", Guarantee(asked.guarantee.adjacency, epsilon=5))
        first = ledger.ask("cohort", asked, tables, request_id="top")
        again = ledger.ask("cohort", asked, tables, request_id="top")
    for name in ("chosen", "scores"):
        assert getattr(first, name).tolist() == getattr(again, name).tolist()
    assert first.tau == again.tau
    assert first.to_dict()["value"]["names"] == again.names


def test_seeded_noise_can_never_pass_for_private():
    answer = question().answer(planted(2500, 2500, 1000, 5, 2), seeded_noise(0))
    assert "NOT PRIVATE" in str(answer)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"top": 0}, "top"),
        ({"top": 1001}, "top"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": -1}, "delta"),
        ({"tau": 5000}, "tau"),
        ({"method": "gumbel"}, "method"),
        ({"method": "set", "ordered": True}, "method"),
        ({"method": "tau+set", "top": 1000}, "method"),
        ({"scores_epsilon": 3}, "scores_epsilon"),
        ({"scores_epsilon": 0}, "scores_epsilon"),
        ({"loci": Loci.named(["x"] * 999)}, "loci"),
        ({"design": CaseControl(cases=10, controls=10)}, "tau"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(settings, name):
    with pytest.raises(ParameterError, match=name):
        question(**settings)


def test_p_values_need_scores():
    answer = question().answer(planted(2500, 2500, 1000, 5, 2), Noise())
    with pytest.raises(ParameterError, match="scores_epsilon"):
        answer.p_values()
