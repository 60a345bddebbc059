"""Count pairs of values of two Parquet columns by their dictionary codes, without decoding values.

A column of few different values is stored as a dictionary and, for each row, the number of an
entry, packed into as few bits as that needs. To count how often each pair (slot, bit) occurs the
values are not needed: the codes of both columns are unpacked to bytes, pairs of codes are counted,
and each pair's values are looked up once. That is several times less work than decoding them.

Only the common form is read here: integers, at most 256 different values, no missing ones, data
pages of version 1. `pair_counts` gives None for all else, and whatever does not add up: then the
ordinary reader reads the group, or says what is wrong with it.
"""

from __future__ import annotations

from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noren.monitoring.coded_kernels import kernels

WIDTHS = {"INT32": "<i4", "INT64": "<i8"}
MOST_VALUES = 256
DATA, DICTIONARY = 0, 2  # kinds of pages
PLAIN, CODES = (0, 2), (2, 8)  # encodings: of a dictionary, of data by codes
LANES = 4  # counters side by side, so that equal pairs in a row do not wait for each other


class Coded(NamedTuple):
    """A column: its different values, and the number of one of them for each row."""

    values: NDArray[np.int64]
    codes: NDArray[np.uint8]


class PairCounts(NamedTuple):
    """How often each pair of values occurs; pairs that do not occur are left out."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    times: NDArray[np.int64]


def pair_counts(
    file: BinaryIO, metadata: Any, group: int, names: tuple[str, str]
) -> PairCounts | None:
    """Count the pairs of two columns in a row group; None where they have not the common form."""
    found = metadata.row_group(group)
    places = {found.column(i).path_in_schema: i for i in range(found.num_columns)}
    columns = []
    for name in names:
        levels = metadata.schema.column(places[name])
        if levels.max_repetition_level or levels.logical_type.type not in ("NONE", "INT"):
            return None
        column = coded_column(file, found.column(places[name]), levels.max_definition_level == 1)
        if column is None or levels.max_definition_level > 1:
            return None
        columns.append(column)
    return counted(*columns)


def counted(first: Coded, second: Coded) -> PairCounts:
    """Count pairs of codes, and look their values up."""
    width = len(second.values)
    cells = np.zeros((LANES, len(first.values) * width), np.int64)
    kernels().count_pairs(first.codes, second.codes, width, cells)
    times = cells.sum(axis=0)
    seen = np.flatnonzero(times)
    return PairCounts(first.values[seen // width], second.values[seen % width], times[seen])


def coded_column(file: BinaryIO, column: Any, optional: bool) -> Coded | None:
    """Read the dictionary and the codes of one column of a row group."""
    usual = column.physical_type in WIDTHS and column.has_dictionary_page
    if not usual or column.statistics is None or column.statistics.null_count != 0:
        return None
    start = min(column.dictionary_page_offset, column.data_page_offset)
    file.seek(start)
    raw = np.frombuffer(file.read(column.total_compressed_size), np.uint8)
    pages = np.zeros((1 + raw.size // 8, 6), np.int64)
    number = kernels().list_pages(raw, pages)
    if number < 1 or pages[0, 0] != DICTIONARY or pages[0, 4] not in PLAIN:
        return None
    listed = pages[:number].tolist()
    values = np.frombuffer(opened(raw, column.compression, listed[0]), WIDTHS[column.physical_type])
    codes = np.empty(column.num_values, np.uint8)
    if not 0 < len(values) <= MOST_VALUES or len(values) != listed[0][3]:
        return None
    if not filled(codes, raw, column.compression, listed[1:], optional):
        return None
    if codes.size and int(codes.max()) >= len(values):
        return None
    return Coded(values.astype(np.int64), codes)


def filled(
    codes: NDArray[np.uint8],
    raw: NDArray[np.uint8],
    compression: str,
    pages: list[list[int]],
    optional: bool,
) -> bool:
    """Unpack all pages of data; False where one of them has another form."""
    done = 0
    for page in pages:
        if page[0] != DATA or page[4] not in CODES or page[3] < 0 or done + page[3] > codes.size:
            return False
        data = np.frombuffer(opened(raw, compression, page), np.uint8)
        if not kernels().unpack(data, optional, codes[done : done + page[3]]):
            return False
        done += page[3]
    return done == codes.size


def opened(raw: NDArray[np.uint8], compression: str, page: list[int]) -> Any:
    """Decompress the body of a page."""
    _, size, packed, _, _, start = page
    body = raw[start : start + packed]
    if compression == "UNCOMPRESSED":
        return body
    return pa.Codec(compression.lower()).decompress(pa.py_buffer(body), size)
