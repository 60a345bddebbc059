"""The exact probabilities of each mechanism: oracles, privacy, the published experiments."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from noren.association.distance import signed_distance
from noren.association.geometry import chi_squared, is_significant
from noren.association.significance import (
    METHODS,
    error_probability,
    significance_probability,
)
from noren.association.statistic import Tables
from noren.errors import ParameterError

ALL_ROUND = [method for method in METHODS if method != "fienberg"]


@pytest.mark.parametrize(
    ("moves", "epsilon", "wrong"),
    [(1, 0.1, 0.47502081252106), (1, 1, 0.268941421369995), (3, 0.5, 0.138889450256954),
     (10, 0.1, 0.19312905011639), (100, 0.1, 2.38340182383102e-05)],
)  # fmt: skip
def test_the_wrong_bit_meets_the_oracles(moves, epsilon, wrong):
    tables = all_tables(400, 400)
    away = signed_distance(tables, 3.84)
    for side in (moves, -moves):
        if not (away == side).any():
            continue
        place = int(np.flatnonzero(away == side)[0])
        found = error_probability(tables.select([place]), 3.84, epsilon, "distance")
        assert found[0] == pytest.approx(wrong, rel=1e-12)


@pytest.mark.parametrize(
    ("method", "at_a_tenth", "at_one"),
    [("unit-circle", 0.831902978549, 0.999990777044),
     ("unit-circle-tight", 0.892979449327, 0.999999899088),
     ("yu", 0.597207544006, 0.942444975862)],
)  # fmt: skip
def test_the_probability_of_a_one_meets_the_oracles(method, at_a_tenth, at_one):
    tables = Tables(130, 95, 200, 200)
    found = [significance_probability(tables, 3.84, epsilon, method) for epsilon in (0.1, 1)]
    assert found == pytest.approx([at_a_tenth, at_one], rel=1e-11)


def all_tables(m1, m2, step=1):
    a, b = (grid.ravel() for grid in np.mgrid[0 : m1 + 1, 0 : m2 + 1])
    return Tables(a, b, m1, m2, step)


@pytest.mark.parametrize(("m1", "m2"), [(6, 6), (4, 9), (10, 3)])
@pytest.mark.parametrize("method", ALL_ROUND)
@pytest.mark.parametrize("step", [1, 2])
def test_one_person_changes_no_probability_by_more_than_epsilon(m1, m2, method, step):
    tables = all_tables(2 * m1, 2 * m2, step) if step == 2 else all_tables(m1, m2)
    for epsilon in (0.1, 1, 3):
        one = significance_probability(tables, 2.5, epsilon, method)
        wrong = error_probability(tables, 2.5, epsilon, method)
        zero = np.where(is_significant(tables, 2.5), wrong, 1 - one)
        worst = 0.0
        for bit in (one, zero):
            grid = np.log(bit).reshape(tables.cases + 1, tables.controls + 1)
            for k in range(1, step + 1):
                worst = max(worst, np.abs(grid[k:] - grid[:-k]).max())
                if method != "yu-controls-public":  # the controls' counts are public there
                    worst = max(worst, np.abs(grid[:, k:] - grid[:, :-k]).max())
        assert worst <= epsilon * (1 + 1e-9)
        if method == "distance":
            assert worst == pytest.approx(epsilon, rel=1e-9)  # it spends exactly epsilon


def test_the_published_unit_circle_spends_less_than_it_is_charged_for():
    grid = np.log(significance_probability(all_tables(40, 40), 3.84, 1, "unit-circle"))
    grid = grid.reshape(41, 41)
    worst = max(np.abs(np.diff(grid, axis=0)).max(), np.abs(np.diff(grid, axis=1)).max())
    assert worst < 1 / math.sqrt(2) * (1 + 1e-9)


def test_the_distance_mechanism_is_nowhere_much_worse_than_one_that_errs_at_most_half_the_time():
    tables = all_tables(30, 25)
    for epsilon in (0.1, 1):
        most = 2 * math.exp(epsilon) / (1 + math.exp(epsilon))
        ours = error_probability(tables, 3.84, epsilon, "distance")
        for method in ("unit-circle", "unit-circle-tight", "yu"):
            theirs = error_probability(tables, 3.84, epsilon, method)
            assert (ours <= most * theirs * (1 + 1e-12)).all()


def test_nothing_can_be_significant_above_the_number_of_people():
    assert significance_probability(Tables([2, 0], [0, 0], 2, 2), 4, 1, "distance").tolist() == [
        0,
        0,
    ]


def test_tiny_error_probabilities_keep_their_digits():
    tables = Tables(250_000, 0, 250_000, 250_000)
    moves = int(signed_distance(tables, 3.84))
    wrong = error_probability(tables, 3.84, Fraction(1, 700), "distance")
    assert wrong == pytest.approx(math.exp(-(moves - 1) / 700) / (1 + math.exp(1 / 700)), rel=1e-9)
    assert 0 < wrong < 1e-100


def test_unknown_methods_and_uneven_groups_are_refused():
    with pytest.raises(ParameterError, match="method"):
        significance_probability(Tables(1, 1, 5, 5), 3.84, 1, "guess")
    with pytest.raises(ParameterError, match="fienberg"):
        significance_probability(Tables(1, 1, 5, 6), 3.84, 1, "fienberg")
    for epsilon in (0, -1, None, math.inf):
        with pytest.raises(ParameterError, match="epsilon"):
            significance_probability(Tables(1, 1, 5, 5), 3.84, epsilon, "distance")


# The experiments of the paper, as exact mean errors.


def balanced(log_people):
    """Give the ten tables of the paper's balanced experiment."""
    n = 2**log_people
    k = [min(n // 4, round(math.sqrt(t * n) / 4)) for t in range(1, 11)]
    return Tables([n // 4 + j for j in k], [n // 4 - j for j in k], n // 2, n // 2)


@pytest.mark.parametrize(
    ("log_people", "chi2", "circle", "tight", "distance"),
    [(4, 0.4644, 0.4627, 0.4486, 0.4315), (10, 0.4667, 0.2634, 0.2118, 0.2124),
     (16, 0.4672, 0.04645, 0.03424, 0.03328), (20, 0.4671, 0.01159, 0.006317, 0.006429),
     (24, 0.4671, 1.437e-4, 1.273e-5, 1.305e-5), (25, 0.4671, 1.330e-5, 4.396e-7, 4.354e-7)],
)  # fmt: skip
def test_the_balanced_experiment(log_people, chi2, circle, tight, distance):
    tables = balanced(log_people)
    methods = ("fienberg", "yu", "unit-circle", "unit-circle-tight", "distance")
    found = [error_probability(tables, 3.84, 0.1, method).mean() for method in methods]
    assert found == pytest.approx([chi2, chi2, circle, tight, distance], rel=5e-4)


def uneven(log_people):
    """Give the ten tables of the unbalanced experiment: two cases, both carriers."""
    m2 = 2**log_people - 2
    b = np.arange(m2 + 1) if log_people < 15 else None
    chosen = []
    for t in range(1, 11):
        if b is not None:
            values = chi_squared(Tables(np.full(m2 + 1, 2), b, 2, m2))
            chosen.append(int(np.argmin(np.abs(values - t))))
        else:  # chi2 falls as b rises: bisect
            low, high = 0, m2
            while high - low > 1:
                middle = (low + high) // 2
                above = chi_squared(Tables(2, middle, 2, m2)) > t
                low, high = (middle, high) if above else (low, middle)
            near = [abs(float(chi_squared(Tables(2, j, 2, m2))) - t) for j in (low, high)]
            chosen.append(low if near[0] <= near[1] else high)
    return Tables([2] * 10, chosen, 2, m2)


@pytest.mark.parametrize(
    ("log_people", "yu", "circle", "tight", "distance"),
    [(10, 0.4973, 0.3634, None, 0.1982), (25, 0.5000, 0.3636, 0.3636, 0.1982)],
)
def test_the_unbalanced_experiment(log_people, yu, circle, tight, distance):
    tables = uneven(log_people)
    expected = {"yu": yu, "unit-circle": circle, "distance": distance}
    if tight is not None:
        expected["unit-circle-tight"] = tight
    for method, value in expected.items():
        found = error_probability(tables, 3.84, 1, method).mean()
        assert found == pytest.approx(value, rel=5e-4)


def stand_in():
    """Give 311 tables like those of the paper's real data, which may not be passed on."""
    x, rows, strong, weak = 2015, [], 0, 0

    def uniform():
        nonlocal x
        x = (6364136223846793005 * x + 1442695040888963407) % 2**64
        return (x >> 11) / 2**53

    while len(rows) < 311:
        p = 0.05 + 0.9 * uniform()
        big = uniform() < 0.25
        spread = math.sqrt(400 * p * (1 - p))
        z = sum(uniform() for _ in range(12)) - 6
        delta = z * spread * (2.5 if big else 1)
        a = math.floor((400 * p + delta) / 2 + 0.5)
        b = math.floor((400 * p - delta) / 2 + 0.5)
        if not (0 <= a <= 200 and 0 <= b <= 200):
            continue
        if is_significant(Tables(a, b, 200, 200), 3.84):
            if strong < 63:
                strong += 1
                rows.append((a, b))
        elif weak < 248:
            weak += 1
            rows.append((a, b))
    a, b = zip(*rows, strict=True)
    return Tables(a, b, 200, 200)


def test_the_stand_in_for_the_real_data():
    tables = stand_in()
    first = list(zip(tables.a[:5].tolist(), tables.b[:5].tolist(), strict=True))
    assert first == [(56, 55), (185, 181), (98, 100), (158, 159), (50, 41)]
    assert (tables.a.sum(), tables.b.sum()) == (31196, 31440)
    away = signed_distance(tables, 3.84)
    assert (np.median(away[away > 0]), away.max()) == (6, 33)
    published = {
        "fienberg": (0.45764, 0.42131, 0.38945, 0.33563, 0.29157, 0.23872),
        "yu": (0.45764, 0.42131, 0.38945, 0.33563, 0.29157, 0.23872),
        "yu-controls-public": (0.45756, 0.42116, 0.38926, 0.33537, 0.29127, 0.23839),
        "unit-circle": (0.30908, 0.21251, 0.15779, 0.10112, 0.07323, 0.05123),
        "unit-circle-tight": (0.26175, 0.16532, 0.11749, 0.07250, 0.05176, 0.03595),
        "distance": (0.22550, 0.12840, 0.08557, 0.04965, 0.03446, 0.02291),
    }
    for method, row in published.items():
        for epsilon, value in zip((0.1, 0.2, 0.3, 0.5, 0.7, 1), row, strict=True):
            found = error_probability(tables, 3.84, epsilon, method).mean()
            assert found == pytest.approx(value, abs=6e-6)


# Where the paper is wrong.


def test_its_utility_theorem_is_false_for_rare_variants():
    tables = Tables([6, 0], [0, 0], 500_000, 500_000)
    assert chi_squared(tables)[0] == pytest.approx(6.0, abs=1e-4)  # 2.16 above the threshold
    errors = error_probability(tables, 3.84, 0.1, "unit-circle")
    assert errors[0] == pytest.approx(0.499766, abs=1e-6)  # claimed: at most 1.5e-8
    assert errors[1] == 0.5  # claimed: at most 1.7e-13


def test_the_unit_circle_is_not_always_better():
    tables = Tables(np.arange(1, 11), np.zeros(10, int), 2**19, 2**19)
    means = [
        error_probability(tables, 3.84, 0.1, method).mean()
        for method in ("unit-circle", "fienberg", "yu", "distance")
    ]
    assert means == pytest.approx([0.4997, 0.4671, 0.4671, 0.4356], abs=1e-4)


def test_public_controls_are_a_weaker_protection():
    """A released value, not only a bit, betrays a control when the scale depends on b."""
    scales = [200 / 100 * 4 * k / (k + 1) / 2 for k in (5, 6)]
    assert scales == pytest.approx([10 / 3, 24 / 7])
    y, values = 200.0, [float(chi_squared(Tables(5, b, 10, 10))) for b in (5, 6)]
    log_density = [-abs(y - v) / s - math.log(2 * s) for v, s in zip(values, scales, strict=True)]
    assert abs(log_density[0] - log_density[1]) == pytest.approx(1.6974, abs=1e-4)


def test_tables_of_the_papers_synthetic_data_do_not_exist_for_few_people():
    assert chi_squared(all_tables(2, 2)).max() == 4
    assert chi_squared(all_tables(4, 4)).max() == 8


# No private decision is better.


def private_constraints(m1, m2, epsilon):
    """Give the inequalities A p <= c that every epsilon-private decision p(table) meets."""
    rows, limits = [], []
    places = np.arange((m1 + 1) * (m2 + 1)).reshape(m1 + 1, m2 + 1)
    pairs = [*zip(places[1:].ravel(), places[:-1].ravel(), strict=True),
             *zip(places[:, 1:].ravel(), places[:, :-1].ravel(), strict=True)]  # fmt: skip
    for x, y in [*pairs, *((y, x) for x, y in pairs)]:
        for sign, limit in ((1, 0.0), (-1, math.exp(epsilon) - 1)):  # for the 1, and for the 0
            row = np.zeros(places.size)
            row[x], row[y] = sign, -sign * math.exp(epsilon)
            rows.append(row)
            limits.append(limit)
    return np.array(rows), np.array(limits)


@pytest.mark.parametrize(("m1", "m2", "tau"), [(4, 4, 2), (4, 4, 3.84), (3, 5, 1), (2, 6, 2.5)])
@pytest.mark.parametrize("epsilon", [0.3, 1])
def test_no_private_decision_is_better_than_the_distance_mechanism(m1, m2, tau, epsilon):
    tables = all_tables(m1, m2)
    ours = error_probability(tables, tau, epsilon, "distance")
    one, border = is_significant(tables, tau), np.abs(signed_distance(tables, tau)) == 1
    matrix, limits = private_constraints(m1, m2, epsilon)
    signs = np.where(one, -1.0, 1.0)  # error = constant + sign * p
    # the least total error of all that err no more than we do next to the border
    worst_at_border = 1 / (1 + math.exp(epsilon))
    low = np.where(border & one, 1 - worst_at_border, 0)
    high = np.where(border & ~one, worst_at_border, 1)
    best = linprog(signs, matrix, limits, bounds=np.column_stack([low, high]))
    assert best.fun + one.sum() == pytest.approx(ours.sum(), rel=1e-9)
    # the least factor by which any of them could be uniformly better: error <= factor * ours
    columns = np.column_stack([np.diag(signs), -ours])
    upper = np.vstack([np.column_stack([matrix, np.zeros(len(matrix))]), columns])
    target = np.concatenate([limits, -one.astype(float)])
    bounds = [(0, 1)] * len(tables) + [(0, None)]
    factor = linprog(np.eye(len(tables) + 1)[-1], upper, target, bounds=bounds).fun
    assert factor == pytest.approx(1, rel=1e-9)


def test_no_private_decision_is_right_on_both_sides_of_the_border():
    """Tables (k, 0) and (0, 0) are k people apart whatever N is, so some error is at least this."""
    epsilon, tau, beta = 0.5, 3.84, 2.0
    k = math.ceil(tau + beta)
    for m in (k, 50, 4000):
        tables = Tables([k, 0], [0, 0], m, m)
        assert is_significant(tables, tau).tolist() == [True, False]
        assert (np.abs(chi_squared(tables) - tau) >= beta).all()
        for method in ("distance", "unit-circle", "yu"):
            worst = error_probability(tables, tau, epsilon, method).max()
            assert worst >= 1 / (1 + math.exp(epsilon * k)) * (1 - 1e-12)
