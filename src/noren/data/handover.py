"""Statistic files: what was counted, handed over as one Parquet file that says what it holds.

Format (version 1)
    A Parquet file whose key-value metadata hold, under `noren.statistic`, one JSON object
        {"format": 1, "kind": ..., "secret": true, "public": {...}, "noren": version}
    Its columns are those of the kind, under their names, of their types, without missing values;
    `public` holds what is public beside them (sizes, names, the identity of a basis or a task).
    Pages carry checksums, which are compared when the file is read.

A kind is a table of counts or sums where these suffice, else the encoded rows. Both are secret
(reports alone are not: they were randomized on the devices), so a file is written for its owner
only, and whatever is wrong with one is said without a value, a row number or a count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from noren.data.files import existing_file, safe, safely
from noren.data.parquet import BUFFER
from noren.errors import FileProblem, SchemaError

FORMAT = 1
KEY = b"noren.statistic"
OWNER_ONLY = 0o600
BATCH_ROWS = 65_536
FAMILIES = {
    "whole numbers": pa.types.is_integer,
    "numbers": pa.types.is_floating,
    "text": lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind),
    "bytes": lambda kind: pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """Name a kind of statistic and its columns; `further` ones may be left out.

    With `numbered`, columns x0, x1, ... of numbers follow, as many as the file says.
    """

    name: str
    columns: Mapping[str, pa.DataType]
    further: Mapping[str, pa.DataType] = field(default_factory=dict)
    numbered: str = ""
    secret: bool = True

    def schema(self, given: Iterable[str]) -> pa.Schema:
        """Give the Arrow schema of a file that has these columns."""
        known = {**self.columns, **self.further}
        return pa.schema([(name, known.get(name, pa.float64())) for name in given])


@dataclass(frozen=True, slots=True, repr=False)
class StatisticFile:
    """A checked file: what it is, what is public of it, and how it is read, a part at a time."""

    path: str
    kind: Kind
    public: dict[str, Any]
    columns: tuple[str, ...]
    groups: int
    rows: int
    stored: Mapping[str, pa.DataType]

    def read(self, groups: Iterable[int] | None = None) -> Iterator[dict[str, pa.Array]]:
        """Yield some thousand rows at a time, column by column, in the kind's types."""
        schema = self.kind.schema(self.columns)

        def batches() -> Iterator[dict[str, pa.Array]]:
            with opened(self.path) as file:
                chosen = range(self.groups) if groups is None else list(groups)
                for batch in file.iter_batches(
                    BATCH_ROWS, chosen, list(self.columns), use_threads=False
                ):
                    yield {
                        name: typed(batch, name, schema.field(name).type) for name in schema.names
                    }

        return safely(self.path, "parquet", batches())

    def whole(self) -> dict[str, pa.Array]:
        """Give all of a small file."""
        parts = list(self.read())
        schema = self.kind.schema(self.columns)
        return {
            name: pa.concat_arrays([part[name] for part in parts])
            if parts
            else pa.array([], schema.field(name).type)
            for name in self.columns
        }

    def __repr__(self) -> str:
        return f"StatisticFile({self.kind.name})"


def typed(batch: pa.RecordBatch, name: str, wanted: pa.DataType) -> pa.Array:
    """Give a column in its type; refuse gaps without saying where they are."""
    column = batch.column(name)
    if column.null_count:
        raise SchemaError(
            f"The statistic has gaps in its column {name!r}, but each value must be there. "
            "Write it again, with 0 where nobody was counted."
        )
    as_it_is = column.type == wanted or pa.types.is_binary(wanted)
    return column if as_it_is else column.cast(wanted)


def opened(path: str | Path) -> Any:
    """Open a Parquet file that is read a buffer at a time, its checksums compared."""
    return pq.ParquetFile(
        path, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
    )


def write_statistic(
    path: str | Path,
    kind: Kind,
    public: Mapping[str, Any],
    tables: Iterable[Mapping[str, Any]],
    columns: Iterable[str] | None = None,
    types: Mapping[str, pa.DataType] | None = None,
) -> Path:
    """Write a file, complete or not at all, for its owner only; each table is a row group.

    `types` narrows the kind's types, such as bytes of one length.
    """
    target = Path(path)
    names = tuple(kind.columns if columns is None else columns)
    about = {"format": FORMAT, "kind": kind.name, "secret": kind.secret, "public": dict(public)}
    text = json.dumps({**about, "noren": version("noren")}, sort_keys=True)
    usual = kind.schema(names)
    narrow = [(name, (types or {}).get(name, usual.field(name).type)) for name in names]
    schema = pa.schema(narrow, metadata={KEY: text.encode()})
    texts = [name for name in names if pa.types.is_string(usual.field(name).type)]
    temporary = target.with_name(f"{target.name}.part")
    temporary.unlink(missing_ok=True)
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with (
            os.fdopen(handle, "wb") as file,
            pq.ParquetWriter(
                file, schema, write_page_checksum=True, use_dictionary=texts, compression="none"
            ) as writer,
        ):
            for table in tables:
                arrays = [pa.array(table[name], schema.field(name).type) for name in names]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
        temporary.replace(target)
    except OSError as error:
        problem = type(error).__name__
    else:
        return target
    finally:
        temporary.unlink(missing_ok=True)
    raise FileProblem(f"{target} cannot be written ({problem}). Check the folder and its space.")


