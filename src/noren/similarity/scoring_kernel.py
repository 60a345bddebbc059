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
SCORES = 1 << 17  # scores that stay in the cache while the lists of a query pass over them
NARROW = 24  # words; below, the end of a row costs so much that four rows share it


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
def scan_narrow_rows(words: Any, query: Any, out: Any) -> None:
    """Score every record against one query, four records of few words at a time."""
    rows, width = words.shape
    fours = rows - rows % 4
    for row in range(0, fours, 4):
        a, b, c, d = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        for w in range(width):
            asked = query[w]
            a += ones(words[row, w] & asked)
            b += ones(words[row + 1, w] & asked)
            c += ones(words[row + 2, w] & asked)
            d += ones(words[row + 3, w] & asked)
        out[row], out[row + 1] = np.int32(a), np.int32(b)
        out[row + 2], out[row + 3] = np.int32(c), np.int32(d)
    scan_rows(words[fours:], query, out[fours:])


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
    """Add 1 to the score of every record that has a column of the query, stretch by stretch."""
    place, ends = begins[columns], begins[columns + 1]
    for first in range(0, len(out), SCORES):
        for number in range(len(columns)):
            stop = first_from(rows, place[number], ends[number], first + SCORES)
            for posting in range(place[number], stop):
                out[np.uint32(rows[posting])] += np.int32(1)  # unsigned: no check for < 0
            place[number] = stop


@njit(cache=True, nogil=True)
def first_from(rows: Any, low: Any, high: Any, record: Any) -> Any:
    """Find the first posting in low..high whose record is not before a given one."""
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < record:
            low = middle + 1
        else:
            high = middle
    return low


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
