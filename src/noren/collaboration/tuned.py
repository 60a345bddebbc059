"""Try several ways to train and keep one, with the choice paid for.

Maths
    K candidates (a way and a ridge each).
    "parts"     K + 1 disjoint parts of the rows: candidate k learns on part k at the whole price,
                and part K + 1 chooses: candidate k with probability proportional to
                exp(-c errors_k), c = epsilon / 2 (substitute) or epsilon (add-remove).
    "shared"    all learn and are judged on all rows: epsilon / (K + 1) for each fit and for the
                choice, delta / K for each fit.
    Parts under 'substitute' go by a row's position; under 'add-remove', where positions shift, each
    row draws its part independently.

Privacy (records only; a person's rows could fall into several parts)
    "parts": a neighbor changes one part, so the price is the largest of them, not the sum. An
    error count moves by at most 1, and under 'add-remove' all counts move the same way, which
    halves the price of the exponential mechanism. A hash of a row's content as its part would
    move a replaced row to another part: two prices. "shared": basic composition.
    Keeping the best of K fits without paying for the choice is not private at the fits' price: two
    answers at 1/2 each, of which the one that fits the rows is shown, cost 1.794.

Accuracy
    A part holds 1 / (K + 1) of the rows, so "parts" pays where rows are plenty; the chosen
    candidate's errors on the last part are within 2 ln(K / p) / epsilon (half that under
    'add-remove') of the fewest with probability 1 - p.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from noren.collaboration.descent import GradientDescent
from noren.collaboration.logistic import LogisticTraining
from noren.collaboration.moments import MomentLearner
from noren.collaboration.output import OutputPerturbation
from noren.collaboration.parameters import parameters_from_text, parameters_to_text
from noren.collaboration.softmax import SoftmaxTraining
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.step_price import adjacency_of
from noren.collaboration.training import Floats, Learned, Training
from noren.errors import NotPrivate, ParameterError
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee
from noren.privacy.numbers import positive
from noren.question import Forecast, Mechanism

PARTS, SHARED = "parts", "shared"
WAYS: dict[str, Any] = {
    "objective": LogisticTraining,
    "softmax": SoftmaxTraining,
    "descent": GradientDescent,
    "output": OutputPerturbation,
    "moments": MomentLearner,
}
MOST = 64  # candidates, so that a stranger's claim is soon recomputed
Candidate = tuple[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedTraining(Training):
    """Ask for the best of several candidates.

    Parameters
    ----------
    candidates : sequence of (way, ridge)
        Ways are "objective", "softmax", "descent", "output" and "moments"; a ridge of None is
        that way's default.
    sharing : str
        "parts" or "shared".

    Examples
    --------
    >>> from noren.collaboration import Task
    >>> task = Task.of_bounds([0], [100], classes=("well", "ill"))
    >>> asked = TunedTraining(task=task, epsilon=1, delta="1e-6", adjacency="add-remove",
    ...                       size=9000, candidates=[("objective", 3), ("descent", None)])
    >>> [question.size for question in asked.questions]
    [3000, 3000]
    """

    kind: ClassVar[str] = "tuned-training"
    tasks: ClassVar[tuple[str, ...]] = ("binary", "multiclass")

    candidates: tuple[Candidate, ...] = field(default=())
    sharing: str = PARTS

    def __post_init__(self) -> None:
        Training.__post_init__(self)
        object.__setattr__(self, "candidates", read_candidates(self.candidates))
        if self.sharing not in (PARTS, SHARED):
            raise ParameterError(
                "sharing", self.sharing, "'parts' or 'shared'", "With many rows 'parts' costs less."
            )
        if self.adjacency.max_records > 1:
            raise ParameterError(
                "adjacency", f"'{self.adjacency}'", "about records",
                "A person's rows could fall into several parts.",
            )  # fmt: skip
        if self.size <= len(self.candidates):
            raise ParameterError(
                "size",
                self.size,
                "above the number of candidates",
                "Each candidate needs rows of its own, and the choice too.",
            )
        assert self.questions  # each refuses what it cannot do, before anything is asked

    @property
    def price_of_one(self) -> tuple[Fraction, Fraction]:
        """What each fit may cost, and (the first of both) the choice."""
        k = len(self.candidates)
        if self.sharing == PARTS:
            return self.epsilon, self.delta
        return self.epsilon / (k + 1), self.delta / k

    @property
    def questions(self) -> tuple[Training, ...]:
        """Give each candidate as the question that it asks of its rows."""
        epsilon, delta = self.price_of_one
        found = []
        for place, (way, ridge) in enumerate(self.candidates):
            given = {} if ridge is None else {"ridge": ridge}
            found.append(
                WAYS[way](
                    task=self.task, epsilon=epsilon, delta=delta, adjacency=self.adjacency,
                    size=self.size_of(place), weight=self.weight, **given,
                )
            )  # fmt: skip
        return tuple(found)

    def size_of(self, place: int) -> int:
        """Give the declared size of a part: exact where positions decide."""
        if self.sharing == SHARED:
            return self.size
        parts = len(self.candidates) + 1
        if self.adjacency.relation is SUBSTITUTE:
            return (self.size - place + parts - 1) // parts
        return max(1, self.size // parts)

    @property
    def mechanism(self) -> str:
        """The name under which the claim can be recomputed."""
        return "tuned"

    @property
    def parameters(self) -> dict[str, Any]:
        """Every number that the claim is a function of: all candidates, and the choice."""
        asked = [(question.mechanism, question.parameters) for question in self.questions]
        each = [[name, parameters_to_text(name, given)] for name, given in asked]
        return {
            **{k: v for k, v in self.common_parameters.items() if k != "weight"},
            "candidates": json.dumps(each, sort_keys=True, separators=(",", ":")),
            "sharing": self.sharing,
            "choice_epsilon": self.price_of_one[0],
        }

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the laws of all candidates, and of the choice."""
        own = Mechanism(
            law="exponential mechanism",
            sensitivity=Fraction(1),
            norm="Linf",
            epsilon=self.price_of_one[0],
        )
        return (*(one for question in self.questions for one in question.mechanisms), own)

    @property
    def notes(self) -> tuple[str, ...]:
        """Gather the marks of all candidates."""
        found = [note for question in self.questions for note in question.notes]
        return tuple(dict.fromkeys(found))

    def forecast(self, facts: int | None = None) -> Forecast:
        """Say how far from the fewest errors the choice may be."""
        factor = 1 if self.adjacency.relation is ADD_REMOVE else 2
        slack = factor * math.log(len(self.candidates) / 0.05) / float(self.price_of_one[0])
        return Forecast(
            sentence=f"the chosen one makes at most {slack:.3g} errors more than the best of "
            f"{len(self.candidates)} on the rows that choose, with probability 0.95",
            margin_95=slack,
            figures={"rows of each candidate": self.size_of(0)},
        )

    def learned(self, rows: TrainingRows, noise: Noise) -> Learned:
        """Fit all candidates, and draw one by its errors."""
        parts = self.parts_of(rows, noise)
        fits = [q.learned(part, noise) for q, part in zip(self.questions, parts, strict=False)]
        scores = [-errors(fit.coefficients, parts[-1]) for fit in fits]
        chosen = noise.exponential_mechanism(
            scores, self.price_of_one[0], 1, monotone=self.adjacency.relation is ADD_REMOVE
        )
        return Learned(fits[chosen].coefficients, {"chosen": np.array([float(chosen)])})

    def parts_of(self, rows: TrainingRows, noise: Noise) -> list[TrainingRows]:
        """Give each candidate's rows, and those that choose."""
        many = len(self.candidates) + 1
        if self.sharing == SHARED:
            return [rows] * many
        if self.adjacency.relation is SUBSTITUTE:
            part = np.arange(rows.records) % many
        else:
            part = noise.integers_below(many, rows.records)
        return [chosen_rows(rows, part == number) for number in range(many)]


