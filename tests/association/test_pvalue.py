"""P-values: the oracle tables, guarantees at rates off the grid, and the level of the test."""

import math
import time

import numpy as np
import pytest
from scipy.stats import binom, norm

from noren.association import noise_filter
from noren.association.common_rate import LawGivenRate, Mixture, grid_of_rates
from noren.association.distance import scores
from noren.association.noise_filter import filter_rows, highest
from noren.association.pvalue import best_tau, cut_off, p_value, randomized_p_value
from noren.association.score_law import Design, LawGivenCarriers, Rows
from noren.association.statistic import Tables
from noren.errors import NotPrivate, ParameterError

# cases, controls, tau, epsilon, y, supremum over rates, maximum over numbers of carriers
ORACLES = [
    (2500, 2500, 3.84, 0.1, 23, 0.0453280, 0.0470136431),
    (2500, 2500, 3.84, 0.1, 163, 4.55489e-8, 4.56057666e-8),
    (2500, 2500, 3.84, 1, 2, 0.0478565, 0.0560529521),
    (2500, 2500, 3.84, 1, 125, 4.46078e-8, 4.5487756e-8),
    (2500, 2500, 29.7, 0.3, 34, 3.76731e-8, 4.2982247e-8),
    (500, 4500, 3.84, 0.3, 9, 0.0386057, 0.0386057039),
    (500, 4500, 3.84, 1, 43, 3.81134e-8, 4.00559771e-8),
    (5000, 5000, 3.84, 0.5, 1, 0.204832145, 0.243645928),
    (5000, 5000, 3.84, 0.5, 3, 0.075701573, 0.0896323279),
    (20, 30, 3.84, 1, 3, None, 0.02135811954),
    (20, 30, 3.84, 1, 0, None, 0.2243220184),
    (20, 30, 3.84, 1, 8, None, 0.0002090046799),
    (200, 200, 3.84, 1, -1, 0.465361568, None),
    (50, 50, 1, 0.5, 1, 0.509961082, None),
]
LARGE_ORACLES = [
    (25000, 25000, 3.84, 1, 1, 0.111719474, 0.152472055),
    (25000, 25000, 3.84, 0.01, 1611, 4.98780e-8, 5.0063304e-8),
    (5000, 45000, 2, 0.1, 186, 4.89331e-8, None),
    (25000, 25000, 29.716785, 0.1, 139, 4.79024e-8, None),
]


def check(m1, m2, tau, epsilon, y, supremum, maximum):
    if supremum is not None:
        digits = 6e-6 if supremum < 0.1 and len(str(supremum)) < 11 else 6e-9 / supremum
        bound = p_value(y, m1, m2, tau, epsilon, "common_rate")
        assert supremum * (1 - digits) <= bound <= supremum * (1.00099 + digits) + 1e-15
    if maximum is not None:
        found = p_value(y, m1, m2, tau, epsilon)
        assert maximum * (1 - 1e-9) <= found <= maximum * (1 + 1e-6)


@pytest.mark.parametrize(("m1", "m2", "tau", "epsilon", "y", "supremum", "maximum"), ORACLES)
def test_the_oracle_table_is_met(m1, m2, tau, epsilon, y, supremum, maximum):
    check(m1, m2, tau, epsilon, y, supremum, maximum)


@pytest.mark.slow
@pytest.mark.parametrize(("m1", "m2", "tau", "epsilon", "y", "supremum", "maximum"), LARGE_ORACLES)
def test_the_oracle_table_is_met_by_large_groups(m1, m2, tau, epsilon, y, supremum, maximum):
    check(m1, m2, tau, epsilon, y, supremum, maximum)


@pytest.mark.slow
def test_the_oracles_of_half_a_million_people_are_met():
    found = p_value(139, 250_000, 250_000, 29.716785, 0.1)
    assert 4.974677e-8 * (1 - 2e-7) <= found <= 4.974677e-8 * (1 + 2e-6)
    at_a_quarter = tail_at(250_000, 250_000, 3.84, 1, 3, 0.25)
    # from a double sum over the 14 million likely tables and their distances
    assert at_a_quarter == pytest.approx(0.04928604476413766, rel=1e-11)


