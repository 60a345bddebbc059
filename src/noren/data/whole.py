"""Read a public table whole, every column as it stands, to be given back with something added.

Private tables are read by `noren.data.tables`, in blocks and by a schema. This is for a table
whose rows are published anyway.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from noren.data.columns import Text
from noren.data.csv import read_header
from noren.data.files import existing_file, safe
from noren.data.missing import fill
from noren.data.schema import Schema
from noren.data.tables import default_delimiter, format_of, read
from noren.errors import FileProblem


def read_whole(path: str | Path) -> Any:
    """Give a public file as an Arrow table; delimited text keeps its cells as they are spelt.

    Parameters
    ----------
    path
        A .csv, .tsv, .parquet or .npz file.
    """
    found = existing_file(path)
    form = format_of(found, None)
    if form == "csv":
        return read_text(found)
    return safe(found, form, lambda: read_parquet(found) if form == "parquet" else read_npz(found))


def read_text(path: Path) -> Any:
    """Read delimited text as words."""
    delimiter = default_delimiter(path)
    names = safe(path, "csv", lambda: read_header(path, delimiter))[0]
    if not names or len(set(names)) < len(names) or not all(names):
        raise FileProblem(
            f"The first line of {path} does not name every column once, but it must. "
            "Add a header line, or give columns names of their own."
        )
    schema = Schema([Text(name=name, missing=fill("")) for name in names], ("",))
    blocks = list(read(path, schema))
    columns = (
        {
            name: pa.array(np.concatenate([block[name] for block in blocks]), pa.string())
            for name in names
        }
        if blocks
        else {name: pa.array([], pa.string()) for name in names}
    )
    return pa.table(columns)


def read_parquet(path: Path) -> Any:
    """Read a Parquet file."""
    import pyarrow.parquet as parquet

    return parquet.read_table(path)


def read_npz(path: Path) -> Any:
    """Read an archive of one-dimensional arrays."""
    with np.load(path, allow_pickle=False) as arrays:
        return pa.table({name: pa.array(arrays[name]) for name in arrays.files})
