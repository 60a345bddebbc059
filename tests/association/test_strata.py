"""The stratified test: the oracle table, every table of small strata, large strata, misuse."""

import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from noren import Noise
from noren.association import (
    Decisions,
    DistanceScores,
    Loci,
    NoisyCounts,
    Strata,
    StratifiedTables,
    Tables,
    TopSnps,
    chi_squared,
    cmh,
    largest_cmh,
    signed_distance,
    stratified_distance,
)
from noren.association.strata_exact import exact_stratified_distance
from noren.association.strata_geometry import cmh_sensitivity, sphere_norm, sphere_sensitivity
from noren.association.strata_scores import searched, stratified_scores
from noren.association.strata_shape import shape_of
from noren.errors import NotPrivate, ParameterError
from noren.testing import seeded_noise

LEVEL_05, LEVEL_01 = 3.841458820694124, 6.634896601021213
FIVE = (2500,) * 5
# a, b, cases, controls, tau, CMH, norm, sphere sensitivity, bound of the sensitivity, signed
ORACLES = [
    ((15,), (5,), (20,), (20,), "3.84", 9.75, 1.593443598, 0.1670048652, 7.7025, 4),
    ((4, 1), (2, 3), (8, 6), (8, 10), "3.84", 0.1428571429, 0.4297997471, 0.2382905455, 8.75, -4),
    ((7, 5), (2, 1), (8, 6), (8, 10), "3.84", 13.86792453, 1.87387399, 0.2382905455, 8.75, 4),
    ((0, 0), (0, 0), (8, 6), (8, 10), "3.84", 0, 1, 0.2382905455, 8.75, -3),
    ((130, 60), (95, 40), (200, 100), (200, 300), LEVEL_05,
     71.09454545, 4.058951957, 0.05787304819, 13.2867, 53),
    ((1, 0, 2), (0, 0, 1), (50, 100, 20), (50, 900, 180), "3.84",
     9.35651836, 1.011077269, 0.07960497945, 41.9025, 1),
    ((90, 70, 20), (70, 80, 60), (300, 200, 50), (300, 300, 350), LEVEL_01,
     14.59845757, 1.393403747, 0.03836446002, 30.9059, 11),
    ((900, 1200, 400, 300, 80), (700, 1000, 350, 290, 70), FIVE, FIVE, "29.716785",
     60.95298313, 1.268614531, 0.002327033667, 7.9976, 137),
    ((30, 10), (10, 30), (50, 50), (50, 50), "3.84", 0, 0.2, 0.07318640584, 7.8804, -14),
    ((30, 30), (10, 10), (50, 50), (50, 50), "29.716785",
     33, 1.051695859, 0.02943280673, 7.8804, 2),
]  # fmt: skip
UNEVEN = ((50, 200, 400, 700, 1000), (950, 1800, 1600, 1300, 1000))
SMALL = [((3, 4), (3, 4)), ((2, 5), (6, 3)), ((1, 6), (7, 6)), ((1, 2, 3), (4, 3, 1))]


def repeated(a, b, cases, controls, times=30):
    """The same counts at many variants, so that the compiled search is used."""
    return StratifiedTables(*(np.repeat(np.c_[list(x)], times, 1) for x in (a, b)), cases, controls)


@pytest.mark.parametrize("row", ORACLES)
def test_the_oracle_table_is_met(row):
    a, b, cases, controls, tau, statistic, norm, moved, bound, signed = row
    tables = StratifiedTables(a, b, cases, controls)
    assert cmh(tables) == pytest.approx(statistic, rel=1e-9)
    assert sphere_norm(tables, tau) == pytest.approx(norm, rel=1e-9)
    assert sphere_sensitivity(cases, controls, tau) == pytest.approx(moved, rel=1e-9)
    assert cmh_sensitivity(cases, controls) == pytest.approx(bound, rel=1e-5)
    assert stratified_distance(tables, tau) == signed
    assert (stratified_distance(repeated(a, b, cases, controls), tau) == signed).all()