def direct(m1, m2, tau, epsilon, rates, ys):
    """Give Pr[s + Z >= y] at some rates by double sums over all tables."""
    a, b = (grid.ravel() for grid in np.mgrid[0 : m1 + 1, 0 : m2 + 1])
    s = scores(Tables(a, b, m1, m2), tau)
    t = math.exp(-epsilon)
    tail = np.where(ys[:, None] - s > 0, t ** np.abs(ys[:, None] - s) / (1 + t),
                    1 - t ** (np.abs(ys[:, None] - s) + 1) / (1 + t))  # fmt: skip
    return np.array([tail @ (binom.pmf(a, m1, rate) * binom.pmf(b, m2, rate)) for rate in rates])


ROUGH_GRID = [
    (20, 30, 3.84, 1, {-3: 0.90106198020, 0: 0.19625092347, 1: 0.08835480495, 3: 0.01936174548,
                       5: 0.00345406139, 8: 0.000194350765}),
    (50, 50, 1, 0.5, {1: 0.50928711115, 5: 0.13326296819, 10: 0.01970460791, 20: 0.000167145272}),
]  # fmt: skip


@pytest.mark.parametrize(("m1", "m2", "tau", "epsilon", "values"), ROUGH_GRID)
def test_sums_over_all_tables_meet_the_oracles_of_a_rough_grid(m1, m2, tau, epsilon, values):
    ys = np.array(list(values))
    found = direct(m1, m2, tau, epsilon, np.arange(101) / 200, ys).max(axis=0)
    assert found == pytest.approx(np.array(list(values.values())), rel=2e-9)
    bound = p_value(ys, m1, m2, tau, epsilon, "common_rate")
    assert (found <= bound).all()


def tail_at(m1, m2, tau, epsilon, y, rate):
    """Give Pr[s + Z >= y] at one rate, from the law given a rate."""
    law = LawGivenCarriers(Design.read(m1, m2, tau))
    mixture = Mixture(m1 + m2, np.array([rate]))
    blocks = [rows for rows in map(mixture.add, law.blocks()) if len(rows.tails)]
    return float(highest(blocks, epsilon).at(y))


def test_the_tails_at_one_rate_meet_the_oracles():
    at = tail_at
    assert at(2500, 2500, 3.84, 1, 2, 0.001) == pytest.approx(0.0421111744, rel=5e-9)
    assert at(2500, 2500, 3.84, 1, 2, 0.5) == pytest.approx(0.0462973848, rel=5e-9)
    assert at(500, 4500, 3.84, 1, 43, 0.3) == pytest.approx(9.34419756e-9, rel=5e-9)


DESIGNS = [
    (50, 50, 3.84), (10, 90, 3.84), (70, 70, 2), (30, 150, 1), (30, 45, 29.7), (3, 60, 2)
]  # fmt: skip


@pytest.mark.parametrize(("m1", "m2", "tau"), DESIGNS)
@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_no_rate_off_the_grid_passes_the_guaranteed_bound(m1, m2, tau, epsilon):
    rng = np.random.default_rng(m1)
    n = m1 + m2
    rates = np.concatenate([np.exp(rng.uniform(math.log(1e-3 / n), math.log(0.5), 25)), [0.7]])
    ys = np.arange(-6, 40, 3)
    tails = direct(m1, m2, tau, epsilon, rates, ys)
    bound = p_value(ys, m1, m2, tau, epsilon, "common_rate")
    assert (tails <= bound).all()
    weaker = p_value(ys, m1, m2, tau, epsilon)
    assert (bound <= weaker * 1.00099 + 1e-15).all()  # never more than the permutation null


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m1", "m2", "tau"), [(25_000, 25_000, 3.84), (5_000, 45_000, 3.84), (25_000, 25_000, 29.7)]
)
def test_random_rates_of_fifty_thousand_people_stay_below_the_bound_and_come_near(m1, m2, tau):
    rng, n, epsilon = np.random.default_rng(m1), m1 + m2, 0.1
    rates = np.sort(np.exp(rng.uniform(math.log(1e-3 / n), math.log(0.5), 1100)))
    law, mixture = LawGivenCarriers(Design.read(m1, m2, tau)), Mixture(n, rates)
    done = [rows for rows in map(mixture.add, law.blocks()) if len(rows.tails)]
    ys = np.arange(0, 150, 10)
    largest = highest(done, epsilon).at(ys) / p_value(ys, m1, m2, tau, epsilon, "common_rate")
    assert 0.99 < largest.max() <= 1


