"""Counts of reports as a statistic file: one row for each slot, class and bit that has any.

    slot, class, y, reports     GROUP BY slot, class, y: how many reports
    public                      horizon, classes, and how many rows were strange

They are not secret: each report was randomized on its device. The same table without the metadata,
as a warehouse writes it (`class` may be absent), is read by `read_grouped`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from noren.data.files import existing_file, safe
from noren.data.handover import Kind, open_statistic, public_whole, typed, write_statistic
from noren.errors import FileProblem
from noren.monitoring.statistic import SlotCounts

KIND = Kind(
    "report-counts",
    {"slot": pa.int64(), "class": pa.int64(), "y": pa.int64(), "reports": pa.int64()},
    secret=False,
)
LARGEST = 2**62


def write_counts(path: str | Path, counts: SlotCounts) -> Path:
    """Write counts, leaving out cells without reports."""
    horizon, classes = counts.reports.shape
    both = np.stack([counts.reports - counts.ones, counts.ones], axis=-1)
    slot, kind, bit = np.nonzero(both)
    table = {"slot": slot + 1, "class": kind, "y": bit, "reports": both[slot, kind, bit]}
    public = {"horizon": horizon, "classes": classes, "strange": counts.strange}
    return write_statistic(path, KIND, public, [table])


def read_counts(path: str | Path) -> SlotCounts:
    """Read counts."""
    file = open_statistic(path, KIND)
    horizon, classes = public_whole(file, "horizon", 1), public_whole(file, "classes", 1)
    counts = counts_of(file.path, file.read(), horizon, classes)
    strange = counts.strange + public_whole(file, "strange")
    return SlotCounts(counts.reports, counts.ones, strange)


def read_grouped(path: str | Path, horizon: int, classes: int = 1) -> SlotCounts:
    """Read a table that a warehouse made: slot, y, reports and, for several classes, class.

    A CSV or Parquet file. Rows of other slots, classes or bits are counted as strange.
    """
    file = existing_file(path)
    is_parquet = file.suffix.lower() in (".parquet", ".pq")
    table = safe(file, "parquet" if is_parquet else "csv", lambda: table_of(file, is_parquet))
    given = safe(file, "csv", lambda: table.column_names)
    names = [name for name in KIND.columns if name != "class" or name in given]
    for name in names:
        if name not in given or not pa.types.is_integer(table.schema.field(name).type):
            raise FileProblem(
                f"{file} has no column {name!r} of whole numbers, but counted reports need slot, "
                "y, reports and, for several classes, class. Rename its columns."
            )
    if "class" not in names and classes > 1:
        raise FileProblem(f"{file} has no column 'class', but the plans have {classes} classes.")
    wanted = table.select(names).combine_chunks().to_batches()
    parts = ({name: typed(part, name, pa.int64()) for name in names} for part in wanted)
    return counts_of(str(file), parts, horizon, classes)


def table_of(file: Path, is_parquet: bool) -> pa.Table:
    """Read a small table."""
    if is_parquet:
        import pyarrow.parquet as parquet

        return parquet.read_table(file)
    from pyarrow import csv

    return csv.read_csv(file)


def counts_of(
    path: str, parts: Iterable[dict[str, pa.Array]], horizon: int, classes: int
) -> SlotCounts:
    """Add up rows that stand for several reports each."""
    cells = np.zeros((horizon, classes, 2), np.int64)
    strange = 0
    for part in parts:
        columns = {name: column.to_numpy(zero_copy_only=False) for name, column in part.items()}
        slot, bit, times = (columns[name] for name in ("slot", "y", "reports"))
        kind = columns.get("class", np.zeros(len(slot), np.int64))
        if ((times < 0) | (times > LARGEST)).any():
            raise FileProblem(
                f"{path} has numbers of reports out of range, but each must be a count, 0 or more. "
                "Count again."
            )
        known = (slot >= 1) & (slot <= horizon) & ((bit == 0) | (bit == 1))
        known &= (kind >= 0) & (kind < classes)
        np.add.at(cells, (slot[known] - 1, kind[known], bit[known]), times[known])
        strange += int(times[~known].sum())
    return SlotCounts(cells.sum(axis=2), cells[:, :, 1].copy(), strange)


def checked(path: str | Path) -> dict[str, Any]:
    """Read a file whole, and give what it is about."""
    counts = read_counts(path)
    horizon, classes = counts.reports.shape
    return {"horizon": horizon, "classes": classes}
