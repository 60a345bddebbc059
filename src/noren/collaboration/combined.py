"""What `combine` gives: a public combination, or a secret one that stays with the receiver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from noren.collaboration.joining import SECRET, SecretJoining
from noren.collaboration.learners import Floats
from noren.collaboration.predictor import Predictor
from noren.collaboration.task import Task
from noren.errors import SchemaError

SECRET_KIND = "secret-combination"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Combination:
    """A data-free combination: free to publish, each organization keeps its own price.

    Attributes
    ----------
    predictor : Predictor
        What scores rows.
    method : str
        How it was combined.
    task : Task or None
        What is predicted from what; None for bare arrays.
    sources : tuple of str
        What was combined.
    """

    predictor: Predictor
    method: str
    task: Task | None = None
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def coefficients(self) -> Floats | None:
        """The one vector that it amounts to; None for a vote."""
        return self.predictor.coefficients

    def predict(self, table: Any) -> Any:
        """Predict the classes of records; of encoded rows (-1, 1) where there is no task."""
        return predicted(self.predictor, self.task, table)

    def __repr__(self) -> str:
        return f"Combination({self.method}, {len(self.sources)} files)"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return written(self, "combination")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SecretCombination:
    """A combination by the receiver's rows. It must stay with the receiver.

    Attributes
    ----------
    predictor : Predictor
        What scores rows.
    method : str
        How it was combined.
    task : Task or None
        What is predicted from what; None for bare arrays.
    sources : tuple of str
        What was combined.
    joining : SecretJoining or None
        Whether joining helps; None below two rows.
    """

    predictor: Predictor
    method: str
    task: Task | None = None
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    joining: SecretJoining | None = None

    @property
    def coefficients(self) -> Floats | None:
        """The one vector that it amounts to; None for a vote."""
        return self.predictor.coefficients

    def predict(self, table: Any) -> Any:
        """Predict the classes of records; of encoded rows (-1, 1) where there is no task."""
        return predicted(self.predictor, self.task, table)

    def probabilities(self, table: Any) -> Floats:
        """Give the probability of both classes; meaningful for `auto`, whose scores are fitted."""
        rows = table if self.task is None else self.task.rows(table)
        upper = expit(self.predictor.scores(rows))
        return np.column_stack([1 - upper, upper])

    def __repr__(self) -> str:
        return f"SecretCombination({self.method}, stays with the receiver)"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, marked secret."""
        joining = None if self.joining is None else self.joining.to_dict()
        return written(self, SECRET_KIND) | {"secret": SECRET, "joining": joining}


def predicted(predictor: Predictor, task: Task | None, table: Any) -> Any:
    """Predict classes, or -1 and 1 without a task."""
    if task is None:
        return predictor.decide(np.asarray(table, dtype=np.float64))
    chosen = (predictor.decide(task.rows(table)) > 0).astype(int)
    return np.asarray(task.classes)[chosen]


def written(made: Combination | SecretCombination, kind: str) -> dict[str, Any]:
    """Give what both forms have in common."""
    return {
        "kind": kind,
        "method": made.method,
        "task": None if made.task is None else made.task.to_dict(),
        "predictor": made.predictor.to_dict(),
        "sources": list(made.sources),
        "notes": list(made.notes),
    }


def read_combination(given: Any) -> Combination | SecretCombination:
    """Read the JSON form, for predicting; a secret one stays secret, without its report."""
    if not isinstance(given, dict) or given.get("kind") not in ("combination", SECRET_KIND):
        raise SchemaError("This is not a combined model. 'noren collaborate combine' writes one.")
    task = given.get("task")
    kind = SecretCombination if given["kind"] == SECRET_KIND else Combination
    return kind(
        predictor=Predictor.from_dict(given.get("predictor")),
        method=str(given.get("method")),
        task=None if task is None else Task.from_dict(task),
        sources=tuple(map(str, given.get("sources", ()))),
        notes=tuple(map(str, given.get("notes", ()))),
    )
