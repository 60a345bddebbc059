"""Count stored reports: Parquet or JSON-lines files, by the engine, on all cores.

Two ways. `count_reports` takes files whose reports were accepted already: it adds up rows by slot,
class and bit. `count_first_reports` takes files in which a report may stand several times: of each
(epoch, slot, client) it keeps the first by file and line, and then adds up. Both give `SlotCounts`
that merge with any others of the same plan.

Columns (or JSON fields): slot (from 1), y (0, 1 or nothing), class (0 where absent); for the second
way epoch and client too. Rows that are no report of these slots and classes are counted as strange
and never quoted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from noren.data import Partition
from noren.data.files import existing_file, safe, safely
from noren.data.lines import byte_ranges, line_blocks
from noren.engine import run
from noren.engine.local import Engine, Progress
from noren.errors import FileProblem, SchemaError
from noren.monitoring.coded_columns import pair_counts
from noren.monitoring.statistic import SlotCounts
from noren.privacy.numbers import whole

PIECE_BYTES = 1 << 24
GROUPS = 8  # row groups of a Parquet file in one piece
NO_BIT = 255
Columns = dict[str, NDArray[Any]]
Paths = str | Path | Sequence[str | Path]
WIDEST = {"slot": np.int64, "y": np.uint8, "class": np.int64, "epoch": np.int64}


def count_reports(
    paths: Paths,
    horizon: int,
    *,
    classes: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> SlotCounts:
    """Count reports that were accepted already.

    Parameters
    ----------
    paths : path or sequence of paths
        Files that end in .parquet, or in .jsonl or .ndjson (one JSON object a line).
    horizon, classes : int
        The slots (1..horizon) and classes (0..classes-1) that there are.
    engine : Engine, optional
        Where to count; by default the cores of this machine.
    progress
        Called with (pieces done, pieces in all).
    """
    slots, kinds = whole("horizon", horizon, 1), whole("classes", classes, 1)
    parts = pieces(paths, ("slot", "y"), ("class",) if kinds > 1 else ())
    count = partial(tallied, horizon=slots, classes=kinds)
    return run(parts, count, engine=engine, progress=progress)


def count_first_reports(
    paths: Paths,
    horizon: int,
    epoch: int,
    *,
    classes: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> SlotCounts:
    """Count the first report of each client in each slot of an epoch.

    `count_reports` explains the other parameters; memory grows with the number of reports.
    """
    slots, kinds = whole("horizon", horizon, 1), whole("classes", classes, 1)
    parts = pieces(paths, ("slot", "y", "epoch", "client"), ("class",))
    count = partial(first_of, epoch=whole("epoch", epoch, 0))
    first = run(parts, count, engine=engine, progress=progress)
    return SlotCounts.of(
        first.columns["slot"], first.columns["y"], horizon=slots, classes=kinds,
        kinds=first.columns["class"],
    )  # fmt: skip


def tallied(blocks: Iterable[Columns], horizon: int, classes: int) -> SlotCounts:
    """Add up blocks of rows, by machine code where the columns are plain integers."""
    cells = np.zeros(2 * horizon * classes + 1, np.int64)
    for block in blocks:
        slot, bit = block["slot"], block["y"]
        if "times" in block:  # each row stands for so many
            add_times(cells, slot, bit, block["times"])
            continue
        kind = block.get("class")
        if kind is None and slot.dtype.kind in "ui" and bit.dtype == np.uint8:
            tally_kernel()(slot, bit, horizon, cells)
            continue
        counted = SlotCounts.of(slot, bit, horizon=horizon, kinds=kind, classes=classes)
        pairs = np.stack([counted.reports - counted.ones, counted.ones], axis=-1)
        cells[:-1] += pairs.reshape(-1)
        cells[-1] += counted.strange
    pairs = cells[:-1].reshape(horizon, classes, 2)
    return SlotCounts(pairs.sum(axis=2), pairs[:, :, 1].copy(), int(cells[-1]))


def add_times(
    cells: NDArray[np.int64], slot: NDArray[Any], bit: NDArray[Any], times: NDArray[np.int64]
) -> None:
    """Add rows that stand for several each."""
    strange = cells.size - 1
    known = (slot >= 1) & (slot <= strange // 2) & ((bit == 0) | (bit == 1))
    np.add.at(cells, np.where(known, 2 * slot - 2 + bit, strange), times)


@lru_cache(maxsize=1)
def tally_kernel() -> Any:
    """Compile the loop over rows; its plain twin is `SlotCounts.of`."""
    from numba import njit

    @njit(nogil=True, cache=True)  # type: ignore[untyped-decorator,unused-ignore]
    def tally(slots: Any, bits: Any, horizon: Any, cells: Any) -> None:
        strange = 2 * horizon
        for i in range(slots.size):
            slot = np.int64(slots[i])
            bit = bits[i]
            if slot < 1 or slot > horizon or bit > 1:
                cells[strange] += 1
            else:
                cells[2 * slot - 2 + bit] += 1

    return tally


@dataclass(frozen=True, slots=True, eq=False)
class FirstReports:
    """The first report of each (slot, client) of an epoch, with its place in the files."""

    columns: Columns

    def __add__(self, other: FirstReports) -> FirstReports:
        """Put two sets side by side (pieces merge in the order of the files) and keep the first."""
        names = self.columns.keys()
        both = {n: np.concatenate([self.columns[n], other.columns[n]]) for n in names}
        return FirstReports(kept_first(both))


def first_of(blocks: Iterable[Columns], epoch: int) -> FirstReports:
    """Keep the first report of each (slot, client) of one piece."""
    names = ("slot", "client", "y", "class")
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    for block in blocks:
        here = (block["epoch"] == epoch) & (block["y"] <= 1)
        rows = {"class": np.zeros(len(here), np.int64), **block}
        for name in names:
            found[name].append(rows[name][here])
    empty = {"slot": np.int64, "client": np.uint64, "y": np.uint8, "class": np.int64}
    joined = {
        name: np.concatenate([np.zeros(0, empty[name]), *found[name]]).astype(empty[name])
        for name in names
    }
    return FirstReports(kept_first(joined))


def kept_first(rows: Columns) -> Columns:
    """Keep the first row of each (slot, client)."""
    order = np.lexsort((np.arange(len(rows["slot"])), rows["client"], rows["slot"]))
    slot, client = rows["slot"][order], rows["client"][order]
    new = np.ones(len(order), bool)
    new[1:] = (slot[1:] != slot[:-1]) | (client[1:] != client[:-1])
    kept = np.sort(order[new])
    return {name: column[kept] for name, column in rows.items()}


def pieces(paths: Paths, needed: Sequence[str], wanted: Sequence[str]) -> list[Partition]:
    """Cut files into pieces that are read apart from each other."""
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    found: list[Partition] = []
    for name in given:
        path = existing_file(name)
        if path.suffix.lower() in (".parquet", ".pq"):
            found += parquet_pieces(path, needed, wanted)
        elif path.suffix.lower() in (".jsonl", ".ndjson"):
            for begin, end in byte_ranges(0, path.stat().st_size, PIECE_BYTES):
                reader = partial(json_blocks, path, begin, end, (*needed, *wanted))
                found.append(Partition(f"{path}#bytes={begin}-{end}", reader))
        else:
            raise FileProblem(
                f"{path} has no suffix that tells its format, but it must be .parquet, .jsonl or "
                ".ndjson. Rename it."
            )
    return found


def parquet_pieces(path: Path, needed: Sequence[str], wanted: Sequence[str]) -> list[Partition]:
    """Cut a Parquet file into runs of row groups."""
    file = safe(path, "parquet", lambda: pq.ParquetFile(path))
    with file:
        names, groups = file.schema_arrow.names, file.num_row_groups
    absent = [name for name in needed if name not in names]
    if absent:
        raise SchemaError(
            f"{path} has no column {absent[0]!r}, but reports need {', '.join(needed)}. "
            "Write the file with these names."
        )
    columns = [name for name in (*needed, *wanted) if name in names]
    return [
        Partition(
            f"{path}#groups={start}-{min(groups, start + GROUPS)}",
            partial(parquet_blocks, path, range(start, min(groups, start + GROUPS)), columns),
        )
        for start in range(0, groups, GROUPS)
    ] or [Partition(f"{path}#groups=0-0", partial(iter, ()))]


def parquet_blocks(path: Path, groups: Iterable[int], columns: list[str]) -> Iterator[Columns]:
    """Yield the rows of some row groups; slots and bits alone are counted by their codes."""

    def read() -> Iterator[Columns]:
        with pq.ParquetFile(path) as file, path.open("rb") as raw:
            for group in groups:
                if columns == ["slot", "y"] and (block := coded_block(raw, file.metadata, group)):
                    yield block
                    continue
                for batch in file.read_row_group(group, columns, use_threads=False).to_batches():
                    yield {name: as_numbers(name, batch.column(name)) for name in columns}

    return safely(path, "parquet", read())


def coded_block(raw: BinaryIO, metadata: Any, group: int) -> Columns | None:
    """Count a row group by codes; None where it has to be read, or is damaged, value by value."""
    try:
        found = pair_counts(raw, metadata, group, ("slot", "y"))
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None
    return None if found is None else dict(zip(("slot", "y", "times"), found, strict=True))


def as_numbers(name: str, column: Any) -> NDArray[Any]:
    """Give a column as plain integers; what is none becomes a number that is no report."""
    if name == "client":
        return client_codes(column.cast(pa.string()).to_pylist())
    if column.null_count or not pa.types.is_integer(column.type):
        strange = NO_BIT if name == "y" else -1
        column = column.cast(pa.int64(), safe=False).fill_null(strange)
    if name == "y" and column.type != pa.uint8():
        wide = column.to_numpy(zero_copy_only=False)
        return np.where((wide == 0) | (wide == 1), wide, NO_BIT).astype(np.uint8)
    numbers: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return numbers


def client_codes(names: Iterable[str | None]) -> NDArray[np.uint64]:
    """Give each name 64 bits of a hash: two of 10**6 names meet with chance 3e-8."""
    import hashlib

    told = ("" if name is None else name for name in names)
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=8).digest() for name in told)
    return np.frombuffer(digests, np.uint64)


def json_blocks(path: Path, begin: int, end: int, names: Sequence[str]) -> Iterator[Columns]:
    """Yield the reports of the lines that begin in a range of bytes."""
    for lines in line_blocks(path, begin, end):
        rows = [fields(text) for text in lines.to_pylist()]
        block: Columns = {
            name: np.array([whole_or(row.get(name), absent(name)) for row in rows], WIDEST[name])
            for name in names
            if name != "client"
        }
        if "client" in names:
            block["client"] = client_codes(str(row.get("client", "")) for row in rows)
        yield block


def fields(text: str) -> dict[str, Any]:
    """Read one line; what is no JSON object has no fields."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def absent(name: str) -> int:
    """Give the number that stands for a field that is absent."""
    return {"y": NO_BIT, "class": 0}.get(name, -1)


def whole_or(value: object, other: int) -> int:
    """Give a small whole number, or another one in its place."""
    small = type(value) is int and 0 <= value < 1 << 31
    if not small:
        return other
    number = int(value)  # type: ignore[call-overload]
    return number if other != NO_BIT or number <= 1 else NO_BIT