@pytest.mark.parametrize(("m1", "m2", "tau"), DESIGNS)
@pytest.mark.parametrize("null", ["permutation", "common_rate"])
def test_rejecting_at_alpha_never_errs_more_often_than_alpha(m1, m2, tau, null):
    n, alphas = m1 + m2, [0.05, 1e-3, 5e-8]
    rates = np.concatenate([np.geomspace(1e-3 / n, 0.1, 30), np.linspace(0.1, 0.5, 12)])
    for epsilon in (0.1, 1):
        cuts = np.array([cut_off(alpha, m1, m2, tau, epsilon, null) for alpha in alphas])
        errors = direct(m1, m2, tau, epsilon, rates, cuts)
        assert (errors.max(axis=0) <= alphas).all()
        earlier = direct(m1, m2, tau, epsilon, rates, cuts - 1).max(axis=0)
        assert (earlier > np.array(alphas) / 3).all()  # the test can tell: one less is near


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1])
@pytest.mark.parametrize(
    ("m1", "m2", "tau"),
    [(2500, 2500, 3.84), (500, 4500, 3.84), (2500, 2500, 29.7), (200, 200, 3.84),
     (5000, 5000, 2), (100, 9900, 3.84)],
)  # fmt: skip
def test_rejecting_at_alpha_never_errs_more_often_than_alpha_on_a_fine_grid(m1, m2, tau, epsilon):
    n, alphas = m1 + m2, np.array([0.05, 1e-3, 5e-8])
    rates = np.sort(
        np.concatenate([np.geomspace(1e-3 / n, 0.5, 900), np.linspace(0, 0.5, 300)[1:]])
    )
    law, mixture = LawGivenCarriers(Design.read(m1, m2, tau)), Mixture(n, rates)
    done = [rows for rows in map(mixture.add, law.blocks()) if len(rows.tails)]
    for null in ("permutation", "common_rate"):
        cuts = np.array([cut_off(alpha, m1, m2, tau, epsilon, null) for alpha in alphas])
        assert (highest(done, epsilon).at(cuts) <= alphas).all()


def test_the_type_one_errors_of_the_guaranteed_cut_offs_are_those_of_the_paper_trail():
    for alpha, expected in ((0.05, 0.0453), (1e-3, 9.17e-4), (5e-8, 4.56e-8)):
        cut = cut_off(alpha, 2500, 2500, 3.84, 0.1, "common_rate")
        error = p_value(cut, 2500, 2500, 3.84, 0.1, "common_rate") / 1.00099
        assert error == pytest.approx(expected, rel=2e-3)


def test_the_grid_has_the_stated_sizes_and_ends():
    for people, points in ((100, 181), (400, 359), (5000, 1260), (50_000, 3974)):
        rates = grid_of_rates(people)
        assert len(rates) == points
        assert rates[-1] == 0.5
        assert people * rates[0] <= 2.5e-4
        assert (np.diff(rates) > 0).all()


def test_a_public_range_of_rates_lowers_the_cut_off():
    design = {"cases": 10_000, "controls": 10_000, "tau": 29.7, "epsilon": 0.1}
    cuts = [
        cut_off(5e-8, **design, null="common_rate", rate_range=span)
        for span in (None, (0, 1), (0.01, 0.99), (0.05, "0.95"), (0.05, 0.5), (0.5, 0.95))
    ]
    assert cuts == [139, 139, 112, 55, 55, 55]