def open_statistic(path: str | Path, *kinds: Kind) -> StatisticFile:
    """Open a file of one of these kinds, having checked all that is public of it."""
    file = existing_file(path)
    schema, metadata = safe(file, "parquet", lambda: headings(file))
    about = read_about(file, (schema.metadata or {}).get(KEY))
    known = {kind.name: kind for kind in kinds}
    if about["kind"] not in known:
        raise SchemaError(
            f"{file} holds a statistic of the kind {about['kind']!r}, but it must be "
            f"{' or '.join(map(repr, known))}. Hand it to the command that it was made for."
        )
    kind = known[about["kind"]]
    names = check_columns(file, kind, schema)
    return StatisticFile(
        str(file), kind, about["public"], names, metadata.num_row_groups, metadata.num_rows,
        {name: schema.field(name).type for name in names},
    )  # fmt: skip


def headings(file: Path) -> tuple[pa.Schema, Any]:
    """Give the schema and the footer of a Parquet file."""
    with opened(file) as content:
        return content.schema_arrow, content.metadata


def kind_of(path: str | Path) -> str | None:
    """Say what kind of statistic a file is said to hold; None where it says nothing."""
    file = existing_file(path)
    schema, _ = safe(file, "parquet", lambda: headings(file))
    text = (schema.metadata or {}).get(KEY)
    return None if text is None else str(read_about(file, text)["kind"])


def read_about(file: Path, text: bytes | None) -> dict[str, Any]:
    """Read what a file says of itself."""
    try:
        about = json.loads(text or b"")
        version, kind, public = about["format"], about["kind"], about["public"]
    except (ValueError, KeyError, TypeError):
        version, kind, public = None, None, None
    if type(version) is not int or not isinstance(kind, str) or not isinstance(public, dict):
        raise FileProblem(
            f"{file} does not say which statistic it holds (its Parquet metadata lack "
            "'noren.statistic'), but it must. Make it with: noren statistic write"
        )
    if version != FORMAT:
        raise FileProblem(
            f"{file} has version {version} of the format, but this Noren reads version {FORMAT}. "
            "Use the version that wrote it, or write it again."
        )
    return {"kind": kind, "public": public}


def check_columns(file: Path, kind: Kind, stored: pa.Schema) -> tuple[str, ...]:
    """Refuse a file whose columns are not those of its kind."""
    names = stored.names
    extra = [name for name in names if name not in kind.columns]
    numbered = [f"{kind.numbered}{place}" for place in range(len(extra))] if kind.numbered else []
    if not set(kind.columns) <= set(names) or len(set(names)) < len(names) or not (
        extra == numbered or set(extra) <= set(kind.further)
    ):  # fmt: skip
        further = f" (and perhaps {', '.join(kind.further)})" if kind.further else ""
        more = f", then {kind.numbered}0, {kind.numbered}1, ..." if kind.numbered else ""
        raise SchemaError(
            f"{file} has other columns than a statistic of the kind {kind.name!r}, which must have "
            f"{', '.join(kind.columns)}{further}{more}. Write it again."
        )
    wanted = kind.schema(names)
    for name in names:
        check_type(file, name, stored.field(name).type, wanted.field(name).type)
    return tuple(names)


def check_type(file: Path, name: str, stored: pa.DataType, wanted: pa.DataType) -> None:
    """Refuse a column that is stored as another family of values."""
    if stored == wanted:
        return
    for words, belongs in FAMILIES.items():
        if belongs(wanted) and belongs(stored):
            return
        if belongs(wanted):
            raise SchemaError(f"{file} must hold {words} in its column {name!r}. Write it again.")
    raise SchemaError(f"{file} must hold {wanted} in its column {name!r}. Write it again.")


def public_whole(file: StatisticFile, name: str, least: int = 0) -> int:
    """Give a whole number that a file states as public."""
    found = file.public.get(name)
    if type(found) is not int or found < least:
        raise SchemaError(
            f"{file.path} does not state its public {name!r} as a whole number from {least}. "
            "Write it again."
        )
    return found


def public_text(file: StatisticFile, name: str) -> str:
    """Give a word that a file states as public."""
    found = file.public.get(name)
    if not isinstance(found, str):
        raise SchemaError(f"{file.path} does not state its public {name!r}. Write it again.")
    return found
