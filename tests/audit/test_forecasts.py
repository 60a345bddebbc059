"""Every question says its error before it is asked, from public facts, and is as wrong as it says.

The questions are found, not listed: see `tests/test_evidence.py`.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from noren.audit.recorded import Nothing
from noren.audit.subjects import subjects
from noren.privacy import Guarantee
from noren.question import Forecast
from noren.similarity.courtesy import SearcherCharge
from noren.testing import seeded_noise

SUBJECTS = subjects()
DRAWS = 1500
SUMS = (  # what is released is a true number and noise, in the unit of the forecast
    "cell-counts", "bounded-sum", "distance-scores", "noisy-counts", "basis-moments",
    "noisy-scores", "similar-count", "score-histogram",
)  # fmt: skip
every = pytest.mark.parametrize("kind", SUBJECTS)


def numbers(released) -> np.ndarray:
    """Flatten what was released."""
    if isinstance(released, dict):
        return np.concatenate([np.ravel(part) for part in released.values()]).astype(float)
    return np.ravel(released).astype(float)


@every
def test_the_error_is_said_before_anything_is_drawn_and_stays_the_same(kind):
    question = SUBJECTS[kind].question
    before = question.forecast()
    assert len(str(before)) > 20
    json.dumps(before.to_dict(), allow_nan=False)
    question.answer(SUBJECTS[kind].pair[0], seeded_noise(3))
    assert str(question.forecast()) == str(before)


@pytest.mark.parametrize("kind", [kind for kind, found in SUBJECTS.items() if found.priced])
def test_a_higher_price_never_promises_a_larger_error(kind):
    cheap, dear = (SUBJECTS[kind].costing(factor).forecast() for factor in (1, 4))
    said = [
        (getattr(cheap, name), getattr(dear, name))
        for name in ("variance", "margin_95")
        if getattr(cheap, name) is not None
    ]
    assert all(high >= low for high, low in said)
    assert str(cheap) != str(dear)


@pytest.mark.parametrize("kind", SUMS)
def test_the_error_is_what_the_forecast_says(kind):
    subject = SUBJECTS[kind]
    said, noise = subject.question.forecast(), seeded_noise(f"forecast of {kind}")
    true = numbers(subject.look(subject.question.answer(subject.pair[0], Nothing())))
    asked = (subject.question.answer(subject.pair[0], noise) for _ in range(DRAWS))
    errors = np.array([numbers(subject.look(answer)) for answer in asked]) - true
    assert (errors**2).mean() == pytest.approx(said.variance, rel=0.25)
    beyond = (np.abs(errors) > said.margin_95).mean()
    assert beyond <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / DRAWS)
    assert (np.abs(errors) > said.margin_95 / 3).mean() > 0.05  # a smaller margin would not hold


def test_a_searcher_is_told_that_nothing_is_answered():
    charge = SearcherCharge(asked="x", price=Guarantee("bit", epsilon=1))
    assert isinstance(charge.forecast(), Forecast)
    assert str(charge.forecast()) == "nothing is answered"
