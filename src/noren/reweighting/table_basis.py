"""One-way tables of every column, as a basis of encoded rows: what raking calibrates to.

Maths
    Each column is cut into public cells (`coded_columns`); a row has a 1 in one cell of each, so J
    columns give rows of J ones.

Privacy
    One row added or removed moves J counts by 1, one replaced 2J: see `LevelBasis`. The cells are
    functions of the row alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from noren.privacy import Adjacency
from noren.reweighting.coded_columns import Cells, CodedColumn, read_columns
from noren.reweighting.grid_basis import LevelBasis, Summed
from noren.reweighting.rows import Integers, matrix, public_matrix

STRIDE = 1 << 14


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableBasis(Summed):
    """Indicators of the cells of each column of encoded rows.

    Parameters
    ----------
    cells : tuple of Cells
        How each column is cut.
    dimension : int
        How many coordinates a row has.

    Examples
    --------
    >>> TableBasis.of([[0.0], [1.0], [2.0], [3.0], [4.0]]).steps([[-9.0], [2.5]]).tolist()
    [[1, 0, 0, 0], [0, 0, 1, 0]]
    """

    kind: ClassVar[str] = "tables"
    unit: ClassVar[int] = 1

    cells: tuple[Cells, ...]
    dimension: int

    @classmethod
    def of(cls, public: ArrayLike, columns: Sequence[CodedColumn] | None = None) -> TableBasis:
        """Cut the columns by the public rows."""
        rows = public_matrix("public", public)
        named = read_columns(columns, rows.shape[1])
        return cls(tuple(Cells.of(column, rows) for column in named), rows.shape[1])

    @property
    def levels(self) -> LevelBasis:
        """The tables as levels of codes."""
        return LevelBasis(tuple(cells.count for cells in self.cells))

    @property
    def row_total(self) -> int:
        """How many ones a row has."""
        return len(self.cells)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.levels.size

    @property
    def identity(self) -> str:
        """The SHA-256 of columns and cuts."""
        return hashlib.sha256(f"{self.cells!r} {self.dimension}".encode()).hexdigest()

    def public_form(self) -> dict[str, Any]:
        """Give what stands for the basis in a question's identity."""
        return {"basis": self.kind, "size": self.size, "sha256": self.identity}

    def worst(self, adjacency: Adjacency) -> tuple[int, ...]:
        """Give the worst change of the counts."""
        return self.levels.worst(adjacency)

    def codes(self, rows: ArrayLike) -> Integers:
        """Give the cell of each row in each column."""
        given = matrix("rows", rows, self.dimension)
        given[np.isnan(given)] = 0.0
        return np.column_stack([cells.codes(given) for cells in self.cells])

    def steps(self, rows: ArrayLike) -> Integers:
        """Evaluate every indicator at some rows."""
        return self.levels.steps(self.codes(rows))

    def total(self, rows: ArrayLike) -> Integers:
        """Count every cell, holding few rows at a time."""
        given, levels = np.asarray(rows), self.levels
        found = np.zeros(self.size, np.int64)
        for start in range(0, len(given), STRIDE):
            found += levels.total(self.codes(given[start : start + STRIDE]))
        return found

    def __repr__(self) -> str:
        return f"TableBasis({len(self.cells)} columns, {self.size} cells)"
