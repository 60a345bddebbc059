"""Scores of records against a query, each with two-sided geometric noise; then anything.

Maths
    r_i = u_i + Z_i, Pr(Z = z) = (1 - x) / (1 + x) x^|z|, independent, x = exp(-epsilon / s); s = 1
    under BIT, s = |q| under SUBSTITUTE. Released are all r_i, or those not below the `depth`-th
    highest, with ties in a uniform order.

Privacy (pure; BIT or SUBSTITUTE; tight)
    One bit in a column of the query moves one u_i by 1, and nothing else; one record moves one u_i
    by at most |q|. All ratios of Pr(r_i | u_i) are then within [e^-epsilon, e^epsilon], attained.
    Ranks, the top k, thresholds and sets are functions of r and of coins independent of the data:
    they cost nothing more, and k does not enter. A BIT price of epsilon is a SUBSTITUTE price of
    exactly |q| epsilon. The query must not be computed from protected records. A public `window`
    (t0, t0 + s) that scores are first moved into lowers the step of a record to min(s, |q|).
    Longer: docs/proofs/similarity/noisy_scores.md. The walk of `noren.similarity.walk` draws the
    same law without drawing every Z_i.

Accuracy
    Each score has standard deviation sqrt(2 x) / (1 - x). For one count no mechanism of the same
    BIT epsilon is better after post-processing. Whatever the mechanism, naming the best of n needs
    a lead of about ln(n) / epsilon (`top_one_cap`).
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
from noren.privacy.numbers import whole
from noren.question import Answer, Forecast, Mechanism, was_secure
from noren.similarity.asked import ONE_BIT, AboutQuery
from noren.similarity.scoring import Indexes, dense_ranks
from noren.similarity.statistic import Records
from noren.similarity.walk import highest


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyScores(AboutQuery):
    """Ask how many columns of a query each record has; see the best, privately.

    Parameters
    ----------
    query : sequence of str
        The columns of the query (`about(records, query)` names them).
    epsilon : number
        The price.
    adjacency : Adjacency or str
        "bit" or "substitute".
    depth : int, optional
        Keep the records not below the depth-th highest noisy score: every k up to it, and every
        threshold that it passed, is then free. All records when left out.
    window : (int, int), optional
        Scores are first moved between these two, public and fixed without looking at the data: the
        noise that protects a whole record is then that of the window's length, not of |q|.

    Examples
    --------
    >>> records = Records.of(["10001", "11100", "01100", "00011"])
    >>> question = NoisyScores(query=("1", "2", "3"), epsilon=8, adjacency="bit")
    >>> print(question.guarantee)
    epsilon 8, rho 7.994634398 (one bit of one record is flipped)
    >>> print(question.forecast())
    each score within +-0 with probability 0.95
    >>> from noren import Noise
    >>> len(question.answer(records, Noise()).top(2))
    2
    """

    kind: ClassVar[str] = "noisy-scores"

    depth: int | None = None
    window: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        AboutQuery.__post_init__(self)
        if self.depth is not None:
            object.__setattr__(self, "depth", whole("depth", self.depth, 1))
        object.__setattr__(self, "window", read_window(self.window, len(self.query)))

    @property
    def reach_of_one(self) -> int:
        """Give by how much one bit, or one record, can move the one score that it moves."""
        if self.adjacency == ONE_BIT:
            return 1
        low, high = self.window or (0, len(self.query))
        return max(1, high - low)

    @property
    def record_loss(self) -> Fraction:
        """Give what one asking costs a whole record."""
        low, high = self.window or (0, len(self.query))
        return self.epsilon * (high - low) if self.adjacency == ONE_BIT else self.epsilon

    @property
    def scale(self) -> Fraction:
        """Give the scale of the noise."""
        return 1 / self.per_step

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart."""
        moved = Fraction(self.reach_of_one)
        return (Mechanism(law="discrete Laplace", sensitivity=moved, scale=self.scale),)

    def forecast(self, facts: Any = None) -> Forecast:
        """Say how far off each score may be, before anything is spent."""
        margin = laws.discrete_laplace_margin(self.scale)
        return Forecast(
            sentence=f"each score within {plus_minus(margin)} with probability 0.95",
            variance=laws.discrete_laplace_variance(self.scale),
            margin_95=margin,
        )

    def check(self, records: Records) -> None:
        """Refuse what does not fit: the columns, the number of records."""
        AboutQuery.check(self, records)
        if self.depth is not None and self.depth > len(records):
            raise ParameterError("depth", self.depth, f"at most {len(records)} records")

    def answer(self, records: Records, noise: Noise) -> NoisyScoresAnswer:
        """Add the noise, order, and cut at the depth."""
        scores = self.scores_of(records, require_noise(noise))
        if self.window is not None:
            scores = np.clip(scores, *self.window)
        found = highest(scores, len(self.query), self.scale, self.depth, noise)
        return NoisyScoresAnswer(
            question=self,
            secure=noise.secure,
            rows=found.rows,
            values=found.values,
            reach=found.reach,
            records=len(records),
        )

    def restore(self, record: dict[str, Any]) -> NoisyScoresAnswer:
        """Give back the answer that a ledger stored."""
        return NoisyScoresAnswer(
            question=self,
            secure=was_secure(record),
            rows=np.asarray(record["rows"], np.int64),
            values=np.asarray(record["values"], np.int64),
            reach=record["reach"],
            records=record["records"],
        )


