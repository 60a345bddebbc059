"""The default way to combine: fits that use the received models as a prior, chosen by weights.

Maths
    Candidates, each a single vector t fitted on some rows:
        prior (k0, k1)   S = k0 I + k1 U'U, U the learners as unit rows; t = R w, R R' = S,
                         w = argmin of logistic loss + |w|**2 / 2
                         k0 in {0, 1, 10, 100}, k1 in {0, .3, 3, 30, 300}, not both 0
        a * unit(geometric median), a = 1, 3, 10, 30
        a * unit(mirror average of unit learners, beta = e, start included), a = 3, 10, 30
    Row i is in fold i mod 5 (every row its own fold below 10 rows). CV_c is the total loss of
    candidate c on each fold, fitted on the others; weights are proportional to exp(-CV_c), and
    the result is the weighted sum of the candidates fitted on all rows: linear, so a single t.

    Deterministic. k1 = 0 are the receiver's local fits, so where sharing brings nothing the
    result stays near the best of these.

Privacy
    None: all of it is a function of the receiver's rows, without noise. It stays with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from noren.collaboration.baselines import geometric_median
from noren.collaboration.learners import (
    UNIT,
    Floats,
    log_losses,
    losses_of,
    read_learners,
    read_rows,
    unit_rows,
)
from noren.collaboration.small_fits import fit_many, prior_factor
from noren.collaboration.weights import mirror_weights
from noren.errors import ParameterError
from noren.privacy.numbers import whole

OWN = (0.0, 1.0, 10.0, 100.0)
RECEIVED = (0.0, 0.3, 3.0, 30.0, 300.0)
PRIORS = tuple((k0, k1) for k0 in OWN for k1 in RECEIVED if k0 + k1 > 0)
LOCAL = tuple(k0 for k0 in OWN if k0 > 0)
MEDIAN_SCALES = (1.0, 3.0, 10.0, 30.0)
MIRROR_SCALES = (3.0, 10.0, 30.0)
FOLDS = 5
FEW = 10  # below so many rows each row is a fold of its own


@dataclass(frozen=True, slots=True)
class SecretAutoFit:
    """What `auto` found on the receiver's rows; it must stay with the receiver.

    Attributes
    ----------
    coefficients
        The combined model.
    weights
        The weight of each candidate.
    losses
        The cross-validated total loss of each candidate.
    """

    coefficients: Floats
    weights: Floats
    losses: Floats

    def __repr__(self) -> str:
        return f"SecretAutoFit({self.coefficients.size} features, stays with the receiver)"


def auto_fit(X: Any, y: Any, learners: Any, folds: int | None = None) -> SecretAutoFit:
    """Combine received learners with the receiver's rows by the default way.

    Parameters
    ----------
    X, y
        The receiver's encoded rows; labels are -1 and 1.
    learners
        Shares, models or an array with a learner a row.
    folds
        5 unless given, and each row its own below 10 rows.
    """
    table = read_learners(learners)
    rows, labels = read_rows(X, y, table.shape[1])
    return weighed(rows, labels, candidates(rows, labels, table, masks_of(len(rows), folds)))


def local_auto_fit(X: Any, y: Any, folds: int | None = None) -> SecretAutoFit:
    """Do the same with the local candidates alone: what the receiver has without joining."""
    width = np.asarray(X, dtype=np.float64).shape[-1]
    rows, labels = read_rows(X, y, width)
    factors = np.stack([math.sqrt(k0) * np.eye(width) for k0 in LOCAL])
    return weighed(rows, labels, fitted(rows, labels, factors, masks_of(len(rows), folds)))


def masks_of(many: int, folds: int | None) -> Floats:
    """Give, for each fold, the rows that are not in it, and last all rows."""
    if not many:
        raise ParameterError(
            "X, y", "without rows", "at least one row of the receiver's own",
            "Without any, ask for a data-free way by name: geometric-median.",
        )  # fmt: skip
    chosen = (many if many < FEW else FOLDS) if folds is None else whole("folds", folds, 2)
    fold = np.arange(many) % chosen
    return np.vstack([fold != held for held in range(min(chosen, many))] + [fold >= 0]).astype(
        float
    )


def candidates(rows: Floats, labels: Floats, learners: Floats, masks: Floats) -> Floats:
    """Fit every candidate under every mask: (masks, candidates, features)."""
    units = unit_rows(learners)
    factors = np.stack([prior_factor(k0, k1, units) for k0, k1 in PRIORS])
    prior = fitted(rows, labels, factors, masks)
    direction = unit_rows(geometric_median(learners)[None])
    medians = np.repeat((np.outer(MEDIAN_SCALES, direction))[None], len(masks), axis=0)
    return np.concatenate([prior, medians, mirrors(rows, labels, learners, masks)], axis=1)


def fitted(rows: Floats, labels: Floats, factors: Floats, masks: Floats) -> Floats:
    """Fit every prior under every mask."""
    many, kinds = len(masks), len(factors)
    found = fit_many(rows, labels, np.tile(factors, (many, 1, 1)), np.repeat(masks, kinds, axis=0))
    return found.reshape(many, kinds, rows.shape[1])


def mirrors(rows: Floats, labels: Floats, learners: Floats, masks: Floats) -> Floats:
    """Give the scaled mirror average of unit learners under every mask."""
    losses, units = losses_of(rows, labels, learners, UNIT), unit_rows(learners)
    averages = [
        mirror_weights(losses[:, mask > 0], math.e, include_start=True) @ units for mask in masks
    ]
    return np.stack([np.outer(MIRROR_SCALES, unit_rows(one[None])) for one in averages])


def weighed(rows: Floats, labels: Floats, fits: Floats) -> SecretAutoFit:
    """Weigh candidates by their losses on held-out folds, and add up their fits on all rows."""
    many, folds = len(rows), len(fits) - 1
    fold = np.arange(many) % folds
    scores = np.einsum("id,icd->ic", rows, fits[fold])
    losses = log_losses(scores * labels[:, None]).sum(axis=0)
    powers = np.exp(-(losses - losses.min()))
    weights = powers / powers.sum()
    return SecretAutoFit(weights @ fits[-1], weights, losses)


@cache
def candidate_names() -> tuple[str, ...]:
    """Name the candidates, in order."""
    return (
        *(f"prior({k0:g}, {k1:g})" for k0, k1 in PRIORS),
        *(f"{scale:g} x geometric median" for scale in MEDIAN_SCALES),
        *(f"{scale:g} x mirror average" for scale in MIRROR_SCALES),
    )
