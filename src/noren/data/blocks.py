"""Blocks: a stretch of a table as clean arrays, ready to be counted.

A reader hands over its cells as they are stored; the schema's rules turn them into a `Block`.
Records that a rule drops are gone, every other value lies in its declared range, and a mask tells
which values stand in for missing ones. A block is secret: its `repr` shows the columns' types and
not even how many records there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from noren.data.cells import Cells, Converted, Values, check_storage, convert, spell
from noren.data.schema import Schema, listed
from noren.errors import SchemaError

BLOCK_ROWS = 65_536  # records in a block: large enough for vector loops, small enough for caches


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Block:
    """Some records of a table, column by column.

    Examples
    --------
    >>> from noren.data import Numeric, OWN, Schema, block_of
    >>> schema = Schema([Numeric(name="age", lower=0, upper=100, missing=OWN)])
    >>> block = block_of({"age": ["31", "130", "?"]}, schema)
    >>> block["age"].tolist(), block.missing["age"].tolist()
    ([31.0, 100.0, 50.0], [False, False, True])
    >>> block
    Block(age: float64)
    """

    values: Mapping[str, Values]
    missing: Mapping[str, Values]

    def __getitem__(self, name: str) -> Values:
        return self.values[name]

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    def __repr__(self) -> str:
        columns = [f"{name}: {array.dtype}" for name, array in self.values.items()]
        return f"Block({', '.join(columns)})"

    def stack(self, names: Sequence[str], dtype: Any = np.float64) -> Values:
        """Put some columns side by side, as a matrix with one row a record."""
        return np.column_stack([self.values[name].astype(dtype, copy=False) for name in names])


def clean(schema: Schema, cells: Mapping[str, Cells]) -> Block:
    """Apply the schema's rules to stored cells of equal length."""
    read = {c.name: convert(c, cells[c.name], schema.missing_words) for c in schema}
    keep = kept(schema, read)
    if keep is None:
        return Block(
            {n: r.values for n, r in read.items()}, {n: r.missing for n, r in read.items()}
        )
    return Block(
        {name: result.values[keep] for name, result in read.items()},
        {name: result.missing[keep] for name, result in read.items()},
    )


def kept(schema: Schema, read: Mapping[str, Converted]) -> Values | None:
    """Say which records stay (None: all of them)."""
    masks = [read[column.name].missing for column in schema if column.missing.action == "drop"]
    gone = np.logical_or.reduce(masks) if masks else np.zeros(1, bool)
    return ~gone if gone.any() else None


def block_of(columns: Any, schema: Schema) -> Block:
    """Clean columns that are in memory already: lists, NumPy or Arrow arrays, a table or frame."""
    for column in schema:
        if column.name not in names_in(columns):
            raise SchemaError(
                f"Column {column.name!r} is declared, but the table has none of that name. "
                f"The schema expects {listed(schema.names)}."
            )
    cells = {column.name: as_cells(columns[column.name]) for column in schema}
    if len({len(array) for array in cells.values()}) > 1:
        raise SchemaError(
            "The table's columns differ in length, but each record needs a cell in "
            "every column. Check how the table was put together."
        )
    for column in schema:
        check_storage(column, cells[column.name].type)
    return clean(schema, cells)


def names_in(columns: Any) -> Any:
    """Give the names of a table's, a frame's or a mapping's columns."""
    return columns.column_names if isinstance(columns, pa.Table | pa.RecordBatch) else columns


def as_cells(given: Any) -> Cells:
    """Give any one-dimensional column as an Arrow array, without ever quoting it."""
    if isinstance(given, pa.ChunkedArray):
        return given.combine_chunks()
    if isinstance(given, pa.Array):
        return given
    try:
        array = np.asarray(given)
    except ValueError:  # its text would tell the shape
        array = np.zeros((0, 0))
    if array.ndim != 1 or array.dtype.kind not in "biufUSO":
        raise SchemaError(
            "A column of the table is not a one-dimensional list of numbers, truth values or "
            "text. Pass one such list for each declared column."
        )
    if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
        kind = np.float32 if array.dtype == np.float16 else array.dtype.newbyteorder("=")
        return pa.array(array.astype(kind, copy=False))
    return pa.array([as_text(value) for value in array.tolist()], pa.string())


def as_text(value: object) -> str | None:
    """Write one Python object as a file would hold it (pandas' NA and NaT as no value)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float):
        return spell(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value).encode("utf-8", "replace").decode("utf-8")
