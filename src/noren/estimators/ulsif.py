"""Least-squares importance fitting without privacy, the way scikit-learn likes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from noren.errors import ParameterError
from noren.noise.public import generator
from noren.reweighting import leave_one_out_grid, ulsif

GRID = tuple(10.0**exponent for exponent in np.arange(-3, 1.25, 0.5))


class ULSIF(BaseEstimator):
    """Fit the ratio of two densities. NOT PRIVATE: for the data's keeper, and for comparison.

    Width and ridge are chosen by the exact leave-one-out score unless given.

    Parameters
    ----------
    public : array
        Rows of the denominator.
    centres : int
        How many bumps, at rows of the numerator (the first argument of `fit`).
    sigma : number, optional
        The width of every bump; chosen unless given.
    ridge : number, optional
        The strength of the penalty; chosen unless given.
    data_seed : int
        Decides which rows become centres.

    Attributes
    ----------
    ratio_ : SecretRatio
        The fit.
    sigma_, ridge_ : float
        What was chosen.

    Examples
    --------
    >>> import numpy as np
    >>> public = np.linspace(0, 1, 100)[:, None]
    >>> ratio = ULSIF(public, sigma=0.2, ridge=0.1).fit(np.full((50, 1), 0.75))
    >>> bool(ratio.predict([[0.75]])[0] > ratio.predict([[0.1]])[0])
    True
    """

    def __init__(
        self,
        public: Any = None,
        *,
        centres: int = 100,
        sigma: float | None = None,
        ridge: float | None = None,
        data_seed: int = 0,
    ) -> None:
        self.public = public
        self.centres = centres
        self.sigma = sigma
        self.ridge = ridge
        self.data_seed = data_seed

    def fit(self, X: Any, y: Any = None) -> ULSIF:
        """Fit the ratio of the density of X to that of the public rows."""
        if self.public is None:
            raise ParameterError(
                "public", None, "the rows of the denominator", "Pass the public rows, as wide as X."
            )
        private = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        public = check_array(self.public, dtype=np.float64, ensure_min_samples=2)
        if public.shape[1] != self.n_features_in_:
            raise ParameterError(
                "public",
                f"of {public.shape[1]} columns",
                f"of {self.n_features_in_}, as X is",
                "Pass the public rows, as wide as X.",
            )
        count = min(self.centres, len(private))
        chosen = generator(self.data_seed).choice(len(private), count, replace=False)
        places = np.unique(private[chosen], axis=0)
        self.sigma_, self.ridge_ = self._chosen(private, public, places)
        self.ratio_ = ulsif(private, public, places, self.sigma_, self.ridge_)
        return self

    def predict(self, X: Any) -> Any:
        """Give the ratio at some rows."""
        check_is_fitted(self, "ratio_")
        return self.ratio_.weights(validate_data(self, X, reset=False, dtype=np.float64))

    def transform(self, X: Any) -> Any:
        """Give the ratio as one column."""
        return self.predict(X)[:, None]

    def _chosen(self, private: Any, public: Any, places: Any) -> tuple[float, float]:
        """Choose width and ridge by leaving one out; the first of equals."""
        spread = float(public.std(axis=0).max()) or 1.0
        sigmas = [spread * step for step in GRID] if self.sigma is None else [float(self.sigma)]
        ridges = list(GRID) if self.ridge is None else [float(self.ridge)]
        if len(sigmas) == len(ridges) == 1:
            return sigmas[0], ridges[0]
        scores = leave_one_out_grid(private, public, places, sigmas, ridges)
        row, column = np.unravel_index(int(np.argmin(scores)), scores.shape)
        return sigmas[row], ridges[column]
