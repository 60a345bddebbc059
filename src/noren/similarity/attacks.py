"""What exact answers to several queries prove, whatever the data.

Everything here holds for each of the n records at once: the number of queries does not grow with n.

    unit queries    e_h: the score is the bit. l queries reveal everything.
    differencing    u(q + e_h) - u(q) = a_ih: a least size of queries protects nobody.
    coin weighing   2**k queries determine k 2**(k-1) columns (`detecting_matrix`, `decode`)
    linear rule     a column is determined if its unit vector lies in the row space of the queries.
                    Enough, not necessary: the unknowns are 0 or 1.
    exact rule      column h is determined, whatever the data, if and only if no d in {-1, 0, 1}^l
                    has Q d = 0 and d_h != 0.
    propagation     with the scores: what is left of a score is 0, or all that is unknown.

All but the exact rule give lower bounds on the leak: say "at least", never "not revealed".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from noren.errors import ParameterError
from noren.privacy.numbers import whole

MOST_STATES = 1_000_000
RELATIVE_ZERO, NEAR_ONE = 1e-10, 1e-8
BLOCK = 1 << 24  # cells of the propagation held at a time
STRETCH = 256  # records decoded at a time, so that their sums stay in the cache


def query_matrix(queries: Any) -> Any:
    """Take queries as a matrix of 0 and 1, one row each."""
    matrix = np.atleast_2d(np.asarray(queries))
    if matrix.ndim != 2 or not np.isin(matrix, (0, 1)).all():
        raise ParameterError("queries", "something else", "a matrix of 0 and 1, one row a query")
    return matrix.astype(np.int64)


def revealed_columns(queries: Any) -> set[int]:
    """Give the columns that score answers determine by linear algebra, whatever the data.

    Examples
    --------
    >>> sorted(revealed_columns([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0]]))
    [0, 1, 2]
    """
    matrix = query_matrix(queries).astype(np.float64)
    if not matrix.any():
        return set()
    _, strengths, right = np.linalg.svd(matrix, full_matrices=False)
    space = right[strengths > RELATIVE_ZERO * strengths[0]]
    inside = np.abs((space**2).sum(axis=0) - 1) < NEAR_ONE
    return set(np.flatnonzero(inside).tolist())


def determined_columns(queries: Any) -> set[int]:
    """Give exactly the columns that score answers determine, whatever the data (small l).

    An integer programme looks for two sets of records with the same answers that differ in a
    column; what it never finds is determined.

    Examples
    --------
    >>> sorted(determined_columns([[1, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]]))
    [0, 1, 2, 3]
    """
    matrix = query_matrix(queries)
    left = set(range(matrix.shape[1]))
    while left:
        difference = ambiguity(matrix, sorted(left))
        if difference is None:
            return left
        left -= set(np.flatnonzero(difference).tolist())
    return left


def ambiguity(matrix: Any, columns: Sequence[int]) -> Any:
    """Find d in {-1, 0, 1}^l with Q d = 0 that is not 0 in some of the columns, or None."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    count = matrix.shape[1]
    touched = np.zeros(2 * count)
    touched[list(columns)] = touched[[count + c for c in columns]] = 1
    one_sign = np.hstack([np.eye(count), np.eye(count)])
    found = milp(
        np.ones(2 * count),
        integrality=np.ones(2 * count),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(np.hstack([matrix, -matrix]), 0, 0),
            LinearConstraint(one_sign, -np.inf, 1),
            LinearConstraint(touched, 1, np.inf),
        ],
    )
    if found.status == 2:  # infeasible
        return None
    if found.x is None:
        raise ParameterError("queries", f"about {count} columns", "about few columns", "Ask fewer.")
    rounded = np.rint(found.x).astype(np.int64)
    return rounded[:count] - rounded[count:]


def ambiguity_exhaustive(matrix: Any, column: int) -> bool:
    """Say by trying all 3**l differences whether a column is left open (for checks, tiny l)."""
    return any(
        d[column] and not (query_matrix(matrix) @ np.array(d)).any()
        for d in product((-1, 0, 1), repeat=query_matrix(matrix).shape[1])
    )


