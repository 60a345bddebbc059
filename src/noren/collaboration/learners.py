"""Several received learners as one array, and their losses on the receiver's rows.

Maths
    A learner is a vector t; its score of a row x is t . x, its loss ln(1 + exp(-y t . x)) with y
    in {-1, 1}. Published forms: `score` (t as it is), `sign` (its sign alone, a score of 0 being
    +1) and `unit` (t / |t|, so that |t . x| <= 1). A learner of zeros stays zero as a unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from noren.errors import ParameterError

Floats = npt.NDArray[np.float64]

SCORE, SIGN, UNIT = FORMS = ("score", "sign", "unit")


def read_learners(given: Any) -> Floats:
    """Take at least one learner of finite numbers, one a row."""
    rows = [np.asarray(getattr(one, "coefficients", one), dtype=np.float64) for one in given]
    if not rows:
        raise ParameterError("shares", "none", "at least one", "Collect a file first.")
    if any(row.ndim != 1 or row.shape != rows[0].shape or not row.size for row in rows):
        raise ParameterError(
            "shares",
            "of different or wrong shapes",
            "vectors over one list of features",
            "Combine files of one schema and one task only.",
        )
    table: Floats = np.stack(rows)
    if not np.isfinite(table).all():
        raise ParameterError("shares", "not finite everywhere", "finite", "Refuse the broken file.")
    return table


def read_rows(X: Any, y: Any, features: int) -> tuple[Floats, Floats]:
    """Take encoded rows and their labels -1 and 1; a message quotes no row and no number of them.

    There may be no rows at all.
    """
    rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != features or labels.shape != rows.shape[:1]:
        raise ParameterError(
            "X, y",
            "of shapes that do not fit",
            f"rows of {features} encoded features and a label for each",
            "Encode them by the schema of the shares.",
        )
    if not np.isfinite(rows).all() or not np.isin(labels, (-1.0, 1.0)).all():
        raise ParameterError(
            "X, y", "not all usable", "finite features and labels -1 or 1", "Encode them first."
        )
    return rows, labels


def unit_rows(learners: Floats) -> Floats:
    """Scale each learner to length 1; one of zeros stays as it is."""
    lengths = np.linalg.norm(learners, axis=1, keepdims=True)
    units: Floats = np.divide(learners, lengths, out=np.zeros_like(learners), where=lengths > 0)
    return units


def signs(scores: Floats) -> Floats:
    """Give the decisions -1 and 1; a score of 0 is decided as 1, as published."""
    return np.where(scores >= 0, 1.0, -1.0)


def scores_of(rows: Floats, learners: Floats, form: str = SCORE) -> Floats:
    """Score rows by learners in a published form: a row for each row, a column for each learner."""
    if form not in FORMS:
        raise ParameterError("form", form, f"one of {', '.join(FORMS)}", "'unit' is the default.")
    found: Floats = rows @ (unit_rows(learners) if form == UNIT else learners).T
    return signs(found) if form == SIGN else found


def log_losses(margins: Floats) -> Floats:
    """Give ln(1 + exp(-margin)) without overflow."""
    losses: Floats = np.logaddexp(0.0, -margins)
    return losses


def losses_of(rows: Floats, labels: Floats, learners: Floats, form: str = SCORE) -> Floats:
    """Give L[m, i], the loss of learner m on row i."""
    return log_losses(scores_of(rows, learners, form).T * labels)
