"""Read delimited text: one record a line, cells between delimiters, quotes around a cell allowed.

A line that has not as many cells as the header, or whose quotes are not in order, is a record
without values: each declared column treats it as missing by its own rule. The header is public;
because a file without one would have a private record in its place, no error quotes it.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from noren.data.cells import Cells, Values
from noren.data.lines import byte_ranges, first_line, line_blocks
from noren.data.missing import SPACES
from noren.data.remote import Url, size_of
from noren.data.schema import Schema, listed
from noren.errors import ParameterError, SchemaError

QUOTE = '"'


@dataclass(frozen=True, slots=True)
class CsvRange:
    """The lines of a file that begin in a range of bytes, and where its columns stand."""

    path: str
    start: int
    stop: int
    delimiter: str
    places: tuple[int, ...]  # of the schema's columns
    width: int
    open_ended: bool  # no header told the width: further cells are ignored

    @property
    def label(self) -> str:
        """The range in words, which sort as the ranges do."""
        return f"bytes={self.start}-{self.stop}"

    def cells(self, schema: Schema, rows: int) -> Iterator[dict[str, Cells]]:
        """Yield the cells of up to `rows` records at a time."""
        for lines in line_blocks(self.path, self.start, self.stop):
            for first in range(0, len(lines), rows):
                yield dict(
                    zip(schema.names, self.columns(lines[first : first + rows]), strict=True)
                )

    def columns(self, lines: Cells) -> list[Cells]:
        """Split lines into the cells of the declared columns."""
        quoted = pc.match_substring(lines, QUOTE).to_numpy(zero_copy_only=False)
        if not quoted.any():
            return self.split_plain(lines)
        plain = self.split_plain(lines.filter(pa.array(~quoted)))
        other = self.split_quoted(lines.filter(pa.array(quoted)).to_pylist())
        order = pa.array(np.argsort(np.argsort(quoted, kind="stable")))  # back into line order
        return [pa.concat_arrays(pair).take(order) for pair in zip(plain, other, strict=True)]

    def split_plain(self, lines: Cells) -> list[Cells]:
        """Split lines without quotes; one of the wrong width has null in every cell."""
        split = pc.split_pattern(lines, self.delimiter)
        lengths = pc.list_value_length(split).to_numpy(zero_copy_only=False)
        begins = np.cumsum(lengths) - lengths
        wrong, cells = ~self.has_width(lengths), split.flatten()
        return [cells.take(pa.array(begins + place, mask=wrong)) for place in self.places]

    def has_width(self, lengths: Values) -> Values:
        """Say which numbers of cells are right."""
        return (lengths >= self.width) if self.open_ended else (lengths == self.width)

    def split_quoted(self, lines: list[str]) -> list[Cells]:
        """Split lines that hold a quotation mark."""
        absent: list[str | None] = [None] * (max(self.places) + 1)
        table: list[Sequence[str | None]] = []
        for row in parse_lines(lines, self.delimiter):
            fits = len(row) >= self.width if self.open_ended else len(row) == self.width
            table.append(row if fits else absent)
        return [pa.array([row[place] for row in table], pa.string()) for place in self.places]


def parse_lines(lines: list[str], delimiter: str) -> list[list[str]]:
    """Parse each line by itself; a line that is no valid record gives an empty list."""
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        rows = []
    if len(rows) == len(lines):  # no row took two lines, so each line was read by itself
        return rows
    return [parse_line(line, delimiter) for line in lines]


def parse_line(line: str, delimiter: str) -> list[str]:
    """Parse one line; an invalid one has no cells."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


def split_csv(
    path: Path | Url,
    schema: Schema,
    piece: int,
    *,
    delimiter: str,
    names: Sequence[str] | None = None,
) -> list[CsvRange]:
    """Find the declared columns and cut the file into ranges of about `piece` bytes."""
    check_delimiter(delimiter)
    header, begin = read_header(path, delimiter)
    if names is not None:
        header, begin = read_names(names), 0
    places = find_columns(header, schema)
    return [
        CsvRange(str(path), start, stop, delimiter, places, len(header), names is not None)
        for start, stop in byte_ranges(begin, size_of(path), piece)
    ]


def check_delimiter(delimiter: str) -> None:
    """Refuse what cannot part one cell from the next."""
    if (
        len(delimiter) != 1
        or not delimiter.isascii()
        or delimiter in '"\r\n'
        or delimiter.isalnum()
    ):
        raise ParameterError(
            "delimiter",
            repr(delimiter),
            "one ASCII character such as ',' or a tab",
            "Letters, digits, quotes and line ends cannot be delimiters.",
        )


def read_names(names: Sequence[str]) -> list[str]:
    """Take the names of a file that has no header."""
    if isinstance(names, str) or not names or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            "names", names, "a non-empty list of strings", "Name the columns from left to right."
        )
    return list(names)


def read_header(path: Path | Url, delimiter: str) -> tuple[list[str], int]:
    """Read the names in a file's first line."""
    line, begin = first_line(str(path))
    return [name.strip(SPACES) for name in parse_line(line, delimiter)], begin


def find_columns(header: Sequence[str], schema: Schema) -> tuple[int, ...]:
    """Say where each declared column stands; quote declared names only."""
    times, place = Counter(header), {name: i for i, name in enumerate(header)}
    for name in schema.names:
        if times[name] != 1:
            found = "more than one column" if times[name] else "no column"
            raise SchemaError(
                f"Column {name!r} is declared, but the file has {found} of that name. Its first "
                f"line must name each declared column once: {listed(schema.names)}."
            )
    return tuple(place[name] for name in schema.names)
