"""What exact answers to many queries prove of every record's bits: at least so much.

Two rules, run together, after every query anew:

    propagation   per record. With L <= score <= H, less the ones that are known: if H is 0, all
                  unknown columns of the query are 0; if L is their number, all are 1. Scores have
                  L = H; ranks and top-k lists leave an interval (`leak_answers`).
    linear        for all records at once: a column whose unit vector lies in the row space of the
                  queries. Only queries whose scores are known for every record count.

Both are sound, neither finds everything. So the figures are lower bounds of the leak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.noise.public import generator
from noren.similarity.attacks import NEAR_ONE, RELATIVE_ZERO
from noren.similarity.leak_answers import Classes
from noren.similarity.scoring import score_batch
from noren.similarity.statistic import Records

CELLS = 1 << 22  # answers held at a time
NO_QUERY = -1


@dataclass(frozen=True, slots=True, eq=False)
class Proofs:
    """What is proven; secret, save `linear` where scores are answered.

    Attributes
    ----------
    proven, proven_ones
        By record: cells proven, and the ones among them.
    completed
        By record: the first query, counted from 0, with which every bit was proven; -1: none.
    growth
        growth[t] = cells and ones proven with the answers to queries 0..t.
    linear
        By column: the query with which linear algebra gives it away; -1: none.
    """

    proven: Any
    proven_ones: Any
    completed: Any
    growth: Any
    linear: Any


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Columns that are in the same queries, as one unknown each; columns in no query left out."""

    of_column: Any
    widths: Any
    columns: Any  # the first column of each
    begins: Any
    units: Any
    unit_begins: Any
    unit_queries: Any

    @property
    def net(self) -> tuple[Any, ...]:
        """Which units each query has, and which queries each unit, for the loop."""
        return self.begins, self.units, self.unit_begins, self.unit_queries, self.widths


def prove_all(
    records: Records,
    queries: Sequence[Sequence[int]],
    said: Sequence[Classes],
    seed: int,
    progress: Callable[[int], None],
) -> Proofs:
    """Prove what can be proven from the answers to all queries."""
    from noren.similarity.leak_kernel import prove

    units = units_of(queries, records.n_columns)
    linear = revealed_when(
        queries, records.n_columns, [bool((s.low == s.high).all()) for s in said]
    )
    when = linear[units.columns]
    schedule = flat([np.flatnonzero(when == t).tolist() for t in range(len(queries))])
    found = np.zeros((len(records), 3), np.int64)
    growth = np.zeros((len(queries), 2), np.int64)
    reader = AnswerReader(queries, said, seed)
    step = max(1, CELLS // max(len(queries), len(schedule[1])))
    for first in range(0, len(records), step):
        part = Records(records.words[first : first + step], records.n_columns)
        truth = bits_of(part, units.columns[schedule[1]])
        low, high = reader.read(part)
        held = found[first : first + step]
        prove(low, high, units.net, schedule, truth, records.n_columns, held, growth)
        progress(first + len(part))
    return Proofs(found[:, 0], found[:, 1], found[:, 2], growth, linear)


class AnswerReader:
    """Give the scores that answers leave possible, block of records by block.

    It counts how many records with the k-th score it has met, because a top-k list names some of
    them only, drawn from public randomness.
    """

    def __init__(
        self, queries: Sequence[Sequence[int]], said: Sequence[Classes], seed: int
    ) -> None:
        self.queries, self.said = queries, said
        public = generator(seed)
        self.met = [0] * len(said)
        self.named = [named_ties(classes, public) for classes in said]

    def read(self, part: Records) -> tuple[Any, Any]:
        """Give low and high, [query, record]."""
        low = score_batch(part, self.queries)
        high = low.copy()
        for t, classes in enumerate(self.said):
            scores = low[t].copy()
            bounds = np.zeros((2, classes.q + 1), np.int32)
            occurs = classes.members > 0
            for c in range(len(occurs)):
                bounds[:, occurs[c]] = [[classes.low[c]], [classes.high[c]]]
            low[t], high[t] = bounds[:, scores]
            if classes.leaves_out:
                self._name(t, scores, low[t])
        return low, high

    def _name(self, t: int, scores: Any, low: Any) -> None:
        """Put the records that the list names among those at the k-th score back to their score."""
        last = int(self.said[t].high[-1])
        tied = np.flatnonzero(scores == last)
        named = self.named[t][self.met[t] : self.met[t] + len(tied)]
        low[tied] = np.where(named, last, 0)
        self.met[t] += len(tied)


def named_ties(classes: Classes, public: Any) -> Any:
    """Choose which of the records with the k-th score are listed, in the order they are met."""
    if not classes.leaves_out:
        return np.zeros(0, bool)
    ties = int(classes.members[:, classes.high[-1]].sum())
    named = np.zeros(ties, bool)
    named[public.permutation(ties)[: classes.listed_last]] = True
    return named


def units_of(queries: Sequence[Sequence[int]], n_columns: int) -> Units:
    """Join the columns that no query tells apart."""
    member: list[list[int]] = [[] for _ in range(n_columns)]
    for t, columns in enumerate(queries):
        for column in columns:
            member[column].append(t)
    patterns: dict[tuple[int, ...], int] = {}
    of_column, first = np.full(n_columns, NO_QUERY), []
    for column, own in enumerate(map(tuple, member)):
        if own and own not in patterns:
            patterns[own] = len(patterns)
            first.append(column)
        of_column[column] = patterns.get(own, NO_QUERY) if own else NO_QUERY
    widths = np.bincount(of_column[of_column >= 0], minlength=len(patterns))
    of_query: list[list[int]] = [[] for _ in queries]
    for pattern, unit in patterns.items():
        for t in pattern:
            of_query[t].append(unit)
    return Units(
        of_column, widths, np.array(first, np.int64), *flat(of_query), *flat(list(patterns))
    )


def flat(lists: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Put lists behind one another: where each begins, and their items."""
    begins = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return begins, np.array([item for one in lists for item in one], np.int64)


def bits_of(part: Records, columns: Any) -> Any:
    """Give the bits of some columns, a row for each record."""
    words = part.words[:, columns // 64]
    return ((words >> (columns % 64).astype(np.uint64)) & np.uint64(1)).astype(np.int8)


def revealed_when(queries: Sequence[Sequence[int]], n_columns: int, known: Sequence[bool]) -> Any:
    """Give, by column, the first query with which linear algebra determines it; -1: none.

    The row space is kept as orthonormal rows V; e_h lies in it when sum over r of V[r, h]^2 is 1.

    Examples
    --------
    >>> revealed_when([(0, 1), (1, 2), (0, 2)], 4, [True] * 3).tolist()
    [2, 2, 2, -1]
    """
    space = np.zeros((min(len(queries), n_columns), n_columns))
    rank, inside = 0, np.zeros(n_columns)
    when = np.full(n_columns, NO_QUERY)
    for t, columns in enumerate(queries):
        if not known[t] or not columns or rank == len(space):
            continue
        row = np.zeros(n_columns)
        row[list(columns)] = 1
        for _ in range(2):  # twice is enough for full digits
            row -= space[:rank].T @ (space[:rank] @ row)
        length = np.sqrt(row @ row)
        if length <= RELATIVE_ZERO * len(columns):
            continue
        space[rank] = row / length
        inside += space[rank] ** 2
        rank += 1
        when[(np.abs(inside - 1) < NEAR_ONE) & (when < 0)] = t
    return when
