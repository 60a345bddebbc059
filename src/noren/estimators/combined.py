"""Received private models combined with one's own rows, the way scikit-learn likes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from noren.collaboration import combine
from noren.errors import ParameterError
from noren.estimators.public_settings import read_classes


class CombinedClassifier(ClassifierMixin, BaseEstimator):
    """Combine received models with own rows. The result is SECRET: it must stay with its owner.

    Parameters
    ----------
    shares : list
        Verified shares or private models of one two-class task.
    method : str
        "auto", or another method of `noren.collaboration.combine`.
    classes : list, optional
        What the task's two classes are called in `y`; the task's own words unless given.

    Attributes
    ----------
    combination_ : Combination or SecretCombination
        What `combine` gave, with its report of whether joining helps.
    coef_ : array or None
        The one vector that it amounts to; None for a vote.

    Examples
    --------
    >>> import numpy as np
    >>> from noren.estimators import PrivateLogisticRegression
    >>> X = np.linspace(0, 10, 400)[:, None]
    >>> there = PrivateLogisticRegression(
    ...     classes=[0, 1], epsilon=2, delta="1e-6", adjacency="substitute", size=400,
    ...     bounds=(0, 10),
    ... ).fit(X, X[:, 0] > 5)
    >>> here = CombinedClassifier([there.model_], classes=[0, 1]).fit(X[::20], X[::20, 0] > 5)
    >>> here.predict([[0.5], [9.5]]).tolist()
    [0, 1]
    """

    def __init__(self, shares: Any = None, *, method: str = "auto", classes: Any = None) -> None:
        self.shares = shares
        self.method = method
        self.classes = classes

    def fit(self, X: Any, y: Any) -> CombinedClassifier:
        """Combine; nothing is spent, because nothing leaves."""
        if not self.shares:
            raise ParameterError(
                "shares", None, "a list of received models", "Read them with verify_share."
            )
        task = task_of(self.shares[0])
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_ = read_classes(task.classes if self.classes is None else self.classes)
        if len(self.classes_) != 2:
            raise ParameterError(
                "classes",
                self.classes_.tolist(),
                "the two of the task",
                "Pass labels of the task's two classes.",
            )
        strange = ~np.isin(y, self.classes_)
        if strange.any():
            raise ParameterError(
                "y",
                "not made of the declared classes only",
                f"made of {self.classes_.tolist()}",
                "Only binary classification is supported. Name your own classes in `classes`.",
            )
        signs = np.where(y == self.classes_[1], 1.0, -1.0)
        self.combination_ = combine(list(self.shares), task.rows(X), signs, method=self.method)
        self.coef_ = self.combination_.coefficients
        return self

    def decision_function(self, X: Any) -> Any:
        """Give the score of each row."""
        check_is_fitted(self, "combination_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self.combination_.predictor.scores(task_of(self.shares[0]).rows(X))

    def predict(self, X: Any) -> Any:
        """Predict the class of each row; a tied score gives the second."""
        above = self.decision_function(X) >= 0
        return self.classes_[above.astype(int)]

    def predict_proba(self, X: Any) -> Any:
        """Give the probability of both classes; calibrated for "auto" only."""
        upper = 1 / (1 + np.exp(-np.clip(self.decision_function(X), -700, 700)))
        return np.column_stack([1 - upper, upper])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def task_of(share: Any) -> Any:
    """Find the task of a share or a model."""
    return share.task if hasattr(share, "task") else share.model.task
