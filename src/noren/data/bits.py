"""Records of bits, packed row by row into 64-bit words.

Layout
    Column h of a record is bit h mod 64 (least significant first) of its word h // 64. Bits past
    the last column are 0. So the number of ones is a popcount, and common ones of two records
    are the popcount of their words' `&`.

Privacy
    Packing never raises because of a cell: any value but 0 is a 1, an index outside the declared
    columns is ignored, and a repeated one counts once.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from noren.errors import ParameterError
from noren.privacy.numbers import whole

Words: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"
Bits: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"
Counts: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

STRETCH = 1 << 24  # unpacked cells held at a time
LITTLE = np.dtype("<u8")


def words_for(n_columns: int) -> int:
    """Give the number of 64-bit words in a record."""
    return -(-whole("n_columns", n_columns, 1) // 64)


def pack(dense: Array) -> Words:
    """Pack a matrix of truth values or integers, one row a record.

    Examples
    --------
    >>> import numpy as np
    >>> pack(np.array([[1, 0, 1], [0, 0, 0]]))
    array([[5],
           [0]], dtype=uint64)
    """
    array = np.asarray(dense)
    if array.ndim != 2 or not array.shape[1] or array.dtype.kind not in "bui":
        raise ParameterError(
            "the matrix of bits",
            f"{array.ndim}-dimensional, of type {array.dtype}",
            "two-dimensional, of truth values or integers, with at least one column",
            "Convert it with .astype(bool).",
        )
    rows, columns = array.shape
    words = np.empty((rows, words_for(columns)), np.uint64)
    step = max(1, STRETCH // columns)
    for first in range(0, rows, step):
        words[first : first + step] = packed(array[first : first + step] != 0)
    return words


def pack_indices(indptr: Array, indices: Array, n_columns: int) -> Words:
    """Pack sparse records: row r has ones in columns indices[indptr[r]:indptr[r + 1]].

    Examples
    --------
    >>> pack_indices([0, 2, 2], [0, 2], n_columns=3)
    array([[5],
           [0]], dtype=uint64)
    """
    begins, ones = np.asarray(indptr), np.asarray(indices)
    n_columns = whole("n_columns", n_columns, 1)
    check_sparse(begins, ones)
    rows, step = len(begins) - 1, max(1, STRETCH // n_columns)
    words = np.empty((rows, words_for(n_columns)), np.uint64)
    for first in range(0, rows, step):
        part = begins[first : first + step + 1]
        dense = np.zeros((len(part) - 1, n_columns), bool)
        columns = ones[part[0] : part[-1]]
        row = np.repeat(np.arange(len(dense)), np.diff(part))
        inside = (columns >= 0) & (columns < n_columns)
        dense[row[inside], columns[inside]] = True
        words[first : first + step] = packed(dense)
    return words


def unpack(words: Words, n_columns: int) -> Bits:
    """Give packed records back as a matrix of 0 and 1."""
    check_words(words, n_columns)
    octets = np.ascontiguousarray(words, LITTLE).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=n_columns, bitorder="little")


def row_counts(words: Words) -> Counts:
    """Count the ones of each record."""
    counts: Counts = np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    return counts


def column_counts(words: Words, n_columns: int) -> Counts:
    """Count the ones of each column."""
    check_words(words, n_columns)
    counts = np.zeros(n_columns, np.int64)
    step = max(1, STRETCH // n_columns)
    for first in range(0, len(words), step):
        counts += unpack(words[first : first + step], n_columns).sum(axis=0, dtype=np.int64)
    return counts


def packed(dense: Array) -> Words:
    """Pack a matrix of truth values that fits in memory twice."""
    octets = np.packbits(dense, axis=1, bitorder="little")
    padded = np.zeros((len(dense), words_for(dense.shape[1]) * 8), np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view(LITTLE).astype(np.uint64, copy=False)


def check_sparse(begins: Array, ones: Array) -> None:
    """Refuse what is no sparse matrix, saying nothing of its content."""
    whole_numbers = begins.dtype.kind in "ui" and (ones.dtype.kind in "ui" or not ones.size)
    if (
        begins.ndim != 1
        or ones.ndim != 1
        or not whole_numbers
        or not len(begins)
        or begins[0] != 0
        or begins[-1] != len(ones)
        or (begins[1:] < begins[:-1]).any()
    ):
        raise ParameterError(
            "indptr",
            "not a row index of the given indices",
            "integers that begin with 0, never fall, and end with the number of indices",
            "Pass .indptr and .indices of a SciPy CSR matrix.",
        )


def check_words(words: Words, n_columns: int) -> None:
    """Refuse words that do not belong to records of so many columns."""
    if words.ndim != 2 or words.dtype != np.uint64 or words.shape[1] != words_for(n_columns):
        raise ParameterError(
            "n_columns",
            n_columns,
            "the number of columns these words were packed from (uint64, one row a record)",
            "It is public; keep it beside the words.",
        )
