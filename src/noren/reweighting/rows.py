"""How arrays of rows are read: one row a record, one column a coordinate."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noren.errors import ParameterError

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


def matrix(name: str, given: ArrayLike, columns: int | None = None) -> Floats:
    """Take rows of real coordinates; a plain list of numbers is one column.

    What the cells hold is not looked at. The error names shapes of public tables only: a private
    one with a wrong number of columns is wrong for every record alike.
    """
    rows = np.asarray(given)
    if rows.ndim == 1:
        rows = rows[:, None]
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise ParameterError(
            name, f"an array of type {rows.dtype} with {rows.ndim} axes", "rows of real numbers"
        )
    if columns is not None and rows.shape[1] != columns:
        raise ParameterError(
            name, f"a table of {rows.shape[1]} columns", f"one of {columns}", "Encode both alike."
        )
    return rows.astype(np.float64)


def public_matrix(name: str, given: ArrayLike, columns: int | None = None) -> Floats:
    """Take public rows: at least one, all finite."""
    rows = matrix(name, given, columns)
    if not rows.size or not np.isfinite(rows).all():
        raise ParameterError(name, "empty or not finite everywhere", "finite, at least one row")
    return rows


def frozen(array: Any) -> Any:
    """Give an array that nobody can write to."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def squared_distances(x: Floats, y: Floats) -> Floats:
    """Give |x_i - y_l|**2, never below zero."""
    cross = x @ y.T
    squares = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1)[None, :]
    found: Floats = np.maximum(squares - 2 * cross, 0)
    return found
