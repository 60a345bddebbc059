"""What combining gives: a weighted sum of scores, linear unless only signs are added.

Maths
    f(x) = sum over m of w_m f_m(x), decided as +1 where f(x) >= 0. In the forms `score` and `unit`
    that is one vector t = sum of w_m t_m; in the form `sign` it is a weighted vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.collaboration.learners import (
    FORMS,
    SCORE,
    SIGN,
    UNIT,
    Floats,
    scores_of,
    signs,
    unit_rows,
)
from noren.collaboration.model import numbers_from_text, numbers_to_text
from noren.errors import SchemaError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Predictor:
    """Score rows by a weighted sum of learners.

    Attributes
    ----------
    learners : array
        A learner a row.
    weights : array
        One for each.
    form : str
        "score", "sign" or "unit".
    """

    learners: Floats
    weights: Floats
    form: str = SCORE

    @classmethod
    def of(cls, coefficients: Floats) -> Predictor:
        """Take one vector."""
        return cls(np.atleast_2d(coefficients), np.ones(1))

    @property
    def coefficients(self) -> Floats | None:
        """The one vector that it amounts to; None for a vote."""
        if self.form == SIGN:
            return None
        basis = unit_rows(self.learners) if self.form == UNIT else self.learners
        found: Floats = self.weights @ basis
        return found

    def scores(self, rows: Floats) -> Floats:
        """Score encoded rows."""
        one = self.coefficients
        if one is not None:
            linear: Floats = rows @ one
            return linear
        vote: Floats = scores_of(rows, self.learners, SIGN) @ self.weights
        return vote

    def decide(self, rows: Floats) -> Floats:
        """Decide -1 or 1; a tie is 1."""
        return signs(self.scores(rows))

    def __repr__(self) -> str:
        return f"Predictor({len(self.learners)} learners, {self.form})"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "learners": numbers_to_text(self.learners),
            "weights": numbers_to_text(self.weights),
            "form": self.form,
        }

    @classmethod
    def from_dict(cls, given: Any) -> Predictor:
        """Read the JSON form."""
        if not isinstance(given, dict) or set(given) != {"learners", "weights", "form"}:
            raise SchemaError("A combined model must hold learners, weights and form. Check it.")
        learners, weights = (numbers_from_text(given[k]) for k in ("learners", "weights"))
        if learners.ndim != 2 or weights.shape != learners.shape[:1] or given["form"] not in FORMS:
            raise SchemaError("A combined model's learners, weights and form do not fit. Check it.")
        return cls(learners, weights, given["form"])
