"""From one release to weights: three estimators, all of them post-processing.

None takes private rows, a noise or a ledger: fitting again, with other settings or another
estimator, costs nothing and cannot open the private table. `public` is the public table in the
coordinates of the release's basis; its rows are rounded as the private ones were, so that the
rounding cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.privacy.numbers import not_negative
from noren.reweighting.calibration import calibrate, rake_strength, shrinkage
from noren.reweighting.grid_basis import LevelBasis, NormalizedBasis, values
from noren.reweighting.kriging import best_krige, error_covariance, kernels_for
from noren.reweighting.moments import MomentRelease
from noren.reweighting.ridge import RIDGES, fit_ridge
from noren.reweighting.rows import Floats, public_matrix
from noren.reweighting.table_basis import TableBasis
from noren.reweighting.weights import Weights
from noren.reweighting.whitened_basis import WhitenedBasis

TARGETS = {"population": 1.0, "table": 0.0}
SLACK_FROM = 0.02  # pv, above which the slack of whitened moments is chosen by its rule


def kriging_weights(
    release: MomentRelease, public: ArrayLike, *, target: str = "population"
) -> Weights:
    """Fit the smoothest weights that explain the noisy moments; queries get intervals.

    Parameters
    ----------
    release : MomentRelease
        Moments of a normalized basis.
    public : array
        The public table.
    target : str
        "population" (estimate the ratio of populations; needed for intervals) or "table"
        (calibrate this public table: smaller query errors where it is small).

    Examples
    --------
    >>> from noren import Noise
    >>> from noren.reweighting import BasisSums, Moments, NormalizedBasis
    >>> basis = NormalizedBasis([0.0, 1.0, 2.0], 1)
    >>> private = BasisSums.of([1.5] * 500, basis)
    >>> question = Moments(basis=basis, adjacency="substitute", epsilon=1, records=500)
    >>> weights = kriging_weights(question.answer(private, Noise()), [0.0, 0.5, 1.0, 1.5, 2.0])
    >>> bool(weights.values[3] > weights.values[0]), round(float(weights.values.mean()), 9)
    (True, 1.0)
    """
    if target not in TARGETS:
        raise ParameterError("target", target, "'population' or 'table'")
    rows, phi = public_side(release, public, NormalizedBasis)
    covariance = error_covariance(release.covariance, phi, release.records, TARGETS[target])
    kernels = kernels_for(rows, release.basis.centres)
    fit = best_krige(phi, release.moments, covariance, kernels)
    return Weights(
        "kriging",
        fit.raw,
        release,
        phi,
        np.sqrt(np.diag(covariance)),
        {"width": fit.kernel.width, "strength": fit.strength, "likelihood": fit.log_likelihood},
        lambda x: fit.predict(release.basis.rounded(x).astype(np.float64)),
        fit.query if target == "population" else None,
    )


def ridge_weights(
    release: MomentRelease, public: ArrayLike, *, ridges: Sequence[float] = RIDGES
) -> Weights:
    """Fit least-squares weights with the ridge of the best noise-unbiased score.

    Parameters
    ----------
    release : MomentRelease
        Moments of a normalized basis.
    public : array
        The public table.
    ridges : sequence of number
        The ridges to choose from.
    """
    strengths = [float(not_negative("ridge", ridge)) for ridge in ridges]
    _, phi = public_side(release, public, NormalizedBasis)
    covariance = error_covariance(release.covariance, phi, release.records, 0.0)
    fit = fit_ridge(phi, release.moments, covariance, strengths)
    return Weights(
        "ridge",
        fit.raw,
        release,
        phi,
        np.sqrt(np.diag(covariance)),
        {"ridge": fit.ridge},
        lambda x: values(release.basis, x) @ fit.coefficients,
    )


def calibration_weights(
    release: MomentRelease, public: ArrayLike, *, kappa: float | None = None
) -> Weights:
    """Fit exponential weights whose moments meet the noisy ones, as far as the noise allows.

    Parameters
    ----------
    release : MomentRelease
        Whitened moments, tables of counts (which makes it raking), or moments of a normalized
        basis.
    public : array
        The public table.
    kappa : number, optional
        The strength of the slack. By default by the rules of `noren.reweighting.calibration`.
    """
    _, phi = public_side(release, public, NormalizedBasis | LevelBasis | TableBasis | WhitenedBasis)
    sampling = 1 / release.records + 1 / len(phi)
    tables = isinstance(release.basis, LevelBasis | TableBasis)
    spread = np.atleast_2d(np.cov(phi, rowvar=False, ddof=0 if tables else 1))
    noise = np.diag(np.diag(release.covariance)) if tables else release.covariance
    likeliest = slack_by_rule(release, phi, spread, sampling)
    strength = likeliest if kappa is None else float(not_negative("kappa", kappa))
    covariance = noise + spread * sampling + 1e-12 * np.eye(len(noise))
    fit = calibrate(phi, release.moments, covariance, strength)
    return Weights(
        "raking" if tables else "calibration",
        fit.raw,
        release,
        phi,
        np.sqrt(np.diag(covariance)),
        {"kappa": fit.kappa},
        lambda x: fit.predict(values(release.basis, x)),
    )


def slack_by_rule(release: MomentRelease, phi: Floats, spread: Floats, sampling: float) -> float:
    """Give kappa by the rule for the release's kind of moments."""
    gap = release.moments - phi.mean(axis=0)
    variances = np.diag(release.covariance)
    match release.basis:
        case LevelBasis() | TableBasis():
            return rake_strength(gap, spread, variances, sampling)
        case WhitenedBasis() if variances.sum() > SLACK_FROM:
            p = len(gap)
            return shrinkage(gap, float(variances.mean()), float(np.trace(spread)) / p, sampling)
        case _:
            return 1.0


def public_side(release: Any, public: ArrayLike, accepted: Any) -> tuple[Floats, Floats]:
    """Give the public rows as the basis sees them, and the basis there."""
    if not isinstance(release, MomentRelease) or not isinstance(release.basis, accepted):
        raise ParameterError(
            "release", f"{release!r:.60}", "moments of a basis that this estimator takes"
        )
    rows = public_matrix("public", public)
    if len(rows) < 2:
        raise ParameterError("public", "a table of one row", "at least two rows")
    if isinstance(release.basis, NormalizedBasis):
        rows = release.basis.rounded(rows).astype(np.float64)
    return rows, values(release.basis, rows)
