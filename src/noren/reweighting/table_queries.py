"""Means and shares over the private population, estimated on the weighted public table.

Maths
    The mean of f over the private population is estimated by mean(w f) over the public rows, with
    the model-based interval of kriging weights where there is one. A mean among the rows of a
    condition is a ratio of two such means and has no interval here.
    A condition compares one column: "age >= 65", "town = Nara". Several must all hold. An empty
    or unreadable cell fulfils none; a number's empty cells are left out of its mean, as a ratio.
    Conditions that no public row fulfils are refused: an estimate of 0 +-0 would be a lie.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from noren.data.blocks import as_cells
from noren.data.cells import floats, text_of
from noren.data.schema import MISSING_WORDS, listed
from noren.errors import ParameterError
from noren.reweighting.weights import QueryInterval, Weights

COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
    "==": operator.eq,
}
CONDITION = re.compile(r"^(.*?)\s*(<=|>=|!=|==|<|>|=)\s*(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TableEstimate:
    """A mean or share over the private population, and what it is without weights."""

    asked: str
    estimate: float
    unweighted: float
    interval: QueryInterval | None

    def __str__(self) -> str:
        told = str(self.interval) if self.interval else f"{self.estimate:.6g} (no interval)"
        return f"{self.asked}: {told}; without weights {self.unweighted:.6g}"


def estimate(
    table: Any, weights: Weights, *, mean: str | None = None, where: Sequence[str] = ()
) -> TableEstimate:
    """Estimate a share of rows, the mean of a column, or its mean among some rows.

    Parameters
    ----------
    table : Arrow table
        The public table.
    weights : Weights
        Fitted for it.
    mean : str, optional
        A column of numbers; without it the share of rows that fulfil `where` is estimated.
    where : sequence of str
        Conditions such as "age >= 65".
    """
    if mean is None and not where:
        raise ParameterError("query", "empty", "a column whose mean is asked for, or a condition")
    chosen = np.ones(len(weights), bool)
    for condition in where:
        chosen &= fulfilled(table, condition)
    told = " and ".join(where)
    if where and not chosen.any():
        raise ParameterError(
            "condition", repr(told), "true of some public row", "Nobody there can speak for it."
        )
    if mean is None:
        return linear(f"share of {told}", chosen.astype(np.float64), weights)
    values, _ = floats(column_of(table, mean), MISSING_WORDS)
    known = chosen & np.isfinite(values)
    if known.all():
        return linear(f"mean of {mean}", values, weights)
    if not known.any():
        raise ParameterError("query", f"of {mean}", "about public rows: none of them has a number")
    asked = f"mean of {mean}" + (f" where {told}" if told else "")
    return ratio(asked, np.where(known, values, 0.0), known, weights)


def linear(asked: str, values: Any, weights: Weights) -> TableEstimate:
    """Estimate a plain mean."""
    found = float(np.average(values, weights=weights.values))
    interval = weights.query(values) if weights.has_intervals else None
    estimate = interval.estimate if interval else found
    return TableEstimate(asked, estimate, float(values.mean()), interval)


def ratio(asked: str, values: Any, known: Any, weights: Weights) -> TableEstimate:
    """Estimate a mean among some rows."""
    mass = weights.values * known
    if not mass.any():
        raise ParameterError("query", asked, "about rows with weight: all of these have none")
    found = float((mass * values).sum() / mass.sum())
    return TableEstimate(asked, found, float(values[known].mean()), None)


def fulfilled(table: Any, condition: str) -> Any:
    """Say which rows fulfil a condition."""
    parts = CONDITION.match(condition.strip())
    if parts is None or not parts[1]:
        raise ParameterError(
            "condition", repr(condition), "a column, one of < <= = != >= > and a value"
        )
    cells, sign, value = column_of(table, parts[1]), parts[2], parts[3]
    compare = COMPARED[sign]
    if is_number(value):
        numbers, _ = floats(cells, MISSING_WORDS)
        return np.isfinite(numbers) & compare(numbers, float(value))
    if sign not in ("=", "==", "!="):
        raise ParameterError("condition", repr(condition), "a comparison with a number, or = or !=")
    words = text_of(cells)
    present = np.asarray(pc.is_valid(words)) & ~np.isin(words.to_pylist(), MISSING_WORDS)
    return present & compare(np.array(words.fill_null("").to_pylist(), object), value)


def column_of(table: Any, name: str) -> Any:
    """Find a column of the public table."""
    if name not in table.column_names:
        raise ParameterError(
            "column", repr(name), f"one of the public table: {listed(table.column_names)}"
        )
    return as_cells(table[name])


def is_number(text: str) -> bool:
    """Tell whether a value is a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
