"""Weights of public rows that stand in for private ones, the way scikit-learn likes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from noren.errors import ParameterError
from noren.noise import Noise
from noren.reweighting import CodedColumn, fit_weights, plan_weights


class PrivateImportanceWeighter(BaseEstimator):
    """Learn weights with which a public table of numbers speaks for a private one.

    `fit` takes the private rows and asks one question of them; `predict` and `transform` weigh
    public rows. Errors never depend on what a private row holds: a value outside the bounds is
    clamped, one that is no number counts as the middle.

    Parameters
    ----------
    public : array
        The public table, one row a record.
    epsilon : number
        The price of the fit; there is no default.
    adjacency : str
        "add-remove" or "substitute"; there is no default.
    records : int, optional
        With "substitute": the public number of private rows.
    about : int, optional
        With "add-remove": a public order of magnitude of that number.
    bounds : pair of arrays, optional
        Public lower and upper bounds of each column; those of the public table unless given.
    method : str
        How weights are found; "auto" chooses by public facts alone.
    asks : Ledger, optional
        Who charges `account`; without it nobody is charged.
    account : str
        The account to charge.

    Attributes
    ----------
    weights_ : Weights
        The weights of the public rows, with diagnostics.
    release_ : MomentRelease
        What was released, with its price.

    Examples
    --------
    >>> import numpy as np
    >>> public = np.linspace(0, 1, 200)[:, None]
    >>> private = np.full((2000, 1), 0.75)
    >>> weigher = PrivateImportanceWeighter(
    ...     public, epsilon=1, adjacency="substitute", records=2000
    ... ).fit(private)
    >>> weights = weigher.predict(public)
    >>> bool(weights[150] > weights[10])
    True
    """

    def __init__(
        self,
        public: Any = None,
        *,
        epsilon: Any = None,
        adjacency: Any = None,
        records: int | None = None,
        about: int | None = None,
        bounds: Any = None,
        method: str = "auto",
        asks: Any = None,
        account: str = "",
    ) -> None:
        self.public = public
        self.epsilon = epsilon
        self.adjacency = adjacency
        self.records = records
        self.about = about
        self.bounds = bounds
        self.method = method
        self.asks = asks
        self.account = account

    def fit(self, X: Any, y: Any = None) -> PrivateImportanceWeighter:
        """Ask the private rows one question, and fit weights to the answer."""
        public = self._public()
        self.n_features_in_ = public.shape[1]
        private = rows_of(X, self.n_features_in_)
        self.lower_, self.upper_ = self._bounds(public)
        points = self._points(public)
        columns = [
            CodedColumn(f"x{place + 1}", "numeric", place, place + 1)
            for place in range(self.n_features_in_)
        ]
        plan = plan_weights(
            points,
            columns,
            adjacency=self.adjacency,
            epsilon=self.epsilon,
            records=self.records,
            about=self.about,
            method=self.method,
        )
        statistic = plan.statistic([self._points(private)])
        if self.asks is None:
            self.release_ = plan.question.answer(statistic, Noise())
        else:
            self.release_ = self.asks.ask(self.account, plan.question, statistic)
        self.weights_ = fit_weights(self.release_, points)
        return self

    def predict(self, X: Any) -> Any:
        """Weigh rows: about 1 on average over the public table."""
        check_is_fitted(self, "weights_")
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return self.weights_.predict(self._points(rows))

    def transform(self, X: Any) -> Any:
        """Give the weights as one column."""
        return self.predict(X)[:, None]

    def _public(self) -> Any:
        if self.public is None or self.adjacency is None:
            missing = "public" if self.public is None else "adjacency"
            raise ParameterError(
                missing, None, "given", "A private fit needs a public table and an adjacency."
            )
        public = np.asarray(self.public, np.float64)
        if public.ndim != 2 or not np.isfinite(public).all():
            raise ParameterError(
                "public",
                f"of {public.ndim} axes",
                "finite rows of numbers",
                "Pass the public table as rows of numbers.",
            )
        return public

    def _bounds(self, public: Any) -> tuple[Any, Any]:
        if self.bounds is None:
            return public.min(axis=0), public.max(axis=0)
        lower, upper = (
            np.broadcast_to(np.asarray(end, np.float64), public.shape[1:]) for end in self.bounds
        )
        if not (lower < upper).all():
            raise ParameterError(
                "bounds",
                self.bounds,
                "lower ones below the upper ones",
                "State a public range for each column.",
            )
        return lower, upper

    def _points(self, rows: Any) -> Any:
        """Scale rows into [-1, 1] by public bounds, cell by cell."""
        half = np.where(self.upper_ > self.lower_, (self.upper_ - self.lower_) / 2, 1.0)
        scaled = (rows - (self.lower_ + self.upper_) / 2) / half
        return np.clip(np.nan_to_num(scaled, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)


def rows_of(X: Any, features: int) -> Any:
    """Take private rows; what they hold is never looked at here, let alone quoted."""
    try:
        rows = np.asarray(X, np.float64)
    except (TypeError, ValueError):
        rows = np.zeros(0)
    if rows.ndim != 2 or rows.shape[1] != features:
        raise ParameterError(
            "X",
            "not of the public table's columns",
            f"{features} numbers a row",
            "Pass rows of the public table's columns.",
        )
    return rows