@pytest.mark.parametrize(
    ("cases", "controls", "largest"),
    [
        ((4,), (5,), 8),
        ((2, 5), (6, 3), 13.8292682927),
        ((1, 6), (7, 6), 16.1883614089),
        ((1, 2, 3), (4, 3, 1), 10.6890459364),
        ((2, 3, 2), (2, 2, 4), 11.9025423729),
    ],
)
def test_the_largest_statistic_is_that_of_all_tables(cases, controls, largest):
    assert float(largest_cmh(cases, controls)) == pytest.approx(largest, rel=1e-11)
    assert cmh(every_table(cases, controls)).max() == pytest.approx(largest, rel=1e-11)


@pytest.mark.parametrize(
    ("cases", "controls", "tau", "score"),
    [
        ((200,), (200,), LEVEL_05, -3),
        ((200,), (200,), "29.716785", -27),
        ((1000,) * 5, (1000,) * 5, LEVEL_05, -3),
        ((1000,) * 5, (1000,) * 5, "29.716785", -29),
        (*UNEVEN, LEVEL_05, 0),
        (*UNEVEN, "29.716785", -1),
    ],
)
def test_a_variant_that_nobody_or_everybody_carries_is_never_significant(
    cases, controls, tau, score
):
    shape = shape_of(cases, controls, Fraction(tau))
    nobody = (0,) * len(cases)
    assert 1 + exact_stratified_distance(shape, nobody, nobody) == score
    assert 1 + exact_stratified_distance(shape, cases, controls) == score
    assert (stratified_scores(repeated(nobody, nobody, cases, controls), tau) == score).all()


def every_table(cases, controls):
    """All tables of small strata."""
    sides = [size + 1 for pair in zip(cases, controls, strict=True) for size in pair]
    grid = np.indices(sides).reshape(len(sides), -1)
    return StratifiedTables(grid[0::2], grid[1::2], cases, controls)


def box(tables, values):
    """Arrange the values of all tables along their 2K counts."""
    sizes = zip(tables.cases, tables.controls, strict=True)
    return np.reshape(values, [size + 1 for pair in sizes for size in pair])


def by_breadth(decided):
    """Search the true distance of every table of a box, breadth first."""
    found = np.zeros(decided.shape, int)
    for side in (True, False):
        reached, steps = decided != side, 0
        while not reached.all():
            steps += 1
            grown = reached.copy()
            for axis in range(decided.ndim):
                near, far = np.moveaxis(grown, axis, 0), np.moveaxis(reached, axis, 0)
                near[1:] |= far[:-1]
                near[:-1] |= far[1:]
            found[grown & ~reached] = steps
            reached = grown
    return found


@pytest.mark.parametrize("tau", [1, "3.84", "6.635"])
@pytest.mark.parametrize(("cases", "controls"), SMALL)
def test_one_person_moves_no_score_by_more_than_one_and_no_distance_is_overstated(
    cases, controls, tau
):
    tables = every_table(cases, controls)
    signed = box(tables, stratified_distance(tables, tau))
    decided = box(tables, exactly_significant(tables, Fraction(tau)))
    assert ((signed > 0) == decided).all()
    scores = np.where(signed > 0, signed, 1 + signed)
    changes = [np.abs(np.diff(scores, axis=axis)).max() for axis in range(scores.ndim)]
    assert max(changes) == 1
    lost = by_breadth(decided) - np.abs(signed)
    assert lost.min() == 0
    assert lost.mean() <= 0.22
    assert (lost == 0).mean() >= 0.78


def test_a_tie_within_reach_is_not_taken_for_significance():
    # at tau 1 sixteen more tables of this shape lie next to a tie, L^2 = V, that is not significant
    tables = every_table((3, 4), (3, 4))
    decided = box(tables, exactly_significant(tables, Fraction(1)))
    true, found = by_breadth(decided), np.abs(box(tables, stratified_distance(tables, 1)))
    missed = ~decided & (found < true)
    assert missed.sum() == 4
    assert (~decided).sum() == 172


def exactly_significant(tables, tau):
    """Decide in fractions, by the definition."""
    found = []
    for counts in np.vstack([tables.a, tables.b]).T.tolist():
        a, b = counts[: tables.strata], counts[tables.strata :]
        left = right = Fraction(0)
        for x, y, m1, m2 in zip(a, b, tables.cases, tables.controls, strict=True):
            size, n = m1 + m2, x + y
            left += Fraction(x * m2 - y * m1, size)
            right += Fraction(m1 * m2 * n * (size - n), size * size * (size - 1))
        found.append(left * left > tau * right)
    return np.array(found)


