"""Private logistic regression, the way scikit-learn likes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from noren.collaboration import (
    GradientDescent,
    LogisticTraining,
    MomentLearner,
    OutputPerturbation,
    SoftmaxTraining,
    TrainingRows,
    choose_training,
)
from noren.errors import ParameterError
from noren.estimators.public_settings import (
    asked,
    declared,
    features_of,
    label_of,
    read_classes,
    words_for,
)

WAYS: dict[str, Any] = {
    "auto": choose_training,
    "objective": LogisticTraining,
    "softmax": SoftmaxTraining,
    "descent": GradientDescent,
    "output": OutputPerturbation,
    "moments": MomentLearner,
}
WITH_RIDGE = {"objective", "softmax", "descent", "output"}


class PrivateLogisticRegression(ClassifierMixin, BaseEstimator):
    """Learn classes privately; each `fit` spends again.

    Errors never depend on what a private row holds: a value outside the bounds is clamped, one
    that is no number counts as the middle, a label that is not declared as the first class.

    Parameters
    ----------
    classes : list
        All possible classes, declared; of two, the second is the positive one.
    epsilon, delta : number
        The price of one fit; epsilon has no default.
    adjacency : str or Adjacency
        "add-remove" or "substitute"; there is no default.
    size : int
        With "substitute" the number of rows, which is public then; with "add-remove" a public
        constant, fixed without looking at the rows.
    bounds : pair
        Public lower and upper bounds, each one number or one for each feature.
    method : str
        "auto" (by a public rule), "objective", "softmax", "descent", "output" or "moments".
    ridge : number, optional
        The total curvature, scikit-learn's 1 / C; by default a public rule.
    fit_intercept : bool
        Whether rows get a constant coordinate.
    scale : number, optional
        The public number that rows are divided by before rows longer than 1 are shortened.
    max_weight : number
        The public upper bound of `sample_weight`.
    asks, account, request_id
        The ledger that charges, its account, and the request; without one nobody is charged.
    noise : Noise, optional
        The source of randomness, for tests; seeded noise protects nobody and voids `guarantee_`.

    Attributes
    ----------
    model_ : PrivateModel
        What may be sent to others.
    guarantee_ : Guarantee or None
        The price of the fit.
    coef_, intercept_ : array
        Coefficients of the encoded row (features mapped to [-1, 1] and divided by the scale), and
        of its constant.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 10, 400)[:, None]
    >>> private = PrivateLogisticRegression(
    ...     classes=[0, 1], epsilon=2, delta="1e-6", adjacency="substitute", size=400,
    ...     bounds=(0, 10),
    ... ).fit(X, X[:, 0] > 5)
    >>> private.predict([[0.5], [9.5]]).tolist()
    [0, 1]
    >>> print(private.guarantee_.epsilon)
    2
    """

    def __init__(
        self,
        classes: Any = None,
        *,
        epsilon: Any = None,
        delta: Any = 0,
        adjacency: Any = None,
        size: Any = None,
        bounds: Any = None,
        method: str = "auto",
        ridge: Any = None,
        fit_intercept: bool = True,
        scale: Any = None,
        max_weight: Any = 1,
        asks: Any = None,
        account: str = "",
        request_id: str | None = None,
        noise: Any = None,
    ) -> None:
        self.classes = classes
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.size = size
        self.bounds = bounds
        self.method = method
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.max_weight = max_weight
        self.asks = asks
        self.account = account
        self.request_id = request_id
        self.noise = noise

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PrivateLogisticRegression:
        """Ask the rows one question."""
        X, y = validate_data(self, X, y, ensure_all_finite=False, dtype=np.float64)
        self.classes_ = read_classes(self.classes)
        features = features_of(self.bounds, X.shape[1])
        task = declared(features, label_of(self.classes_), self.fit_intercept, self.scale)
        question = self._question(task)
        rows = TrainingRows.of(task, X, words_for(y, self.classes_), weights=sample_weight)
        self.answer_ = asked(self, question, rows)
        self.model_, self.guarantee_ = self.answer_.model, self.answer_.guarantee
        table = np.atleast_2d(self.model_.coefficients)
        self.coef_ = table[:, :-1] if self.fit_intercept else table
        self.intercept_ = table[:, -1] if self.fit_intercept else np.zeros(len(table))
        return self

    def decision_function(self, X: Any) -> Any:
        """Give the score of each row (and class, where there are more than two)."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, reset=False, ensure_all_finite=False, dtype=np.float64)
        return self.model_.scores(self.model_.task.rows(X))

    def predict_proba(self, X: Any) -> Any:
        """Give the probability of each class, as far as the noise lets it be calibrated."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, reset=False, ensure_all_finite=False, dtype=np.float64)
        return self.model_.probabilities(X)

    def predict(self, X: Any) -> Any:
        """Predict the class of each row."""
        scores = self.decision_function(X)
        chosen = np.argmax(scores, axis=1) if scores.ndim == 2 else (scores >= 0).astype(int)
        return self.classes_[chosen]

    def _question(self, task: Any) -> Any:
        """Choose the question by public settings alone."""
        if self.method not in WAYS:
            raise ParameterError(
                "method",
                self.method,
                f"one of {', '.join(WAYS)}",
                "'auto' chooses by a public rule.",
            )
        given = (
            {"ridge": self.ridge} if self.method in WITH_RIDGE and self.ridge is not None else {}
        )
        if self.ridge is not None and not given:
            raise ParameterError(
                "ridge", self.ridge, "left out for this method", "Name a method that has one."
            )
        return WAYS[self.method](
            task=task,
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            size=self.size,
            weight=self.max_weight,
            **given,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags
