"""One private model as a value: coefficients, and everything its price is a function of.

A `PrivateModel` is what an organization gives away and what a receiver combines. It holds no
statistic of the data beside the released numbers: the mechanism's name and its public parameters
(from which `recompute_claim` derives the guarantee anew), the task with its schema, and the marks
that must be read with it. Its JSON form writes numbers as decimal strings that are read back bit
for bit, and nothing in it is ever executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

from noren.collaboration.parameters import parameters_from_text, parameters_to_text
from noren.collaboration.task import Task
from noren.errors import ParameterError, SchemaError
from noren.privacy import Adjacency, Guarantee
from noren.question import Receipt

FORMAT = 1
LARGEST = 1e6  # coefficients beyond this are no model of rows of norm 1
FIELDS = {
    "format", "task", "mechanism", "parameters", "coefficients", "sums", "marks", "seeded",
    "guarantee", "receipt",
}  # fmt: skip

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateModel:
    """A linear model that was learned privately.

    Attributes
    ----------
    task : Task
        What is predicted from what, on which public scale.
    mechanism : str
        How it was learned: a key of `noren.collaboration.parameters.MECHANISMS`.
    parameters : mapping
        Every number that the guarantee is a function of.
    coefficients : array
        One for each coordinate of a row (the intercept last); one such row for each class where
        there are more than two. For regression they predict y / B.
    guarantee : Guarantee or None
        The price; None if the noise was seeded.
    sums : mapping of arrays
        Released sums that add up over organizations (moments; Gram sums), if there are any.
    marks : tuple of str
        What must be read together with the model.
    seeded : bool
        Whether the noise could be predicted: then nothing is private.
    receipt : Receipt or None
        What the ledger wrote.
    """

    task: Task
    mechanism: str
    parameters: Mapping[str, Any]
    coefficients: Floats
    guarantee: Guarantee | None
    sums: Mapping[str, Floats] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    seeded: bool = False
    receipt: Receipt | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        found = np.array(self.coefficients, np.float64)
        width = self.task.dimension
        shape = (len(self.task.classes), width) if self.task.kind == "multiclass" else (width,)
        if found.shape != shape or not np.all(np.abs(found) <= LARGEST):
            raise ParameterError(
                "the coefficients",
                f"of shape {found.shape}, or not all finite and at most 1e6",
                f"finite numbers of shape {shape}, as the task has them",
                "Check that the model belongs to this task.",
            )
        check_sizes(self.task, self.parameters)
        found.setflags(write=False)
        put(self, "coefficients", found)
        put(self, "parameters", MappingProxyType(dict(self.parameters)))
        put(self, "sums", MappingProxyType({k: np.asarray(v) for k, v in self.sums.items()}))

    def __repr__(self) -> str:
        price = "NOT PRIVATE" if self.guarantee is None else str(self.guarantee)
        return f"PrivateModel({self.mechanism}, {self.task.dimension} coordinates; {price})"

    def __reduce__(self) -> tuple[Any, ...]:
        return PrivateModel.from_dict, (self.to_dict(),)

    def scores(self, rows: Floats) -> Floats:
        """Give the score of encoded rows (`task.rows`): one a row, or one a row and class."""
        found: Floats = rows @ self.coefficients.T
        return found

    def probabilities(self, table: Any) -> Floats:
        """Give the probability of each class, one row a record."""
        scores = self.scores(self.task.rows(table))
        if self.task.kind == "multiclass":
            return np.asarray(softmax(scores, axis=1))
        upper = expit(scores)
        return np.column_stack([1 - upper, upper])

    def predict(self, table: Any) -> npt.NDArray[Any]:
        """Predict the class, or the number (a tied score gives the second class)."""
        scores = self.scores(self.task.rows(table))
        if self.task.kind == "regression":
            return np.asarray(np.clip(scores, -1, 1) * self.task.bound)
        chosen = np.argmax(scores, axis=1) if scores.ndim == 2 else (scores >= 0).astype(int)
        return np.asarray(np.take(self.task.classes, chosen))

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "format": FORMAT,
            "task": self.task.to_dict(),
            "mechanism": self.mechanism,
            "parameters": parameters_to_text(self.mechanism, self.parameters),
            "coefficients": numbers_to_text(self.coefficients),
            "sums": {name: numbers_to_text(values) for name, values in self.sums.items()},
            "marks": list(self.marks),
            "seeded": self.seeded,
            "guarantee": guarantee_to_text(self.guarantee),
            "receipt": self.receipt and {
                "account": self.receipt.account,
                "request_id": self.receipt.request_id,
                "head": self.receipt.head,
            },
        }  # fmt: skip

    @classmethod
    def from_dict(cls, given: Any) -> PrivateModel:
        """Read the JSON form; refuse what is none. The claim is not checked here."""
        if not isinstance(given, Mapping) or set(given) != FIELDS or given["format"] != FORMAT:
            raise SchemaError(
                f"A model must have exactly the fields of format {FORMAT}, as `to_dict` writes "
                "them. Check that the file is a model, and which version wrote it."
            )
        return cls(
            task=Task.from_dict(given["task"]),
            mechanism=str(given["mechanism"]),
            parameters=parameters_from_text(given["mechanism"], given["parameters"]),
            coefficients=numbers_from_text(given["coefficients"]),
            sums={str(k): numbers_from_text(v) for k, v in dict(given["sums"]).items()},
            marks=tuple(str(mark) for mark in given["marks"]),
            seeded=read_flag(given["seeded"]),
            guarantee=guarantee_from_text(given["guarantee"]),
            receipt=None if given["receipt"] is None else Receipt(**given["receipt"]),
        )


def check_sizes(task: Task, parameters: Mapping[str, Any]) -> None:
    """Refuse a claim about another number of coordinates or classes than the task has."""
    wanted = {"dimension": task.dimension, "classes": max(2, len(task.classes))}
    found = [parameters, *candidates_of(parameters)]
    if any(int(own.get(name, size)) != size for own in found for name, size in wanted.items()):
        raise SchemaError(
            "The model's claim is about another number of coordinates or classes than its task "
            "has. Ask the sender for a new file."
        )


def candidates_of(parameters: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Give the parameters of a tuned model's candidates, as they are written."""
    try:
        listed = json.loads(parameters.get("candidates", "[]"))
        return [{**own} for _, own in listed]
    except (ValueError, TypeError, RecursionError):
        raise SchemaError("A tuned model's candidates cannot be read. Check the file.") from None