def test_a_public_range_is_a_bound_for_its_own_rates():
    ys = np.arange(-3, 30, 2)
    for span in ((0.02, 0.05), (0.3, 0.31), (0.6, 0.9), (0, 0), (0.5, 0.5)):
        inside = np.linspace(*span, 7)
        tails = direct(40, 60, 3.84, 0.5, inside, ys).max(axis=0)
        bound = p_value(ys, 40, 60, 3.84, 0.5, "common_rate", rate_range=span)
        assert (tails <= bound).all()
        assert (bound <= p_value(ys, 40, 60, 3.84, 0.5, "common_rate")).all()


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 4])
def test_the_filter_is_the_convolution_with_geometric_noise(epsilon):
    rng = np.random.default_rng(3)
    tails = np.sort(rng.uniform(0, 1, (5, 12)), axis=1)[:, ::-1].copy()
    mass = -np.diff(np.hstack([np.ones((5, 1)), tails, np.zeros((5, 1))]), axis=1)
    levels, t = np.arange(-4, 9), math.exp(-epsilon)  # s takes lowest - 1, ..., last level
    for y in range(-9, 20):
        away = y - levels
        at_least = np.where(away > 0, t ** np.abs(away) / (1 + t), 1 - t ** (1 - away) / (1 + t))
        expected = (mass @ at_least).max()
        assert highest([Rows(0, -3, tails)], epsilon).at(y) == pytest.approx(expected, rel=1e-12)


def test_laws_of_different_ranges_are_merged_exactly():
    one = Rows(0, -3, np.array([[0.9, 0.5, 0.2]]))
    two = Rows(1, 2, np.array([[0.7, 0.6, 0.1, 0.05]]))
    both = highest([one, two], 0.4)
    ys = np.arange(-12, 15)
    apart = np.maximum(highest([one], 0.4).at(ys), highest([two], 0.4).at(ys))
    assert both.at(ys) == pytest.approx(apart, rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.001, 0.3, 3])
def test_the_compiled_filter_agrees_with_numpy(epsilon, monkeypatch):
    rows = list(LawGivenCarriers(Design.read(60, 50, 3.84)).blocks())
    plain = highest(rows, epsilon)
    monkeypatch.setattr(noise_filter, "FEW_VALUES", 0)
    compiled = highest(rows, epsilon)
    assert compiled.values == pytest.approx(plain.values, rel=1e-12)
    assert compiled.values == pytest.approx(filter_rows(rows[0].tails, epsilon).max(0), rel=1e-12)


def test_every_score_has_a_p_value_between_zero_and_one_that_never_rises():
    ys = np.arange(-2000, 30_000, 7)
    for null in ("permutation", "common_rate"):
        p = p_value(ys, 60, 40, 2, 0.001, null)
        assert p[0] == 1
        assert (np.diff(p) <= 0).all()
        assert 0 < p[-1] < 1e-9
        assert isinstance(p_value(3, 60, 40, 2, 0.001, null), float)


def test_the_fraction_added_to_a_score_uses_the_level_and_keeps_it():
    p = p_value(np.arange(4, 7), 60, 40, 2, 0.5)
    at = lambda v: randomized_p_value(v, 60, 40, 2, 0.5)  # noqa: E731
    assert at(4.5) == pytest.approx(p[1])
    assert at(5.0) == pytest.approx((p[1] + p[2]) / 2)
    assert at(4.75) == pytest.approx(0.25 * p[2] + 0.75 * p[1])
    assert at(np.array([4.5, 5.25])) == pytest.approx([p[1], 0.75 * p[2] + 0.25 * p[1]])
    # under the hardest number of carriers, Pr[p(v) <= alpha] is at most alpha, and near to it
    tables = Tables(np.arange(0, 41), 40 - np.arange(0, 41), 60, 40)
    from scipy.stats import hypergeom

    s, mass = scores(tables, 2), hypergeom.pmf(np.arange(0, 41), 100, 60, 40)
    z = np.arange(-60, 61)
    noise = np.tanh(0.25) * np.exp(-0.5 * np.abs(z))
    rng = np.random.default_rng(5)
    u = (rng.permutation(400) + 0.5) / 400 - 0.5  # a stratified uniform
    values = np.array([[at(s_i + z_i + u) for z_i in z] for s_i in np.unique(s)])
    for alpha in (0.05, 0.01):
        below = (values <= alpha).mean(axis=2) @ noise
        level = sum(
            below[np.searchsorted(np.unique(s), s_i)] * m for s_i, m in zip(s, mass, strict=True)
        )
        assert level <= alpha * (1 + 2e-3)


