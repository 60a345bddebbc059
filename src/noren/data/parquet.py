"""Read Parquet files in ranges of row groups, batch by batch.

The columns and their storage types are public facts of a file; they are checked before a record
is read. Pages are read through a small buffer, so that memory does not grow with a row group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from noren.data.cells import Cells, check_storage
from noren.data.remote import Url, is_url, opened
from noren.data.schema import Schema, listed
from noren.errors import SchemaError

BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class ParquetRange:
    """Some neighbouring row groups of a file."""

    path: str
    start: int
    stop: int

    @property
    def label(self) -> str:
        """The range in words, which sort as the ranges do."""
        return f"groups={self.start}-{self.stop}"

    def cells(self, schema: Schema, rows: int) -> Iterator[dict[str, Cells]]:
        """Yield the cells of up to `rows` records at a time."""
        names, groups = list(schema.names), range(self.start, self.stop)
        with open_parquet(self.path) as file:
            for batch in file.iter_batches(rows, groups, names, use_threads=False):
                yield {name: batch.column(name) for name in names}


def open_parquet(path: str | Path) -> Any:
    """Open a file without reading more than its footer."""
    source = opened(path) if is_url(path) else path
    return pq.ParquetFile(source, buffer_size=BUFFER, pre_buffer=False)


def split_parquet(path: Path | Url, schema: Schema, piece: int) -> list[ParquetRange]:
    """Check the public shape, and cut the file into runs of row groups of about `piece` bytes."""
    with open_parquet(str(path)) as file:
        check_columns(file.schema_arrow, schema)
        sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
    ranges, start, held = [], 0, 0
    for group, size in enumerate(sizes):
        if held and held + size > piece:
            ranges.append(ParquetRange(str(path), start, group))
            start, held = group, 0
        held += size
    return [*ranges, ParquetRange(str(path), start, len(sizes))]


def check_columns(stored: Any, schema: Schema) -> None:
    """Refuse a file that lacks a declared column or stores it as what it cannot be read from."""
    for column in schema:
        places = stored.get_all_field_indices(column.name)
        if len(places) != 1:
            found = "more than one column" if places else "no column"
            raise SchemaError(
                f"Column {column.name!r} is declared, but the file has {found} of that name. "
                f"It must have each declared column once: {listed(schema.names)}."
            )
        check_storage(column, stored.field(places[0]).type)
