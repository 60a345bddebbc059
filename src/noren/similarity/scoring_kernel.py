"""Scoring compiled: common ones of a query and every record, by two layouts.

    row scan    score[i] = sum over words w of popcount(record[i, w] & query[w])
    postings    score[i] += 1 for each posting i of each column of the query

The first reads all the data once, at the speed of memory; the second reads only the columns of
the query, which is far less where ones are rare. Loading this module loads the compiler.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from noren.data.popcount_kernel import ones

TILE = 256  # records that stay in the cache while every query of a batch passes over them


@njit(cache=True, nogil=True)
def scan_rows(words: Any, query: Any, out: Any) -> None:
    """Score every record against one query."""
    width = words.shape[1]
    for row in range(words.shape[0]):
        found = np.uint64(0)
        for w in range(width):
            found += ones(words[row, w] & query[w])
        out[row] = np.int32(found)


@njit(cache=True, nogil=True)
def scan_rows_batch(words: Any, queries: Any, out: Any) -> None:
    """Score every record against every query, a tile of records at a time."""
    rows, width = words.shape
    for first in range(0, rows, TILE):
        last = min(rows, first + TILE)
        for number in range(queries.shape[0]):
            for row in range(first, last):
                found = np.uint64(0)
                for w in range(width):
                    found += ones(words[row, w] & queries[number, w])
                out[number, row] = np.int32(found)


@njit(cache=True, nogil=True)
def add_postings(begins: Any, rows: Any, columns: Any, out: Any) -> None:
    """Add 1 to the score of every record that has a column of the query."""
    for column in columns:
        for place in range(begins[column], begins[column + 1]):
            out[rows[place]] += np.int32(1)


@njit(cache=True, nogil=True)
def fill_postings(words: Any, free: Any, rows: Any) -> None:
    """Write each record's number into the list of each of its columns, at its next free place."""
    for row in range(words.shape[0]):
        for w in range(words.shape[1]):
            word = words[row, w]
            while word != np.uint64(0):
                lowest = word & (~word + np.uint64(1))
                column = np.uint64(w * 64) + ones(lowest - np.uint64(1))
                rows[free[column]] = np.int32(row)
                free[column] += 1
                word ^= lowest
