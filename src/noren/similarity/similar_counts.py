"""How many records resemble a query: counts that name nobody.

Maths
    similar-count     #{i : u_i >= tau} + Z
    score-histogram   #{i : u_i = v} + Z_v for v = 0..|q|
    Z two-sided geometric of scale s / epsilon

Privacy (pure; SUBSTITUTE and BIT alike; tight)
    One record (so also one bit) changes whether one u_i is at least tau: s = 1. It moves one record
    from one score to another: two counts by 1 each, s = 2. Naming records cannot be private in this
    sense and useful too: whoever lists the matches one by one is wrong at least
    (n - T) e^-epsilon / T times for each right one, T the number of matches. Under BIT only the
    columns of the query are charged. tau is public.

Accuracy
    Standard deviation sqrt(2 x) / (1 - x), x = exp(-epsilon / s): 1.357 at epsilon 1, s = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.mechanisms.additive import require_noise
from noren.mechanisms.wording import plus_minus
from noren.noise import Noise
from noren.privacy.numbers import whole
from noren.question import Answer, Forecast, Mechanism, was_secure
from noren.similarity.asked import AboutQuery
from noren.similarity.score_pairs import count_forecast
from noren.similarity.scoring import Indexes
from noren.similarity.statistic import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarCount(AboutQuery):
    """Ask how many records have at least `threshold` columns of a query.

    Parameters
    ----------
    query : sequence of str
        The columns of the query.
    threshold : int
        Public: fixed without looking at the data.
    epsilon : number
        The price.
    adjacency : Adjacency or str
        "bit" or "substitute": the same noise serves both.

    Examples
    --------
    >>> question = SimilarCount(query=("0", "1"), threshold=2, epsilon=1, adjacency="substitute")
    >>> print(question.forecast())
    the count within +-3 with probability 0.95
    """

    kind: ClassVar[str] = "similar-count"

    threshold: int

    def __post_init__(self) -> None:
        AboutQuery.__post_init__(self)
        object.__setattr__(self, "threshold", whole("threshold", self.threshold, 0))

    @property
    def scale(self) -> Fraction:
        """Give the scale of the noise."""
        return 1 / self.epsilon

    @property
    def record_loss(self) -> Fraction:
        """Give what one asking costs a whole record: the same."""
        return self.epsilon

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart."""
        return (Mechanism(law="discrete Laplace", sensitivity=Fraction(1), scale=self.scale),)

    def forecast(self, facts: Any = None) -> Forecast:
        """Say how far off the count may be."""
        return count_forecast(self.scale, "the count")

    def answer(self, records: Records, noise: Noise) -> SimilarCountAnswer:
        """Count and add the noise."""
        found = int((self.scores_of(records, require_noise(noise)) >= self.threshold).sum())
        count = found + noise.discrete_laplace(self.scale)
        return SimilarCountAnswer(question=self, secure=noise.secure, count=count)

    def restore(self, record: dict[str, Any]) -> SimilarCountAnswer:
        """Give back the answer that a ledger stored."""
        return SimilarCountAnswer(question=self, secure=was_secure(record), count=record["count"])


@dataclass(frozen=True, kw_only=True, eq=False)
class SimilarCountAnswer(Answer):
    """A noisy count. It may be negative: that is the noise, keep it."""

    count: int

    @property
    def headline(self) -> str:
        """Say the count."""
        margin = plus_minus(self.question.forecast().margin_95)
        return f"{self.count} {margin} records with at least {self.question.threshold} columns"

    def chart(self) -> Any:
        """Draw the count with its margin."""
        from noren.similarity.charts import ranked

        return ranked([("similar", self.count, self.question.forecast().margin_95)], "noisy count")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreHistogram(AboutQuery):
    """Ask how many records have each score 0..|q|.

    Parameters
    ----------
    query : sequence of str
        The columns of the query.
    epsilon : number
        The price of the whole histogram.
    adjacency : Adjacency or str
        "bit" or "substitute": the same noise serves both.

    Examples
    --------
    >>> question = ScoreHistogram(query=("0", "1"), epsilon=1, adjacency="substitute")
    >>> from noren import Noise
    >>> question.answer(Records.of(["11", "10"]), Noise()).counts.shape
    (3,)
    """

    kind: ClassVar[str] = "score-histogram"

    @property
    def scale(self) -> Fraction:
        """Give the scale of the noise."""
        return 2 / self.epsilon

    @property
    def record_loss(self) -> Fraction:
        """Give what one asking costs a whole record: the same."""
        return self.epsilon

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart."""
        bins = len(self.query) + 1
        law = "discrete Laplace"
        return (Mechanism(law=law, sensitivity=Fraction(2), scale=self.scale, draws=bins),)

    def forecast(self, facts: Any = None) -> Forecast:
        """Say how far off each count may be."""
        return count_forecast(self.scale, "each count")

    def answer(self, records: Records, noise: Noise) -> ScoreHistogramAnswer:
        """Count and add the noise."""
        bins = len(self.query) + 1
        found = np.bincount(self.scores_of(records, require_noise(noise)), minlength=bins)
        counts = found + noise.discrete_laplace(self.scale, bins)
        return ScoreHistogramAnswer(question=self, secure=noise.secure, counts=counts)

    def restore(self, record: dict[str, Any]) -> ScoreHistogramAnswer:
        """Give back the answer that a ledger stored."""
        counts = np.asarray(record["counts"], np.int64)
        return ScoreHistogramAnswer(question=self, secure=was_secure(record), counts=counts)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreHistogramAnswer(Answer):
    """Noisy counts of the scores 0..|q|."""

    counts: Indexes

    @property
    def headline(self) -> str:
        """Name the most frequent score."""
        top = int(np.argmax(self.counts))
        margin = plus_minus(self.question.forecast().margin_95)
        return f"score {top}: {self.counts[top]} {margin} records (the most frequent)"

    def chart(self) -> Any:
        """Draw a bar for each score."""
        from noren.similarity.charts import bars

        rows = [{"score": v, "records": int(c)} for v, c in enumerate(self.counts)]
        return bars(rows, "score", "records", "noisy count")
