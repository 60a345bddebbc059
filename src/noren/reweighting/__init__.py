"""Can our public table speak for the private one: weights from noisy moments."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noren.reweighting.amplification import amplified_centre_epsilon as amplified_centre_epsilon
    from noren.reweighting.basis import gaussian_basis as gaussian_basis
    from noren.reweighting.basis import normalized_basis as normalized_basis
    from noren.reweighting.estimators import calibration_weights as calibration_weights
    from noren.reweighting.estimators import kriging_weights as kriging_weights
    from noren.reweighting.estimators import ridge_weights as ridge_weights
    from noren.reweighting.grid_basis import LevelBasis as LevelBasis
    from noren.reweighting.grid_basis import NormalizedBasis as NormalizedBasis
    from noren.reweighting.least_squares import leave_one_out_grid as leave_one_out_grid
    from noren.reweighting.least_squares import leave_one_out_score as leave_one_out_score
    from noren.reweighting.least_squares import ulsif as ulsif
    from noren.reweighting.moments import MomentRelease as MomentRelease
    from noren.reweighting.moments import Moments as Moments
    from noren.reweighting.statistic import BasisSums as BasisSums
    from noren.reweighting.weight_quality import effective_sample_size as effective_sample_size
    from noren.reweighting.weights import QueryInterval as QueryInterval
    from noren.reweighting.weights import Weights as Weights

ROOMS = {
    "amplification": "amplified_centre_epsilon",
    "basis": "gaussian_basis normalized_basis",
    "estimators": "calibration_weights kriging_weights ridge_weights",
    "grid_basis": "LevelBasis NormalizedBasis",
    "least_squares": "leave_one_out_grid leave_one_out_score ulsif",
    "moments": "MomentRelease Moments",
    "statistic": "BasisSums",
    "weight_quality": "effective_sample_size",
    "weights": "QueryInterval Weights",
}
HOMES = {name: room for room, names in ROOMS.items() for name in names.split()}

__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use, so that commands start quickly."""
    if name not in HOMES:
        raise AttributeError(f"module 'noren.reweighting' has no attribute {name!r}")
    return getattr(import_module(f"noren.reweighting.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