def read_candidates(given: Any) -> tuple[Candidate, ...]:
    """Take at least two candidates, each a way and a ridge."""
    found = []
    for one in given:
        way, ridge = one if isinstance(one, (tuple, list)) and len(one) == 2 else (None, None)
        if way not in WAYS or (way == "moments" and ridge is not None):
            raise ParameterError(
                "candidates", repr(one), f"(way, ridge) with a way of {', '.join(WAYS)}",
                "The moment learner has no ridge.",
            )  # fmt: skip
        found.append((str(way), None if ridge is None else float(positive("ridge", ridge))))
    if not 2 <= len(found) <= MOST:
        raise ParameterError(
            "candidates", len(found), f"at least two, at most {MOST}",
            "One needs no choice, and each of many would learn from few rows.",
        )  # fmt: skip
    return tuple(found)


def chosen_rows(rows: TrainingRows, mask: npt.NDArray[np.bool_]) -> TrainingRows:
    """Keep the rows of one part."""
    kept, start = [], 0
    for x, y, w in rows.parts:
        own = mask[start : start + len(x)]
        kept.append((x[own], y[own], None if w is None else w[own]))
        start += len(x)
    return TrainingRows(rows.task, tuple(kept))


def errors(coefficients: Floats, rows: TrainingRows) -> int:
    """Count the rows that a model gets wrong."""
    wrong = 0
    for x, y, _ in rows.chunks():
        scores = x @ coefficients.T
        guess = np.argmax(scores, axis=1) if scores.ndim == 2 else np.where(scores >= 0, 1, -1)
        wrong += int((guess != y).sum())
    return wrong


def tuned_claim(given: Mapping[str, Any], recompute: Any) -> Guarantee:
    """Recompute the price: of the largest part, or of all together."""
    adjacency, choice, sharing = adjacency_of(given), given["choice_epsilon"], given["sharing"]
    prices, candidates = [], json.loads(given["candidates"])
    if len(candidates) > MOST:
        raise NotPrivate(
            f"The claim has more candidates than {MOST}, which no tuned model has, so none is "
            "recomputed. Ask the sender for a file made by the mechanism that it names."
        )
    for mechanism, text in candidates:
        if mechanism == "tuned":
            raise NotPrivate(
                "A candidate of a tuned model cannot be tuned itself. Ask for another."
            )
        own = parameters_from_text(mechanism, text)
        if own["dimension"] != given["dimension"]:
            raise NotPrivate(
                "A candidate of a tuned model has another number of coordinates than the model. "
                "Ask the sender for a file made by the mechanism that it names."
            )
        found = recompute(mechanism, own)
        prices.append((max(found.epsilon or 0, Fraction(0)), found.delta, found.adjacency))
    same = all(who == adjacency for _, _, who in prices) and adjacency.max_records == 1
    if not prices or not same or choice <= 0 or sharing not in (PARTS, SHARED):
        raise NotPrivate(
            "The claim's candidates do not share its neighbors, or its choice has no price, so "
            "nothing is proved. Ask the sender for a file made by the mechanism that it names."
        )
    epsilons, deltas = [p[0] for p in prices], [p[1] for p in prices]
    if sharing == SHARED:
        return Guarantee(adjacency, sum(epsilons, choice), sum(deltas, Fraction(0)))
    return Guarantee(adjacency, max(*epsilons, choice), max(deltas))
