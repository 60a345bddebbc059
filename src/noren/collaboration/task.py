"""What is learned, and on which public scale: one declaration that all organizations share.

Maths
    A record becomes a row x: its features by public rules in [-1, 1] (`noren.data.encoding`), an
    intercept coordinate of constant size appended, all divided by a public C, then the row is
    scaled down to norm 1 if it is longer, and multiplied by 1 - 2**-40, so that norms are at most 1
    in floating point too. A label becomes -1 or +1 (two classes), a class 0..K-1 (more), or
    y / B clipped to [-1, 1] (a number with |y| <= B).

Privacy
    Every step looks at one record and at public constants alone, so it costs nothing and can be
    repeated when predicting. No mean, range, norm or category is read off the data.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from noren.data import Boolean, Categorical, Integer, Numeric, Schema, fill
from noren.data.blocks import Block, block_of
from noren.data.encoding import encode, encoded_names
from noren.errors import ParameterError, SchemaError
from noren.privacy.numbers import exact, positive

SAFE = 1 - 2.0**-40  # float norms stay below 1

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Task:
    """Declare what is predicted from what; equal identities mean exchangeable models.

    Parameters
    ----------
    features : Schema
        The columns to predict from, with public bounds and categories.
    label : Categorical, Boolean or Numeric
        The column to predict: two classes (the second is +1), more, or a number. Its levels are
        the classes, so it may not keep missing ones as a class unless that is meant.
    intercept : float
        The constant of the last coordinate; 0 for none. A larger one is regularized less.
    scale : float, optional
        The public C that rows are divided by; left out, the root of the mean squared norm of rows
        spread evenly over their ranges.

    Examples
    --------
    >>> from noren.data import Boolean, Numeric, Schema, fill
    >>> age = Numeric(name="age", lower=0, upper=100, missing=fill(50))
    >>> task = Task(Schema([age]), Boolean(name="ill", missing=fill(False)), scale=2)
    >>> task.dimension, task.classes
    (2, ('false', 'true'))
    >>> task.rows({"age": [0, 100]}).round(3).tolist()
    [[-0.5, 0.5], [0.5, 0.5]]
    """

    features: Schema
    label: Categorical | Boolean | Numeric | Integer
    intercept: float
    scale: float

    def __init__(
        self, features: Schema, label: Any, intercept: float = 1.0, scale: float | None = None
    ) -> None:
        put = object.__setattr__
        if not isinstance(features, Schema):
            raise SchemaError(
                f"features is a {type(features).__name__}, but it must be a noren.data.Schema. "
                "Declare every column with its public bounds or categories."
            )
        check_label(label, features)
        constant = exact("intercept", intercept)
        if constant < 0:
            raise ParameterError("intercept", intercept, "zero or more", "Zero means none.")
        put(self, "features", features)
        put(self, "label", label)
        put(self, "intercept", float(constant))
        encoded_names(features)  # refuses columns that have no encoding
        size = usual_norm(features, self.intercept) if scale is None else positive("scale", scale)
        put(self, "scale", float(size))

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates of a row, the intercept last."""
        return encoded_names(self.features) + (("intercept",) if self.intercept else ())

    @property
    def dimension(self) -> int:
        """How many coordinates a row has."""
        return len(self.names)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in order (of two, the second is +1); none for a number."""
        if isinstance(self.label, Boolean):
            return ("false", "true")
        return self.label.levels if isinstance(self.label, Categorical) else ()

    @property
    def kind(self) -> str:
        """Say what kind of learning it is: 'binary', 'multiclass' or 'regression'."""
        return {0: "regression", 2: "binary"}.get(len(self.classes), "multiclass")

    @property
    def bound(self) -> float:
        """The public B with |y| <= B of a number that is predicted."""
        if not isinstance(self.label, Numeric | Integer):
            raise ParameterError("the label", self.label.name, "a number", "It is a class here.")
        return max(abs(float(self.label.lower)), abs(float(self.label.upper)))

    @property
    def schema(self) -> Schema:
        """The whole table to read: features and label."""
        return Schema([*self.features.columns, self.label], self.features.missing_words)

    @property
    def label_schema(self) -> Schema:
        """The label's column alone."""
        return Schema([self.label], self.features.missing_words)

    @property
    def may_drop(self) -> bool:
        """Whether what a record holds can decide if it counts at all."""
        return any(column.missing.action == "drop" for column in self.schema)

    def rows(self, table: Any) -> Floats:
        """Encode features: a `Block`, a mapping of columns, a frame, or a plain matrix."""
        if isinstance(table, np.ndarray):
            return self.scaled(self._of_matrix(table))
        block = table if isinstance(table, Block) else block_of(table, self.features)
        return self.scaled(encode(block, self.features))

    def targets(self, block: Block) -> npt.NDArray[Any]:
        """Encode labels: -1 and +1, class numbers, or y / B."""
        given = block[self.label.name]
        if self.kind == "regression":
            return np.clip(given.astype(np.float64) / self.bound, -1.0, 1.0)
        codes = given.astype(np.int64)
        return 2.0 * codes - 1.0 if self.kind == "binary" else codes

    def scaled(self, encoded: Floats) -> Floats:
        """Append the intercept, divide by C, and scale long rows down to norm 1."""
        if self.intercept:
            encoded = np.column_stack([encoded, np.full(len(encoded), self.intercept)])
        rows = encoded / self.scale
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows *= (SAFE / np.maximum(norms, 1.0))[:, None]
        return rows

    def _of_matrix(self, matrix: npt.NDArray[Any]) -> Floats:
        """Encode a plain matrix of numbers, its columns in the schema's order."""
        if matrix.ndim != 2 or matrix.shape[1] != len(self.features):
            raise SchemaError(
                f"The matrix does not have {len(self.features)} columns, but the schema declares "
                "that many features. Pass one column for each, in the schema's order."
            )
        columns = {name: matrix[:, j] for j, name in enumerate(self.features.names)}
        return encode(block_of(columns, self.features), self.features)

    @property
    def identity(self) -> str:
        """The SHA-256 of the canonical JSON: equal tasks, equal identities."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def public_form(self) -> dict[str, Any]:
        """Give what stands for the task in a question's identity."""
        return {"task": self.identity}

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form; numbers are strings that are read back bit for bit."""
        return {
            "features": self.features.to_dict(),
            "label": Schema([self.label]).to_dict()["columns"][0],
            "intercept": repr(self.intercept),
            "scale": repr(self.scale),
        }

    @classmethod
    def from_dict(cls, given: Any) -> Task:
        """Read the JSON form."""
        if not isinstance(given, dict) or set(given) != {"features", "label", "intercept", "scale"}:
            raise SchemaError(
                "A task must have exactly features, label, intercept and scale. Check that this "
                "is a task that Noren wrote."
            )
        label = Schema.from_dict({"format": 1, "columns": [given["label"]]}).columns[0]
        features = Schema.from_dict(given["features"])
        return cls(features, label, given["intercept"], given["scale"])

    @classmethod
    def of_bounds(
        cls,
        lower: Iterable[float],
        upper: Iterable[float],
        classes: Iterable[str] = ("no", "yes"),
        **settings: Any,
    ) -> Task:
        """Declare numeric features x0, x1, ... by their bounds, and classes."""
        pairs = list(zip(lower, upper, strict=True))
        columns = [
            Numeric(name=f"x{j}", lower=low, upper=high, missing=fill(low / 2 + high / 2))
            for j, (low, high) in enumerate(pairs)
        ]
        words = tuple(classes)
        label = Categorical(name="y", categories=words, missing=fill(words[0]))
        return cls(Schema(columns), label, **settings)


def check_label(label: Any, features: Schema) -> None:
    """Refuse a label that is no class and no number, or that is also a feature."""
    if not isinstance(label, Categorical | Boolean | Numeric | Integer):
        raise SchemaError(
            "The label must be a Categorical, Boolean, Numeric or Integer column with its public "
            "classes or bounds. Declare it; Noren never reads classes off the data."
        )
    if label.name in features.names:
        raise SchemaError(
            f"Column {label.name!r} is both a feature and the label. Leave it out of the features."
        )
    if isinstance(label, Categorical) and len(label.levels) < 2:
        raise SchemaError(
            f"The label {label.name!r} declares one class, but at least two are needed. "
            "Declare all that are possible, even if this organization has seen only one."
        )


def usual_norm(features: Schema, intercept: float) -> float:
    """Give the root of the mean squared norm, features spread evenly over their ranges."""
    square = intercept**2
    for column in features:
        if isinstance(column, Categorical | Boolean):
            square += 1.0
        else:
            square += 1.0 / 3.0
    return max(math.sqrt(square), 1e-9)
