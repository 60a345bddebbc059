"""Common ones of a query and every record, and which layout finds them fastest.

Maths
    u_i = a_i . q, the number of columns of the query that record i has; 0 <= u_i <= |q|.
    A row scan reads l / 8 bytes a record; postings read 4 bytes for each one in a column of the
    query, |q| * density * 4 bytes a record. Postings are used where that is less.

The NumPy path (for few records) and the compiled one give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from noren.data.bits import unpack
from noren.errors import ParameterError

if TYPE_CHECKING:
    from noren.similarity.statistic import Records

Scores: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
Indexes: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Words: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"

COMPILED_FROM = 1 << 18  # words of data; below, loading the compiler costs more than it saves
BLOCK = 4096  # records that the NumPy path holds at a time
ROWS, POSTINGS = "rows", "postings"
BATCH = 8  # queries at once that make building the postings worth it


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Postings:
    """The records of each column: rows[begins[h]:begins[h + 1]]. Secret."""

    begins: Indexes
    rows: Scores

    @property
    def weight(self) -> int:
        """The number of ones in all."""
        return int(self.begins[-1])

    def __repr__(self) -> str:
        return f"Postings({len(self.begins) - 1} columns)"


def make_postings(words: Words, n_columns: int, counts: Indexes) -> Postings:
    """List the records of every column."""
    begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    rows = np.empty(int(begins[-1]), np.int32)
    if words.size >= COMPILED_FROM:
        from noren.similarity.scoring_kernel import fill_postings

        fill_postings(words, begins[:-1].copy(), rows)
        return Postings(begins, rows)
    free = begins[:-1].copy()
    for first in range(0, len(words), BLOCK):
        bits = unpack(words[first : first + BLOCK], n_columns)
        columns, found = np.nonzero(bits.T)
        place = np.arange(len(columns)) - np.searchsorted(columns, columns)
        rows[free[columns] + place] = first + found
        free += bits.sum(axis=0, dtype=np.int64)
    return Postings(begins, rows)


def query_words(columns: Sequence[int], width: int) -> Words:
    """Pack the columns of a query as the records are packed."""
    words = np.zeros(width, np.uint64)
    for column in columns:
        words[column // 64] |= np.uint64(1) << np.uint64(column % 64)
    return words


def scan(words: Words, query: Words) -> Scores:
    """Score every record by reading all of it."""
    out = np.empty(len(words), np.int32)
    if words.size >= COMPILED_FROM:
        from noren.similarity.scoring_kernel import NARROW, scan_narrow_rows, scan_rows

        (scan_narrow_rows if words.shape[1] < NARROW else scan_rows)(words, query, out)
        return out
    for first in range(0, len(words), BLOCK):
        common = np.bitwise_count(words[first : first + BLOCK] & query)
        out[first : first + BLOCK] = common.sum(axis=1, dtype=np.int32)
    return out


def scan_batch(words: Words, queries: Words) -> Scores:
    """Score every record against several queries in one pass over the data."""
    if words.size < COMPILED_FROM:
        return np.array([scan(words, query) for query in queries], np.int32).reshape(
            len(queries), len(words)
        )
    from noren.similarity.scoring_kernel import scan_rows_batch

    out = np.empty((len(queries), len(words)), np.int32)
    scan_rows_batch(words, queries, out)
    return out


def add_up(postings: Postings, columns: Sequence[int], rows: int) -> Scores:
    """Score every record by the postings of the query's columns."""
    out = np.zeros(rows, np.int32)
    if postings.weight >= COMPILED_FROM:
        from noren.similarity.scoring_kernel import add_postings

        add_postings(postings.begins, postings.rows, np.asarray(columns, np.int64), out)
        return out
    for column in columns:  # a record is at most once in a column's list
        out[postings.rows[postings.begins[column] : postings.begins[column + 1]]] += 1
    return out


def chosen_layout(records: Records, columns: Sequence[int]) -> str:
    """Choose what reads fewer bytes, among the layouts that are there."""
    postings = records.postings
    if postings is None or not len(records):
        return ROWS
    read = 4 * sum(int(postings.begins[h + 1] - postings.begins[h]) for h in columns)
    return POSTINGS if 8 * read < records.n_columns * len(records) else ROWS


def scores(records: Records, query: Any, *, layout: str | None = None) -> Scores:
    """Count the common ones of a query and every record (exact, hence secret).

    Parameters
    ----------
    records : Records
    query
        One query: column names or numbers, or one 0 or 1 for each column. Or a list of queries
        in a list (the result then has a row for each).
    layout : str, optional
        "rows" or "postings". Left out, the one that reads fewer bytes among those built.

    Examples
    --------
    >>> from noren.similarity import Records
    >>> records = Records.of(["10001", "11100", "01100", "00011"])
    >>> scores(records, [0, 1, 1, 1, 0]).tolist()
    [0, 2, 2, 1]
    """
    from noren.similarity.queries import is_batch, read_columns

    if layout not in (None, ROWS, POSTINGS):
        raise ParameterError("layout", layout, "'rows' or 'postings'", "Or leave it out.")
    if is_batch(query):
        return score_batch(records, [read_columns(records, one) for one in query], layout)
    return score_columns(records, read_columns(records, query), layout)


def score_columns(records: Records, columns: Sequence[int], layout: str | None = None) -> Scores:
    """Score every record against one query that was read already."""
    if hasattr(records, "scored"):  # they stay in their file
        return records.scored(columns)  # type: ignore[no-any-return]
    if layout == POSTINGS:
        records.prepare()
    if (layout or chosen_layout(records, columns)) == POSTINGS:
        assert records.postings is not None
        return add_up(records.postings, columns, len(records))
    return scan(records.words, query_words(columns, records.words.shape[1]))


def score_batch(
    records: Records, queries: Sequence[Sequence[int]], layout: str | None = None
) -> Scores:
    """Score every record against several queries that were read already."""
    if layout == POSTINGS or (layout is None and len(queries) >= BATCH):
        records.prepare()
    layouts = [layout or chosen_layout(records, columns) for columns in queries]
    out = np.empty((len(queries), len(records)), np.int32)
    scanned = [number for number, name in enumerate(layouts) if name == ROWS]
    width = records.words.shape[1]
    for first in range(0, len(scanned), 16):
        some = scanned[first : first + 16]
        packed = np.array([query_words(queries[number], width) for number in some])
        out[some] = scan_batch(records.words, packed)
    for number, name in enumerate(layouts):
        if name == POSTINGS:
            assert records.postings is not None
            out[number] = add_up(records.postings, queries[number], len(records))
    return out


def dense_ranks(scores: Any) -> Indexes:
    """Rank scores from the highest, equal scores sharing a rank and no rank left out.

    Examples
    --------
    >>> dense_ranks([0, 2, 2, 1]).tolist()
    [3, 1, 1, 2]
    """
    given = np.asarray(scores)
    levels, place = np.unique(given, return_inverse=True)
    ranks: Indexes = (len(levels) - place.reshape(given.shape)).astype(np.int64)
    return ranks


def level_sizes(found: Scores, q: int) -> Indexes:
    """Count the records at each score 0..q."""
    return np.bincount(found, minlength=q + 1)
