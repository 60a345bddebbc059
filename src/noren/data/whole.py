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
from noren.data.remote import Url, is_url, opened, read_url
from noren.data.schema import Schema
from noren.data.tables import default_delimiter, format_of, read, refuse_remote_npz
from noren.errors import FileProblem


def read_whole(path: str | Path) -> Any:
    """Give a public file as an Arrow table; delimited text keeps its cells as they are spelt.

    Parameters
    ----------
    path
        A .csv, .tsv, .parquet or .npz file; or the URL of a CSV or Parquet file.
    """
    found = read_url(str(path)) if is_url(path) else existing_file(path)
    form = format_of(found, None)
    if form == "npz":
        refuse_remote_npz(found)
    if form == "csv":
        return read_text(found)
    return safe(
        str(found), form, lambda: read_parquet(found) if form == "parquet" else read_npz(found)
    )


def read_text(path: Path | Url) -> Any:
    """Read delimited text as words."""
    delimiter = default_delimiter(path)
    names = safe(str(path), "csv", lambda: read_header(path, delimiter))[0]
    if not names or len(set(names)) < len(names) or not all(names):
        raise FileProblem(
            f"The first line of {path} does not name every column once, but it must. "
            "Add a header line, or give columns names of their own."
        )
    schema = Schema([Text(name=name, missing=fill("")) for name in names], ("",))
    blocks = list(read(str(path), schema))
    columns = (
        {
            name: pa.array(np.concatenate([block[name] for block in blocks]), pa.string())
            for name in names
        }
        if blocks
        else {name: pa.array([], pa.string()) for name in names}
    )
    return pa.table(columns)


def read_parquet(path: Path | Url) -> Any:
    """Read a Parquet file."""
    import pyarrow.parquet as parquet

    with opened(str(path)) as file:
        return parquet.read_table(file)


def read_npz(path: Path | Url) -> Any:
    """Read an archive of one-dimensional arrays."""
    with np.load(str(path), allow_pickle=False) as arrays:
        return pa.table({name: pa.array(arrays[name]) for name in arrays.files})
