"""How few queries a determined attacker needs, whatever workload was reported on.

All statements hold for all records at once: the number of queries does not grow with them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from noren.similarity.attacks import least_k
from noren.similarity.leak_answers import RANKS, TOP
from noren.similarity.statistic import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCase:
    """What one way of asking recovers, with how many queries. Secret where columns are counted."""

    attack: str
    queries: int
    share: float
    statement: str

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return asdict(self)


def worst_cases(records: Records, answers: str, k: int | None) -> list[WorstCase]:
    """Give the ways, the fewest queries first."""
    if answers == TOP and k is not None and k < len(records):
        return [top_lists(records, k)]
    return [rank_units(records)] if answers == RANKS else score_attacks(records.n_columns)


def score_attacks(columns: int) -> list[WorstCase]:
    """Recover everything from exact scores."""
    weighing = 1 << least_k(columns)
    ways = [
        ("unit queries", columns, f"{columns} queries of one column each"),
        (
            "differencing",
            columns + 1,
            f"{columns + 1} queries (a base set, and the base with one column changed), which "
            "may all be large,",
        ),
        ("coin weighing", weighing, f"{weighing} queries"),
    ]
    found = [
        WorstCase(attack=attack, queries=queries, share=1.0, statement=f"{how} recover everything.")
        for attack, queries, how in ways
    ]
    return sorted(found, key=lambda way: way.queries)


def rank_units(records: Records) -> WorstCase:
    """Recover all columns that are not constant from exact ranks."""
    counts, columns = records.column_counts(), records.n_columns
    constant = int(((counts == 0) | (counts == len(records))).sum())
    rest = (
        f"; the other {constant} are constant, and no number of rank queries tells whether a "
        "constant column is of ones or of zeros"
        if constant
        else ": everything"
    )
    return WorstCase(
        attack="unit queries",
        queries=columns,
        share=1 - constant / columns,
        statement=f"{columns} queries of one column each recover {columns - constant} of "
        f"{columns} columns{rest}.",
    )


def top_lists(records: Records, k: int) -> WorstCase:
    """Count what lists of the k best prove, one column a query."""
    counts, n, columns = records.column_counts(), len(records), records.n_columns
    whole = int((counts < k).sum())  # the list then holds a 0, so all that is left out is 0
    cells = whole * n + int(np.minimum(counts[counts >= k], k).sum())
    return WorstCase(
        attack="unit queries",
        queries=columns,
        share=cells / (n * columns),
        statement=f"{columns} queries of one column each recover {whole} of {columns} columns "
        f"whole (those with fewer than {k} ones) and {k} ones of each other column.",
    )
