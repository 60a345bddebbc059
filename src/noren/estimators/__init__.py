"""scikit-learn faces of Noren's questions: thin, and as private as what they ask."""

from typing import TYPE_CHECKING

from noren.first_use import on_first_use

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

__all__, __getattr__, __dir__ = on_first_use(__name__, ROOMS)
