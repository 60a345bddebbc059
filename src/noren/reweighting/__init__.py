"""Can our public table speak for the private one: weights from noisy moments."""

from typing import TYPE_CHECKING

from noren.first_use import on_first_use

if TYPE_CHECKING:
    from noren.reweighting.adaptive import AdaptiveMoments as AdaptiveMoments
    from noren.reweighting.adaptive_release import AdaptiveRelease as AdaptiveRelease
    from noren.reweighting.adaptive_weights import adaptive_weights as adaptive_weights
    from noren.reweighting.amplification import amplified_centre_epsilon as amplified_centre_epsilon
    from noren.reweighting.basis import gaussian_basis as gaussian_basis
    from noren.reweighting.basis import normalized_basis as normalized_basis
    from noren.reweighting.coded_columns import CodedColumn as CodedColumn
    from noren.reweighting.encoded_rows import EncodedRows as EncodedRows
    from noren.reweighting.encoding import Encoding as Encoding
    from noren.reweighting.estimators import calibration_weights as calibration_weights
    from noren.reweighting.estimators import kriging_weights as kriging_weights
    from noren.reweighting.estimators import ridge_weights as ridge_weights
    from noren.reweighting.fitting import fit_weights as fit_weights
    from noren.reweighting.grid_basis import LevelBasis as LevelBasis
    from noren.reweighting.grid_basis import NormalizedBasis as NormalizedBasis
    from noren.reweighting.least_squares import leave_one_out_grid as leave_one_out_grid
    from noren.reweighting.least_squares import leave_one_out_score as leave_one_out_score
    from noren.reweighting.least_squares import ulsif as ulsif
    from noren.reweighting.logistic_ratio import LogisticRatio as LogisticRatio
    from noren.reweighting.logistic_ratio import LogisticRelease as LogisticRelease
    from noren.reweighting.moments import MomentRelease as MomentRelease
    from noren.reweighting.moments import Moments as Moments
    from noren.reweighting.planning import WeightPlan as WeightPlan
    from noren.reweighting.planning import plan_weights as plan_weights
    from noren.reweighting.public_table import PublicTable as PublicTable
    from noren.reweighting.saving import load_release as load_release
    from noren.reweighting.saving import saved_about as saved_about
    from noren.reweighting.statistic import BasisSums as BasisSums
    from noren.reweighting.table_basis import TableBasis as TableBasis
    from noren.reweighting.table_queries import TableEstimate as TableEstimate
    from noren.reweighting.table_queries import estimate as estimate
    from noren.reweighting.weight_quality import effective_sample_size as effective_sample_size
    from noren.reweighting.weighting import Prepared as Prepared
    from noren.reweighting.weighting import WeightedTable as WeightedTable
    from noren.reweighting.weighting import prepare as prepare
    from noren.reweighting.weighting import refit as refit
    from noren.reweighting.weighting import reweight as reweight
    from noren.reweighting.weights import QueryInterval as QueryInterval
    from noren.reweighting.weights import Weights as Weights
    from noren.reweighting.whitened_basis import WhitenedBasis as WhitenedBasis

ROOMS = {
    "adaptive": "AdaptiveMoments",
    "adaptive_release": "AdaptiveRelease",
    "adaptive_weights": "adaptive_weights",
    "amplification": "amplified_centre_epsilon",
    "basis": "gaussian_basis normalized_basis",
    "coded_columns": "CodedColumn",
    "encoded_rows": "EncodedRows",
    "encoding": "Encoding",
    "estimators": "calibration_weights kriging_weights ridge_weights",
    "fitting": "fit_weights",
    "grid_basis": "LevelBasis NormalizedBasis",
    "least_squares": "leave_one_out_grid leave_one_out_score ulsif",
    "logistic_ratio": "LogisticRatio LogisticRelease",
    "moments": "MomentRelease Moments",
    "planning": "WeightPlan plan_weights",
    "public_table": "PublicTable",
    "saving": "load_release saved_about",
    "statistic": "BasisSums",
    "table_basis": "TableBasis",
    "table_queries": "TableEstimate estimate",
    "weight_quality": "effective_sample_size",
    "weighting": "Prepared WeightedTable prepare refit reweight",
    "weights": "QueryInterval Weights",
    "whitened_basis": "WhitenedBasis",
}

__all__, __getattr__, __dir__ = on_first_use(__name__, ROOMS)
