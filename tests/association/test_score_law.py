"""The law of the score on each antidiagonal, against the distances of all its tables."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from noren.association import score_law
from noren.association.common_rate import Mixture
from noren.association.distance import scores
from noren.association.score_law import Design, LawGivenCarriers
from noren.association.statistic import Tables
from noren.errors import NotPrivate, ParameterError

COMPILED, NUMPY = 0, 10**9  # people up to which NumPy is used


def all_tables(m1, m2):
    a, b = (grid.ravel() for grid in np.mgrid[0 : m1 + 1, 0 : m2 + 1])
    return Tables(a, b, m1, m2)


def from_all_tables(m1, m2, tau, step, levels):
    """Give Pr[s >= k | n] for n = 0..N/2 and the levels k, from the score of every table."""
    tables = all_tables(m1, m2)
    s, n = scores(tables, tau, step), tables.a + tables.b
    mass = hypergeom.pmf(tables.a, m1 + m2, m1, n)
    return np.array(
        [
            [mass[(n == carriers) & (s >= k)].sum() for k in levels]
            for carriers in range((m1 + m2) // 2 + 1)
        ]
    )


def from_the_law(m1, m2, tau, step, levels):
    """Give the same from the law, also to the left and to the right of its rows."""
    table = []
    for rows in LawGivenCarriers(Design.read(m1, m2, tau, step)).blocks():
        width = rows.tails.shape[1]
        for row in rows.tails:
            padded = np.concatenate([[1.0], row, [0.0]])
            table.append([padded[min(max(k - rows.lowest + 1, 0), width + 1)] for k in levels])
    return np.array(table)


SHAPES = [(1, 1), (3, 5), (7, 2), (10, 10), (12, 4), (20, 20), (31, 24)]


@pytest.mark.parametrize("few", [COMPILED, NUMPY], ids=["compiled", "NumPy"])
@pytest.mark.parametrize("tau", [0.001, 0.3, 1, 2, 3.84, 4, 6.635, 29.7])
def test_the_law_of_the_score_is_that_of_all_tables(tau, few, monkeypatch):
    monkeypatch.setattr(score_law, "FEW_PEOPLE", few)
    for m1, m2 in SHAPES:
        if tau < m1 + m2:
            compare(m1, m2, tau, 1)


@pytest.mark.parametrize("few", [COMPILED, NUMPY], ids=["compiled", "NumPy"])
@pytest.mark.parametrize("tau", [1, 2, 3.84, 4, 6.635, 29.7])
def test_the_law_of_the_score_of_alleles_is_that_of_all_tables(tau, few, monkeypatch):
    monkeypatch.setattr(score_law, "FEW_PEOPLE", few)
    for m1, m2 in [(2, 2), (4, 6), (10, 10), (12, 4), (20, 30)]:
        if tau < m1 + m2:
            compare(m1, m2, tau, 2)


LARGER = [(70, 70), (10, 90), (61, 44), (2, 100)]


@pytest.mark.slow
@pytest.mark.parametrize(("m1", "m2"), LARGER)
@pytest.mark.parametrize("tau", [0.001, 1, 3.84, 29.7])
def test_the_law_of_the_score_is_that_of_all_tables_of_larger_boxes(m1, m2, tau, monkeypatch):
    monkeypatch.setattr(score_law, "FEW_PEOPLE", COMPILED)
    compare(m1, m2, tau, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("m1", "m2"), [(70, 70), (10, 90), (60, 44), (2, 100)])
@pytest.mark.parametrize("tau", [1, 3.84, 29.7])
def test_the_law_of_alleles_is_that_of_all_tables_of_larger_boxes(m1, m2, tau, monkeypatch):
    monkeypatch.setattr(score_law, "FEW_PEOPLE", COMPILED)
    compare(m1, m2, tau, 2)


def compare(m1, m2, tau, step):
    s = scores(all_tables(m1, m2), tau, step)
    levels = range(s.min() - 2, s.max() + 3)
    expected = from_all_tables(m1, m2, tau, step, levels)
    assert np.abs(from_the_law(m1, m2, tau, step, levels) - expected).max() < 1e-12, (m1, m2)


@pytest.mark.parametrize(("m1", "m2", "tau", "step"), [(500, 700, 3.84, 1), (700, 400, 2, 2)])
def test_both_ways_agree_on_larger_groups(m1, m2, tau, step, monkeypatch):
    tables = []
    for few in (COMPILED, NUMPY):
        monkeypatch.setattr(score_law, "FEW_PEOPLE", few)
        levels = range(-40, 200, 3)
        tables.append(from_the_law(m1, m2, tau, step, levels))
    assert (np.abs(tables[0] - tables[1]) <= 1e-10 * tables[1] + 1e-16).all()


def at_one_rate(m1, m2, tau, rate):
    """Give a function k -> Pr[s >= k] at one carrier rate."""
    law = LawGivenCarriers(Design.read(m1, m2, tau))
    mixture = Mixture(m1 + m2, np.array([rate]))
    done = [rows for rows in map(mixture.add, law.blocks()) if len(rows.tails)]
    assert len(done) == 1
    return lambda k: done[0].tails[0, k - done[0].lowest]


def test_the_law_at_one_rate_meets_the_oracles():
    rare = at_one_rate(2500, 2500, 3.84, 0.002)
    for k, value in ((-3, 0.793729192), (0, 0.127096449), (1, 0.0432734628), (5, 0.000163396072)):
        assert rare(k) == pytest.approx(value, rel=5e-9)
    uneven = at_one_rate(500, 4500, 3.84, 0.1)
    for k, value in ((-5, 0.265942986), (1, 0.0494576974)):
        assert uneven(k) == pytest.approx(value, rel=5e-9)


def test_a_design_without_a_law_is_refused():
    with pytest.raises(ParameterError, match="below the sum"):
        Design.read(2, 2, 4)
    with pytest.raises(NotPrivate, match="at least 1"):
        Design.read(20, 20, 0.5, 2)
    with pytest.raises(ParameterError, match="cases"):
        Design.read(0, 20, 1)


def test_few_rows_are_kept_and_many_are_not():
    law = LawGivenCarriers(Design.read(40, 40, 3.84))
    first = list(law.blocks())
    assert law.kept is not None
    assert [a is b for a, b in zip(first, law.blocks(), strict=True)] == [True]
    streamed = LawGivenCarriers(Design.read(40, 40, 3.84), keep_bytes=100)
    assert [rows.tails.shape for rows in streamed.blocks()] == [rows.tails.shape for rows in first]
    assert streamed.kept is None
