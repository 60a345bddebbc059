"""Publish one of the received learners, drawn by how well it does on the receiver's rows.

Maths
    Learner m scores a row by f = t . x, moved into [-B, B]; B = 1 for unit learners and for signs.
    Its loss ln(1 + exp(-y f)) then lies in [l, l + B], l = ln(1 + exp(-B)): a width of exactly B
    (B = 1: from 0.31326 to 1.31326). In whole steps of g = 2**-30, each row gives each learner
        q = round((loss - l) / g), moved into 0 .. Q,   Q = ceil(B / g),
    and s_m is the sum over rows. Drawn is
        ewa       m with probability proportional to exp(-c s_m)
        mirror    first a beginning of the rows, all equally likely (the empty one included), then
                  m as above with the sums over that beginning alone (substitute only)
    c g is 1 / beta: epsilon of one draw = B / beta (add-remove) or 2 B / beta (substitute), so
    beta = 3 costs 1/3 or 2/3. `draws` independent draws cost as many times that.

Privacy (pure; k rows a person)
    Between neighbours two sums move apart by at most G = k Q (add-remove) or 2 k Q (substitute),
    and c = epsilon / (draws G): the exponential mechanism, its own tight rho for each draw. Each
    row's q is computed from that row alone, in the same order of operations wherever it stands.
    A beginning is chosen without looking, and under substitute there are as many for neighbours:
    the mixture of laws that are close is as close. For add-remove that is not claimed.
    Nothing is needed of the losses but their bounds.
    Proof: docs/proofs/collaboration/gibbs_learner.md

Accuracy
    With probability 0.95 a drawn learner's total loss is within beta ln(20 (M - 1)) of the best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from noren.collaboration.gibbs_answer import GibbsAnswer
from noren.collaboration.learners import SCORE, SIGN, UNIT, Floats, read_learners, signs, unit_rows
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.task import Task
from noren.errors import ParameterError
from noren.mechanisms.additive import require_noise
from noren.mechanisms.wording import neighbours, public_rows
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.charges import exponential_mechanism_rho_charge
from noren.privacy.numbers import positive, read_epsilon, whole
from noren.question import Forecast, Mechanism, was_secure

STEP = Fraction(1, 2**30)
EWA, MIRROR = WEIGHTS = ("ewa", "mirror")
CONFIDENCE = 0.95
LARGEST_BOUND = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GibbsLearner:
    """Ask which received learner does well on these rows; the drawn one may be published.

    Parameters
    ----------
    task : Task
        What is predicted from what (two classes).
    learners : array
        A received learner a row: public, since they were published.
    epsilon : number
        The total price of all draws.
    adjacency : Adjacency or str
        "add-remove" or "substitute".
    draws : int
        How many learners to draw, with replacement.
    weights : str
        "ewa", or "mirror" (substitute only).
    form : str
        "unit", "sign", or "score" with a public `bound`.
    bound : number, optional
        B, for raw scores.

    Examples
    --------
    >>> task = Task.of_bounds([0], [1], intercept=0, scale=1)
    >>> question = GibbsLearner(
    ...     task=task, learners=[[1.0], [-1.0]], epsilon="1/3", adjacency="add-remove")
    >>> round(question.beta, 12)
    3.0
    """

    kind: ClassVar[str] = "gibbs-learner"
    notes: ClassVar[tuple[str, ...]] = ()

    task: Task
    learners: Floats
    epsilon: Fraction
    adjacency: Adjacency
    draws: int = 1
    weights: str = EWA
    form: str = UNIT
    bound: Fraction | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        table = read_learners(self.learners)
        table.setflags(write=False)
        put(self, "learners", table)
        put(self, "epsilon", read_epsilon(self.epsilon))
        put(self, "adjacency", neighbours(self.adjacency, ADD_REMOVE, SUBSTITUTE))
        put(self, "draws", whole("draws", self.draws, 1))
        put(self, "bound", read_bound(self.form, self.bound))
        check_task(self.task, table.shape[1])
        if self.weights not in WEIGHTS:
            raise ParameterError(
                "weights",
                repr(self.weights),
                f"one of {', '.join(WEIGHTS)}",
                "'ewa' is the default.",
            )
        if self.weights == MIRROR and self.adjacency.relation is ADD_REMOVE:
            raise ParameterError(
                "weights", "'mirror' with add-remove neighbours", "'ewa' there",
                "The number of beginnings would depend on the rows, and no bound is proved.",
            )  # fmt: skip

    @property
    def width(self) -> int:
        """Q: how many steps one row's loss can span."""
        return math.ceil(self.reach / STEP)

    @property
    def reach(self) -> Fraction:
        """B: scores are moved into [-B, B]."""
        return Fraction(1) if self.bound is None else self.bound

    @property
    def spread(self) -> int:
        """G: how far two sums can move apart between neighbours."""
        replaced = 1 if self.adjacency.relation is ADD_REMOVE else 2
        return replaced * self.adjacency.max_records * self.width

    @property
    def each(self) -> Fraction:
        """The epsilon of one draw."""
        return self.epsilon / self.draws

    @property
    def beta(self) -> float:
        """The temperature that this price buys."""
        return float(self.spread * STEP / self.each)

    @property
    def guarantee(self) -> Guarantee:
        """State the price of all draws."""
        rho = self.draws * exponential_mechanism_rho_charge(self.each)
        return Guarantee(self.adjacency, epsilon=self.epsilon, rho=rho)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the law, and how far apart sums can move."""
        law = "exponential mechanism (range of score changes)"
        spread = Fraction(self.spread)
        made = Mechanism(
            law=law, sensitivity=spread, norm="Linf", epsilon=self.each, draws=self.draws,
            rounds=self.draws,
        )  # fmt: skip
        return (made,)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return ("the received learners, and the task's schema", *public_rows(self.adjacency))

    def margin(self, confidence: float = CONFIDENCE) -> float:
        """Give x such that a drawn total loss is within x of the best with this probability."""
        others = len(self.learners) - 1
        return max(0.0, self.beta * math.log(others / (1 - confidence))) if others else 0.0

    def forecast(self, facts: int | None = None) -> Forecast:
        """Say how much worse than the best a drawn learner may be; `facts`: a public size."""
        margin = self.margin() / (facts or 1)
        what = "mean" if facts else "total"
        return Forecast(
            sentence=f"a {what} loss within {margin:.4g} of the best with probability 0.95",
            margin_95=margin,
            figures={"beta": self.beta, "learners": len(self.learners)},
        )

    def check(self, statistic: TrainingRows) -> None:
        """Refuse rows of another task: a public fact."""
        if statistic.task.identity != self.task.identity:
            raise ParameterError(
                "the rows",
                "of another task",
                "encoded by the question's task",
                "Encode them with the consortium's file.",
            )

    def steps(self, statistic: TrainingRows) -> npt.NDArray[np.int64]:
        """Give q for each learner and row, as whole numbers in 0 .. Q. Secret."""
        parts = [self._steps(rows, labels) for rows, labels, _ in statistic.parts]
        return np.concatenate(parts, axis=1)

    def _steps(self, rows: Floats, labels: Floats) -> npt.NDArray[np.int64]:
        """Work on some rows: each result depends on its own row alone (no matrix product)."""
        learners = self.learners if self.form == SCORE else unit_rows(self.learners)
        scores = np.zeros((len(learners), len(rows)))
        for place in range(learners.shape[1]):
            scores += learners[:, place, None] * rows[None, :, place]
        bounded = signs(scores) if self.form == SIGN else scores
        reach = float(self.reach)
        losses = np.logaddexp(0.0, -np.clip(bounded, -reach, reach) * labels)
        raw = np.floor((losses - np.logaddexp(0.0, -reach)) / float(STEP) + 0.5)
        steps: npt.NDArray[np.int64] = np.clip(raw, 0, self.width).astype(np.int64)
        return steps

    def answer(self, statistic: TrainingRows, noise: Noise) -> GibbsAnswer:
        """Draw, independently each time."""
        self.check(statistic)
        source, steps = require_noise(noise), self.steps(statistic)
        chosen = [self._draw(steps, source) for _ in range(self.draws)]
        drawn = np.array(chosen, dtype=np.int64)
        return GibbsAnswer(question=self, secure=noise.secure, chosen=drawn)

    def _draw(self, steps: npt.NDArray[np.int64], source: Noise) -> int:
        """Draw one learner: by all rows, or by a beginning of them."""
        rows = steps.shape[1]
        used = rows if self.weights == EWA else int(source.integers_below(rows + 1))
        sums = -steps[:, :used].sum(axis=1)
        return source.exponential_mechanism(sums, self.each, self.spread, monotone=True)

    def restore(self, record: dict[str, Any]) -> GibbsAnswer:
        """Give back the answer that a ledger stored."""
        chosen = np.asarray(record["chosen"], dtype=np.int64)
        return GibbsAnswer(question=self, secure=was_secure(record), chosen=chosen)


def read_bound(form: str, given: Any) -> Fraction | None:
    """Take B for raw scores; unit learners and signs have B = 1."""
    if form not in (UNIT, SIGN, SCORE):
        raise ParameterError(
            "form", repr(form), "'unit', 'sign' or 'score'", "'unit' is the default."
        )
    if (form == SCORE) != (given is not None):
        raise ParameterError(
            "bound", given, "a public B for raw scores, and left out otherwise",
            "Without a bound on scores the losses have none, and nothing is private.",
        )  # fmt: skip
    if given is None:
        return None
    bound = positive("bound", given)
    if bound > LARGEST_BOUND:
        raise ParameterError(
            "bound", given, f"at most {LARGEST_BOUND}", "Scale the learners down, or use 'unit'."
        )
    return bound


def check_task(task: Task, features: int) -> None:
    """Take two classes, and learners of the task's width."""
    if task.kind != "binary" or task.dimension != features:
        raise ParameterError(
            "learners", "not of a two-class task with these features", "vectors of the task",
            "A number or more classes have no bounded logistic loss here.",
        )  # fmt: skip
