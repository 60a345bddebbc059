"""Read a table by its schema, streamed, whatever file it lies in.

`partitions` cuts files into pieces that are read apart from each other: each is a file name and a
range, never rows, so it can be sent to a thread, a process or another machine. `read` goes
through the pieces one after the other. Both give clean blocks (`noren.data.blocks`).

What raises is public: a path that is no file, a format that is not what it says, a declared
column that is absent. What a record holds never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from noren.data.blocks import BLOCK_ROWS, Block, clean
from noren.data.cells import Cells
from noren.data.csv import split_csv
from noren.data.files import existing_file, safe, safely
from noren.data.npz import split_npz
from noren.data.parquet import split_parquet
from noren.data.remote import Url, is_url, read_url
from noren.data.schema import Schema
from noren.errors import FileProblem, ParameterError
from noren.privacy.numbers import whole

PIECE_BYTES = 1 << 26  # independent of the machine, so that float sums repeat bit for bit
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
}
Paths: TypeAlias = str | Path | list[str] | list[Path] | tuple[str | Path, ...]


class Source(Protocol):
    """A range of a file in some format."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def label(self) -> str:
        """The range."""

    def cells(self, schema: Schema, rows: int) -> Iterator[dict[str, Cells]]:
        """Yield the cells of up to `rows` records at a time, as they are stored."""


@dataclass(frozen=True, slots=True, repr=False)
class TablePartition:
    """A piece of a file that can be read by itself: a name and a range, no rows."""

    source: Source
    form: str
    schema: Schema
    rows: int

    @property
    def id(self) -> str:
        """The piece's name; equal names mean the same records."""
        return f"{self.source.path}#{self.source.label}"

    def cells(self) -> Iterator[dict[str, Cells]]:
        """Yield the cells as they are stored. Secret, and not yet made safe to count."""
        return safely(self.source.path, self.form, self.source.cells(self.schema, self.rows))

    def read(self) -> Iterator[Block]:
        """Yield clean blocks."""
        blocks = (clean(self.schema, cells) for cells in self.cells())
        return safely(self.source.path, self.form, (block for block in blocks if len(block)))

    def __repr__(self) -> str:
        return f"TablePartition(a piece of {self.source.path})"


@dataclass(frozen=True, slots=True, repr=False)
class Partition:
    """A piece of any other origin: a name and a function that reads it."""

    id: str
    reader: Callable[[], Iterable[Any]]

    def read(self) -> Iterable[Any]:
        """Yield the blocks."""
        return self.reader()


def partitions(
    paths: Paths,
    schema: Schema,
    *,
    form: str | None = None,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    piece_bytes: int = PIECE_BYTES,
    rows: int = BLOCK_ROWS,
) -> list[TablePartition]:
    """Cut one or several files into pieces that can be read apart from each other.

    Parameters
    ----------
    paths
        A file or several, or URLs of CSV and Parquet files (`noren.data.remote`). Their order does
        not matter to a merged statistic.
    schema
        What the files are declared to hold; undeclared columns are ignored.
    form
        "csv", "parquet" or "npz"; by default the file's suffix says it.
    delimiter
        What parts the cells of delimited text; by default a tab in .tsv and .tab, else a comma.
    names
        The columns of delimited text without a header, from left to right.
    piece_bytes
        About how many bytes a piece should have.
    rows
        The most records in one block.
    """
    if not isinstance(schema, Schema):
        raise ParameterError(
            "schema", type(schema).__name__, "a noren.data.Schema", "Use Schema.read(path)."
        )
    piece_bytes, rows = whole("piece_bytes", piece_bytes, 1), whole("rows", rows, 1)
    given = paths if isinstance(paths, (list, tuple)) else [paths]
    parts = []
    for path in [read_url(str(p)) if is_url(p) else existing_file(p) for p in given]:
        kind = format_of(path, form)
        split = splitter(kind, default_delimiter(path) if delimiter is None else delimiter, names)
        if kind == "npz":
            refuse_remote_npz(path)
        sources = safe(str(path), kind, partial(split, path, schema, piece_bytes))
        parts += [TablePartition(source, kind, schema, rows) for source in sources]
    return parts


def refuse_remote_npz(path: Path | Url) -> None:
    """Refuse an archive elsewhere: it cannot be read by ranges."""
    if isinstance(path, Url):
        raise FileProblem(f"{path} is an NPZ, which is read from a file only. Copy it first.")


def splitter(
    kind: str, delimiter: str, names: Sequence[str] | None
) -> Callable[[Any, Schema, int], Sequence[Source]]:
    """Give the function that cuts files of one format."""
    match kind:
        case "parquet":
            return split_parquet
        case "npz":
            return split_npz
        case _:
            return partial(split_csv, delimiter=delimiter, names=names)


def read(
    paths: Paths,
    schema: Schema,
    *,
    form: str | None = None,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    rows: int = BLOCK_ROWS,
) -> Iterator[Block]:
    """Yield a table's clean blocks, in the order of the files."""
    parts = partitions(paths, schema, form=form, delimiter=delimiter, names=names, rows=rows)
    return (block for part in parts for block in part.read())


def format_of(path: Path | Url, form: str | None) -> str:
    """Say how a file is to be read."""
    kind = form or SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise FileProblem(
            f"{path} has no suffix that tells its format, but it must be one of "
            f"{', '.join(SUFFIXES)}. Rename it, or name the format."
        )
    if kind not in SUFFIXES.values():
        raise ParameterError("form", form, "'csv', 'parquet' or 'npz'")
    return kind


def default_delimiter(path: Path | Url) -> str:
    """Give a tab for files that are named so, else a comma."""
    return "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
