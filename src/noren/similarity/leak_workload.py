"""The queries whose exact answers a leak report is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noren.data.files import existing_file
from noren.errors import ParameterError
from noren.noise.public import generator
from noren.privacy.numbers import whole
from noren.similarity.queries import read_columns
from noren.similarity.statistic import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomQueries:
    """Ask about made-up queries: `count` sets of `size` columns each, all equally likely.

    Examples
    --------
    >>> RandomQueries(size=2, count=3, seed=1).columns(5)
    [(1, 2), (0, 3), (3, 4)]
    """

    size: int
    count: int
    seed: int

    def columns(self, n_columns: int) -> list[tuple[int, ...]]:
        """Draw the queries, from public randomness."""
        if whole("size", self.size, 1) > n_columns:
            raise ParameterError("size", self.size, f"at most the {n_columns} columns")
        public = generator(self.seed)
        return [
            tuple(sorted(public.choice(n_columns, self.size, replace=False).tolist()))
            for _ in range(whole("count", self.count, 1))
        ]


def read_workload(records: Records, workload: Any) -> list[tuple[int, ...]]:
    """Take queries as sets of columns: `RandomQueries`, a matrix of 0 and 1, or a list."""
    if isinstance(workload, RandomQueries):
        return workload.columns(records.n_columns)
    if isinstance(workload, str) or not isinstance(workload, (Iterable, np.ndarray)):
        raise ParameterError("workload", "one word", "a list of queries, or RandomQueries(...)")
    found = [read_columns(records, query) for query in workload]
    if not any(found):
        raise ParameterError("workload", "empty", "at least one query with a column")
    return found


def read_queries(path: Any) -> list[str]:
    """Read a file of queries: a line each, column names with commas or 0s and 1s; # comments."""
    file = existing_file(Path(path))
    lines = (line.partition("#")[0].strip() for line in file.read_text("utf-8").splitlines())
    return [line for line in lines if line]
