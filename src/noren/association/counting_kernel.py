"""Counting on packed genotypes, compiled: two bits a person, 32 people in a word.

Maths
    A pair is 0 for two copies of the first allele, 2 for one, 3 for none and 1 for missing. Call
    `some` a bit that is 1 for a carrier of the counted allele, and `both` one that among carriers
    is 1 for two copies. If the second allele is counted these are the pair's upper and lower bit;
    if the first is, the complements of its lower and upper bit. A coding then marks
        carrier  some        recessive  some & both        heterozygous  some & ~both,
    that is some & ((both ^ turned) | ignored) with two words of ones or zeros, so one loop without
    branches serves all. Missing is never marked.

Loading this module loads the compiler, so it is imported only where there is much to count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

ALL, NONE = np.uint64(2**64 - 1), np.uint64(0)


def population_count(typing_context: Any, word: Any) -> Any:
    """Tell the compiler to count the ones of a word by the processor's own instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


ones: Any = intrinsic(population_count)


@njit(cache=True, nogil=True)
def count_rows(
    words: Any, rows: int, row_bytes: int, masks: Any, first_allele: Any,
    turned: Any, ignored: Any, out: Any,
) -> None:  # fmt: skip
    """Add the marked people of each group, of each row: cases and controls of every stratum.

    A row may begin at any byte; `masks[group, r]` are the group's people for rows that begin r
    bytes into a word, so no genotype is ever moved. The masks are longer than a row, by zeros, to
    a length that vector instructions like; `words` must go on as far behind the last row.
    """
    size: Any = np.uint64(masks.shape[2])
    for row in range(rows):
        begin = row * row_bytes
        start, shift = np.uint64(begin // 8), begin % 8
        flip = ALL if first_allele[row] else NONE
        upper = np.uint64(0) if first_allele[row] else np.uint64(1)
        lower = np.uint64(1) - upper
        for pair in range(0, masks.shape[0], 2):
            a = b = np.uint64(0)
            for i in range(size):
                pairs = words[start + i] ^ flip
                marked = (pairs >> upper) & (((pairs >> lower) ^ turned) | ignored)
                a += ones(marked & masks[pair, shift, i])
                b += ones(marked & masks[pair + 1, shift, i])
            out[pair, row] += np.int64(a)
            out[pair + 1, row] += np.int64(b)
