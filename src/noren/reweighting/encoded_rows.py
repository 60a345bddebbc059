"""The encoded private rows, for questions that look more than once. Secret; added side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.reweighting.rows import Floats, matrix


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EncodedRows:
    """Blocks of encoded private rows, which can be read again. Secret.

    Examples
    --------
    >>> EncodedRows.of([[0.1, 0.2]]) + EncodedRows.of([[0.3, 0.4]])
    EncodedRows(2 coordinates)
    """

    blocks: tuple[Floats, ...]
    width: int

    @classmethod
    def of(cls, rows: ArrayLike) -> EncodedRows:
        """Take rows that are in memory."""
        block = matrix("rows", rows)
        return cls((block,), block.shape[1])

    @classmethod
    def counted(cls, blocks: Iterable[ArrayLike], width: int) -> EncodedRows:
        """Take blocks of rows; there may be none."""
        return cls(tuple(matrix("rows", block, width) for block in blocks), width)

    @property
    def records(self) -> int:
        """How many rows there are."""
        return sum(len(block) for block in self.blocks)

    def summed(self, count: Callable[[Iterable[Floats]], Any]) -> Any:
        """Count the blocks by a pure function; they may lie elsewhere (`filed_rows`)."""
        return count(self.blocks)

    def __add__(self, other: EncodedRows) -> EncodedRows:
        if self.width != other.width:
            raise ParameterError(
                "the statistic", "of two widths", "encoded alike", "Encode both parts alike."
            )
        return EncodedRows(self.blocks + other.blocks, self.width)

    def __repr__(self) -> str:
        return f"EncodedRows({self.width} coordinates)"
