"""The public table: as it was given, as clean columns, and as points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from noren.data import (
    Block,
    Categorical,
    Column,
    Integer,
    Numeric,
    Ordered,
    Schema,
    block_of,
)
from noren.data.blocks import as_cells, names_in
from noren.data.whole import read_whole
from noren.errors import ParameterError, SchemaError
from noren.reweighting.encoding import Encoding
from noren.reweighting.rows import Floats

BINS = 10  # of a number's marginal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PublicTable:
    """A public table that is to speak for a private one.

    Parameters
    ----------
    table : Arrow table
        Every column as it was given; it comes back with a column of weights.
    block : Block
        The declared columns, clean.
    encoding : Encoding
        How rows become points.
    points : array
        The rows as points.
    """

    table: Any
    block: Block
    encoding: Encoding
    points: Floats

    @classmethod
    def of(cls, public: Any, schema: Schema) -> PublicTable:
        """Take a file or columns in memory, and a schema."""
        if not isinstance(schema, Schema):
            raise ParameterError(
                "schema", type(schema).__name__, "a noren.data.Schema", "Use Schema.read(path)."
            )
        table = read_whole(public) if isinstance(public, str | Path) else as_table(public)
        block = block_of(table, schema)
        encoding = Encoding.of(schema, block)
        return cls(table, block, encoding, encoding.encode(block))

    def __len__(self) -> int:
        return len(self.points)

    def weighted(self, weights: Any, name: str = "weight") -> Any:
        """Give the table with a column of weights at its end."""
        import pyarrow as pa

        if name in self.table.column_names:
            raise ParameterError(
                "the weight column's name", name, "one that the table does not have yet"
            )
        return self.table.append_column(name, pa.array(np.asarray(weights, np.float64)))

    def marginals(self, weights: Any) -> Iterable[tuple[str, list[tuple[str, float, float]]]]:
        """Give each column's share of rows by level or bin: unweighted, and weighted."""
        column_weights = np.asarray(weights, np.float64)
        for column in self.encoding.schema:
            labels, codes = self.levels(column)
            even = np.bincount(codes, minlength=len(labels)) / len(codes)
            told = np.bincount(codes, column_weights, len(labels)) / column_weights.sum()
            yield column.name, list(zip(labels, even.tolist(), told.tolist(), strict=True))

    def levels(self, column: Column) -> tuple[list[str], Any]:
        """Sort the rows into the levels of a column; numbers into bins of the declared range."""
        values, missing = self.block[column.name], self.block.missing[column.name]
        labels, codes = sorted_into(column, values)
        if column.missing.action == "own" and "missing" not in labels:
            labels, codes = [*labels, "missing"], np.where(missing, len(labels), codes)
        return labels, codes

    def __repr__(self) -> str:
        return f"PublicTable({len(self)} rows, {self.encoding!r})"


def as_table(given: Any) -> Any:
    """Give columns in memory as an Arrow table."""
    import pyarrow as pa

    if isinstance(given, pa.Table):
        return given
    try:
        names = [str(name) for name in names_in(given)]
        return pa.table({name: as_cells(given[name]) for name in names})
    except (TypeError, KeyError, pa.ArrowInvalid) as error:
        problem = type(error).__name__
    raise SchemaError(
        f"The table cannot be read ({problem}), but it must be a file, or columns of equal length "
        "by name: a mapping, a data frame or an Arrow table."
    )


def sorted_into(column: Column, values: Any) -> tuple[list[str], Any]:
    """Give a column's levels (or bins) in words, and each row's."""
    if isinstance(column, Categorical | Ordered):
        return list(column.levels), values.astype(np.int64)
    if not isinstance(column, Numeric | Integer):
        return ["false", "true"], values.astype(np.int64)
    low, high = float(column.lower), float(column.upper)
    if column.kind == "integer" and high - low < 2 * BINS:
        return [str(value) for value in range(int(low), int(high) + 1)], values - int(low)
    edges = np.linspace(low, high, BINS + 1)
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, BINS - 1)
    labels = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(edges)]
    return labels, codes
