"""Merge models without looking at rows: add up released sums, or average coefficients.

Maths
    sums      Gram: G = sum of G_m, c = sum of c_m; negative eigenvalues of G are lifted to 0 and
              the ridge sqrt(d * sum of s_m^2) is added, s_m the sd of organization m's noise
              (s sqrt(d M) where all are alike). Moments: the sum of all, scaled by the declared
              sizes. Better than averaging models: noise is averaged before anything is solved.
    mean      coefficients weighted by declared sizes; for more than two classes, too
    geometric-median    of the coefficients as one vector

Privacy
    Post-processing of what was released: each organization keeps its own price.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.collaboration import baselines
from noren.collaboration.learners import Floats
from noren.collaboration.model import PrivateModel, numbers_from_text, numbers_to_text
from noren.collaboration.precision import noise_variance
from noren.collaboration.regression import merged_regression
from noren.collaboration.task import Task
from noren.errors import ParameterError, SchemaError

SUMS = "sums"
SUMMED = ("gram", "moments")
AVERAGES = ("mean", "clipped-mean", "coordinate-median", "geometric-median")
MERGED = "merged-model"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Merged:
    """A merged model of any task: free to publish.

    Attributes
    ----------
    task : Task
        What is predicted from what.
    coefficients : array
        As in `PrivateModel`.
    method : str
        How it was merged.
    sources : tuple of str
        From which files.
    """

    task: Task
    coefficients: Floats
    method: str
    sources: tuple[str, ...] = ()

    def predict(self, table: Any) -> Any:
        """Predict the class, or the number, of each record."""
        return PrivateModel(
            task=self.task,
            mechanism=MERGED,
            parameters={},
            coefficients=self.coefficients,
            guarantee=None,
        ).predict(table)

    def __repr__(self) -> str:
        return f"Merged({self.method}, {len(self.sources)} files)"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "kind": MERGED,
            "method": self.method,
            "task": self.task.to_dict(),
            "coefficients": numbers_to_text(self.coefficients),
            "sources": list(self.sources),
        }

    @classmethod
    def from_dict(cls, given: Any) -> Merged:
        """Read the JSON form."""
        if not isinstance(given, dict) or given.get("kind") != MERGED:
            raise SchemaError("This is not a merged model. 'noren collaborate publish' writes one.")
        return cls(
            task=Task.from_dict(given.get("task")),
            coefficients=numbers_from_text(given.get("coefficients")),
            method=str(given.get("method")),
            sources=tuple(map(str, given.get("sources", ()))),
        )


def merge(shares: Sequence[Any], method: str | None = None) -> Merged:
    """Merge shares or private models of one task.

    Parameters
    ----------
    shares
        Verified shares, or models.
    method
        "sums" (the default where all released sums of one kind), "mean", "clipped-mean",
        "coordinate-median" or "geometric-median" (the default otherwise).
    """
    models = [getattr(share, "model", share) for share in shares]
    if not models or len({model.task.identity for model in models}) > 1:
        raise ParameterError(
            "shares",
            "none, or of several tasks",
            "of one task",
            "Name at least one share, all of one consortium.",
        )
    kinds = {model.mechanism for model in models}
    summed = len(kinds) == 1 and kinds <= set(SUMMED)
    chosen = method or (SUMS if summed else "geometric-median")
    if chosen not in (SUMS, *AVERAGES) or (chosen == SUMS and not summed):
        raise ParameterError(
            "method", repr(chosen), f"one of {', '.join((SUMS, *AVERAGES))}",
            "Sums need files that all released Gram sums, or all moments.",
        )  # fmt: skip
    found = added_up(models) if chosen == SUMS else averaged(models, chosen)
    named = tuple(str(getattr(share, "source", "model")) for share in shares)
    return Merged(task=models[0].task, coefficients=found, method=chosen, sources=named)


def added_up(models: Sequence[PrivateModel]) -> Floats:
    """Add up the released sums, and solve."""
    if models[0].mechanism == "gram":
        variance = float(np.mean([noise_variance(model.parameters) for model in models]))
        return merged_regression([model.sums for model in models], math.sqrt(variance))
    total = np.sum([model.sums["moments"] for model in models], axis=0)
    size = sum(float(model.parameters["size"]) for model in models)
    found: Floats = 2 * models[0].task.dimension * total / size
    return found


def averaged(models: Sequence[PrivateModel], method: str) -> Floats:
    """Average the coefficients as vectors."""
    table = np.stack([model.coefficients.ravel() for model in models])
    ways = {
        "clipped-mean": baselines.clipped_mean,
        "coordinate-median": baselines.coordinate_median,
        "geometric-median": baselines.geometric_median,
    }
    if method in ways:
        found = ways[method](table)
    else:
        found = baselines.mean(table, [float(model.parameters["size"]) for model in models])
    shaped: Floats = found.reshape(models[0].coefficients.shape)
    return shaped
