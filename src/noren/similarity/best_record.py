"""The one record that resembles a query most; no score is shown.

Maths
    Permute-and-flip: visit the records in a uniform order and take record i with probability
    exp(-c (max u - u_i)), c = epsilon / s, s = 1 under BIT and |q| under SUBSTITUTE. One pass
    always ends: a maximum is taken. Equal in law to the largest u_i + E_i, E_i exponential of
    rate c.

Privacy (pure; BIT or SUBSTITUTE; tight)
    One bit moves one score by 1 in one direction, one record moves one score by at most |q|.
    Record i wins if E_i passes a threshold that the others set. If u_i falls by s the threshold
    rises by s: a factor exp(c s) = e^epsilon; if u_i rises its chance grows by at most that, and
    those of the others shrink by no more. No factor 2 is needed, because only one score moves.
    Enumerated, and attained, in the audit. Longer: docs/proofs/similarity/choices.md.

Accuracy
    For a record that leads n - 1 equal ones by D, the cap for any rule is `top_one_cap(n, e, D)`;
    with n = 1000, epsilon 1, D = 8 this question names it with probability 0.85.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from noren.mechanisms.additive import require_noise
from noren.noise import Noise
from noren.question import Answer, Forecast, Mechanism, was_secure
from noren.similarity.asked import AboutQuery
from noren.similarity.statistic import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRecord(AboutQuery):
    """Ask which record has most columns of a query.

    Parameters
    ----------
    query : sequence of str
        The columns of the query.
    epsilon : number
        The price.
    adjacency : Adjacency or str
        "bit" or "substitute".

    Examples
    --------
    >>> question = BestRecord(query=("1", "2"), epsilon=1, adjacency="bit")
    >>> print(question.forecast({"records": 1000}))
    a score within 9.902 of the best with probability 0.95 (1000 records)
    """

    kind: ClassVar[str] = "best-record"

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the law, and how far one score can move."""
        moved = Fraction(self.reach_of_one)
        law = "permute-and-flip (one score moves)"
        return (Mechanism(law=law, sensitivity=moved, norm="Linf", epsilon=self.epsilon),)

    def forecast(self, facts: Any = None) -> Forecast:
        """Say how far below the best the choice may be; facts: {"records": their number}."""
        records = int((facts or {}).get("records", 1000))
        margin = math.log(max(records - 1, 1) / 0.05) / float(self.per_step)
        return Forecast(
            sentence=f"a score within {margin:.4g} of the best with probability 0.95 "
            f"({records} records)",
            margin_95=margin,
        )

    def answer(self, records: Records, noise: Noise) -> BestRecordAnswer:
        """Choose."""
        scores = self.scores_of(records, require_noise(noise))
        row = noise.permute_and_flip(scores, self.epsilon, self.reach_of_one, monotone=True)
        return BestRecordAnswer(question=self, secure=noise.secure, row=row, records=len(records))

    def restore(self, record: dict[str, Any]) -> BestRecordAnswer:
        """Give back the answer that a ledger stored."""
        return BestRecordAnswer(
            question=self,
            secure=was_secure(record),
            row=record["row"],
            records=record["records"],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class BestRecordAnswer(Answer):
    """The number of the chosen record."""

    row: int
    records: int

    @property
    def uncertainty(self) -> Forecast:
        """The error to expect among this many records."""
        return self.question.forecast({"records": self.records})  # type: ignore[no-any-return]

    @property
    def headline(self) -> str:
        """Name the record."""
        return f"record {self.row} (of {self.records})"

    def chart(self) -> Any:
        """Draw the choice: nothing but a name was released."""
        from noren.similarity.charts import chosen

        return chosen([str(self.row)])