def read_flag(given: Any) -> bool:
    """Read a truth value that must be one."""
    if not isinstance(given, bool):
        raise SchemaError("A model's `seeded` must be true or false. Check the file.")
    return given


def numbers_to_text(values: npt.ArrayLike) -> Any:
    """Write numbers as decimal strings of 17 digits, nested as the array is."""
    array = np.asarray(values)
    if array.ndim == 0:
        return format(float(array), ".17g")
    return [numbers_to_text(part) for part in array]


def numbers_from_text(given: Any) -> Floats:
    """Read decimal strings, nested in lists of equal length."""
    try:
        strings = np.array(given, dtype=object)
        if not all(isinstance(text, str) for text in strings.ravel()):
            raise ValueError
        found = strings.astype(np.float64)
    except (TypeError, ValueError):
        raise SchemaError(
            "A model's numbers must be decimal strings in lists of equal length. Check the file."
        ) from None
    if not np.all(np.isfinite(found)):
        raise SchemaError("A model's numbers must be finite. Ask the sender for a new file.")
    return found


def guarantee_to_text(guarantee: Guarantee | None) -> dict[str, Any] | None:
    """Write a guarantee with exact amounts and a neighbour relation that is read back."""
    if guarantee is None:
        return None
    adjacency = guarantee.adjacency
    return {
        "relation": adjacency.relation.value,
        "unit": adjacency.unit.value,
        "max_records": adjacency.max_records,
        "within": adjacency.within,
        "epsilon": None if guarantee.epsilon is None else str(guarantee.epsilon),
        "delta": str(guarantee.delta),
        "rho": None if guarantee.rho is None else str(guarantee.rho),
    }


def guarantee_from_text(given: Any) -> Guarantee | None:
    """Read a written guarantee."""
    from noren.privacy import Relation, Unit

    if given is None:
        return None
    try:
        who = Adjacency(
            Relation(given["relation"]), Unit(given["unit"]), given["max_records"], given["within"]
        )
        return Guarantee(who, given["epsilon"], given["delta"], given["rho"])
    except (KeyError, TypeError, ValueError):
        raise SchemaError(
            "A model's guarantee is not written as `guarantee_to_text` writes it. Check the file."
        ) from None
