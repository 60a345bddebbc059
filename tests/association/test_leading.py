"""The largest scores, found without measuring all tables, are the largest scores."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.association import Loci, Tables
from noren.association.distance import scores
from noren.association.leading import BEYOND_ALL, leading_scores, upper_bounds


def every_table(cases: int, controls: int, step: int) -> Tables:
    a, b = np.meshgrid(np.arange(cases + 1), np.arange(controls + 1))
    return Tables(a.ravel(), b.ravel(), cases, controls, step)


@pytest.mark.parametrize("shape", [(6, 9), (20, 20), (3, 40), (17, 5)])
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("tau", ["0.5", "2", "3.84", "6.6"])
def test_no_score_exceeds_its_bound(shape, step, tau):
    tables = every_table(shape[0] * step, shape[1] * step, step)
    exact, bound = scores(tables, tau, step), upper_bounds(tables, Fraction(tau))
    assert (exact <= bound).all()
    inside = bound < BEYOND_ALL
    assert (exact[inside] <= 0).all()
    assert (exact[~inside] >= 1).all()
    assert np.mean(bound[inside] - exact[inside]) < 3  # and the bound is near


@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from([(40, 40), (10, 90), (300, 200)]),
    tau=st.sampled_from(["1", "3.84", "20.25", "40"]),
    many=st.integers(1, 12),
    blocks=st.sampled_from([None, 4]),
)
def test_the_leading_scores_are_those_of_measuring_and_sorting(seed, shape, tau, many, blocks):
    rng = np.random.default_rng(seed)
    rate = rng.uniform(0, 1, 80)
    shift = rng.normal(0, 0.2, 80)
    a = rng.binomial(shape[0], np.clip(rate + shift, 0, 1))
    b = rng.binomial(shape[1], np.clip(rate - shift, 0, 1))
    tables = Tables(a, b, *shape)
    loci = None if blocks is None else Loci.named([str(i // blocks) for i in range(80)])
    all_scores = scores(tables, tau)
    expected = np.sort(all_scores if loci is None else loci.best(all_scores))[::-1][:many]
    assert leading_scores(tables, Fraction(tau), loci, many).tolist() == expected.tolist()


def test_it_measures_few_of_many(monkeypatch):
    from noren.association import leading

    measured = []
    real = leading.scores
    monkeypatch.setattr(
        leading, "scores", lambda part, *rest: measured.append(len(part)) or real(part, *rest)
    )
    rng = np.random.default_rng(1)
    rate = rng.uniform(0.05, 0.5, 20_000)
    tables = Tables(rng.binomial(2500, rate), rng.binomial(2500, rate), 2500, 2500)
    leading_scores(tables, Fraction("29.7"), None, 21)
    assert sum(measured) < 2000
