"""Records as a statistic file: the packed rows, for a search scores each of them. Secret.

words     the bits of a record, 8 bytes for each 64 columns, the first column lowest
id        its public name, where it has one
public    n_columns, the names of the columns (or null), min_weight
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from noren.data.bits import row_counts, words_for
from noren.data.handover import BATCH_ROWS, Kind, open_statistic, public_whole, write_statistic
from noren.engine import Engine
from noren.errors import SchemaError
from noren.similarity.filed_records import FiledRecords
from noren.similarity.statistic import LARGEST, Records, as_words, read_names

KIND = Kind("bit-records", {"words": pa.binary()}, {"id": pa.string()})


def write_records(path: str | Path, records: Records) -> Path:
    """Write records, some thousand at a time."""
    width = 8 * words_for(records.n_columns)

    def tables() -> Iterator[dict[str, Any]]:
        for start in range(0, len(records), BATCH_ROWS):
            some = records.words[start : start + BATCH_ROWS]
            table: dict[str, Any] = {"words": as_bytes(some, width)}
            if records.ids is not None:
                table["id"] = records.ids[start : start + BATCH_ROWS]
            yield table

    names = None if records.names is None else list(records.names)
    public = {"n_columns": records.n_columns, "names": names, "min_weight": records.min_weight}
    columns = ["words", "id"] if records.ids is not None else ["words"]
    return write_statistic(path, KIND, public, tables(), columns, {"words": pa.binary(width)})


def as_bytes(words: Any, width: int) -> pa.Array:
    """View packed rows as a column of bytes."""
    content = pa.py_buffer(np.ascontiguousarray(words, "<u8"))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(words), [None, content])


def open_records(path: str | Path, engine: Engine | None = None) -> FiledRecords:
    """Open records that stay in their file."""
    file = open_statistic(path, KIND)
    n_columns, least = public_whole(file, "n_columns", 1), public_whole(file, "min_weight")
    names = file.public.get("names")
    if not 0 < file.rows <= LARGEST or not (names is None or isinstance(names, list)):
        raise SchemaError(f"{file.path} holds no records, or no list of names. Write it again.")
    ids = None
    if "id" in file.columns:
        ids = tuple(name for part in file.read() for name in part["id"].to_pylist())
    ids = read_names("ids", ids, file.rows)
    own = FiledRecords(file, n_columns, ids, read_names("names", names, n_columns), least, engine)
    own_width(own)
    return own


def own_width(records: FiledRecords) -> None:
    """Refuse rows of another length than the columns need."""
    kind = records.file.stored["words"]
    wanted = 8 * words_for(records.n_columns)
    if not pa.types.is_fixed_size_binary(kind) or kind.byte_width != wanted:
        raise SchemaError(
            f"{records.file.path} must hold {wanted} bytes for each record in 'words', as its "
            "number of columns needs. Write it again."
        )


def read_records(path: str | Path) -> Records:
    """Read records into memory."""
    filed = open_records(path)
    words = as_words(np.concatenate(list(filed.word_blocks())), filed.n_columns)
    own = filed.ids, filed.names, filed.min_weight
    return Records(words, filed.n_columns, *own, origin=filed.origin)


def checked(path: str | Path) -> dict[str, Any]:
    """Read a file whole, and give what is public of it."""
    filed = open_records(path)
    for words in filed.word_blocks():
        as_words(words, filed.n_columns)  # refuses ones past the last column
        if filed.min_weight and row_counts(words).min() < filed.min_weight:
            raise SchemaError(
                f"{filed.file.path} promises a min_weight that its records do not keep, but it is "
                "about all possible data. Promise less."
            )
    return {"records": len(filed), "columns": filed.n_columns, "min_weight": filed.min_weight}
