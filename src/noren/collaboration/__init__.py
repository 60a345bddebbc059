"""What can we learn together without pooling rows: private models, sent as files and combined."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noren.collaboration.auto import auto_fit as auto_fit
    from noren.collaboration.baselines import geometric_median as geometric_median
    from noren.collaboration.baselines import moment_prior_fit as moment_prior_fit
    from noren.collaboration.baselines import stack as stack
    from noren.collaboration.combined import Combination as Combination
    from noren.collaboration.combined import SecretCombination as SecretCombination
    from noren.collaboration.combining import combine as combine
    from noren.collaboration.fitting import fit_logistic as fit_logistic
    from noren.collaboration.gaussian_calibration import gaussian_mu as gaussian_mu
    from noren.collaboration.gaussian_calibration import (
        tight_gaussian_delta as tight_gaussian_delta,
    )
    from noren.collaboration.joining import SecretJoining as SecretJoining
    from noren.collaboration.model import PrivateModel as PrivateModel
    from noren.collaboration.pure_calibration import cms_calibration as cms_calibration
    from noren.collaboration.pure_calibration import tight_pure_epsilon as tight_pure_epsilon
    from noren.collaboration.pure_calibration import tight_pure_rate as tight_pure_rate
    from noren.collaboration.statistic import TrainingRows as TrainingRows
    from noren.collaboration.task import Task as Task
    from noren.collaboration.weights import ewa_weights as ewa_weights
    from noren.collaboration.weights import mirror_weights as mirror_weights

ROOMS = {
    "auto": "auto_fit",
    "baselines": "geometric_median moment_prior_fit stack",
    "combined": "Combination SecretCombination",
    "combining": "combine",
    "joining": "SecretJoining",
    "fitting": "fit_logistic",
    "gaussian_calibration": "gaussian_mu tight_gaussian_delta",
    "model": "PrivateModel",
    "pure_calibration": "cms_calibration tight_pure_epsilon tight_pure_rate",
    "statistic": "TrainingRows",
    "task": "Task",
    "weights": "ewa_weights mirror_weights",
}
HOMES = {name: room for room, names in ROOMS.items() for name in names.split()}

__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use."""
    if name not in HOMES:
        raise AttributeError(f"module 'noren.collaboration' has no attribute {name!r}")
    return getattr(import_module(f"noren.collaboration.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
