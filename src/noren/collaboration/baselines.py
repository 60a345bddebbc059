"""Simple ways to combine learners: each is here because a receiver should be able to compare.

Data-free (a function of the received files alone; free to publish)
    mean                weighted by declared sizes where all declare one
    clipped mean        each learner first shortened to the median length
    coordinate median
    geometric median    of the shortened learners: argmin of the sum of distances (Weiszfeld's
                        steps from the coordinate median, distances at least 1e-12)
    uniform vote        the sign of the sum of signs (`CombinedScores` with even weights)

On the receiver's rows (secret)
    best single         fewest errors
    stacking            t = U'w, U the learners as unit rows, w = argmin of the logistic loss of
                        the scores X U' + ridge |w|**2 / 2 (raw learners: Sarwate et al. 2014)
    local               no received learner at all: the ridge fit of the own rows
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noren.collaboration.learners import (
    Floats,
    read_learners,
    read_rows,
    scores_of,
    signs,
    unit_rows,
)
from noren.collaboration.small_fits import fit_many, prior_factor
from noren.errors import ParameterError
from noren.privacy.numbers import positive

WEISZFELD_STEPS = 200
NEAREST = 1e-12


def mean(learners: Any, sizes: Any = None) -> Floats:
    """Average the learners, weighted by their declared sizes if given."""
    table = read_learners(learners)
    weights = np.ones(len(table)) if sizes is None else np.asarray(sizes, dtype=np.float64)
    if weights.shape != table.shape[:1] or not (weights > 0).all():
        raise ParameterError("sizes", "not one positive number a share", "so", "Or leave them out.")
    averaged: Floats = weights @ table / weights.sum()
    return averaged


def clipped(learners: Any) -> Floats:
    """Shorten each learner to the median length, so that one huge one cannot rule."""
    table = read_learners(learners)
    lengths = np.linalg.norm(table, axis=1)
    most = np.median(lengths)
    scale = np.divide(most, lengths, out=np.ones_like(lengths), where=lengths > most)
    shortened: Floats = table * scale[:, None]
    return shortened


def clipped_mean(learners: Any) -> Floats:
    """Average the shortened learners."""
    averaged: Floats = clipped(learners).mean(axis=0)
    return averaged


def coordinate_median(learners: Any) -> Floats:
    """Take the median of each coefficient."""
    medians: Floats = np.median(read_learners(learners), axis=0)
    return medians


def geometric_median(learners: Any) -> Floats:
    """Find the point with the smallest sum of distances to the shortened learners.

    Examples
    --------
    >>> geometric_median([[0.0, 1.0], [0.0, 1.0], [900.0, -1.0]]).round(6)
    array([0., 1.])
    """
    table = clipped(learners)
    point = np.median(table, axis=0)
    for _ in range(WEISZFELD_STEPS):
        weights = 1 / np.maximum(np.linalg.norm(table - point, axis=1), NEAREST)
        point = weights @ table / weights.sum()
    return point


def best_single(learners: Any, X: Any, y: Any) -> int:
    """Name the learner with the fewest errors on the receiver's rows; the first of equals."""
    table = read_learners(learners)
    rows, labels = read_rows(X, y, table.shape[1])
    return int(np.argmin((labels != signs(scores_of(rows, table)).T).sum(axis=1)))


def stack(X: Any, y: Any, learners: Any, ridge: Any = 1, *, unit: bool = True) -> Floats:
    """Give the coefficients of ridge stacking, t = U'w.

    Parameters
    ----------
    X, y
        The receiver's encoded rows; labels are -1 and 1.
    learners
        Shares, models or an array with a learner a row.
    ridge
        The ridge of w, in total.
    unit
        Whether the learners are first scaled to length 1.
    """
    table = read_learners(learners)
    basis = unit_rows(table) if unit else table
    prior = 1 / float(positive("ridge", ridge))
    return one_fit(X, y, prior_factor(0.0, prior, basis))


def local_fit(X: Any, y: Any, ridge: Any) -> Floats:
    """Fit the receiver's own rows alone, with that total ridge."""
    width = np.asarray(X, dtype=np.float64).shape[1]
    own = 1 / float(positive("ridge", ridge))
    return one_fit(X, y, np.sqrt(own) * np.eye(width))


def moment_prior_fit(X: Any, y: Any, learners: Any, k0: float, k1: float) -> Floats:
    """Fit the receiver's rows with the prior covariance k0 I + k1 U'U.

    The received models act as the prior's second moment, so a learner with its sign turned is as
    informative as a right one, and one of garbage costs one direction. k1 = 0 is a local ridge
    fit (ridge 1 / k0), k0 = 0 is stacking (ridge 1 / k1).
    """
    if k0 < 0 or k1 < 0 or k0 + k1 <= 0:
        raise ParameterError(
            "(k0, k1)",
            (k0, k1),
            "not negative, and not both 0",
            "One of the two must let the model move.",
        )
    units = unit_rows(read_learners(learners))
    return one_fit(X, y, prior_factor(float(k0), float(k1), units))


def one_fit(X: Any, y: Any, factor: Floats) -> Floats:
    """Fit once, with all rows."""
    rows, labels = read_rows(X, y, len(factor))
    fitted: Floats = fit_many(rows, labels, factor[None], np.ones((1, len(rows))))[0]
    return fitted
