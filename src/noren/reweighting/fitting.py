"""One door from any release to weights."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.reweighting.adaptive_release import AdaptiveRelease
from noren.reweighting.adaptive_weights import adaptive_weights
from noren.reweighting.estimators import calibration_weights, kriging_weights, ridge_weights
from noren.reweighting.grid_basis import NormalizedBasis
from noren.reweighting.logistic_ratio import LogisticRelease
from noren.reweighting.weights import Weights


def fit_weights(
    release: Any,
    public: ArrayLike,
    *,
    estimator: str | None = None,
    target: str = "population",
    kappa: float | None = None,
) -> Weights:
    """Fit weights of the public rows to a release, by the estimator that its question is for.

    It spends nothing and sees nothing private, however often it is called.

    Parameters
    ----------
    release : MomentRelease, AdaptiveRelease or LogisticRelease
        What was released, or read back from a file (`load_release`).
    public : array
        The public table, encoded as for the question.
    estimator : str, optional
        "kriging", "ridge" or "calibration" for moments of a normalized basis; left out, kriging for
        those, calibration for whitened moments and tables.
    target : str
        "population" or "table" (kriging only, see `kriging_weights`).
    kappa : number, optional
        The strength of the slack (calibration only).

    Examples
    --------
    >>> from noren import Noise
    >>> from noren.reweighting import BasisSums, Moments, TableBasis
    >>> public = [[0.0], [1.0], [2.0], [3.0]]
    >>> basis = TableBasis.of(public)
    >>> question = Moments(basis=basis, adjacency="substitute", epsilon=2, records=900)
    >>> release = question.answer(BasisSums.of([[3.0]] * 900, basis), Noise())
    >>> fit_weights(release, public).values.argmax()
    np.int64(3)
    """
    if isinstance(release, AdaptiveRelease):
        if estimator not in (None, "adaptive"):
            raise unfit(estimator, "'adaptive'")
        return adaptive_weights(release, public)
    if isinstance(release, LogisticRelease):
        if estimator not in (None, "logistic"):
            raise unfit(estimator, "'logistic'")
        return release.weights(public)
    normalized = isinstance(getattr(release, "basis", None), NormalizedBasis)
    chosen = estimator or ("kriging" if normalized else "calibration")
    if normalized and chosen == "kriging":
        return kriging_weights(release, public, target=target)
    if normalized and chosen == "ridge":
        return ridge_weights(release, public)
    if chosen == "calibration" or (chosen == "rake" and not normalized):
        return calibration_weights(release, public, kappa=kappa)
    raise unfit(estimator, "'kriging', 'ridge', 'calibration'" if normalized else "'calibration'")


def unfit(given: Any, accepted: str) -> ParameterError:
    """Say which estimators a release serves."""
    return ParameterError(
        "estimator", repr(given), f"{accepted} for this release", "Leave it out for the usual one."
    )
