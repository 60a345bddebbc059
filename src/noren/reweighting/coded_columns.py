"""Which coordinates of an encoded row belong to which column, and the cells a column is cut into.

Maths
    A numeric or ordered column has its value in its first coordinate and may have a missing flag in
    the next; it is cut at the public quartiles (x <= quartile falls below; equal quartiles count
    once), a missing value being a cell of its own. A categorical column has one coordinate a level;
    its cells are the levels, and "none of them".

Privacy
    A cell is found by comparing coordinates with public numbers, element by element: it is a
    function of the row alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.errors import ParameterError
from noren.reweighting.rows import Floats, Integers

KINDS = ("numeric", "ordered", "categorical")
PRESENT = 0.25  # of a flag or of a level's coordinate: half a step of the usual 1/sqrt(2)
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """The coordinates of one column of the table.

    Parameters
    ----------
    name : str
        The column's name.
    kind : str
        "numeric" or "ordered" (one value, and perhaps a missing flag beside it) or "categorical"
        (one coordinate a level; a lone flag counts as one level).
    start, stop : int
        Its coordinates, `stop` not included.

    Examples
    --------
    >>> CodedColumn("age", "numeric", 0, 2).flag
    1
    """

    name: str
    kind: str
    start: int
    stop: int

    def __post_init__(self) -> None:
        width = self.stop - self.start
        most = width if self.kind == "categorical" else 2
        if self.kind not in KINDS or self.start < 0 or not 1 <= width <= most:
            raise ParameterError(
                "column",
                f"{self.kind} with {width} coordinates",
                "numeric or ordered with one or two, or categorical with at least one",
            )

    @property
    def numeric(self) -> bool:
        """Whether its first coordinate is a value."""
        return self.kind != "categorical"

    @property
    def flag(self) -> int | None:
        """The coordinate of its missing flag, if it has one."""
        return self.start + 1 if self.numeric and self.stop - self.start == 2 else None

    def public_form(self) -> dict[str, Any]:
        """Give what stands for it in a question's identity."""
        return {"name": self.name, "kind": self.kind, "at": [self.start, self.stop]}


@dataclass(frozen=True, slots=True)
class Cells:
    """A column's public cells."""

    column: CodedColumn
    cuts: tuple[float, ...] = ()

    @classmethod
    def of(cls, column: CodedColumn, public: Floats) -> Cells:
        """Settle the cells by the public rows."""
        if not column.numeric:
            return cls(column)
        quartiles = np.quantile(public[:, column.start], QUARTILES)
        return cls(column, tuple(float(q) for q in np.unique(quartiles)))

    @property
    def count(self) -> int:
        """How many cells there are."""
        if not self.column.numeric:
            return self.column.stop - self.column.start + 1
        return len(self.cuts) + 1 + (self.column.flag is not None)

    def codes(self, rows: Floats) -> Integers:
        """Give each row's cell."""
        own = self.column
        if not own.numeric:
            shown = rows[:, own.start : own.stop] > PRESENT
            found: Integers = np.where(shown.any(axis=1), shown.argmax(axis=1) + 1, 0)
            return found
        codes = np.searchsorted(np.array(self.cuts), rows[:, own.start], side="left")
        if own.flag is not None:
            codes = np.where(rows[:, own.flag] > PRESENT, len(self.cuts) + 1, codes)
        return codes.astype(np.int64)


def read_columns(given: Sequence[CodedColumn] | None, width: int) -> tuple[CodedColumn, ...]:
    """Take columns that share out all coordinates; left out, each coordinate is a number."""
    if given is None:
        return tuple(CodedColumn(f"x{i + 1}", "numeric", i, i + 1) for i in range(width))
    columns = tuple(given)
    ends = [0, *(column.stop for column in columns)]
    starts = [column.start for column in columns]
    if starts != ends[:-1] or ends[-1] != width or len({c.name for c in columns}) < len(columns):
        raise ParameterError(
            "columns",
            "with gaps, overlaps or a name twice",
            f"one after the other over all {width} coordinates",
        )
    return columns


def numeric_values(columns: Iterable[CodedColumn]) -> list[int]:
    """Give the coordinates that are values of numeric or ordered columns."""
    return [column.start for column in columns if column.numeric]
