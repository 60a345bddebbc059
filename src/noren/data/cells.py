"""Turn the cells of one column into clean values, by the declared rule and never by raising.

Why
    Every cell gets a verdict (below) and a value inside the declared range. The value depends on
    that cell and the public column alone: never on its neighbours, on the block it was read in,
    or on how the file stores it. So one person's cell moves one value, and CSV, Parquet and NPZ
    files with the same content give the same table. The only thing refused is public: a storage
    type (a list, a date) that the declared column cannot be read from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from noren.data.columns import (
    Boolean,
    Categorical,
    Column,
    Integer,
    Numeric,
    Ordered,
    Text,
)
from noren.data.declarations import declared_levels
from noren.data.missing import SPACES
from noren.errors import SchemaError

Cells: TypeAlias = Any  # a pyarrow.Array (the library ships no types)
Values: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

FINE, CLAMPED, OTHER, EMPTY, UNUSABLE = range(5)  # verdicts; from EMPTY on, the cell is missing
VERDICTS = ("fine", "clamped", "undeclared, read as other", "empty", "unusable")

# What Arrow reads as a finite decimal number, spelled out so that "inf" and "nan" stay outside.
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
TRUE_WORDS = ("true", "t", "yes", "y", "1", "1.0")
FALSE_WORDS = ("false", "f", "no", "n", "0", "0.0")


@dataclass(frozen=True, slots=True, repr=False)
class Converted:
    """One column's clean values and the verdict on each cell. Secret."""

    values: Values
    verdicts: Values

    @property
    def missing(self) -> Values:
        """Which cells could not be used."""
        return self.verdicts >= EMPTY


def convert(column: Column, cells: Cells, missing_words: tuple[str, ...]) -> Converted:
    """Read one column's cells by its declaration."""
    match column:
        case Numeric() | Integer():
            return numbers(column, cells, missing_words)
        case Categorical() | Ordered():
            return codes(column, cells, missing_words)
        case Boolean():
            return truths(column, cells, missing_words)
        case Text():
            return words(column, cells, missing_words)


def check_storage(column: Column, storage: Any) -> None:
    """Refuse a storage type that the column cannot be read from: a public fact of the file."""
    kind = storage.value_type if pa.types.is_dictionary(storage) else storage
    usable = is_text(kind) or is_binary(kind) or is_number(kind) or pa.types.is_null(kind)
    if pa.types.is_boolean(kind):
        usable = not isinstance(column, Numeric | Integer)
    if not usable:
        raise SchemaError(
            f"Column {column.name!r} is declared {column.kind}, but the file stores it as "
            "something else. Write it as text or numbers, or declare what it is."
        )


def numbers(column: Numeric | Integer, cells: Cells, missing_words: tuple[str, ...]) -> Converted:
    """Read numbers: clamp those outside the bounds, replace what is no finite number."""
    cells = decoded(cells)
    if pa.types.is_integer(cells.type) and not cells.null_count:
        return whole_numbers(column, cells.to_numpy(zero_copy_only=False))
    read, empty = floats(cells, missing_words)
    verdicts = np.zeros(len(read), np.uint8)
    usable = np.isfinite(read)
    if isinstance(column, Integer):
        usable &= read == np.floor(read)
    judge_range(column, read, verdicts)
    verdicts[~usable] = UNUSABLE
    verdicts[empty] = EMPTY
    values = np.clip(read, column.lower, column.upper)
    values[verdicts >= EMPTY] = column.stand_in
    return Converted(values.astype(dtype_of(column)), verdicts)


def whole_numbers(column: Numeric | Integer, read: Values) -> Converted:
    """Read a stored integer column without gaps, which most of the time needs no change."""
    verdicts = np.zeros(len(read), np.uint8)
    inside = len(read) == 0 or (read.min() >= column.lower and read.max() <= column.upper)
    if inside:
        return Converted(read.astype(dtype_of(column)), verdicts)
    judge_range(column, read, verdicts)
    values = np.clip(read.astype(np.float64), column.lower, column.upper)
    values[verdicts >= EMPTY] = column.stand_in
    return Converted(values.astype(dtype_of(column)), verdicts)


def judge_range(column: Numeric | Integer, read: Values, verdicts: Values) -> None:
    """Mark what lies outside the bounds, by the column's rule for it."""
    outside = (read < column.lower) | (read > column.upper)
    verdicts[outside] = CLAMPED if column.outside == "clamp" else UNUSABLE


def dtype_of(column: Numeric | Integer) -> type[Any]:
    """Give the type of a numeric column's clean values."""
    return np.int64 if isinstance(column, Integer) else np.float64


def codes(column: Categorical | Ordered, cells: Cells, missing_words: tuple[str, ...]) -> Converted:
    """Read words as positions in `column.levels`."""
    known, level_of = accepted_words(column)
    found, empty = look_up(text_of(cells), known, missing_words)
    levels = np.append(level_of, column.stand_in)  # position -1: nothing declared was found
    values, verdicts = levels[found], np.zeros(len(found), np.uint8)
    stray = (found < 0) & ~empty
    if column.other is not None:
        values[stray] = declared_levels(column).index(column.other)
        verdicts[stray] = OTHER
    else:
        verdicts[stray] = UNUSABLE
    verdicts[empty] = EMPTY
    return Converted(values.astype(np.int32), verdicts)


