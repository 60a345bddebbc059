"""Clean columns as a matrix of numbers in [-1, 1], by public rules alone.

Maths
    numeric, integer    2 (x - lower) / (upper - lower) - 1
    ordered             2 rank / (levels - 1) - 1 (0 where there is one level)
    boolean             -1 or 1
    categorical         one coordinate of 0 or 1 for each level
    A number, rank or truth value that stands in for a missing one (the rule OWN) becomes 0, and a
    coordinate of its own says 1 there and 0 elsewhere. Text has no encoding.

Privacy
    Each row of the matrix is a function of one record and of the public schema: no mean, range or
    category is read off the data. So one person's record moves one row, within [-1, 1].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from noren.data.blocks import Block
from noren.data.columns import Boolean, Categorical, Column, Integer, Numeric, Ordered, Text
from noren.data.declarations import declared_levels
from noren.data.schema import Schema
from noren.errors import SchemaError

Floats = npt.NDArray[np.float64]


def encoded_names(schema: Schema) -> tuple[str, ...]:
    """Name the coordinates, in order.

    Examples
    --------
    >>> from noren.data import Categorical, Numeric, OWN, Schema, fill
    >>> age = Numeric(name="age", lower=0, upper=100, missing=OWN)
    >>> town = Categorical(name="town", categories=("Nara", "Uji"), missing=fill("Uji"))
    >>> encoded_names(Schema([age, town]))
    ('age', 'age is missing', 'town = Nara', 'town = Uji')
    """
    return tuple(name for column in schema for name in column_names(column))


def column_names(column: Column) -> tuple[str, ...]:
    """Name one column's coordinates."""
    if isinstance(column, Text):
        raise SchemaError(
            f"Column {column.name!r} is text, but only numbers, truth values and declared words "
            "can be encoded. Declare its categories, or leave it out."
        )
    if isinstance(column, Categorical):
        return tuple(f"{column.name} = {level}" for level in column.levels)
    own = (f"{column.name} is missing",) if column.missing.action == "own" else ()
    return (column.name, *own)


def encode(block: Block, schema: Schema) -> Floats:
    """Give a block of records as a matrix, one row a record.

    Examples
    --------
    >>> from noren.data import Numeric, OWN, Schema, block_of
    >>> schema = Schema([Numeric(name="age", lower=0, upper=100, missing=OWN)])
    >>> encode(block_of({"age": [25, 130, None]}, schema), schema).tolist()
    [[-0.5, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    parts = [part for column in schema for part in column_parts(block, column)]
    return np.column_stack(parts) if parts else np.zeros((len(block), 0))


def column_parts(block: Block, column: Column) -> list[Floats]:
    """Encode one column."""
    column_names(column)  # refuses text
    values, absent = block.values[column.name], block.missing[column.name]
    if isinstance(column, Categorical):
        return [(values == code).astype(np.float64) for code in range(len(column.levels))]
    scaled = centred(values.astype(np.float64), column)
    if column.missing.action != "own":
        return [scaled]
    return [np.where(absent, 0.0, scaled), absent.astype(np.float64)]


def centred(values: Floats, column: Any) -> Floats:
    """Map a column's range onto [-1, 1]."""
    if isinstance(column, Boolean):
        return 2 * values - 1
    low, high = 0.0, 1.0
    if isinstance(column, Numeric | Integer):
        low, high = float(column.lower), float(column.upper)
    elif isinstance(column, Ordered):
        high = float(len(declared_levels(column)) - 1)
    if high <= low:
        return np.zeros_like(values)
    scaled: Floats = np.clip((values - low) / (high - low) * 2 - 1, -1.0, 1.0)
    return scaled
