"""The set of the k records that resemble a query most, by one choice; no score, no order.

Maths
    Pr(S) proportional to the product over S of y^(v_max - u_i), |S| = k, with the rational
    y = a / 2^s >= exp(-c), a = ceil(2^s exp(-c)), s = 20, c = epsilon / (1 or |q|).
    Sampled by level: with c_v records of score v and weight w_v each, the numbers taken from the
    levels have P(m) proportional to the product over v of C(c_v, m_v) w_v^m_v, sum of m_v = k
    (`set_counts`: whole numbers, or coins for k above 40); then m_v uniform members of the level.
    The law is exact either way.

Privacy (pure; BIT or SUBSTITUTE)
    One score moves by at most one step (|q| under SUBSTITUTE): the weight of every set that holds
    the record is multiplied by one factor in [e^-epsilon, e^epsilon], all others stay, and the
    total moves by a factor between 1 and that one, in the same direction. So no probability moves
    by more than e^epsilon. Adding Gumbel noise once and taking the top k is not the same and costs
    up to 2 epsilon for k = 2: it is not offered.

Accuracy
    Slightly below the top k of `NoisyScores` at the same price, and it says less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.mechanisms.additive import require_noise
from noren.noise import Noise
from noren.noise.reals import decimal, precision
from noren.privacy.numbers import whole
from noren.question import Answer, Forecast, Mechanism, was_secure
from noren.similarity.asked import AboutQuery
from noren.similarity.laws import read_k
from noren.similarity.scoring import Indexes, Scores
from noren.similarity.set_counts import tossed, weighed
from noren.similarity.statistic import Records

SHIFT = 20
WEIGHED = 40  # up to this k, whole numbers are faster than coins


@dataclass(frozen=True, slots=True, kw_only=True)
class TopSet(AboutQuery):
    """Ask which k records have most columns of a query, as a set.

    Parameters
    ----------
    query : sequence of str
        The columns of the query.
    k : int
        The public size of the set.
    epsilon : number
        The price.
    adjacency : Adjacency or str
        "bit" or "substitute".

    Examples
    --------
    >>> question = TopSet(query=("0", "1"), k=2, epsilon=1, adjacency="bit")
    >>> from noren import Noise
    >>> len(question.answer(Records.of(["11", "10", "01"]), Noise()).rows)
    2
    """

    kind: ClassVar[str] = "top-set"

    k: int

    def __post_init__(self) -> None:
        AboutQuery.__post_init__(self)
        object.__setattr__(self, "k", whole("k", self.k, 1))

    @property
    def base(self) -> int:
        """Give a, so that a / 2^20 is not below exp(-epsilon / step)."""
        with precision(60):
            x = (-decimal(self.per_step)).exp() * (1 << SHIFT)
            return min(1 << SHIFT, max(1, int(x.to_integral_value(ROUND_CEILING))))

    @property
    def loss(self) -> Decimal:
        """Give the exact price of the law that is drawn, at most epsilon."""
        with precision(60):
            return -(Decimal(self.base) / (1 << SHIFT)).ln() * self.reach_of_one

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the law, and how far one score can move."""
        moved = Fraction(self.reach_of_one)
        law = "exponential mechanism over sets (one score moves)"
        return (Mechanism(law=law, sensitivity=moved, norm="Linf", epsilon=self.epsilon),)

    def forecast(self, facts: Any = None) -> Forecast:
        """Say how far below the best set the choice may be; facts: {"records": their number}."""
        records = max(int((facts or {}).get("records", 1000)), self.k)
        sets = math.lgamma(records + 1) - math.lgamma(self.k + 1)
        sets -= math.lgamma(records - self.k + 1)
        margin = (sets + math.log(20)) / float(self.per_step)
        return Forecast(
            sentence=f"a sum of scores within {margin:.4g} of the best set's with probability 0.95 "
            f"({records} records)",
            margin_95=margin,
        )

    def check(self, records: Records) -> None:
        """Refuse what does not fit: the columns, the number of records."""
        AboutQuery.check(self, records)
        read_k(self.k, len(records))

    def answer(self, records: Records, noise: Noise) -> TopSetAnswer:
        """Choose the set."""
        scores = self.scores_of(records, require_noise(noise))
        rows = draw_set(scores, self.k, self.base, noise)
        return TopSetAnswer(question=self, secure=noise.secure, rows=rows, records=len(records))

    def restore(self, record: dict[str, Any]) -> TopSetAnswer:
        """Give back the answer that a ledger stored."""
        rows = np.asarray(record["rows"], np.int64)
        return TopSetAnswer(
            question=self, secure=was_secure(record), rows=rows, records=record["records"]
        )


def draw_set(scores: Scores, k: int, base: int, noise: Noise) -> Indexes:
    """Draw a set of k: how many of each level, then which."""
    sizes = np.bincount(scores)
    levels = np.flatnonzero(sizes).tolist()
    top, low, own = levels[-1], levels[0], [int(sizes[v]) for v in levels]
    if k <= WEIGHED:
        weights = [base ** (top - v) << (SHIFT * (v - low)) for v in levels]
        counts = weighed(weights, own, k, noise)
    else:
        counts = tossed(Fraction(base, 1 << SHIFT), [top - v for v in levels], own, k, noise)
    chosen = [
        np.flatnonzero(scores == v)[noise.subset(size, m)]
        for v, size, m in zip(levels, own, counts, strict=True)
        if m
    ]
    return np.sort(np.concatenate(chosen))


@dataclass(frozen=True, kw_only=True, eq=False)
class TopSetAnswer(Answer):
    """The numbers of the chosen records, in increasing order: the order says nothing."""

    rows: Indexes
    records: int

    @property
    def uncertainty(self) -> Forecast:
        """The error to expect among this many records."""
        return self.question.forecast({"records": self.records})  # type: ignore[no-any-return]

    @property
    def headline(self) -> str:
        """Name the records."""
        named = ", ".join(map(str, self.rows[:10].tolist()))
        return f"records {named}{', ...' if len(self.rows) > 10 else ''} (of {self.records})"

    def chart(self) -> Any:
        """Draw the set: nothing but names was released."""
        from noren.similarity.charts import chosen

        return chosen([str(row) for row in self.rows[:20].tolist()])
