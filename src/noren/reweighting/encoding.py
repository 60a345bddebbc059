"""From a table's columns to points: public bounds and levels in, one row of numbers a record.

Maths
    number, ordered   in [-1, 1] (`noren.data.encoding`)
    boolean           -1/2 or 1/2
    category          one-hot times 1 / sqrt(2)
    missing           numbers, ordered levels and booleans: 0, and a flag beside it, 1 where
                      missing; categories: a level of their own
    So two levels, and yes and no, lie at distance 1. Columns that are the same in every public row
    are left out: no weight could depend on them.

Privacy
    Each number is computed from its own cell with the declared bounds and levels: a private row
    moves its own point and no other. What is left out, and every notice, is decided from the
    public table and the schema. A column whose rule for missing cells drops the record is refused:
    the private number of rows would depend on cells, and the public table would lose rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noren.data import Block, Boolean, Categorical, Column, Ordered, Schema, Text
from noren.data.encoding import column_names, encode
from noren.errors import ParameterError, SchemaError
from noren.reweighting.coded_columns import CodedColumn
from noren.reweighting.rows import Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Encoding:
    """How rows of a declared table become points; frozen, and public as a whole.

    Parameters
    ----------
    schema : Schema
        The columns in use.
    notices : tuple of str
        What was left out, and what the public table does not show.

    Examples
    --------
    >>> from noren.data import OWN, Categorical, Integer, Schema, block_of, fill
    >>> town = Categorical(name="town", categories=("Nara", "Uji"), missing=fill("Uji"))
    >>> schema = Schema([Integer(name="age", lower=0, upper=100, missing=OWN), town])
    >>> public = block_of({"age": [20, 60, None], "town": ["Nara", "Uji", "Uji"]}, schema)
    >>> encoding = Encoding.of(schema, public)
    >>> encoding.coordinates
    ('age', 'age is missing', 'town = Nara', 'town = Uji')
    >>> encoding.encode(public).round(3).tolist()
    [[-0.6, 0.0, 0.707, 0.0], [0.2, 0.0, 0.0, 0.707], [0.0, 1.0, 0.0, 0.707]]
    """

    schema: Schema
    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, schema: Schema, public: Block) -> Encoding:
        """Settle the columns from the schema and the public table."""
        schema = usable(schema)
        if len(public) < 2:
            raise ParameterError("public", "a table of fewer than two rows", "at least two rows")
        constant = [column for column in schema if is_constant(column, public)]
        used = [column for column in schema if column not in constant]
        if not used:
            raise SchemaError(
                "Every declared column holds one single value in the public table, so no weights "
                "can tell its rows apart. Declare columns that vary there."
            )
        kept = cls(Schema(used, schema.missing_words))
        return cls(kept.schema, (*left_out(constant), *unseen(kept, public)))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What each number of a point is, those of one column side by side."""
        return tuple(name for column in self.schema for name in column_names(column))

    @property
    def columns(self) -> tuple[CodedColumn, ...]:
        """Which coordinates belong to which column."""
        found, start = [], 0
        for column in self.schema:
            stop = start + len(column_names(column))
            found.append(CodedColumn(column.name, kind_of(column), start, stop))
            start = stop
        return tuple(found)

    def encode(self, block: Block) -> Floats:
        """Turn clean records into points."""
        points: Floats = encode(block, self.schema) * self.scales
        return points

    @property
    def scales(self) -> Floats:
        """By what each number is multiplied, so that two different levels lie at distance 1."""
        return np.array([scale for column in self.schema for scale in scales_of(column)])

    def __repr__(self) -> str:
        return f"Encoding({len(self.schema)} columns, {len(self.coordinates)} coordinates)"


def usable(schema: Schema) -> Schema:
    """Keep the columns that are encoded; refuse a rule that makes records disappear."""
    used = [column for column in schema if not isinstance(column, Text)]
    for column in used:
        if column.missing.action == "drop":
            raise SchemaError(
                f"Column {column.name!r} drops records whose cell is missing, but reweighting "
                "keeps every row of both tables. Use 'own', or fill in a public value."
            )
    if not used:
        raise SchemaError("The schema declares text columns only. Declare one that has values.")
    return Schema(used, schema.missing_words)


def scales_of(column: Column) -> list[float]:
    """Give the scale of each coordinate of one column; flags keep theirs."""
    count = len(column_names(column))
    if isinstance(column, Categorical):
        return [float(np.sqrt(0.5))] * count
    return [0.5 if isinstance(column, Boolean) else 1.0, *[1.0] * (count - 1)]


def kind_of(column: Column) -> str:
    """Say how a column is coded."""
    if isinstance(column, Categorical):
        return "categorical"
    return "ordered" if isinstance(column, Ordered | Boolean) else "numeric"


def is_constant(column: Column, public: Block) -> bool:
    """Tell whether a column says the same of every public row."""
    return bool(np.ptp(encode(public, Schema([column])), axis=0).max() == 0)


def left_out(constant: list[Column]) -> list[str]:
    """Say which columns are not used."""
    names = ", ".join(column.name for column in constant)
    return [f"left out, since constant in the public table: {names}"] if constant else []


def unseen(encoding: Encoding, public: Block) -> list[str]:
    """Say which levels and gaps no public row has."""
    shown = np.any(encoding.encode(public), axis=0).tolist()
    values = {column.name for column in encoding.schema}
    absent = [
        name
        for name, seen in zip(encoding.coordinates, shown, strict=True)
        if not seen and name not in values
    ]
    if not absent:
        return []
    who = "not in the public table, so private rows with it have nobody to speak for them"
    return [f"{who}: {', '.join(absent)}"]
