"""Records that stay in their file: scored range by range, never in memory as a whole.

A range is a file name and some row groups. A worker reads it, counts common ones with the query,
and sends back one small number a record; the noise is drawn by whoever asked, on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from noren.data.bits import column_counts, row_counts
from noren.data.handover import StatisticFile
from noren.engine import Engine, run
from noren.errors import ParameterError
from noren.similarity.scoring import Indexes, Scores, Words, query_words, scan

GROUPS = 8  # row groups in a range: some half a million records, so that few tasks travel


@dataclass(frozen=True, slots=True, repr=False)
class RecordRange:
    """Some row groups of a statistic file of records."""

    file: StatisticFile
    start: int
    stop: int

    @property
    def id(self) -> str:
        """The piece's name."""
        return f"{self.file.path}#groups={self.start}-{self.stop}"

    def read(self) -> Iterator[Words]:
        """Yield packed rows."""
        for columns in self.file.read(range(self.start, self.stop)):
            yield words_of(columns["words"])


def words_of(column: Any) -> Words:
    """View a column of bytes of one length as packed rows."""
    width = column.type.byte_width
    content = np.frombuffer(column.buffers()[1], np.uint8)
    start = column.offset * width
    rows = content[start : start + len(column) * width].view("<u8")
    return rows.astype(np.uint64, copy=False).reshape(len(column), width // 8)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InOrder:
    """One number for each record, ranges in the order of the file."""

    numbers: Any

    def __add__(self, other: InOrder) -> InOrder:
        return InOrder(np.concatenate([self.numbers, other.numbers]))

    def __repr__(self) -> str:
        return "InOrder()"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FiledRecords:
    """Stand for records in searches; what needs all bits at once refuses it.

    Parameters
    ----------
    file
        The open statistic file.
    n_columns, ids, names, min_weight
        As `Records` has them.
    engine : Engine, optional
        Where ranges are scored; by default the cores of this machine.
    """

    file: StatisticFile
    n_columns: int
    ids: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None
    min_weight: int = 0
    engine: Engine | None = None
    _cache: dict[str, Any] = field(default_factory=dict, init=False)

    @property
    def origin(self) -> tuple[str, ...]:
        """The file: a query from it is refused."""
        return (self.file.path,)

    @property
    def ranges(self) -> list[RecordRange]:
        """The pieces."""
        many = self.file.groups
        return [
            RecordRange(self.file, group, min(group + GROUPS, many))
            for group in range(0, many, GROUPS)
        ]

    def __len__(self) -> int:
        return self.file.rows

    def __repr__(self) -> str:
        return f"FiledRecords({len(self)} records, {self.n_columns} columns)"

    def counted(self, count: Callable[[Iterable[Words]], Any]) -> Any:
        """Count every range, and merge."""
        return run(self.ranges, count, engine=self.engine)

    def scored(self, columns: Sequence[int]) -> Scores:
        """Count the common ones of a query and every record."""
        query = query_words(columns, -(-self.n_columns // 64))
        found: Scores = self.counted(partial(scored, query=query)).numbers
        return found

    def weights(self) -> Indexes:
        """Count the ones of each record (secret)."""
        if "weights" not in self._cache:
            self._cache["weights"] = self.counted(weighed).numbers
        found: Indexes = self._cache["weights"]
        return found

    def column_counts(self) -> Indexes:
        """Count the ones of each column (secret)."""
        if "columns" not in self._cache:
            self._cache["columns"] = self.counted(partial(summed, n_columns=self.n_columns))
        found: Indexes = self._cache["columns"]
        return found

    def word_blocks(self) -> Iterator[Words]:
        """Yield packed rows, from the first to the last."""
        return (words for part in self.ranges for words in part.read())

    @property
    def words(self) -> Words:
        """Refuse: the rows stay in their file."""
        raise ParameterError(
            "records", "in a statistic file that is streamed", "in memory for this",
            "Read them with noren.similarity.handover.read_records.",
        )  # fmt: skip

    @property
    def column_names(self) -> tuple[str, ...]:
        """The public names of the columns; their numbers where they have none."""
        return self.names or tuple(map(str, range(self.n_columns)))

    def name_of(self, column: int) -> str:
        """Name a column."""
        return self.names[column] if self.names is not None else str(column)

    def column(self, name: str) -> int | None:
        """Find a column by its name."""
        if self.names is None:
            return int(name) if name.isdecimal() and int(name) < self.n_columns else None
        places: Mapping[str, int] = self._cache.setdefault(
            "places", {known: number for number, known in enumerate(self.names)}
        )
        return places.get(name)

    def id_of(self, row: int) -> str:
        """Name a record."""
        return self.ids[row] if self.ids is not None else str(row)

    def has_id(self, name: str) -> bool:
        """Say whether a word is the id of a record; ids are public."""
        if self.ids is None:
            return False
        known: set[str] = self._cache.setdefault("ids", set(self.ids))
        return name in known


def scored(blocks: Iterable[Words], query: Words) -> InOrder:
    """Score the records of a range."""
    return InOrder(np.concatenate([np.zeros(0, np.int32), *(scan(rows, query) for rows in blocks)]))


def weighed(blocks: Iterable[Words]) -> InOrder:
    """Count the ones of each record of a range."""
    return InOrder(np.concatenate([np.zeros(0, np.int64), *(row_counts(rows) for rows in blocks)]))


def summed(blocks: Iterable[Words], n_columns: int) -> Indexes:
    """Count the ones of each column over a range."""
    total: Indexes = np.zeros(n_columns, np.int64)
    for rows in blocks:
        total += column_counts(rows, n_columns)
    return total