@lru_cache(maxsize=64)
def accepted_words(column: Categorical | Ordered) -> tuple[Cells, Values]:
    """Give the words a cell may hold and the level of each.

    A whole number may be written with ".0": tables with gaps are often stored as floats, and
    whether somebody else's cell is empty must not change how this one is read.
    """
    level_of = {word: code for code, word in enumerate(declared_levels(column))}
    for word, code in list(level_of.items()):
        if word.removeprefix("-").isdecimal():
            level_of.setdefault(f"{word}.0", code)
    return pa.array(level_of, pa.string()), np.array(list(level_of.values()), np.int32)


def truths(column: Boolean, cells: Cells, missing_words: tuple[str, ...]) -> Converted:
    """Read yes and no."""
    cells = decoded(cells)
    if is_text(cells.type) or is_binary(cells.type):
        found = text_of(cells)
        place, _ = look_up(pc.utf8_lower(found), pa.array(TRUE_WORDS + FALSE_WORDS), ())
        yes, no = (place >= 0) & (place < len(TRUE_WORDS)), place >= len(TRUE_WORDS)
        empty = missing_in(found, missing_words)
    else:
        read, empty = floats(cells, missing_words)
        yes, no = read == 1, read == 0
    verdicts = np.where(yes | no, FINE, np.where(empty, EMPTY, UNUSABLE)).astype(np.uint8)
    return Converted(np.where(verdicts >= EMPTY, column.stand_in, yes), verdicts)


def words(column: Text, cells: Cells, missing_words: tuple[str, ...]) -> Converted:
    """Carry words along."""
    found = text_of(cells)
    empty = missing_in(found, missing_words)
    values = found.fill_null("").to_numpy(zero_copy_only=False)
    values = np.where(empty, column.stand_in, values).astype(object)
    return Converted(values, np.where(empty, EMPTY, FINE).astype(np.uint8))


def look_up(found: Cells, known: Cells, missing_words: tuple[str, ...]) -> tuple[Values, Values]:
    """Find each text among known words (-1 where absent), and say which ones are empty.

    A known word is never empty, even if it is also a missing word ("NA" may be a country).
    """
    place = pc.index_in(found, value_set=known).fill_null(-1)
    position = place.to_numpy(zero_copy_only=False)
    return position, missing_in(found, missing_words) & (position < 0)


def missing_in(found: Cells, missing_words: tuple[str, ...]) -> Values:
    """Say which cells of a text column hold no value."""
    absent = pc.is_in(found, value_set=pa.array(missing_words, pa.string()))
    return np.asarray(pc.or_(absent, found.is_null()).to_numpy(zero_copy_only=False))


def floats(cells: Cells, missing_words: tuple[str, ...]) -> tuple[Values, Values]:
    """Read cells as floats: NaN where there is no number, and a mask of the empty ones."""
    if is_number(cells.type) or pa.types.is_boolean(cells.type) or pa.types.is_null(cells.type):
        if pa.types.is_boolean(cells.type):
            cells = cells.cast(pa.uint8())
        read = as_floats(cells).fill_null(np.nan)
        values = np.array(read.to_numpy(zero_copy_only=False))
        return values, np.isnan(values)
    found = text_of(cells)
    legible = pc.match_substring_regex(found, NUMBER).fill_null(False)
    read = pc.if_else(legible, found, pa.scalar(None, pa.string())).cast(pa.float64())
    values = np.array(read.fill_null(np.nan).to_numpy(zero_copy_only=False))
    return values, missing_in(found, missing_words) & np.isnan(values)


def as_floats(cells: Cells) -> Cells:
    """Cast stored numbers to the nearest doubles (decimals by way of their digits)."""
    if pa.types.is_decimal(cells.type):
        cells = cells.cast(pa.string())
    return cells.cast(pa.float64(), safe=False)


def text_of(cells: Cells) -> Cells:
    """Give cells of any accepted storage as trimmed strings, one spelling for one value."""
    cells = decoded(cells)
    if pa.types.is_floating(cells.type) or pa.types.is_decimal(cells.type):
        return spelled(cells)
    if is_binary(cells.type) or not is_valid(cells):
        contents = cells.cast(pa.binary()).to_pylist()
        texts = [None if c is None else c.decode("utf-8", "replace") for c in contents]
        cells = pa.array(texts, pa.string())
    return pc.utf8_trim(cells.cast(pa.string()), characters=SPACES)


def is_valid(cells: Cells) -> bool:
    """Tell whether strings really are UTF-8; a file can say so and hold anything."""
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def spelled(cells: Cells) -> Cells:
    """Spell floats as people do: 1 for 1.0, nothing for NaN."""
    distinct = as_floats(cells).dictionary_encode()
    spelling = [spell(value) for value in distinct.dictionary.to_pylist()]
    return pa.array(spelling, pa.string()).take(distinct.indices)


def spell(value: float) -> str | None:
    """Spell one float."""
    if value != value:
        return None
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)


def decoded(cells: Cells) -> Cells:
    """Undo a dictionary encoding."""
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def is_text(storage: Any) -> bool:
    """Tell whether cells are stored as strings."""
    kinds = pa.types
    return bool(
        kinds.is_string(storage) or kinds.is_large_string(storage) or kinds.is_string_view(storage)
    )


def is_binary(storage: Any) -> bool:
    """Tell whether cells are stored as bytes."""
    kinds = pa.types
    return bool(
        kinds.is_binary(storage)
        or kinds.is_large_binary(storage)
        or kinds.is_binary_view(storage)
        or kinds.is_fixed_size_binary(storage)
    )


def is_number(storage: Any) -> bool:
    """Tell whether cells are stored as numbers."""
    kinds = pa.types
    return bool(
        kinds.is_integer(storage) or kinds.is_floating(storage) or kinds.is_decimal(storage)
    )
