"""Recover an owner's records from answers alone, to see how few queries it takes.

Methods (l columns; every one recovers all records at once, however many there are)
    detecting      2**k queries, k 2**(k-1) >= l: coin weighing (`detecting_matrix`)
    unit           one query for each column: its score is the bit
    differencing   u(q + e_h) - u(q) = a_ih, with every query at least `min_size` large: one base
                   query and one for each column. A least size of queries protects nobody.

Ranks instead of scores: in a unit query rank 1 marks the ones, unless all records share it. So unit
queries reveal every column that is not constant, and no number of rank queries tells a column of
ones from a column of zeros.

With a price, each score gets the noise of a private answer. The price of a cell is split over the
queries that share its column, as a session with that cap would make the attacker do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noren.errors import ParameterError
from noren.noise import Noise
from noren.privacy.numbers import Number, read_epsilon, shown, whole
from noren.similarity.attacks import decode, detecting_matrix, least_k
from noren.similarity.scoring import score_batch
from noren.similarity.statistic import Records

METHODS = ("detecting", "unit", "differencing")
CELLS = 1 << 22  # answers that are held at a time
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Strategy:
    """Queries, one row each, and how bits are read off their scores (one row a query)."""

    queries: Any
    read: Callable[[Any], Any]

    @property
    def most_shared(self) -> int:
        """How many of the queries share one column, at most."""
        return int(self.queries.sum(axis=0, dtype=np.int64).max())


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """What an attack on one's own records recovered. Secret."""

    method: str
    answers: str
    queries: int
    records: int
    columns: int
    right: int
    wrong: int
    ones: int
    ones_right: int
    blind: int
    per_query: Fraction | None = None

    @property
    def everything(self) -> bool:
        """Whether every bit of every record was recovered."""
        return self.right == self.records * self.columns

    @property
    def share(self) -> float:
        """Give the share of bits that were recovered."""
        return self.right / (self.records * self.columns)

    @property
    def blind_share(self) -> float:
        """Give the share that is right when each column's commoner value is guessed everywhere."""
        return self.blind / (self.records * self.columns)

    def __str__(self) -> str:
        if self.everything:
            return (
                f"{self.queries} queries recovered all {self.records} x {self.columns} bits of "
                "all records"
            )
        cost = "" if self.per_query is None else f" at epsilon {shown(self.per_query)} each"
        return (
            f"{self.queries} queries{cost}: {self.share:.2%} of the bits right; guessing each "
            f"column's commoner value is right for {self.blind_share:.2%}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        price = None if self.per_query is None else shown(self.per_query)
        return asdict(self) | {
            "per_query": price,
            "share": self.share,
            "blind_share": self.blind_share,
            "everything": self.everything,
            "secret": True,
        }


def strategy(method: str, columns: int, min_size: int = 1) -> Strategy:
    """Give the queries of a method and its way to read them.

    Examples
    --------
    >>> [len(strategy(method, 32).queries) for method in METHODS]
    [16, 32, 33]
    """
    if method == "unit":
        return Strategy(np.eye(columns, dtype=np.int8), lambda found: np.clip(found, 0, 1).T)
    if method == "differencing":
        return differencing(columns, min_size)
    if method != "detecting":
        raise ParameterError("method", method, f"one of {', '.join(METHODS)}")
    k = least_k(columns)
    return Strategy(detecting_matrix(k)[:, :columns], lambda found: decode(k, found, columns))


def differencing(columns: int, min_size: int) -> Strategy:
    """Ask a base set, the base with each other column, and the base with one column exchanged."""
    base = whole("min_size", min_size, 1)
    if base >= columns:
        raise ParameterError("min_size", min_size, f"less than the {columns} columns")
    queries = np.zeros((columns + 1, columns), np.int8)
    queries[:, :base] = 1
    inside, outside = np.arange(base), np.arange(base, columns)
    queries[1 + outside, outside] = 1
    queries[1 + inside, inside] = 0
    queries[1 + inside, base] = 1  # in exchange for a column that is known by then

    def read(found: Any) -> Any:
        moved = np.clip(found[1:] - found[0], -1, 1)
        bits = np.empty_like(moved)
        bits[outside] = np.clip(moved[outside], 0, 1)
        bits[inside] = np.clip(bits[base] - moved[inside], 0, 1)
        return bits.T

    return Strategy(queries, read)


def attack(
    records: Records,
    method: str = "detecting",
    *,
    answers: str = "scores",
    min_size: int = 1,
    epsilon: Number | None = None,
    noise: Noise | None = None,
    progress: Progress = lambda done, total: None,
) -> Attacked:
    """Attack one's own records by answers alone, and compare with the truth (secret result).

    Parameters
    ----------
    records : Records
    method : str
        "detecting" (fewest queries), "unit" or "differencing".
    answers : str
        "scores", or "ranks" (unit queries only).
    min_size : int
        The least size of a query that the service would answer (differencing).
    epsilon : number, optional
        Answer privately: what all queries together may cost one bit.
    noise : Noise, optional
        Where that noise comes from.
    progress
        Told how many records were attacked, and how many there are.

    Examples
    --------
    >>> print(attack(Records.of(["10001", "11100", "01100", "00011"])))
    8 queries recovered all 4 x 5 bits of all records
    """
    if answers not in ("scores", "ranks") or (answers == "ranks" and method != "unit"):
        raise ParameterError("answers", answers, "scores; or ranks, with the method 'unit'")
    if answers == "ranks" and epsilon is not None:
        raise ParameterError("answers", answers, "scores, when answers are private")
    plan = strategy(method, records.n_columns, min_size)
    per_query = None if epsilon is None else read_epsilon(epsilon) / plan.most_shared
    ask = asker(plan, records, per_query, noise or Noise())
    counts = records.column_counts()
    constant = (counts == 0) | (counts == len(records))
    hidden = constant if answers == "ranks" else np.zeros_like(constant)
    step, tally = max(1, CELLS // len(plan.queries)), np.zeros(3, np.int64)
    for first in range(0, len(records), step):
        progress(first, len(records))
        part = Records(records.words[first : first + step], records.n_columns)
        tally += compared(plan.read(ask(part)), part.bits(), hidden)
    return Attacked(
        method=method,
        answers=answers,
        queries=len(plan.queries),
        records=len(records),
        columns=records.n_columns,
        right=int(tally[0]),
        wrong=int(tally[1]),
        ones=int(counts.sum()),
        ones_right=int(tally[2]),
        blind=int(np.maximum(counts, len(records) - counts).sum()),
        per_query=per_query,
    )


def asker(
    plan: Strategy, records: Records, per_query: Fraction | None, noise: Noise
) -> Callable[[Records], Any]:
    """Give the service: exact scores, or private ones."""
    columns = [np.flatnonzero(query).tolist() for query in plan.queries]
    if per_query is None:
        return lambda part: score_batch(part, columns).astype(np.int64)
    from noren.similarity.noisy_scores import NoisyScores

    questions = [
        NoisyScores(query=tuple(map(str, chosen)), epsilon=per_query, adjacency="bit")  # type: ignore[arg-type]
        for chosen in columns
    ]
    return lambda part: np.array([asked.answer(part, noise).scores() for asked in questions])


def compared(claimed: Any, truth: Any, hidden: Any) -> Any:
    """Count the bits claimed rightly, wrongly, and the ones claimed rightly."""
    same = (claimed == truth) & ~hidden
    return np.array([same.sum(), ((claimed != truth) & ~hidden).sum(), (same & (truth == 1)).sum()])
