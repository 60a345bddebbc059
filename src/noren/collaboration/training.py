"""What all questions that train a model have in common, and the answer they give.

A training question states the task, the price and its neighbors, and a declared size N. Under
'substitute' N is the public number of rows. Under 'add-remove' it is a constant fixed without
looking at the rows, and every parameter, default and choice is a function of N, never of the true
number: a parameter that depended on it would be a release of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from noren.collaboration.model import LARGEST, PrivateModel
from noren.collaboration.statistic import TrainingRows, require_short, require_task
from noren.collaboration.step_price import adjacency_parameters, read_neighbours
from noren.collaboration.task import Task
from noren.errors import ParameterError
from noren.mechanisms.additive import require_noise
from noren.mechanisms.wording import public_rows
from noren.noise import Noise
from noren.privacy import SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.numbers import positive, read_delta, read_epsilon, whole
from noren.question import Answer, Forecast, Mechanism, was_secure

LARGE_EPSILON = 10
PUBLIC = ("the task: features with bounds and categories, classes, intercept and scale",)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Training(ABC):
    """The part of a training question that does not depend on how the model is learned.

    Parameters
    ----------
    task : Task
        What is predicted from what.
    epsilon, delta : number
        The price; delta 0 asks for a pure guarantee.
    adjacency : Adjacency or str
        "add-remove" or "substitute", of records or of persons with up to `max_records` rows.
    size : int
        The declared number of rows: see the module's text.
    weight : number
        The public upper bound of row weights; rows count once unless weights are given.
    """

    kind: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]] = ("binary",)

    task: Task
    epsilon: Fraction
    adjacency: Adjacency
    size: int
    delta: Fraction = Fraction(0)
    weight: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "epsilon", read_epsilon(self.epsilon))
        put(self, "delta", read_delta(self.delta))
        put(self, "adjacency", read_neighbours(self.adjacency))
        put(self, "size", whole("size", self.size, 1))
        put(self, "weight", positive("weight", self.weight))
        if not isinstance(self.task, Task):
            raise ParameterError("task", type(self.task).__name__, "a Task", "Declare it first.")
        if self.task.kind not in self.tasks:
            raise ParameterError(
                "the task", self.task.kind, " or ".join(self.tasks), "Use another way to learn it."
            )
        if self.task.may_drop and self.adjacency.relation is SUBSTITUTE:
            raise ParameterError(
                "a column's missing rule",
                "'drop'",
                "'own' or a fill value under 'substitute'",
                "A replaced record could disappear, which such a guarantee does not cover.",
            )

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The name under which the claim can be recomputed."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Every number that the claim is a function of."""

    @abstractmethod
    def learned(self, rows: TrainingRows, noise: Noise) -> Learned:
        """Draw, and give what may be released."""

    @abstractmethod
    def forecast(self, facts: Any = None) -> Forecast:
        """Say how large the noise is, before anything is spent."""

    @property
    @abstractmethod
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the laws of the noise for outside accountants."""

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking."""
        return Guarantee(self.adjacency, self.epsilon, self.delta)

    @property
    def common_parameters(self) -> dict[str, Any]:
        """Give what every claim is a function of."""
        return {
            **adjacency_parameters(self.adjacency),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "dimension": self.task.dimension,
            "size": self.size,
            "weight": float(self.weight),
        }

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        declared = "the declared size, fixed without looking at the rows"
        known = public_rows(self.adjacency)
        return (*PUBLIC, *(known if self.adjacency.relation is SUBSTITUTE else (declared, *known)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Marks that travel with every answer."""
        found = []
        if self.epsilon > LARGE_EPSILON:
            found.append("epsilon above 10 protects little")
        if self.delta * self.size > 1:
            found.append("delta above one over the declared size protects no single person well")
        return tuple(found)

    def check(self, rows: TrainingRows) -> None:
        """Refuse rows of another task, or another number of them where it is public."""
        require_task(rows.task, self.task)
        if self.adjacency.relation is SUBSTITUTE and rows.records != self.size:
            raise ParameterError(
                "the declared size",
                "not the table's number of rows",
                "that number exactly under 'substitute'",
                "State it, or ask under 'add-remove', where the number of rows stays secret.",
            )

    def answer(self, rows: TrainingRows, noise: Noise) -> TrainedModel:
        """Learn the model."""
        self.check(rows)
        require_short(rows)
        found = self.learned(rows, require_noise(noise))
        return TrainedModel(
            question=self,
            secure=noise.secure,
            coefficients=np.clip(found.coefficients, -LARGEST, LARGEST),
            sums=found.sums,
        )

    def restore(self, record: dict[str, Any]) -> TrainedModel:
        """Give back the answer that a ledger stored."""
        return TrainedModel(
            question=self,
            secure=was_secure(record),
            coefficients=np.asarray(record["coefficients"]),
            sums={name: np.asarray(values) for name, values in record["sums"].items()},
        )


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What came out of the noise: coefficients, and sums that add up over organizations."""

    coefficients: Floats
    sums: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel(Answer):
    """A private model with its price; `model` is what may be sent."""

    coefficients: Floats
    sums: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def model(self) -> PrivateModel:
        """Give the model with everything its claim can be recomputed from."""
        return PrivateModel(
            task=self.question.task,
            mechanism=self.question.mechanism,
            parameters=self.question.parameters,
            coefficients=self.coefficients,
            guarantee=self.guarantee,
            sums=self.sums,
            marks=self.marks,
            seeded=not self.secure,
            receipt=self.receipt,
        )

    @property
    def headline(self) -> str:
        """Say what was learned, and how long the coefficients are."""
        length = float(np.sqrt((self.coefficients**2).sum()))
        return f"{self.question.kind}: {self.coefficients.size} coefficients of length {length:.4g}"

    def chart(self) -> Any:
        """Draw the coefficients by name, with the noise's size where it is known."""
        from noren.collaboration.coefficient_chart import coefficient_chart

        return coefficient_chart(self)