@pytest.mark.parametrize(("cases", "controls"), [((5, 8), (5, 8)), ((3, 3, 2), (2, 4, 4))])
def test_doubles_and_fractions_agree(cases, controls):
    tables = every_table(cases, controls)
    kept = tables.select(np.random.default_rng(3).choice(len(tables), 60, replace=False))
    for tau in (1, "3.84", "7"):
        shape = shape_of(cases, controls, Fraction(tau))
        fast, again = searched(shape, kept.a, kept.b)
        slow = [
            exact_stratified_distance(shape, tuple(a), tuple(b))
            for a, b in zip(kept.a.T.tolist(), kept.b.T.tolist(), strict=True)
        ]
        assert (again | (fast == slow)).all()
        assert not again.all()


def random_pairs(rng, strata, size, count):
    """Random counts, rare and common, and neighbors of theirs."""
    cases, controls = rng.integers(1, size, strata), rng.integers(1, size, strata)
    rates = rng.choice([0, 0.001, 0.02, 0.3, 0.5, 0.97, 1], (strata, count))
    a = rng.binomial(cases[:, None], rates)
    b = rng.binomial(controls[:, None], np.clip(rates + rng.normal(0, 0.05, rates.shape), 0, 1))
    moved = [a.copy(), b.copy()]
    side, k = rng.integers(0, 2, count), rng.integers(0, strata, count)
    for i in range(count):
        row, top = moved[side[i]], (cases, controls)[side[i]][k[i]]
        row[k[i], i] += -1 if row[k[i], i] == top or (row[k[i], i] and rng.random() < 0.5) else 1
    return (a, b), moved, tuple(cases.tolist()), tuple(controls.tolist())


@pytest.mark.parametrize(("strata", "size"), [(2, 30), (4, 300), (10, 50_000)])
def test_one_person_moves_the_score_by_at_most_one_in_larger_strata_too(strata, size):
    rng = np.random.default_rng(strata)
    for tau in ("0.5", "3.84", 9):
        here, there, cases, controls = random_pairs(rng, strata, size, 400)
        scores = stratified_scores(StratifiedTables(*here, cases, controls), tau)
        others = stratified_scores(StratifiedTables(*there, cases, controls), tau)
        assert np.abs(scores - others).max() == 1


@pytest.mark.parametrize(
    ("cases", "controls", "bound"),
    [((5, 8), (5, 8), 7.27), ((3, 4), (3, 4), 6.56), ((2, 5), (6, 3), 11.08)],
)
def test_the_sensitivity_of_the_statistic_is_bounded_but_not_by_single_strata(
    cases, controls, bound
):
    tables = every_table(cases, controls)
    moved = max(np.abs(np.diff(box(tables, cmh(tables)), axis=axis)).max() for axis in range(4))
    known = {(5, 8): 5.696, (3, 4): 4.261, (2, 5): 5.623}[cases]
    assert moved == pytest.approx(known, abs=6e-4)
    assert cmh_sensitivity(cases, controls) == pytest.approx(bound, abs=6e-3)
    assert moved <= bound
    alone = max(
        (m1 + m2) ** 2 / (m1 * m2) * max(m1, m2) / (max(m1, m2) + 1) * (m1 + m2 - 1) / (m1 + m2)
        for m1, m2 in zip(cases, controls, strict=True)
    )
    assert moved > alone


def test_the_norm_tells_significance_and_one_person_moves_it_by_its_sensitivity():
    tables, tau = every_table((3, 4), (3, 4)), Fraction("3.84")
    norm = box(tables, sphere_norm(tables, tau))
    assert ((norm > 1) == box(tables, exactly_significant(tables, tau))).all()
    moved = max(np.abs(np.diff(norm, axis=axis)).max() for axis in range(4))
    assert 0.8 < moved / sphere_sensitivity((3, 4), (3, 4), tau) <= 1 + 1e-12