def read_window(given: Any, q: int) -> tuple[int, int] | None:
    """Take a public range of scores, cut to 0..|q|."""
    if given is None:
        return None
    if isinstance(given, str) or len(tuple(given)) != 2:
        raise ParameterError("window", given, "two whole numbers, the lower first")
    low, high = (whole("window", end, 0) for end in given)
    if low >= high or low >= max(q, 1):
        raise ParameterError(
            "window", (low, high), f"two numbers from 0 to {q}, the lower first",
            "It is public: fix it without looking at the data.",
        )  # fmt: skip
    return low, min(high, max(q, 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyScoresAnswer(Answer):
    """Records in the order of their noisy scores; every view of them is free.

    `reach` is the lowest noisy score that is here in full (None: all are). Noisy scores may lie
    outside 0..|q|: that is the noise.
    """

    rows: Indexes
    values: Indexes
    reach: int | None
    records: int

    def top(self, k: int) -> list[tuple[int, int]]:
        """Give the first k: (record number, noisy score)."""
        wanted = whole("k", k, 1)
        most = self.question.depth or self.records
        if wanted > most:
            raise ParameterError(
                "k", k, f"at most {most}", "Ask deeper: that is a new question at a new price."
            )
        return list(zip(self.rows[:wanted].tolist(), self.values[:wanted].tolist(), strict=True))

    def above(self, threshold: int) -> list[tuple[int, int]]:
        """Give all with a noisy score of at least a threshold: (record number, noisy score)."""
        least = whole("threshold", threshold)
        if self.reach is not None and least < self.reach:
            raise ParameterError(
                "threshold", threshold, f"at least {self.reach}, the lowest score drawn in full",
                "Ask deeper, or without a depth: that is a new question at a new price.",
            )  # fmt: skip
        kept = self.values >= least
        return list(zip(self.rows[kept].tolist(), self.values[kept].tolist(), strict=True))

    @property
    def ranks(self) -> Indexes:
        """Dense ranks of the noisy scores, from 1."""
        return dense_ranks(self.values)

    @property
    def clamped(self) -> Indexes:
        """The noisy scores moved into the window, or 0..|q|."""
        return np.clip(self.values, *(self.question.window or (0, len(self.question.query))))

    def scores(self) -> Indexes:
        """Give the noisy score of every record by its number, where all were asked for."""
        if len(self.rows) < self.records:
            raise ParameterError("depth", self.question.depth, "left out, to see every score")
        out = np.empty(self.records, np.int64)
        out[self.rows] = self.values
        return out

    @property
    def headline(self) -> str:
        """Name the first record."""
        margin = plus_minus(self.question.forecast().margin_95)
        best = f"record {self.rows[0]}: {self.values[0]} {margin}"
        return f"{best} of {len(self.question.query)} columns (first of {self.records})"

    def chart(self) -> Any:
        """Draw the first records with their 95 % margins."""
        from noren.similarity.charts import ranked

        margin = self.question.forecast().margin_95
        shown = [(str(row), value, margin) for row, value in self.top_shown()]
        return ranked(shown, "noisy score")

    def top_shown(self) -> list[tuple[int, int]]:
        """Give as many as a chart can hold."""
        return list(zip(self.rows[:20].tolist(), self.values[:20].tolist(), strict=True))