def subsets_size(k: int) -> Any:
    """Give the number of elements of each subset of {1..k}, subsets being bit patterns."""
    return np.bitwise_count(np.arange(1 << k, dtype=np.uint64)).astype(np.int64)


def detecting_columns(k: int) -> list[tuple[int, int]]:
    """List the columns (S, j), S a subset (bit pattern) that is not empty, j = 1..|S|."""
    sizes = subsets_size(whole("k", k, 1))
    return [(s, j) for s in range(1, 1 << k) for j in range(1, int(sizes[s]) + 1)]


def detecting_matrix(k: int) -> Any:
    """Give 2**k queries whose scores determine k 2**(k-1) columns of 0 and 1.

    Row R has a one in column (S, j) if R & S is among the first 2**(j-1) subsets T of S with
    |S| - |T| even.

    Examples
    --------
    >>> detecting_matrix(3).shape
    (8, 12)
    """
    columns = detecting_columns(k)
    sizes = subsets_size(k)
    rows = np.arange(1 << k)
    matrix = np.zeros((1 << k, len(columns)), np.int8)
    firsts: dict[int, list[int]] = {}
    for place, (s, j) in enumerate(columns):
        if s not in firsts:
            inside = rows[(rows & ~s) == 0]
            firsts[s] = inside[(sizes[s] - sizes[inside]) % 2 == 0].tolist()
        chosen = np.zeros(1 << k, bool)
        chosen[firsts[s][: 1 << (j - 1)]] = True
        matrix[:, place] = chosen[rows & s]
    return matrix


def moebius(values: Any) -> Any:
    """Give M(S) = sum over T in S of (-1)**(|S| - |T|) values[T], along the first axis."""
    out = np.array(values, dtype=np.int64)
    step = 1
    while step < len(out):
        view = out.reshape(-1, 2, step, *out.shape[1:])
        view[:, 1] -= view[:, 0]
        step *= 2
    return out


def least_k(columns: int) -> int:
    """Give the least k whose detecting matrix has enough columns."""
    return next(k for k in range(1, 64) if k << (k - 1) >= columns)


def decode(k: int, answers: Any, columns: int | None = None) -> Any:
    """Read the bits of every record off the answers to the detecting queries.

    Parameters
    ----------
    k
        Which detecting matrix was asked.
    answers
        One row for each query, one column for each record. Wrong answers give wrong bits.
    columns
        How many of the matrix's columns were in use.

    Returns
    -------
    array of records by columns
    """
    pairs = detecting_columns(k)
    count = len(pairs) if columns is None else columns
    queries = moebius(detecting_matrix(k)[:, :count]).astype(np.float64)
    sizes, rows = subsets_size(k), np.arange(1 << k)
    of_set: dict[int, list[int]] = {}
    for place, (s, _) in enumerate(pairs[:count]):
        of_set.setdefault(s, []).append(place)
    steps = []
    for s in sorted(of_set, key=lambda one: -int(sizes[one])):
        below = rows[(rows & ~s) == 0]  # the columns of S are 0 at all other places
        steps.append((s, of_set[s], below, queries[np.ix_(below, of_set[s])]))
    found = np.asarray(answers)
    bits = np.empty((found.shape[1], count), np.uint8)
    for first in range(0, len(bits), STRETCH):
        spectrum = moebius(found[:, first : first + STRETCH]).astype(np.float64)  # whole, < 2**53
        own = np.zeros((count, spectrum.shape[1]))
        for s, places, below, part in steps:  # the digits of what is left of M(S)
            left = np.clip(spectrum[s], 0, (1 << len(places)) - 1).astype(np.int64)
            own[places] = (left >> np.arange(len(places))[:, None]) & 1
            spectrum[below] -= part @ own[places]
        bits[first : first + STRETCH] = own.T
    return bits


def reconstruct(ask: Callable[[Any], Any], columns: int) -> tuple[Any, int]:
    """Ask the detecting queries and read all bits off the answers.

    Parameters
    ----------
    ask
        Takes the matrix of queries, gives one row of scores for each.
    columns
        How many columns the records have.

    Returns
    -------
    tuple
        The bits, one row a record, and how many queries it took.
    """
    k = least_k(columns)
    queries = detecting_matrix(k)[:, :columns]
    asked = queries[1:] if not queries[0].any() else queries  # an empty query says nothing
    answers = np.asarray(ask(asked))
    if len(asked) < len(queries):
        answers = np.vstack([np.zeros((1, answers.shape[1]), answers.dtype), answers])
    return decode(k, answers, columns), len(asked)