@pytest.mark.parametrize(("m1", "m2"), [(8, 8), (15, 15), (5, 40), (30, 60)])
def test_one_stratum_is_the_plain_test_rescaled(m1, m2):
    tables, tau = every_table((m1,), (m2,)), Fraction("3.84")
    plain = Tables(tables.a[0], tables.b[0], m1, m2)
    people = m1 + m2
    assert cmh(tables) == pytest.approx(chi_squared(plain) * (people - 1) / people)
    true = signed_distance(plain, tau * Fraction(people, people - 1))
    assert (stratified_distance(tables, tau) == true).all()
    shape = shape_of((m1,), (m2,), tau)
    general, again = searched(shape, tables.a, tables.b)
    for place in np.flatnonzero(again):
        counts = (tuple(side[:, place].tolist()) for side in (tables.a, tables.b))
        general[place] = exact_stratified_distance(shape, *counts)
    inside, ratio = true < 0, general / true
    assert ratio.max() <= 1
    assert ratio[inside].mean() >= 0.94
    assert ratio[~inside].mean() >= (1 if m1 == m2 else 0.87)


def test_a_stratum_of_one_group_changes_nothing():
    with_it = StratifiedTables([7, 3, 5], [2, 0, 1], (8, 4, 6), (8, 0, 10))
    assert cmh(with_it) == cmh(StratifiedTables([7, 5], [2, 1], (8, 6), (8, 10)))
    assert stratified_distance(with_it, "3.84") == 4
    design = Strata.of(with_it)
    assert design.dropped == ("stratum 2",)
    assert "left out" in " ".join(design.notes)


def test_every_question_works_over_strata():
    counts = [[70, 20, 30], [50, 20, 30]], [[20, 20, 30], [10, 20, 30]]
    tables = StratifiedTables(*counts, (100, 100), (100, 100))
    settings = {"design": Strata.of(tables), "variants": 3, "epsilon": 30}
    noise = seeded_noise(4)
    scores = DistanceScores(**settings, mode="agreement", tau="3.84").answer(tables, noise)
    assert np.abs(scores.scores - stratified_scores(tables, "3.84")).max() <= scores.margin(
        1 - 1e-9
    )
    assert scores.decisions().tolist() == [True, False, False]
    assert Decisions(**settings, tau="3.84").answer(tables, noise).bits.tolist() == [1, 0, 0]
    for method in ("set", "tau+peel"):
        top = TopSnps(**settings, top=1, method=method, tau=9)
        assert top.answer(tables, noise).chosen.tolist() == [0]
    loci = Loci(("x", "y"), np.array([0, 1, 1]))
    found = TopSnps(**settings, top=1, loci=loci, scores_epsilon=5, tau=9).answer(tables, noise)
    assert found.names == ["x"]
    assert list(found.columns()) == ["locus", "variants", "score"]


def test_what_is_not_proved_is_refused_by_name():
    design = Strata(cases=(8, 6), controls=(8, 10))
    with pytest.raises(NotPrivate, match="'agreement'"):
        DistanceScores(design=design, variants=1, epsilon=1)
    with pytest.raises(NotPrivate, match="Noisy counts"):
        NoisyCounts(design=design, variants=1, epsilon=1)
    with pytest.raises(NotPrivate, match="no proved p-values"):
        design.p_values([1], Fraction(4), Fraction(1), "permutation")


def test_a_threshold_that_no_tables_pass_is_refused_or_settled_for_nothing():
    design = Strata(cases=(4,), controls=(5,))
    with pytest.raises(ParameterError, match="below 8"):
        design.read_tau(8)
    settled = Decisions(design=design, variants=2, epsilon=1, tau=8)
    assert settled.guarantee.epsilon == 0
    empty = StratifiedTables([[0, 4]], [[0, 0]], (4,), (5,))
    assert settled.answer(empty, Noise()).bits.tolist() == [False, False]


