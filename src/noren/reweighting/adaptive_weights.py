"""From an adaptive release to weights: the same corrections again, in order. Free."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.reweighting.adaptive_release import AdaptiveRelease, public_columns
from noren.reweighting.adaptive_update import Factor, correction
from noren.reweighting.grid_basis import values
from noren.reweighting.rows import Floats, public_matrix
from noren.reweighting.weight_quality import mean_one
from noren.reweighting.weights import Weights


def adaptive_weights(release: AdaptiveRelease, public: ArrayLike) -> Weights:
    """Fit the weights of the public rows to an adaptive release, stage by stage.

    Parameters
    ----------
    release : AdaptiveRelease
        What `AdaptiveMoments` released.
    public : array
        The encoded public rows.
    """
    if not isinstance(release, AdaptiveRelease):
        raise ParameterError("release", f"{release!r:.60}", "what AdaptiveMoments released")
    rows = public_matrix("public", public, len(release.derivation.shift))
    if len(rows) < 2:
        raise ParameterError("public", "a table of one row", "at least two rows")
    weights, steps = np.ones(len(rows)), []
    for stage in release.stages:
        own = stage_rows(release, stage, rows)
        fit = correction(stage.release, own, weights)
        steps.append((stage, fit, scale_of(fit)))
        raw, weights = fit.raw, mean_one(fit.raw)
    last = release.stages[-1].release
    phi = values(last.basis, own)
    errors = np.sqrt(np.diag(last.covariance) + np.var(phi, axis=0) / last.records)
    return Weights(
        "adaptive",
        raw,
        release,
        phi,
        errors + 1e-12,
        {f"strength {i + 1}": fit.strength for i, (_, fit, _) in enumerate(steps)},
        lambda x: raw_at(release, steps, x),
    )


def stage_rows(release: AdaptiveRelease, stage: Any, rows: Floats) -> Floats:
    """Give the columns of a stage, rounded as the private ones were."""
    own = public_columns(release, rows, stage)
    found: Floats = stage.release.basis.rounded(own).astype(np.float64)
    return found


def scale_of(fit: Factor) -> float:
    """Give what the clipped weights are divided by."""
    return float(np.maximum(fit.raw, 0).mean())


def raw_at(release: AdaptiveRelease, steps: Any, x: ArrayLike) -> Floats:
    """Give the raw weight of other rows: the factors of all stages, each clipped and scaled."""
    rows = public_matrix("rows", x, len(release.derivation.shift))
    weights, raw = np.ones(len(rows)), np.ones(len(rows))
    for stage, fit, scale in steps:
        raw = weights * fit.at(stage_rows(release, stage, rows))
        weights = np.maximum(raw, 0) / scale if scale else np.ones(len(rows))
    return raw
