"""Chi-squared, the unit circle and the constants against the oracle table and rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from noren.association.geometry import (
    chi_squared,
    compare,
    is_significant,
    read_tau,
    unit_circle_norm_squared,
)
from noren.association.sensitivities import (
    fienberg_sensitivity,
    tight_sensitivity,
    unit_circle_sensitivity,
    yu_controls_public_sensitivity,
    yu_sensitivity,
)
from noren.association.statistic import Tables
from noren.errors import ParameterError

# a, b, cases, controls, tau, chi2, norm squared, tight sensitivity
ORACLES = [
    (15, 5, 20, 20, 3.84, 10, 2.60416666667, 0.168942791106),
    (0, 0, 20, 20, 3.84, 0, 1, 0.168942791106),
    (10, 10, 20, 20, 3.84, 0, 0, 0.168942791106),
    (20, 0, 20, 20, 3.84, 40, 10.4166666667, 0.168942791106),
    (6, 0, 500, 500, 3.84, 6.03621730382, 1.013644, 0.0323367695769),
    (130, 95, 200, 200, 3.84, 12.4444444444, 3.20572916667, 0.0512754002097),
    (3, 0, 10, 90, 6.635, 27.8350515464, 1.37191951771, 0.233789914645),
    (2, 1, 2, 62, 3.84, 41.9784946237, 2.7749390961, 0.711009039441),
    (1, 20, 2, 62, 3.84, 0.276640588719, 0.18169312836, 0.711009039441),
    (8, 30, 20, 130, 10.83, 2.62434933488, 0.426724132869, 0.127211250957),
    (90000, 88000, 250000, 250000, 29.716785, 34.8942703608, 1.15977650392, 0.000518868120027),
    (4198400, 4190208, 2**24, 2**24, 3.84, 10.6666666667, 2.33333333333, 0.000176193329537),
    (60, 20, 100, 300, 3.841458820694124, 133.333333333, 22.5737831788, 0.0885128982059),
    (12, 3, 30, 20, 2.0, 3.57142857143, 1.66, 0.24819347292),
    (1, 1, 2, 2, 3.84, 0, 0, 0.714434508312),
    (2, 0, 2, 2, 4, 4, 1, 0.707106781187),
]


@pytest.mark.parametrize(("a", "b", "m1", "m2", "tau", "chi2", "norm", "tight"), ORACLES)
def test_the_oracle_table_is_met(a, b, m1, m2, tau, chi2, norm, tight):
    tables = Tables(a, b, m1, m2)
    assert chi_squared(tables) == pytest.approx(chi2, rel=1e-11)
    assert unit_circle_norm_squared(tables, tau) == pytest.approx(norm, rel=1e-11)
    assert tight_sensitivity(m1, m2, tau) == pytest.approx(tight, rel=1e-11)
    assert is_significant(tables, tau) == (chi2 > tau)


def test_the_constants_of_the_published_mechanisms():
    assert unit_circle_sensitivity(200, 200, 3.84) == pytest.approx(0.0725143663926903, rel=1e-14)
    assert tight_sensitivity(200, 200, 3.84) == pytest.approx(0.0512754002097172, rel=1e-14)
    assert yu_sensitivity(200, 200) == pytest.approx(3.98009950248756, rel=1e-14)
    public = yu_controls_public_sensitivity(Tables(130, 95, 200, 200))
    assert public == pytest.approx(3.9622641509434, rel=1e-13)
    assert fienberg_sensitivity(200, 200) == pytest.approx(yu_sensitivity(200, 200), rel=1e-14)
    with pytest.raises(ParameterError, match="fienberg"):
        fienberg_sensitivity(200, 201)


def all_tables(m1, m2):
    a, b = (grid.ravel() for grid in np.mgrid[0 : m1 + 1, 0 : m2 + 1])
    return Tables(a, b, m1, m2)


def largest_change(values):
    return max(np.abs(np.diff(values, axis=0)).max(), np.abs(np.diff(values, axis=1)).max())


@pytest.mark.parametrize(("m1", "m2"), [(2, 2), (5, 5), (4, 9), (10, 10), (2, 40), (30, 11)])
def test_the_constants_bound_every_change_of_one_person_and_those_of_chi2_are_attained(m1, m2):
    tables = all_tables(m1, m2)
    change = largest_change(chi_squared(tables).reshape(m1 + 1, m2 + 1))
    assert change == pytest.approx(yu_sensitivity(m1, m2), rel=1e-10)
    norm = np.sqrt(unit_circle_norm_squared(tables, 3.84)).reshape(m1 + 1, m2 + 1)
    assert largest_change(norm) <= tight_sensitivity(m1, m2, 3.84) * (1 + 1e-12)
    assert tight_sensitivity(m1, m2, 3.84) < unit_circle_sensitivity(m1, m2, 3.84)


@pytest.mark.parametrize(("m1", "m2"), [(2, 2), (10, 10), (3, 8), (7, 40)])
def test_the_tight_sensitivity_is_attained_where_the_larger_group_is_even(m1, m2):
    norm = np.sqrt(unit_circle_norm_squared(all_tables(m1, m2), 3.84)).reshape(m1 + 1, m2 + 1)
    assert largest_change(norm) == pytest.approx(tight_sensitivity(m1, m2, 3.84), rel=1e-12)


def test_a_person_s_two_alleles_count_as_two_changes_and_that_is_attained():
    """200 cases and 200 controls, counted by alleles: moves of two in a table of 400 and 400."""
    norm = np.sqrt(unit_circle_norm_squared(all_tables(400, 400), 3.84)).reshape(401, 401)
    doubled = 2 * tight_sensitivity(400, 400, 3.84)
    assert doubled == pytest.approx(0.0723417813807, abs=5e-14)
    moved = max(np.abs(norm[2:] - norm[:-2]).max(), np.abs(norm[:, 2:] - norm[:, :-2]).max())
    assert moved == pytest.approx(doubled, rel=1e-12)


def test_with_an_odd_larger_group_the_tight_sensitivity_is_nearly_attained():
    norm = np.sqrt(unit_circle_norm_squared(all_tables(201, 199), 3.84)).reshape(202, 200)
    assert largest_change(norm) == pytest.approx(0.0515299595, rel=1e-8)
    assert tight_sensitivity(201, 199, 3.84) == pytest.approx(0.0515299835, rel=1e-8)


def test_chi_squared_is_that_of_scipy():
    table = Tables([13, 40, 7], [25, 40, 0], 60, 45)
    for a, b, value in zip(table.a, table.b, chi_squared(table), strict=True):
        expected = chi2_contingency([[a, b], [60 - a, 45 - b]], correction=False).statistic
        assert value == pytest.approx(expected, rel=1e-12)


def rational_chi2(a, b, m1, m2):
    n1, n = a + b, m1 + m2
    if n1 in (0, n):
        return Fraction(0)
    return Fraction(n * (a * m2 - b * m1) ** 2, n1 * (n - n1) * m1 * m2)


groups = st.one_of(st.integers(1, 30), st.integers(1, 2**40))


@given(m1=groups, m2=groups, share=st.tuples(st.fractions(0, 1), st.fractions(0, 1)))
def test_a_tie_is_not_significant_and_the_nearest_thresholds_are_told_apart(m1, m2, share):
    a, b = round(share[0] * m1), round(share[1] * m2)
    chi2 = rational_chi2(a, b, m1, m2)
    table = Tables(a, b, m1, m2)
    assert chi_squared(table) == pytest.approx(float(chi2), rel=1e-13)
    if chi2:
        norm = 1 + 4 * Fraction(a + b, m1 + m2) * (1 - Fraction(a + b, m1 + m2)) * (chi2 / 4 - 1)
        assert unit_circle_norm_squared(table, 4) == pytest.approx(float(norm), rel=1e-13)
        assert not is_significant(table, chi2)
        assert is_significant(table, chi2 * (1 - Fraction(1, 10**40)))
        assert not is_significant(table, chi2 * (1 + Fraction(1, 10**40)))


def test_ties_are_redone_exactly_in_arrays_too():
    tables = all_tables(8, 8)
    decided = is_significant(tables, 4)
    expected = [
        rational_chi2(int(a), int(b), 8, 8) > 4 for a, b in zip(tables.a, tables.b, strict=True)
    ]
    assert decided.tolist() == expected
    assert compare(tables, 4.0)[1].any()  # there are ties to redo: (6, 2) has chi2 = 4


def test_a_threshold_is_the_exact_value_given():
    assert read_tau(3.84) == Fraction(3.84) != read_tau("3.84") == Fraction(96, 25)
    for tau in (0, -1, float("nan"), float("inf"), None, True, "much"):
        with pytest.raises(ParameterError, match="tau"):
            read_tau(tau)


def published_map(m1, m2, tau):
    """Give the paper's own affine map: the ellipse's axes, from its characteristic equation."""
    n = m1 + m2
    upper, lower = float(m2**2 * n + tau * m1 * m2), float(m1**2 * n + tau * m1 * m2)
    mixed, right = m1 * m2 * (tau - n), tau * m1 * m2 * n**2 / 4
    root = np.sqrt((upper - lower) ** 2 + 4 * mixed**2)
    values = np.array([upper + lower + root, upper + lower - root]) / 2
    vectors = np.array([[mixed, value - upper] for value in values])
    vectors /= np.sqrt(np.sum(vectors**2, axis=1))[:, None]
    return np.sqrt(values / right)[:, None] * vectors


@pytest.mark.parametrize(("m1", "m2"), [(20, 20), (10, 90), (512, 512)])
def test_the_stable_form_is_the_published_map_where_that_is_accurate(m1, m2):
    form = published_map(m1, m2, 3.84)
    for a, b in [(0, 0), (m1, 0), (m1 // 2, m2 // 3), (1, m2)]:
        norm = np.sum((form @ np.array([a - m1 / 2, b - m2 / 2])) ** 2)
        assert unit_circle_norm_squared(Tables(a, b, m1, m2), 3.84) == pytest.approx(norm, rel=1e-9)


def exact_norm(a, b, m1, m2, tau):
    share = Fraction(a + b, m1 + m2)
    return 1 + 4 * share * (1 - share) * (rational_chi2(a, b, m1, m2) / Fraction(tau) - 1)


def test_the_published_form_loses_its_digits_where_the_stable_form_does_not():
    m1, m2, form = 2, 2**25 - 2, published_map(2, 2**25 - 2, 3.84)
    lost, kept = [], []
    for a in range(3):
        for b in range(0, m2, m2 // 50):
            exact = float(exact_norm(a, b, m1, m2, 3.84))
            published = np.sum((form @ np.array([a - m1 / 2, b - m2 / 2])) ** 2)
            lost.append(abs(published - exact))
            kept.append(abs(unit_circle_norm_squared(Tables(a, b, m1, m2), 3.84) - exact))
    assert max(lost) > 1e-3
    assert max(kept) < 1e-14
