"""Sums of the adjusted score test on packed genotypes, compiled.

Maths
    Rows are first put into one form: a pair of bits is 3 for two copies of the counted allele, 2
    for one, 0 for none and 1 for missing, which counts as none.
    U, w'(g^2) and z are sums of public whole numbers over people. A byte holds four people, so for
    each byte of a row a table of 256 entries is made, once for many rows, and every row adds the
    entry that its byte names: a quarter of the additions, and no branches. An entry is one vector,
    whose length the compiler knows from the length of a tuple.

Loading this module loads the compiler, so it is imported only where there is much to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

LANES = 4  # entries are padded to a multiple
BYTES = 8  # of a word: as many tables lie in the cache together
WORD = ir.IntType(64)


class Vectors:
    """Writes code on vectors that lie one after the other in an array of 64-bit numbers."""

    def __init__(self, context: Any, builder: Any, lanes: int) -> None:
        self.context, self.builder, self.lanes = context, builder, lanes

    def number(self, value: int) -> Any:
        """Write a constant."""
        return ir.Constant(WORD, value)

    def at(self, kind: Any, array: Any, place: Any) -> Any:
        """Point at the vector of a place."""
        data = self.context.make_array(kind)(self.context, self.builder, array).data
        begin = self.builder.gep(data, [self.builder.mul(place, self.number(self.lanes))])
        return self.builder.bitcast(begin, ir.VectorType(WORD, self.lanes).as_pointer())

    def load(self, kind: Any, array: Any, place: Any) -> Any:
        """Load that vector."""
        return self.builder.load(self.at(kind, array, place), align=8)


def entries_of_word(
    typing_context: Any, word: Any, table: Any, width: Any, sums: Any, row: Any
) -> Any:
    """Add to sums[row] the table's entries that the eight bytes of a word name."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bytes_, entries, _, out, place = arguments
        vectors = Vectors(context, builder, len(width))
        total = vectors.load(signature.args[3], out, place)
        for b in range(BYTES):
            shifted = builder.lshr(bytes_, vectors.number(8 * b))
            byte = builder.and_(shifted, vectors.number(255))
            named = builder.or_(byte, vectors.number(256 * b))
            total = builder.add(total, vectors.load(signature.args[1], entries, named))
        builder.store(total, vectors.at(signature.args[3], out, place), align=8)

    return types.void(word, table, width, sums, row), generate


def entry_and_worth(
    typing_context: Any, table: Any, target: Any, source: Any, worth: Any, pair: Any, width: Any
) -> Any:
    """Set table[target] = table[source] + worth[pair]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entries, to, origin, values, which, _ = arguments
        vectors = Vectors(context, builder, len(width))
        one = vectors.load(signature.args[0], entries, origin)
        other = vectors.load(signature.args[3], values, which)
        place = vectors.at(signature.args[0], entries, to)
        builder.store(builder.add(one, other), place, align=8)

    return types.void(table, target, source, worth, pair, width), generate


add_entries: Any = intrinsic(entries_of_word)
put_entry: Any = intrinsic(entry_and_worth)


@njit(cache=True, nogil=True)
def put_in_form(
    stored: Any, rows: int, row_bytes: int, first_allele: Any, out: Any, begin: int
) -> None:
    """Copy stored rows to out[begin:], with the counted allele's pairs as 3, 2, 0 (1: missing)."""
    for row in range(rows):
        start = row * row_bytes
        target = out[begin + row]
        if first_allele[row]:
            for i in range(row_bytes):
                pairs = stored[start + i]
                equal = ~(pairs ^ (pairs >> 1)) & 0x55
                target[i] = pairs ^ (equal | (equal << 1))
        else:
            for i in range(row_bytes):
                target[i] = stored[start + i]


@njit(cache=True, nogil=True)
def add_up(words: Any, doses: Any, values: Any, width: Any, table: Any, sums: Any) -> None:
    """Add to `sums` what each row's people bring: dose times value, dose squared for column 1.

    `values` has 32 people for each word of a row; `table` is room for the entries of a word, `sums`
    and `table` are flat but for their first axis.
    """
    worth = np.zeros((4, len(width)), np.int64)
    for first in range(words.shape[1]):
        for byte in range(BYTES):
            fill_table(doses, values, 4 * (BYTES * first + byte), width, worth, table, 256 * byte)
        for row in range(words.shape[0]):
            add_entries(words[row, first], table, width, sums, row)


@njit(cache=True, nogil=True)
def fill_table(
    doses: Any, values: Any, person: int, width: Any, worth: Any, table: Any, begin: int
) -> None:
    """Make the 256 entries of a byte from table[begin] on, one person after the other."""
    for k in range(len(width)):
        table[begin, k] = 0
    size = 1
    for j in range(4):
        for pair in range(4):
            for k in range(len(width)):
                times = doses[pair] * doses[pair] if k == 1 else doses[pair]
                worth[pair, k] = times * values[person + j, k]
        for pair in range(1, 4):
            for entry in range(size):
                put_entry(table, begin + pair * size + entry, begin + entry, worth, pair, width)
        size *= 4