@pytest.mark.parametrize(
    ("a", "b", "cases", "controls", "about"),
    [
        ([1, 9], [1, 1], (4, 4), (4, 4), "outside its range"),
        ([1, -1], [1, 1], (4, 4), (4, 4), "outside its range"),
        ([0.5, 1], [1, 1], (4, 4), (4, 4), "whole numbers"),
        ([1], [1, 1], (4, 4), (4, 4), "one row for each stratum"),
        ([1, 1], [1, 1], (4, 4), (4,), "strata"),
        ([1, 1], [1, 1], (4, 0), (0, 4), "apart in every stratum"),
        ([1, 1], [1, 1], "44", (4, 4), "a list"),
        ([1, 1], [[1, 2], [1, 2]], (4, 4), (4, 4), "the same"),
    ],
)
def test_bad_tables_are_refused_without_a_count(a, b, cases, controls, about):
    with pytest.raises(ParameterError, match=about) as refused:
        StratifiedTables(a, b, cases, controls)
    assert "9" not in str(refused.value).replace("49", "")


def test_tables_of_other_people_add_up_and_hide_their_counts():
    one = StratifiedTables([[4, 7], [1, 5]], [[2, 2], [3, 1]], (8, 6), (8, 10))
    both = one + one
    assert both.cases == (16, 12)
    assert cmh(both) == pytest.approx([cmh((one + one).select([i]))[0] for i in range(2)])
    assert both.pooled.a.tolist() == [10, 24]
    assert repr(one) == "StratifiedTables(2 variants, 2 strata, 14 cases, 18 controls)"


def test_the_order_of_strata_and_the_naming_of_groups_change_no_score():
    rng = np.random.default_rng(8)
    for a, b in product(rng.integers(0, 7, (4, 3)).tolist(), repeat=2):
        first = StratifiedTables(a, b, (6, 8, 9), (7, 6, 11))
        turned = StratifiedTables(a[::-1], b[::-1], (9, 8, 6), (11, 6, 7))
        swapped = StratifiedTables(b, a, (7, 6, 11), (6, 8, 9))
        assert stratified_distance(first, "2.7") == stratified_distance(turned, "2.7")
        assert stratified_distance(first, "2.7") == stratified_distance(swapped, "2.7")


@pytest.mark.slow
@pytest.mark.parametrize("strata", [2, 5, 10])
def test_a_million_variants_are_scored_in_seconds_on_one_core(strata):
    rng, variants, half = np.random.default_rng(strata), 10**6, 250_000 // strata
    rates = rng.uniform(0.05, 0.5, variants)
    b = np.stack([rng.binomial(half, rates) for _ in range(strata)])
    shift = rng.normal(0, 1, variants) * np.sqrt(half * rates / strata) * 8  # as many of each kind
    a = np.clip(b + shift.astype(int), 0, half)
    shape = shape_of((half,) * strata, (half,) * strata, Fraction("29.716785"))
    searched(shape, a[:, :100], b[:, :100])
    begun = time.process_time()
    signed, again = searched(shape, a, b)
    spent = time.process_time() - begun
    print(f"{strata} strata: {spent:.2f} s, {again.sum()} of {variants} again in fractions")
    assert again.sum() < 100
    assert (signed > 0).any()
    assert spent < 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_designs_of_every_kind_keep_the_contract(seed):
    rng = np.random.default_rng(seed)
    worst = 0
    for _ in range(60):
        strata = int(rng.integers(1, 11))
        here, there, cases, controls = random_pairs(
            rng, strata, int(rng.choice([4, 60, 4000])), 400
        )
        tau = Fraction(str(rng.choice(["0.01", "0.5", "1", "3.84", "4", "9"])))
        if tau < largest_cmh(cases, controls):
            scores = stratified_scores(StratifiedTables(*here, cases, controls), tau)
            others = stratified_scores(StratifiedTables(*there, cases, controls), tau)
            worst = max(worst, int(np.abs(scores - others).max()))
    assert worst == 1


@pytest.mark.parametrize("tau", ["1e-101", "5e-324", "1e-400"])
def test_a_threshold_too_small_for_doubles_is_refused(tau):
    with pytest.raises(ParameterError, match="at least 1e-100"):
        stratified_distance(every_table((2, 2), (2, 2)), tau)
    small = stratified_distance(every_table((2, 2), (2, 2)), "1e-100")
    assert (np.abs(small) >= 1).all()
