"""A column of weights for the public table, fitted from a release: free, and never from rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.reweighting.rows import Floats
from noren.reweighting.weight_quality import effective_sample_size, mean_one, trimmed

LABEL = "approximate 95%, model-based"


@dataclass(frozen=True, slots=True)
class QueryInterval:
    """An estimate of a mean over the private population, with a model-based interval."""

    estimate: float
    standard_error: float

    @property
    def interval(self) -> tuple[float, float]:
        """Give the estimate +- 1.96 standard errors: approximate 95%, model-based."""
        return (
            self.estimate - 1.96 * self.standard_error,
            self.estimate + 1.96 * self.standard_error,
        )

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.estimate:.6g}, from {low:.6g} to {high:.6g} ({LABEL})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Weights:
    """Weights of the public rows: `values` have mean one and are not negative.

    Use it as an array (`numpy.asarray(weights)`). `raw` are the fit's own numbers, which may be
    negative; intervals of queries are computed from those.

    Parameters
    ----------
    method : str
        How they were fitted.
    raw : array
        The fit's own numbers.
    release : MomentRelease
        What they were fitted from.
    phi : array
        The released basis, at the public rows.
    errors : array
        The standard deviation of each noisy moment about the weighted one, sampling included.
    """

    method: str
    raw: Floats
    release: Any
    phi: Floats
    errors: Floats
    settings: Mapping[str, float] = field(default_factory=dict)
    raw_at: Callable[[Any], Floats] | None = None
    query_raw: Callable[[Floats], tuple[float, float]] | None = None
    cap: float | None = None

    @property
    def values(self) -> Floats:
        """The weights to publish: not negative, mean one, trimmed where a cap was asked for."""
        return mean_one(self.raw, self.cap)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.values.astype(dtype or np.float64)

    def __len__(self) -> int:
        return len(self.raw)

    def trim(self, cap: float) -> Weights:
        """Cut weights at a cap (mean one is kept); what is cut goes to the other rows."""
        trimmed(np.ones(1), cap)
        return Weights(
            self.method, self.raw, self.release, self.phi, self.errors, self.settings,
            self.raw_at, self.query_raw, float(cap),
        )  # fmt: skip

    def predict(self, rows: ArrayLike) -> Floats:
        """Give the weight of other rows, on the scale of `values`."""
        if self.raw_at is None:
            raise ParameterError("predict", self.method, "a method that reaches other rows")
        scale = float(np.maximum(self.raw, 0).mean())
        if scale == 0:
            return np.ones(len(np.asarray(rows)))
        found = np.maximum(self.raw_at(rows), 0) / scale
        return found if self.cap is None else np.minimum(found, self.cap)

    @property
    def has_intervals(self) -> bool:
        """Whether `query` can be asked: an estimator that knows its error, and rows enough."""
        return self.query_raw is not None and bool(self.release.has_intervals)

    def query(self, values: ArrayLike) -> QueryInterval:
        """Estimate the mean of a function over the private population, with its interval.

        Parameters
        ----------
        values : array
            The function at each public row.
        """
        given = np.asarray(values, np.float64)
        if given.shape != self.raw.shape:
            raise ParameterError("values", f"of shape {given.shape}", "one number a public row")
        if self.query_raw is None or not self.has_intervals:
            raise ParameterError(
                "query",
                "without an interval here",
                "asked of kriging weights whose release had enough rows for its price",
                "The weighted mean itself is numpy.average(values, weights=weights).",
            )
        return QueryInterval(*self.query_raw(given))

    @property
    def effective_sample_size(self) -> float:
        """How many equally weighted public rows would be as good."""
        return effective_sample_size(self.values)

    @property
    def design_effect(self) -> float:
        """By how much weighting inflates variances: rows over effective rows."""
        return len(self) / self.effective_sample_size

    @property
    def standard_scores(self) -> Floats:
        """How far the weighted moments lie from the noisy ones, in standard deviations."""
        weighted = self.values @ self.phi / len(self)
        found: Floats = (weighted - self.release.moments) / self.errors
        return found

    @property
    def unsupported(self) -> tuple[int, ...]:
        """Basis functions with private mass where the public table has next to no rows."""
        if getattr(self.release.basis, "row_total", None) is None:
            return ()  # functions that may be negative do not count rows
        public = self.phi.mean(axis=0)
        spread = np.sqrt(np.diag(self.release.covariance))
        far = (self.release.moments - public > 4 * spread) & (public < 1 / len(self))
        return tuple(int(i) for i in np.flatnonzero(far))

    @property
    def notices(self) -> tuple[str, ...]:
        """What to mind before using them."""
        found = list(self.release.notices)
        if not np.maximum(self.raw, 0).any():
            found.append("all weights came out zero or below, so uniform ones are given")
        if self.unsupported:
            found.append(
                f"{len(self.unsupported)} basis functions hold private mass where public rows are "
                "absent: no weights can recover it"
            )
        return tuple(found)

    def diagnostics(self) -> dict[str, Any]:
        """Say how good the weights are, from released and public values alone."""
        return {
            "method": self.method,
            "settings": dict(self.settings),
            "public rows": len(self),
            "effective sample size": self.effective_sample_size,
            "design effect": self.design_effect,
            "largest weight": float(self.values.max()),
            "share of raw weights below zero": float(np.mean(self.raw < 0)),
            "largest standard score": float(np.abs(self.standard_scores).max(initial=0)),
            "notices": list(self.notices),
        }

    def __repr__(self) -> str:
        return f"Weights({self.method}, {len(self)} rows, ess {self.effective_sample_size:.4g})"
