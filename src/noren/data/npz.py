"""Read NPZ archives in ranges of rows, without ever holding a whole array.

NumPy loads a member of an archive in one piece. Here a member is a stream: its header says the
type and the shape, and the rows that are wanted are read a stretch at a time. Arrays of Python
objects are refused, because reading them would run code from the file.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO

import numpy as np

from noren.data.blocks import as_cells
from noren.data.cells import Cells, Values, check_storage
from noren.data.schema import Schema, listed
from noren.errors import FileProblem, SchemaError

STRETCH = 1 << 24  # bytes of one array read at a time, at most
MOST_DENSE = 1040  # deflate never packs more bytes than this into one


@dataclass(frozen=True, slots=True)
class Layout:
    """What the header of an array says, and how many bytes follow it."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    content: int

    @property
    def row_bytes(self) -> int:
        """The size of one row."""
        return self.dtype.itemsize * math.prod(self.shape[1:])


@dataclass(frozen=True, slots=True)
class NpzRange:
    """Some neighbouring rows of an archive's arrays."""

    path: str
    start: int
    stop: int
    widest: int  # bytes of the widest column's row

    @property
    def label(self) -> str:
        """The range in words, which sort as the ranges do."""
        return f"rows={self.start}-{self.stop}"

    def cells(self, schema: Schema, rows: int) -> Iterator[dict[str, Cells]]:
        """Yield the cells of up to `rows` records at a time."""
        rows = max(1, min(rows, STRETCH // self.widest))
        with zipfile.ZipFile(self.path) as archive:
            streams = [array_rows(archive, n, self.start, self.stop, rows) for n in schema.names]
            for arrays in zip(*streams, strict=True):
                cells = (as_cells(array) for array in arrays)
                yield dict(zip(schema.names, cells, strict=True))


def array_rows(
    archive: zipfile.ZipFile, name: str, start: int, stop: int, rows: int
) -> Iterator[Values]:
    """Yield rows [start, stop) of one array, up to `rows` at a time.

    Arrays of two dimensions work too, if they are stored row by row.
    """
    with archive.open(member(archive, name)) as stream:
        layout = read_layout(stream, archive.NameToInfo[member(archive, name)])
        skip(stream, start * layout.row_bytes)
        for first in range(start, stop, rows):
            count = min(rows, stop - first)
            content = stream.read(count * layout.row_bytes)
            yield np.frombuffer(content, layout.dtype).reshape(count, *layout.shape[1:])


def member(archive: zipfile.ZipFile, name: str) -> str:
    """Give the name of an array's member; refuse an archive without it."""
    if f"{name}.npy" not in archive.NameToInfo:
        raise SchemaError(
            f"Column {name!r} is declared, but the archive has no array of that name. "
            "Save each declared column as an array under its name."
        )
    return f"{name}.npy"


def read_layout(stream: IO[bytes], info: zipfile.ZipInfo) -> Layout:
    """Read an array's header."""
    version = np.lib.format.read_magic(stream)
    reader = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, by_column, dtype = reader(stream)
    if by_column and len(shape) > 1:
        raise ValueError("stored column by column")
    return Layout(shape, dtype, info.file_size - stream.tell())


def skip(stream: IO[bytes], count: int) -> None:
    """Pass over some bytes of a member."""
    while count > 0:
        passed = len(stream.read(min(count, STRETCH)))
        if not passed:
            return
        count -= passed


def split_npz(path: Path, schema: Schema, piece: int) -> list[NpzRange]:
    """Check the public shape, and cut the rows into ranges of about `piece` bytes."""
    layouts = {}
    with zipfile.ZipFile(path) as archive:
        for column in schema:
            info = archive.getinfo(member(archive, column.name))
            with archive.open(info) as stream:
                layout = layouts[column.name] = read_layout(stream, info)
            check_layout(path, layout)
            check_storage(column, as_cells(np.empty(0, layout.dtype)).type)
    if len({layout.shape for layout in layouts.values()}) > 1:
        raise FileProblem(
            "The archive's arrays differ in length, but each record needs a cell in every column: "
            f"{listed(schema.names)}. Check how the archive was put together."
        )
    widths = [layout.row_bytes for layout in layouts.values()]
    total, step = layout.shape[0], max(1, piece // sum(widths))
    edges = [*range(0, total, step), total] if total else [0, 0]
    return [NpzRange(str(path), a, b, max(widths)) for a, b in pairwise(edges)]


def check_layout(path: Path, layout: Layout) -> None:
    """Refuse an array that is no column, or says that it holds more than is there."""
    if len(layout.shape) != 1 or not 0 < layout.row_bytes <= STRETCH or layout.dtype.hasobject:
        raise FileProblem(
            f"An array in {path} is no column, but each must be one-dimensional, of numbers, "
            "truth values or text. Save one such array for each declared column."
        )
    promised = layout.shape[0] * layout.row_bytes
    if promised != layout.content or promised > MOST_DENSE * path.stat().st_size:
        raise FileProblem(
            f"{path} is damaged: an array's header and its content disagree. Write it again."
        )