def test_the_best_threshold_meets_the_table():
    kappas = (0.35, 1, 2, 3.5, 7, 11, 21, 35, 70)
    table = {
        0.05: (1, 1, 1.20, 2.15, 2.94, 3.25, 3.53, 3.65, 3.75),
        1e-4: (1, 1, 1, 4.27, 8.87, 11.0, 12.9, 13.7, 14.4),
        5e-8: (1, 1, 1, 3.99, 13.9, 18.9, 23.8, 26.1, 27.9),
    }
    for alpha, row in table.items():
        for kappa, tau in zip(kappas, row, strict=True):
            m1, m2 = 2500, 2500
            epsilon = kappa * 2 * max(m1, m2) / math.sqrt((m1 + m2) * m1 * m2)
            assert best_tau(m1, m2, epsilon, alpha) == pytest.approx(tau, rel=5e-3)


def test_the_best_threshold_of_uneven_groups_follows_its_formula():
    m1, m2, epsilon, alpha = 400, 3600, 0.3, 1e-4
    kappa = epsilon * math.sqrt(4000 * m1 * m2) / (2 * m2)
    expected = max(1, norm.isf(alpha / 2) - 0.75 * math.log(1 / (2 * alpha)) / kappa) ** 2
    assert best_tau(m1, m2, epsilon, alpha) == pytest.approx(expected, rel=1e-12)
    assert best_tau(10, 10, 50, 5e-8) == 10  # half of N: more than N is out of reach


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"y": 2.5}, "y"), ({"y": [1, math.nan]}, "y"), ({"y": True}, "y"),
        ({"cases": 0}, "cases"), ({"tau": 50}, "tau"), ({"tau": -1}, "tau"),
        ({"epsilon": 0}, "epsilon"), ({"null": "chance"}, "null"),
        ({"rate_range": (0.1, 0.2)}, "rate_range"),
        ({"null": "common_rate", "rate_range": (0.3, 0.2)}, "rate_range"),
        ({"null": "common_rate", "rate_range": (0.3, 1.2)}, "rate_range"),
        ({"step": 3}, "step"), ({"step": 2, "cases": 21}, "cases"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(change, name):
    settings = {"y": 1, "cases": 20, "controls": 30, "tau": 3.84, "epsilon": 1, **change}
    with pytest.raises(ParameterError) as caught:
        p_value(**settings)
    assert caught.value.name == name


def test_alleles_need_a_threshold_of_at_least_one():
    with pytest.raises(NotPrivate, match="alleles"):
        p_value(1, 20, 30, 0.9, 1, step=2)
    assert 0 < p_value(5, 20, 30, 1, 1, step=2) < 1


def test_the_wider_grid_of_very_large_groups_is_a_bound_too():
    narrow = LawGivenRate(LawGivenCarriers(Design.read(300, 200, 3.84)))
    wide = LawGivenRate(narrow.given, spacing=0.5)
    ys = np.arange(-5, 60)
    dense, rough = (highest(law.blocks(), 0.3).at(ys) for law in (narrow, wide))
    assert (dense <= rough * math.exp(0.5**2 / 8)).all()
    assert len(wide.rates) < len(narrow.rates) / 4


@pytest.mark.slow
@pytest.mark.parametrize("null", ["permutation", "common_rate"])
def test_all_scores_of_fifty_thousand_people_take_less_than_two_seconds(null):
    p_value(0, 700, 700, 3.84, 0.1, null)  # compile
    begun = time.process_time()
    p = p_value(np.arange(-5, 1_000), 25_000, 25_000, 3.84, 0.123, null)
    took = time.process_time() - begun
    assert p[-1] < 1e-12
    assert took < 2 * (2 if null == "common_rate" else 1)  # matrix products wait on both cores
