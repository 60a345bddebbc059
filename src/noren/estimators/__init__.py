"""scikit-learn faces of Noren's questions: thin, and as private as what they ask."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noren.estimators.combined import CombinedClassifier as CombinedClassifier
    from noren.estimators.importance import PrivateImportanceWeighter as PrivateImportanceWeighter
    from noren.estimators.logistic import PrivateLogisticRegression as PrivateLogisticRegression
    from noren.estimators.ridge import PrivateRidge as PrivateRidge
    from noren.estimators.ulsif import ULSIF as ULSIF

ROOMS = {
    "combined": "CombinedClassifier",
    "importance": "PrivateImportanceWeighter",
    "logistic": "PrivateLogisticRegression",
    "ridge": "PrivateRidge",
    "ulsif": "ULSIF",
}
HOMES = {name: room for room, names in ROOMS.items() for name in names.split()}

__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use, so that importing costs nothing."""
    if name not in HOMES:
        raise AttributeError(f"module 'noren.estimators' has no attribute {name!r}")
    return getattr(import_module(f"noren.estimators.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
