"""Several candidates, one of them kept: the choice is paid for, and every part is used once."""

import json
from fractions import Fraction

import numpy as np
import pytest

from noren import Noise
from noren.collaboration import Task, TrainingRows
from noren.collaboration.claims import recompute_claim
from noren.collaboration.tuned import TunedTraining, chosen_rows, errors
from noren.errors import NotPrivate, ParameterError

TASK = Task.of_bounds([-1], [1], intercept=0, scale=1)
RNG = np.random.default_rng(2)
X = RNG.uniform(-1, 1, (900, 1))
ROWS = TrainingRows.of(TASK, X, np.where(X[:, 0] > 0, "yes", "no"))
TRIED = [("objective", 1000), ("objective", 1)]


@pytest.fixture(autouse=True)
def same_draws_in_any_order():
    global RNG
    RNG = np.random.default_rng(2)


def tuned(**settings) -> TunedTraining:
    given = {"task": TASK, "epsilon": 4, "adjacency": "substitute", "size": 900}
    return TunedTraining(**{**given, "candidates": TRIED, **settings})


@pytest.mark.parametrize("adjacency", ["substitute", "add-remove"])
def test_the_parts_are_disjoint_and_hold_every_row(adjacency):
    parts = tuned(adjacency=adjacency).parts_of(ROWS, Noise())
    found = np.sort(np.concatenate([x[:, 0] for part in parts for x, _, _ in part.parts]))
    assert np.array_equal(found, np.sort(ROWS.parts[0][0][:, 0]))
    assert len(parts) == 3


def test_parts_by_position_have_the_declared_sizes():
    question = tuned(size=901)
    more = ROWS + TrainingRows.of(TASK, X[:1], np.array(["yes"]))
    sizes = [part.records for part in question.parts_of(more, Noise())]
    assert sizes == [question.size_of(place) for place in range(3)]
    assert [asked.size for asked in question.questions] == sizes[:2]


def test_a_replaced_row_stays_in_its_part():
    changed = X.copy()
    changed[7] = -changed[7]
    other = TrainingRows.of(TASK, changed, np.where(changed[:, 0] > 0, "yes", "no"))
    pairs = zip(tuned().parts_of(ROWS, Noise()), tuned().parts_of(other, Noise()), strict=True)
    differ = [not np.array_equal(a.parts[0][0], b.parts[0][0]) for a, b in pairs]
    assert differ == [False, True, False]


def test_a_candidate_that_is_clearly_better_is_kept():
    task = Task.of_bounds([-1], [1], intercept=1)
    rows = TrainingRows.of(task, X, np.where(X[:, 0] > 0.6, "yes", "no"))
    few = tuned(task=task, candidates=[("moments", None), ("objective", 1)], epsilon=50)
    parts = few.parts_of(rows, Noise())
    fits = [q.learned(part, Noise()) for q, part in zip(few.questions, parts, strict=False)]
    moments, objective = (errors(fit.coefficients, parts[-1]) for fit in fits)
    assert moments > objective + 30
    assert few.answer(rows, Noise()).sums["chosen"].tolist() == [1]


def test_the_price_of_parts_is_that_of_one_and_of_shared_rows_the_sum():
    parts, shared = tuned(), tuned(sharing="shared")
    assert all(question.epsilon == 4 for question in parts.questions)
    assert all(question.epsilon == Fraction(4, 3) for question in shared.questions)
    for question in (parts, shared):
        found = recompute_claim(question.mechanism, question.parameters)
        assert 3.99 < found.epsilon <= 4


def test_a_candidate_with_less_noise_than_its_share_is_seen():
    question = tuned()
    listed = json.loads(question.parameters["candidates"])
    listed[1][1]["rate"] = str(2 * float(listed[1][1]["rate"]))
    changed = {**question.parameters, "candidates": json.dumps(listed)}
    assert recompute_claim("tuned", changed).epsilon > 7
    nested = {**question.parameters, "candidates": json.dumps([["tuned", {}]])}
    with pytest.raises(NotPrivate, match="cannot be tuned"):
        recompute_claim("tuned", nested)
    for broken in ("{", "[]", "[[1]]"):
        with pytest.raises(NotPrivate):
            recompute_claim("tuned", {**question.parameters, "candidates": broken})


class Watched(Noise):
    """Noise that notes how the choice was drawn."""

    __slots__ = ("asked",)

    def exponential_mechanism(self, scores, epsilon, sensitivity=1, *, monotone=False):
        self.asked = (list(scores), epsilon, sensitivity, monotone)
        return super().exponential_mechanism(scores, epsilon, sensitivity, monotone=monotone)


@pytest.mark.parametrize("adjacency", ["substitute", "add-remove"])
@pytest.mark.parametrize("sharing", ["parts", "shared"])
def test_the_choice_is_drawn_by_errors_at_its_own_price(adjacency, sharing):
    noise, question = Watched(), tuned(adjacency=adjacency, sharing=sharing)
    question.answer(ROWS, noise)
    scores, epsilon, sensitivity, monotone = noise.asked
    assert len(scores) == 2
    assert max(scores) <= 0
    assert epsilon == (4 if sharing == "parts" else Fraction(4, 3))
    assert (sensitivity, monotone) == (1, adjacency == "add-remove")


def test_errors_are_counted_row_by_row():
    part = chosen_rows(ROWS, np.arange(900) < 100)
    assert errors(np.array([1.0]), part) == 0
    assert errors(np.array([-1.0]), part) == 100


@pytest.mark.parametrize(("change", "words"), [
    ({"candidates": [("objective", 1)]}, "at least two"),
    ({"candidates": [("guess", 1), ("objective", 1)]}, "candidates is"),
    ({"candidates": [("moments", 1), ("objective", 1)]}, "no ridge"),
    ({"sharing": "half"}, "sharing is half"),
    ({"size": 2}, "size is 2"),
])  # fmt: skip
def test_bad_settings_are_refused_in_words(change, words):
    with pytest.raises(ParameterError, match=words):
        tuned(**change)