def propagate(queries: Any, answers: Any) -> tuple[Any, Any]:
    """Prove bits from exact scores, record by record: known ones and known zeros.

    Repeat until nothing changes: what is left of a score after the known ones is either 0, then all
    its unknown columns are 0, or as much as there are unknown columns, then all are 1.

    Parameters
    ----------
    queries
        One row for each query.
    answers
        One row of scores for each query, one column for each record.

    Returns
    -------
    tuple
        Two matrices of truth values: proven ones, proven zeros; a row for each record.
    """
    matrix, found = query_matrix(queries), np.asarray(answers)
    # Columns in the same queries are told apart by no answer, so each pattern is one unknown.
    patterns, place = np.unique(matrix, axis=1, return_inverse=True)
    place = place.reshape(-1)
    widths = np.bincount(place, minlength=patterns.shape[1])
    ones = np.zeros((found.shape[1], patterns.shape[1]), bool)
    zeros = np.zeros_like(ones)
    step = max(1, BLOCK // max(patterns.shape))
    for first in range(0, found.shape[1], step):
        part = slice(first, first + step)
        ones[part], zeros[part] = propagate_block(patterns, widths, found[:, part].T)
    return ones[:, place], zeros[:, place]


def propagate_block(patterns: Any, widths: Any, answers: Any) -> tuple[Any, Any]:
    """Prove the bits of some records; `widths` says how many columns share a pattern."""
    share = patterns.astype(np.float32)
    sized = share * widths.astype(np.float32)
    ones = np.zeros((len(answers), patterns.shape[1]), bool)
    zeros = np.zeros_like(ones)
    active = np.arange(len(answers))
    while active.size:
        known, open_ = ones[active], ~(ones[active] | zeros[active])
        left = answers[active] - known.astype(np.float32) @ sized.T
        unknown = open_.astype(np.float32) @ sized.T
        empty = ((left == 0).astype(np.float32) @ share > 0) & open_
        full = (((left == unknown) & (unknown > 0)).astype(np.float32) @ share > 0) & open_
        full &= ~empty
        ones[active] |= full
        zeros[active] |= empty
        active = active[(full | empty).any(axis=1)]
    return ones, zeros


def exact_posterior(queries: Any, answers: Sequence[int]) -> Any:
    """Give Pr(bit = 1) of every column for one record, every record equally likely before.

    Columns in the same queries form a class; all counts of ones in the classes that fit the answers
    are listed. Columns in no query keep 1/2.

    Examples
    --------
    >>> exact_posterior([[1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1]], [1, 2]).round(4).tolist()
    [0.25, 0.25, 0.25, 0.25, 0.5833, 0.5833, 0.5833]
    """
    matrix = query_matrix(queries)
    patterns, place = np.unique(matrix, axis=1, return_inverse=True)
    place = place.reshape(-1)
    asked = np.flatnonzero(patterns.any(axis=0))
    widths = np.bincount(place, minlength=patterns.shape[1])
    states = math.prod(int(widths[c]) + 1 for c in asked)
    if states > MOST_STATES:
        raise ParameterError(
            "queries", f"with {states} states", f"at most {MOST_STATES}", "Use propagate()."
        )
    grid = np.array(list(product(*(range(int(widths[c]) + 1) for c in asked))), np.int64)
    fits = (grid @ patterns[:, asked].T == np.asarray(answers)).all(axis=1)
    if not fits.any():
        raise ParameterError("answers", "impossible", "scores of one record to these queries")
    weight = np.array(
        [math.prod(math.comb(int(widths[c]), k) for c, k in zip(asked, row, strict=True))
         for row in grid[fits].tolist()],
        dtype=object,
    )  # fmt: skip
    belief = np.full(patterns.shape[1], 0.5)
    total = int(weight.sum())
    for number, c in enumerate(asked):
        belief[c] = float(int((weight * grid[fits][:, number]).sum()) / (total * int(widths[c])))
    return belief[place]
