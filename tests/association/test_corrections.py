"""Corrections for many tests, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from noren.association.corrections import benjamini_yekutieli, bonferroni, holm
from noren.errors import ParameterError

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(P_VALUES)
def test_benjamini_yekutieli_is_that_of_scipy(p):
    assert benjamini_yekutieli(p) == pytest.approx(false_discovery_control(p, method="by"))


@given(P_VALUES, st.floats(0.001, 0.999))
def test_holm_rejects_what_its_steps_reject(p, alpha):
    rejected, ordered = set(), sorted(range(len(p)), key=p.__getitem__)
    for step, place in enumerate(ordered):
        if p[place] * (len(p) - step) > alpha:
            break
        rejected.add(place)
    assert set(np.flatnonzero(holm(p) <= alpha).tolist()) == rejected


@given(P_VALUES, st.integers(0, 20))
def test_the_strongest_of_many_tests_are_corrected_as_if_the_others_were_one(p, others):
    everything, many = np.array(p + [1.0] * others), len(p) + others
    for correct in (bonferroni, holm, benjamini_yekutieli):
        whole = correct(everything)[: len(p)]
        assert (correct(p, tests=many) >= whole - 1e-15).all()
        assert correct(p, tests=many) == pytest.approx(whole)


def test_a_number_of_tests_below_those_shown_is_refused():
    for correct in (bonferroni, holm, benjamini_yekutieli):
        with pytest.raises(ParameterError, match="tests"):
            correct([0.1, 0.2, 0.3], tests=2)
        with pytest.raises(ParameterError, match="p_values"):
            correct([0.1, 1.2])
        with pytest.raises(ParameterError, match="p_values"):
            correct([0.1, float("nan")])
