"""What reweighting asks of a private table, as a statistic file. Secret.

basis-sums      name, sum: the whole steps of each function of a public basis, and first the
number of rows; public: the identity of the basis and its size
encoded-rows    x0, x1, ...: for questions that look more than once; public: the width, and the
digest of the schema that encodes
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from noren.data.handover import (
    Kind,
    StatisticFile,
    open_statistic,
    public_text,
    public_whole,
    write_statistic,
)
from noren.errors import SchemaError
from noren.reweighting.encoding import Encoding
from noren.reweighting.rows import Floats
from noren.reweighting.statistic import BasisSums

SUMS = Kind("basis-sums", {"name": pa.string(), "sum": pa.int64()})
ROWS = Kind("encoded-rows", {}, numbered="x")
KIND = SUMS
TOTAL = "rows"


def write_sums(path: str | Path, sums: BasisSums) -> Path:
    """Write the sums of a basis."""
    names = [TOTAL, *(f"function {place}" for place in range(len(sums.steps)))]
    table = {"name": names, "sum": np.concatenate([[sums.records], sums.steps])}
    public = {"basis": sums.basis.identity, "size": len(sums.steps)}
    return write_statistic(path, SUMS, public, [table])


def read_sums(path: str | Path, basis: Any) -> BasisSums:
    """Read the sums of a basis; refuse those of another."""
    file = open_statistic(path, SUMS)
    if public_text(file, "basis") != basis.identity:
        raise SchemaError(
            f"{file.path} holds sums of another basis than this question's, but the basis depends "
            "on the public table, the schema, the price and the sizes. Write it again with these."
        )
    steps, records = sums_of(file)
    return BasisSums(basis, steps, records)


def sums_of(file: StatisticFile) -> tuple[Any, int]:
    """Give the sums of an open file, and the number of rows."""
    columns = file.whole()
    sums = columns["sum"].to_numpy()
    size = public_whole(file, "size", 1)
    names = columns["name"].to_pylist()
    if names != [TOTAL, *(f"function {place}" for place in range(size))] or sums[0] < 0:
        raise SchemaError(f"{file.path} has other rows than its basis needs. Write it again.")
    return sums[1:].copy(), int(sums[0])


def digest(encoding: Encoding) -> str:
    """Give the SHA-256 of the schema that encodes."""
    text = json.dumps(encoding.schema.to_dict(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def write_rows(path: str | Path, encoding: Encoding, blocks: Iterable[Floats]) -> Path:
    """Write encoded rows, a block at a time."""
    width = len(encoding.coordinates)
    tables = ({f"x{place}": block[:, place] for place in range(width)} for block in blocks)
    public = {"schema": digest(encoding), "width": width}
    return write_statistic(path, ROWS, public, tables, [f"x{place}" for place in range(width)])


@dataclass(frozen=True, slots=True, repr=False)
class RowsRange:
    """Some row groups of a statistic file: a name and a range, no rows."""

    file: StatisticFile
    start: int
    stop: int

    @property
    def id(self) -> str:
        """The piece's name."""
        return f"{self.file.path}#groups={self.start}-{self.stop}"

    def read(self) -> Iterator[Floats]:
        """Yield encoded rows."""
        for columns in self.file.read(range(self.start, self.stop)):
            yield np.column_stack([columns[name].to_numpy() for name in self.file.columns])


def open_rows(path: str | Path, encoding: Encoding | None = None) -> list[RowsRange]:
    """Open encoded rows, to be read in pieces."""
    file = open_statistic(path, ROWS)
    if public_whole(file, "width", 1) != len(file.columns):
        raise SchemaError(f"{file.path} contradicts itself about its width. Write it again.")
    if encoding is not None and public_text(file, "schema") != digest(encoding):
        raise SchemaError(
            f"{file.path} was encoded by another schema, or for another public table, than these. "
            "Write it again: noren statistic write reweight"
        )
    return [RowsRange(file, group, group + 1) for group in range(file.groups)] or [
        RowsRange(file, 0, 0)
    ]


def checked(path: str | Path) -> dict[str, Any]:
    """Read a file whole, and give what is public of it."""
    file = open_statistic(path, SUMS, ROWS)
    if file.kind is SUMS:
        sums_of(file)
        return {"basis": public_text(file, "basis"), "size": public_whole(file, "size", 1)}
    for part in open_rows(path):
        for _ in part.read():
            pass
    return {"schema": public_text(file, "schema"), "width": public_whole(file, "width", 1)}
