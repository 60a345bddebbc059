"""What an estimator must be told because the data may not tell it: bounds, classes, sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from noren.collaboration import Task
from noren.data import Categorical, Numeric, Schema, fill
from noren.errors import ParameterError
from noren.noise import Noise


def features_of(bounds: Any, features: int) -> Schema:
    """Declare numeric features by public bounds: a pair of numbers, or of one number a feature."""
    if bounds is None or len(bounds) != 2:
        raise ParameterError(
            "bounds",
            "not a pair" if bounds is not None else None,
            "a pair of lower and upper bounds, each one number or one for each feature",
            "Choose them from public knowledge; Noren never reads bounds off the data.",
        )
    lower, upper = (np.broadcast_to(np.asarray(b, float), features).tolist() for b in bounds)
    return Schema(
        [
            Numeric(name=f"x{j}", lower=low, upper=high, missing=fill(low / 2 + high / 2))
            for j, (low, high) in enumerate(zip(lower, upper, strict=True))
        ]
    )


def read_classes(classes: Any) -> np.ndarray[Any, Any]:
    """Take the declared classes, in order."""
    found = None if classes is None else np.asarray(classes)
    if found is None or found.ndim != 1 or len(np.unique(found)) != len(found) or len(found) < 2:
        raise ParameterError(
            "classes",
            None if found is None else "not distinct, or fewer than two",
            "the list of all possible classes, two or more",
            "They are public: which classes occur in private data is not for the model to tell.",
        )
    return found


def label_of(classes: np.ndarray[Any, Any]) -> Categorical:
    """Declare the label's column; a word for each class, by its place."""
    words = tuple(f"class {place}" for place in range(len(classes)))
    return Categorical(name="y", categories=words, missing=fill(words[0]))


def words_for(y: Any, classes: np.ndarray[Any, Any]) -> Any:
    """Give the word of each label; one that is undeclared counts as the first class."""
    order = np.argsort(classes, kind="stable")
    given = np.asarray(y).ravel()
    if given.dtype.kind in "OUS" or classes.dtype.kind in "OUS":
        given, known = given.astype(str), classes.astype(str)
        order = np.argsort(known, kind="stable")
        ranked = known[order]
    else:
        ranked = classes[order]
    place = np.clip(np.searchsorted(ranked, given), 0, len(ranked) - 1)
    code = np.where(ranked[place] == given, order[place], 0)
    return np.array([f"class {c}" for c in range(len(classes))])[code]


def declared(features: Schema, label: Any, fit_intercept: bool, scale: Any) -> Task:
    """Declare the task."""
    return Task(features, label, intercept=1.0 if fit_intercept else 0.0, scale=scale)


def asked(estimator: Any, question: Any, rows: Any) -> Any:
    """Ask through the estimator's ledger, or without one."""
    if estimator.asks is None:
        return question.answer(rows, Noise() if estimator.noise is None else estimator.noise)
    return estimator.asks.ask(estimator.account, question, rows, request_id=estimator.request_id)
