"""The prior of shrunk scores: the largest parts of randomized records, without forming them.

Maths (D = (N - f) / (1 - 2 f), N the published bits, n x l)
    D is taken as its singular value decomposition, cut to rank 5. Where columns are few (or records
    are) its two factors come from D'D (or DD'), whose integer part N'N is summed exactly over
    blocks: (1 - 2 f)^2 D'D = N'N - f (c 1' + 1 c') + n f^2, c the counts of ones. Else an iterative
    method applies D and D' to vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from noren.data.bits import column_counts, row_counts, unpack
from noren.errors import ParameterError
from noren.similarity.laws import Floats
from noren.similarity.statistic import Records

RANK = 5
BLOCK = 4096  # records, or columns, unpacked at a time; sums of so many bits are exact in float32
MOST = 4096  # columns, or records, of which all products are summed


def truncated(records: Records, flip: float, most: int = MOST) -> tuple[Floats, Floats]:
    """Give two thin matrices whose product is D cut to rank 5."""
    n, width = len(records), records.n_columns
    if min(n, width) <= RANK + 1:
        dense = (records.bits() - flip) / (1 - 2 * flip)
        left, sizes, right = np.linalg.svd(dense, full_matrices=False)
        return left[:, :RANK] * sizes[:RANK], right[:RANK]
    if width <= min(n, most):
        counts = column_counts(records.words, width)
        right = largest(gram(row_blocks(records), width), counts, n, flip)
        return product(records, flip, right.T), right
    if n <= most:
        counts = row_counts(records.words)
        across = (bits.T for bits in column_blocks(records))
        left = largest(gram(across, n), counts, width, flip)
        return left.T, transposed_product(records, flip, left.T).T
    return by_iteration(records, flip)


def row_blocks(records: Records) -> Iterator[Any]:
    """Unpack some records at a time."""
    for first in range(0, len(records), BLOCK):
        yield unpack(records.words[first : first + BLOCK], records.n_columns)


def column_blocks(records: Records) -> Iterator[Any]:
    """Unpack some columns at a time."""
    step = BLOCK // 64
    for first in range(0, records.words.shape[1], step):
        left = records.n_columns - 64 * first
        yield unpack(np.ascontiguousarray(records.words[:, first : first + step]), min(left, BLOCK))


def gram(blocks: Iterator[Any], size: int) -> Floats:
    """Sum the products of all pairs of columns, exactly."""
    total = np.zeros((size, size))
    for bits in blocks:
        part = bits.astype(np.float32)
        total += part.T @ part
    return total


def largest(products: Floats, counts: Any, summed: int, flip: float) -> Floats:
    """Give the vectors of the largest parts of D'D, the largest first, signs fixed."""
    from scipy.linalg import eigh

    size = len(products)
    centred = products - flip * (counts[:, None] + counts) + summed * flip**2
    found = eigh(centred, subset_by_index=(size - RANK, size - 1))[1].T[::-1]
    place = np.abs(found).argmax(axis=1)
    signed: Floats = found * np.sign(found[np.arange(RANK), place])[:, None]
    return signed


def by_iteration(records: Records, flip: float) -> tuple[Floats, Floats]:
    """Decompose by applying D and its transpose to vectors."""
    from scipy.sparse.linalg import LinearOperator, svds

    shape = (len(records), records.n_columns)
    operator = LinearOperator(
        shape=shape,
        dtype=np.float64,
        matvec=lambda x: product(records, flip, x.reshape(-1)),
        rmatvec=lambda x: transposed_product(records, flip, x.reshape(-1)),
    )
    begin = np.ones(min(shape))  # fixed, so that the same records give the same factors
    left, sizes, right = svds(operator, k=RANK, v0=begin)
    return left * sizes, right


def product(records: Records, flip: float, x: Floats) -> Floats:
    """Give D x, for a vector or a thin matrix."""
    parts = [bits @ x for bits in row_blocks(records)]
    out: Floats = (np.concatenate(parts) - flip * x.sum(axis=0)) / (1 - 2 * flip)
    return out


def transposed_product(records: Records, flip: float, x: Floats) -> Floats:
    """Give D' x, for a vector or a thin matrix."""
    if len(x) != len(records):
        raise ParameterError("x", f"of length {len(x)}", f"of length {len(records)}")
    out = np.zeros((records.n_columns, *x.shape[1:]))
    for number, bits in enumerate(row_blocks(records)):
        out += bits.T @ x[number * BLOCK : (number + 1) * BLOCK]
    moved: Floats = (out - flip * x.sum(axis=0)) / (1 - 2 * flip)
    return moved
