"""Two noisy counts of each record, from which every set similarity follows for nothing.

Maths
    in_i = a_i . q and out_i = a_i . (1 - q), each with independent two-sided geometric noise of
    scale s / epsilon, then moved into 0..|q| and 0..l - |q|. Jaccard in / (|q| + out), cosine
    in / sqrt(max(in + out, 1) |q|), Dice, Tversky, containment, Hamming: formulas of the pair.

Privacy (pure; BIT s = 1, SUBSTITUTE s = l; tight)
    A bit is in exactly one of the two counts, so one bit moves one of them by 1: the pair costs
    epsilon, not 2 epsilon. One record moves in_i and out_i by at most l in sum. Every column is
    read, so every column is charged. Noise on the ratio itself is worse, at the same price.
    `RowWeights` releases |a_i| once; then `NoisyScores` (charged to the query's columns only) gives
    `in`, and out = |a| - in.

Accuracy
    Each count has standard deviation sqrt(2 x) / (1 - x), x = exp(-epsilon / s), before it is moved
    into its range.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.errors import ParameterError
from noren.mechanisms.additive import require_noise
from noren.mechanisms.wording import plus_minus
from noren.noise import Noise, laws
from noren.privacy import Adjacency, Guarantee
from noren.privacy.numbers import read_epsilon, shown, whole
from noren.question import Answer, Forecast, Mechanism, was_secure
from noren.similarity.asked import (
    ONE_BIT,
    PUBLIC,
    AboutQuery,
    columns_of,
    pure,
    read_adjacency,
)
from noren.similarity.formulas import similarity
from noren.similarity.laws import read_k
from noren.similarity.noisy_scores import NoisyScoresAnswer
from noren.similarity.scoring import Indexes
from noren.similarity.statistic import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePairs(AboutQuery):
    """Ask for common and other ones of each record, for Jaccard, cosine and the like.

    Parameters
    ----------
    query : sequence of str
        The columns of the query.
    n_columns : int
        The public number of columns.
    epsilon : number
        The price.
    adjacency : Adjacency or str
        "bit" or "substitute".

    Examples
    --------
    >>> question = ScorePairs(query=("0",), n_columns=3, epsilon=6, adjacency="bit")
    >>> from noren import Noise
    >>> answer = question.answer(Records.of(["110", "011"]), Noise())
    >>> answer.similarity("jaccard").shape
    (2,)
    """

    kind: ClassVar[str] = "score-pairs"

    n_columns: int

    def __post_init__(self) -> None:
        AboutQuery.__post_init__(self)
        object.__setattr__(self, "n_columns", whole("n_columns", self.n_columns, 1))

    @property
    def columns(self) -> None:
        """Charge every column: row weights are read."""
        return

    @property
    def reach_of_one(self) -> int:
        """Give by how much one bit, or one record, can move the two counts in sum."""
        return 1 if self.adjacency == ONE_BIT else self.n_columns

    @property
    def record_loss(self) -> Fraction:
        """Give what one asking costs a whole record."""
        return self.epsilon * (self.n_columns if self.adjacency == ONE_BIT else 1)

    @property
    def scale(self) -> Fraction:
        """Give the scale of the noise."""
        return 1 / self.per_step

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart."""
        moved = Fraction(self.reach_of_one)
        return (Mechanism(law="discrete Laplace", sensitivity=moved, scale=self.scale, draws=2),)

    def forecast(self, facts: Any = None) -> Forecast:
        """Say how far off each count may be."""
        return count_forecast(self.scale, "each of the two counts")

    def check(self, records: Records) -> None:
        """Refuse what does not fit: the columns."""
        AboutQuery.check(self, records)
        check_width(self.n_columns, records)

    def answer(self, records: Records, noise: Noise) -> ScorePairsAnswer:
        """Add the noise and move into range."""
        inside = self.scores_of(records, require_noise(noise)).astype(np.int64)
        q, outside = len(self.query), records.weights() - inside
        inside = inside + noise.discrete_laplace(self.scale, len(records))
        outside = outside + noise.discrete_laplace(self.scale, len(records))
        return ScorePairsAnswer(
            question=self,
            secure=noise.secure,
            inside=np.clip(inside, 0, q),
            outside=np.clip(outside, 0, self.n_columns - q),
        )

    def restore(self, record: dict[str, Any]) -> ScorePairsAnswer:
        """Give back the answer that a ledger stored."""
        inside, outside = (np.asarray(record[key], np.int64) for key in ("inside", "outside"))
        return ScorePairsAnswer(
            question=self, secure=was_secure(record), inside=inside, outside=outside
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ScorePairsAnswer(Answer):
    """Noisy common and other ones of each record; every similarity of them is free."""

    inside: Indexes
    outside: Indexes

    def similarity(self, name: str, **weights: float) -> Any:
        """Give a similarity of every record."""
        return similarity(name, self.inside, self.outside, len(self.question.query), **weights)

    def top(self, k: int, name: str = "jaccard", **weights: float) -> list[tuple[int, float]]:
        """Give the first k by a similarity; ties by the place in the list, which is public."""
        found = self.similarity(name, **weights)
        wanted = read_k(k, len(found))
        order = np.argsort(found if name == "hamming" else -found, kind="stable")[:wanted]
        return [(int(row), float(found[row])) for row in order]

    @property
    def headline(self) -> str:
        """Name the first record by Jaccard."""
        row, value = self.top(1)[0]
        return f"record {row}: Jaccard {value:.4g} (first of {len(self.inside)})"

    def chart(self) -> Any:
        """Draw the first records by Jaccard."""
        from noren.similarity.charts import ranked

        shown_rows = self.top(min(20, len(self.inside)))
        return ranked([(str(row), value, 0) for row, value in shown_rows], "noisy Jaccard")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWeights:
    """Ask for the number of ones of each record, once for many queries.

    Privacy as above: one bit moves one weight by 1, one record by at most l; all columns charged.

    Parameters
    ----------
    n_columns : int
        The public number of columns.
    epsilon : number
        The price.
    adjacency : Adjacency or str
        "bit" or "substitute".

    Examples
    --------
    >>> question = RowWeights(n_columns=3, epsilon=1, adjacency="bit")
    >>> from noren import Noise
    >>> question.answer(Records.of(["110", "011"]), Noise()).weights.shape
    (2,)
    """

    kind: ClassVar[str] = "row-weights"
    columns: ClassVar[None] = None

    n_columns: int
    epsilon: Fraction
    adjacency: Adjacency

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "n_columns", whole("n_columns", self.n_columns, 1))
        put(self, "epsilon", read_epsilon(self.epsilon))
        put(self, "adjacency", read_adjacency(self.adjacency))

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking."""
        return pure(self.adjacency, self.epsilon)

    @property
    def scale(self) -> Fraction:
        """Give the scale of the noise."""
        return (1 if self.adjacency == ONE_BIT else self.n_columns) / self.epsilon

    @property
    def record_loss(self) -> Fraction:
        """Give what one asking costs a whole record."""
        return self.epsilon * (self.n_columns if self.adjacency == ONE_BIT else 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what a bit's price means for a whole record."""
        bits = self.adjacency == ONE_BIT
        return (f"for a whole record: epsilon {shown(self.record_loss)}",) if bits else ()

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return PUBLIC[1:]

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart."""
        moved = self.scale * self.epsilon
        return (Mechanism(law="discrete Laplace", sensitivity=moved, scale=self.scale),)

    def forecast(self, facts: Any = None) -> Forecast:
        """Say how far off each weight may be."""
        return count_forecast(self.scale, "each weight")

    def check(self, records: Records) -> None:
        """Refuse what does not fit: the number of columns."""
        columns_of((), records)
        check_width(self.n_columns, records)

    def answer(self, records: Records, noise: Noise) -> RowWeightsAnswer:
        """Add the noise and move into range."""
        require_noise(noise)
        self.check(records)
        noisy = records.weights() + noise.discrete_laplace(self.scale, len(records))
        weights = np.clip(noisy, 0, self.n_columns)
        return RowWeightsAnswer(question=self, secure=noise.secure, weights=weights)

    def restore(self, record: dict[str, Any]) -> RowWeightsAnswer:
        """Give back the answer that a ledger stored."""
        weights = np.asarray(record["weights"], np.int64)
        return RowWeightsAnswer(question=self, secure=was_secure(record), weights=weights)


@dataclass(frozen=True, kw_only=True, eq=False)
class RowWeightsAnswer(Answer):
    """The noisy number of ones of each record."""

    weights: Indexes

    def similarity(self, scores: NoisyScoresAnswer, name: str, **weights: float) -> Any:
        """Give a similarity of each record in an answer of noisy scores, in its order; free."""
        q, inside = len(scores.question.query), scores.clamped
        outside = np.clip(self.weights[scores.rows] - inside, 0, self.question.n_columns - q)
        return similarity(name, inside, outside, q, **weights)

    @property
    def headline(self) -> str:
        """Say the middle weight."""
        middle = float(np.median(self.weights))
        return f"middle weight {middle:.4g} of {self.question.n_columns} (noisy)"

    def chart(self) -> Any:
        """Draw how many records have which noisy weight."""
        from noren.similarity.charts import bars

        counts, edges = np.histogram(self.weights, bins=20)
        rows = [
            {"weight": f"{low:.0f}", "records": int(count)}
            for low, count in zip(edges, counts, strict=False)
        ]
        return bars(rows, "weight", "records", "records (by noisy weight)")


def count_forecast(scale: Fraction, what: str) -> Forecast:
    """Say the error of one noisy count."""
    margin = laws.discrete_laplace_margin(scale)
    return Forecast(
        sentence=f"{what} within {plus_minus(margin)} with probability 0.95",
        variance=laws.discrete_laplace_variance(scale),
        margin_95=margin,
    )


def check_width(n_columns: int, records: Records) -> None:
    """Refuse a question about another number of columns."""
    if records.n_columns != n_columns:
        raise ParameterError("n_columns", n_columns, f"{records.n_columns}, as the records have")
