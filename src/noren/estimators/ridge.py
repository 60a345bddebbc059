"""Private linear regression, the way scikit-learn likes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from noren.collaboration import GramRegression, TrainingRows
from noren.data import Numeric, fill
from noren.errors import ParameterError
from noren.estimators.public_settings import asked, declared, features_of


class PrivateRidge(RegressorMixin, BaseEstimator):
    """Learn a bounded number privately, from noisy Gram sums; each `fit` spends again.

    Errors never depend on what a private row holds: what lies outside the bounds is clamped, what
    is no number counts as the middle. The ridge follows from the noise.

    Parameters
    ----------
    epsilon, delta : number
        The price of one fit; epsilon has no default.
    adjacency : str or Adjacency
        "add-remove" or "substitute"; there is no default.
    size : int
        The number of rows with "substitute"; with "add-remove" a public constant.
    bounds, target_bounds : pair
        Public lower and upper bounds of the features, and of the target.
    fit_intercept, scale, max_weight, asks, account, request_id, noise
        As in `PrivateLogisticRegression`.

    Attributes
    ----------
    model_ : PrivateModel
        What may be sent to others; its `sums` add up over organizations.
    guarantee_ : Guarantee or None
        The price of the fit.
    coef_, intercept_ : array and float
        In the target's unit, of the encoded row.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 10, 5000)[:, None]
    >>> private = PrivateRidge(
    ...     epsilon=5, delta="1e-6", adjacency="substitute", size=5000, bounds=(0, 10),
    ...     target_bounds=(0, 20),
    ... ).fit(X, 2 * X[:, 0])
    >>> bool(abs(private.predict([[5.0]])[0] - 10) < 2)
    True
    """

    def __init__(
        self,
        *,
        epsilon: Any = None,
        delta: Any = 0,
        adjacency: Any = None,
        size: Any = None,
        bounds: Any = None,
        target_bounds: Any = None,
        fit_intercept: bool = True,
        scale: Any = None,
        max_weight: Any = 1,
        asks: Any = None,
        account: str = "",
        request_id: str | None = None,
        noise: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.size = size
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.max_weight = max_weight
        self.asks = asks
        self.account = account
        self.request_id = request_id
        self.noise = noise

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PrivateRidge:
        """Ask the rows one question."""
        X, y = validate_data(self, X, y, ensure_all_finite=False, dtype=np.float64, y_numeric=True)
        if self.target_bounds is None:
            raise ParameterError(
                "target_bounds", None, "a pair of public bounds", "Choose it from public knowledge."
            )
        low, high = (float(bound) for bound in self.target_bounds)
        label = Numeric(name="y", lower=low, upper=high, missing=fill(low / 2 + high / 2))
        features = features_of(self.bounds, X.shape[1])
        task = declared(features, label, self.fit_intercept, self.scale)
        question = GramRegression(
            task=task,
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            size=self.size,
            weight=self.max_weight,
        )
        self.answer_ = asked(self, question, TrainingRows.of(task, X, y, weights=sample_weight))
        self.model_, self.guarantee_ = self.answer_.model, self.answer_.guarantee
        found = self.model_.coefficients * task.bound
        self.coef_ = found[:-1] if self.fit_intercept else found
        self.intercept_ = float(found[-1]) if self.fit_intercept else 0.0
        return self

    def predict(self, X: Any) -> Any:
        """Predict the number, within the declared bound."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, reset=False, ensure_all_finite=False, dtype=np.float64)
        return self.model_.predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        tags.regressor_tags.poor_score = True
        return tags
