"""Distances: the oracle table, breadth-first search on whole boxes, and large tables."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest

from noren.association import distance
from noren.association.distance import scores, signed_distance
from noren.association.distance_exact import exact_distance
from noren.association.geometry import chi_squared, is_significant
from noren.association.statistic import Tables
from noren.errors import NotPrivate, ParameterError

# a, b, cases, controls, tau, signed distance for people, for alleles
ORACLES = [
    (15, 5, 20, 20, 3.84, 4, 2),
    (0, 0, 20, 20, 3.84, -4, -2),
    (10, 10, 20, 20, 3.84, -6, -3),
    (20, 0, 20, 20, 3.84, 14, 7),
    (6, 0, 500, 500, 3.84, 1, 1),
    (130, 95, 200, 200, 3.84, 16, 8),
    (3, 0, 10, 90, 6.635, 3, 2),
    (2, 1, 2, 62, 3.84, 2, 1),
    (1, 20, 2, 62, 3.84, -1, -1),
    (8, 30, 20, 130, 10.83, -4, -2),
    (90000, 88000, 250000, 250000, 29.716785, 154, 77),
    (4198400, 4190208, 2**24, 2**24, 3.84, 3277, 1639),
    (60, 20, 100, 300, 3.841458820694124, 48, 24),
    (12, 3, 30, 20, 2.0, 2, 1),
    (1, 1, 2, 2, 3.84, -2, -2),
    (2, 0, 2, 2, 4, -math.inf, -math.inf),
]
COMPILED, EXACT = 0, 10**9  # tables up to which the whole numbers are used


@pytest.fixture(params=[COMPILED, EXACT], ids=["compiled", "whole numbers"])
def both_ways(request, monkeypatch):
    monkeypatch.setattr(distance, "FEW", request.param)


@pytest.mark.parametrize(("a", "b", "m1", "m2", "tau", "people", "alleles"), ORACLES)
@pytest.mark.usefixtures("both_ways")
def test_the_oracle_table_is_met(a, b, m1, m2, tau, people, alleles):
    assert signed_distance(Tables(a, b, m1, m2), tau) == people
    assert signed_distance(Tables(a, b, m1, m2), tau, 2) == alleles
    if m1 % 2 == m2 % 2 == 0:
        assert signed_distance(Tables(a, b, m1, m2, step=2), tau, 2) == alleles


def all_tables(m1, m2):
    a, b = (grid.ravel() for grid in np.mgrid[0 : m1 + 1, 0 : m2 + 1])
    return Tables(a, b, m1, m2)


def spread(reached, step):
    """Give the tables that one move reaches from some tables."""
    out = reached.copy()
    for k in range(1, step + 1):
        out[k:] |= reached[:-k]
        out[:-k] |= reached[k:]
        out[:, k:] |= reached[:, :-k]
        out[:, :-k] |= reached[:, k:]
    return out


def breadth_first(m1, m2, tau, step):
    """Give all signed distances by search, from the exact decisions alone."""
    tables = all_tables(m1, m2)
    significant = is_significant(tables, tau).reshape(m1 + 1, m2 + 1)
    signed = np.zeros(significant.shape, np.int64)
    for side, sign in ((significant, 1), (~significant, -1)):
        reached, moves = ~side, 0
        while not reached.all():
            moves, new = moves + 1, spread(reached, step)
            signed[new & ~reached] = sign * moves
            reached = new
    return tables, signed.ravel()


def thresholds_of(m1, m2):
    """Give thresholds below m1 + m2: usual ones, tiny ones, ones that tables tie with."""
    some = {0.001, 0.3, 1.0, 2.0, 3.84, 4.0, 6.635, 0.999 * (m1 + m2)}
    values = np.unique(chi_squared(all_tables(m1, m2)))
    some |= {Fraction(float(values[len(values) // 2])).limit_denominator(10**6)}
    return [tau for tau in some if 0 < tau < m1 + m2]


@pytest.mark.parametrize("m1", range(1, 13))
def test_every_distance_on_small_boxes_is_that_of_breadth_first_search(m1, monkeypatch):
    monkeypatch.setattr(distance, "FEW", COMPILED)
    for m2 in range(1, 13):
        for tau in thresholds_of(m1, m2):
            for step in (1, 2):
                tables, expected = breadth_first(m1, m2, tau, step)
                assert (signed_distance(tables, tau, step) == expected).all(), (m2, tau, step)


@pytest.mark.parametrize(("m1", "m2"), [(1, 1), (1, 7), (4, 3), (6, 6), (9, 5)])
def test_whole_numbers_alone_give_the_distances_of_breadth_first_search(m1, m2, monkeypatch):
    monkeypatch.setattr(distance, "FEW", EXACT)
    for tau in thresholds_of(m1, m2):
        for step in (1, 2):
            tables, expected = breadth_first(m1, m2, tau, step)
            assert (signed_distance(tables, tau, step) == expected).all(), (tau, step)


@pytest.mark.slow
@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize(
    ("m1", "m2"),
    [(200, 200), (10, 90), (2, 62), (20, 130), (150, 31), (1, 199), (64, 64), (37, 101)],
)
@pytest.mark.parametrize("tau", [0.5, 2, 3.84, 4, 10.83, 29.716785])
def test_every_distance_on_larger_boxes_is_that_of_breadth_first_search(m1, m2, tau):
    for step in (1, 2):
        tables, expected = breadth_first(m1, m2, tau, step)
        assert (signed_distance(tables, tau, step) == expected).all()


@pytest.mark.parametrize(("m1", "m2", "tau"), [(40, 40, 3.84), (5, 60, 4), (30, 12, 1)])
def test_a_larger_box_is_that_of_breadth_first_search(m1, m2, tau, monkeypatch):
    monkeypatch.setattr(distance, "FEW", COMPILED)
    for step in (1, 2):
        tables, expected = breadth_first(m1, m2, tau, step)
        assert (signed_distance(tables, tau, step) == expected).all()


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize(("m1", "m2", "tau"), [(9, 9, 3.84), (12, 5, 2), (3, 30, 6.635), (8, 8, 4)])
def test_one_person_moves_the_score_by_at_most_one_and_its_sign_is_the_decision(m1, m2, tau, step):
    tables = all_tables(m1, m2)
    s = scores(tables, tau, step)
    assert ((s >= 1) == is_significant(tables, tau)).all()
    grid = s.reshape(m1 + 1, m2 + 1)
    for k in range(1, step + 1):
        assert np.abs(grid[k:] - grid[:-k]).max() <= 1
        assert np.abs(grid[:, k:] - grid[:, :-k]).max() <= 1


def planted(m1, m2, tau, size, seed, strength):
    rng = np.random.default_rng(seed)
    rate, n = rng.uniform(0.001, 0.999, size), m1 + m2
    shift = rng.normal(size=size) * strength * np.sqrt(tau * rate * (1 - rate) * n / m1 / m2)
    a = np.clip(np.rint(m1 * (rate + shift * m2 / n)), 0, m1).astype(np.int64)
    b = np.clip(np.rint(m2 * (rate - shift * m1 / n)), 0, m2).astype(np.int64)
    return Tables(a, b, m1, m2)


@pytest.mark.parametrize(
    ("m1", "m2", "tau"),
    [(250_000, 250_000, 29.716785), (2**30, 2**30, 3.84), (2, 2**25, 3.84), (25_000, 475_000, 4)],
)
@pytest.mark.parametrize("step", [1, 2])
def test_the_compiled_search_agrees_with_whole_numbers_on_large_tables(m1, m2, tau, step):
    tables = planted(m1, m2, tau, 120, seed=m2 + step, strength=2)
    signed, again = np.empty(120, np.int64), np.empty(120, bool)
    from noren.association.distance_kernel import search_all

    search_all(tables.a, tables.b, m1, m2, float(tau), step, signed, again)
    expected = [
        exact_distance(int(a), int(b), m1, m2, Fraction(tau), step)
        for a, b in zip(tables.a, tables.b, strict=True)
    ]
    assert again.mean() < 0.5 or m1 == 2
    assert (signed == expected)[~again].all()
    assert (np.array(expected) > 0).any()
    assert (np.array(expected) < 0).any()


def test_groups_beyond_doubles_are_measured_in_whole_numbers():
    m = 2**40
    tables = Tables([m // 2 + 3 * 2**20, m // 2], [m // 2 - 3 * 2**20, m // 2], m, m)
    outside, inside = signed_distance(tables, 3.84).tolist()
    assert outside > 0 > inside
    # in units of one person, chi2 is 2 (a-b)^2/m near the middle, so |a-b| = sqrt(3.84 m/2)
    border = math.sqrt(3.84 * m / 2)
    assert outside == pytest.approx(6 * 2**20 - border, rel=1e-5)
    assert -inside == pytest.approx(border, rel=1e-5)


def test_a_threshold_that_nothing_passes_is_infinitely_far_and_has_no_score():
    tables = Tables([2, 0], [0, 0], 2, 2)
    assert signed_distance(tables, 4).tolist() == [-math.inf, -math.inf]
    with pytest.raises(ParameterError, match="below the sum"):
        scores(tables, 4)


def test_alleles_measured_as_people_are_refused():
    tables = Tables([2], [0], 4, 4, step=2)
    with pytest.raises(NotPrivate, match="step=2"):
        signed_distance(tables, 2.0)
    assert signed_distance(tables, 2.0, step=2) == signed_distance(Tables([2], [0], 4, 4), 2.0, 2)
    with pytest.raises(ParameterError, match="step"):
        signed_distance(tables, 2.0, step=3)


@pytest.mark.slow
def test_a_million_distances_take_less_than_ten_seconds():
    tables = planted(250_000, 250_000, 29.716785, 10**6, seed=1, strength=1)
    signed_distance(planted(250_000, 250_000, 3.84, 20_000, seed=1, strength=1), 3.84)  # compile
    start = time.process_time()
    signed_distance(tables, 29.716785)
    assert time.process_time() - start < 10
