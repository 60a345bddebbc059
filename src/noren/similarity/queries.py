"""How a query is read: always as a set of columns, and never taken from the records it searches.

A query that copies a protected record (query by example) is outside every guarantee: one bit of
that record would then move the score of every other one. It is refused by where it comes from, a
record's id or the records themselves, never by comparing it with rows: whether such a comparison
refuses would tell what the rows hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from noren.data.files import existing_file
from noren.errors import NotPrivate, ParameterError

if TYPE_CHECKING:
    from noren.similarity.statistic import Records

BY_EXAMPLE = (
    "The query comes from the protected records{which}, but no guarantee covers a query by "
    "example: one bit of that record would move the score of every record. Write the query from "
    "public knowledge, from your own data, or from released answers."
)
ACCEPTED = "column names or numbers, or one 0 or 1 for each column"


class Named(Protocol):
    """Whatever knows the public names of its columns."""

    @property
    def n_columns(self) -> int:
        """How many there are."""

    def column(self, name: str) -> int | None:
        """Give a column's number, or None."""


def refuse_examples(records: Records, given: Any) -> None:
    """Refuse a query that is, or names, protected records."""
    if type(given).__name__ in ("Records", "FiledRecords"):
        raise NotPrivate(BY_EXAMPLE.format(which=""))
    filed = type(records).__name__ == "FiledRecords"  # no array of theirs is in memory
    if not filed and isinstance(given, np.ndarray) and np.may_share_memory(given, records.words):
        raise NotPrivate(BY_EXAMPLE.format(which=""))


def read_columns(records: Records, given: Any) -> tuple[int, ...]:
    """Read a query as a sorted set of column numbers; refuse one taken from the records."""
    refuse_examples(records, given)
    if isinstance(given, (str, bytes)):
        given = bits_of_text(records, given)
    if hasattr(given, "GetOnBits"):  # RDKit's ExplicitBitVect
        return fingerprint_columns(records, given)
    items = list(given) if isinstance(given, Iterable) else [given]
    if is_vector(items, records.n_columns):
        return tuple(np.flatnonzero(np.asarray(items, dtype=np.int64)).tolist())
    if isinstance(given, np.ndarray):
        raise ParameterError(
            "the query",
            f"an array of {len(items)} values",
            f"an array of 0 and 1, one for each of the {records.n_columns} columns",
            "Or name its columns in a list.",
        )
    return tuple(sorted({column_number(records, item) for item in items}))


def bits_of_text(records: Records, text: str | bytes) -> list[Any]:
    """Read text as 0s and 1s, one for each column, or as names with commas between."""
    words = text.decode() if isinstance(text, bytes) else text
    stripped = words.strip()
    if stripped.startswith("0x"):
        return bits_of_hex(records, stripped[2:])
    if len(stripped) == records.n_columns and set(stripped) <= {"0", "1"} and len(stripped) > 1:
        return [int(bit) for bit in stripped]
    return [name.strip() for name in stripped.split(",") if name.strip()]


def bits_of_hex(records: Named, text: str) -> list[int]:
    """Read a fingerprint in hexadecimal, the first bit being the lowest of the first byte."""
    try:
        octets = np.frombuffer(bytes.fromhex(text), np.uint8)
    except ValueError:
        octets = np.zeros(0, np.uint8)
    bits = np.unpackbits(octets, bitorder="little")
    if len(octets) != -(-records.n_columns // 8) or bits[records.n_columns :].any():
        raise ParameterError(
            "the query", "another fingerprint", f"{records.n_columns} bits in hexadecimal"
        )
    found: list[int] = bits[: records.n_columns].tolist()
    return found


def fingerprint_columns(records: Named, given: Any) -> tuple[int, ...]:
    """Read a fingerprint of RDKit, as long as the records are wide."""
    if int(given.GetNumBits()) != records.n_columns:
        raise ParameterError("the query", "another fingerprint", f"one of {records.n_columns} bits")
    return tuple(sorted(given.GetOnBits()))


def read_query_file(records: Records, path: Path) -> tuple[int, ...]:
    """Read a query from a file: columns, one a line or with commas; or a vector, or hexadecimal.

    A file that the records were read from is refused, by its name and place alone.
    """
    file = existing_file(path)
    if any(Path(own).is_file() and file.samefile(own) for own in records.origin):
        raise NotPrivate(BY_EXAMPLE.format(which=""))
    lines = file.read_text(encoding="utf-8").split("\n")
    return read_columns(records, ",".join(line.strip() for line in lines if line.strip()))


def is_vector(items: list[Any], n_columns: int) -> bool:
    """Tell one 0 or 1 for each column from a list of columns."""
    return len(items) == n_columns and all(
        isinstance(item, (bool, int, float, np.bool_, np.integer, np.floating)) and item in (0, 1)
        for item in items
    )


def is_batch(given: Any) -> bool:
    """Tell a list of queries from one query."""
    if isinstance(given, np.ndarray):
        return given.ndim == 2
    if not isinstance(given, (list, tuple)) or not given:
        return False
    return all(isinstance(item, (list, tuple, set, frozenset, np.ndarray)) for item in given)


def column_number(records: Records, item: Any) -> int:
    """Find one column; say so where the word is a record's id instead."""
    if isinstance(item, (bool, np.bool_)) or not isinstance(item, (str, int, np.integer)):
        raise ParameterError("the query", "made of other things", ACCEPTED)
    number = records.column(str(item)) if isinstance(item, str) else int(item)
    if number is not None and 0 <= number < records.n_columns:
        return number
    if isinstance(item, str) and records.has_id(item):
        raise NotPrivate(BY_EXAMPLE.format(which=f" (record {item!r})"))
    raise ParameterError(
        "the query", f"about a column {str(item)!r}", ACCEPTED, "It is no column of these records."
    )


def canonical(records: Records, given: Any) -> tuple[str, ...]:
    """Give a query's column names in the order of the columns, which is how a question holds it."""
    return tuple(records.name_of(column) for column in read_columns(records, given))
