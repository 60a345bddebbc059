"""What a session gives back: views of stored answers, and the state of its budget.

A view (k, threshold, similarity) is a function of what was drawn already, so it costs nothing.
Where only its values are used, ties are in the order that was drawn with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from noren.errors import ParameterError
from noren.privacy import Adjacency
from noren.privacy.numbers import shown, whole
from noren.question import Answer, as_json
from noren.similarity.asked import ONE_BIT
from noren.similarity.confidence import confidence_bounds
from noren.similarity.formulas import COMMON, check_weights, read_similarity, similarity
from noren.similarity.laws import read_k
from noren.similarity.scoring import dense_ranks

if TYPE_CHECKING:
    from noren.similarity.noisy_scores import NoisyScoresAnswer
    from noren.similarity.score_pairs import RowWeightsAnswer, ScorePairsAnswer
    from noren.similarity.session import Session

BY_SCORES = ("noisy-scores", "best-record", "top-set")
COUNTS = ("similar-count", "score-histogram")


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that was found: its public id, its noisy score, and its dense noisy rank."""

    id: str
    score: float
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The records that a search found, and what it cost.

    `charged` is what this call added to each of `columns` (0 for a repeat, None columns: all);
    `remaining` is what the poorest of them can still spend.
    """

    hits: tuple[Hit, ...]
    similarity: str
    answer: Answer | None
    charged: Fraction
    columns: tuple[str, ...] | None
    remaining: Fraction | None
    record_loss: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        answer = self.answer
        return {
            "hits": [as_json(hit) for hit in self.hits],
            "similarity": self.similarity,
            "charged": {
                "epsilon": float(self.charged),
                "columns": None if self.columns is None else list(self.columns),
            },
            "remaining_epsilon": None if self.remaining is None else float(self.remaining),
            "record_epsilon_of_this_request": float(self.record_loss),
            "uncertainty": answer.uncertainty.to_dict() if answer else None,
            "assumed_public": list(answer.question.assumed_public) if answer else [],
            "marks": list(answer.marks) if answer else [],
            "receipt": as_json(answer.receipt) if answer else None,
        }

    def __str__(self) -> str:
        first = f"{self.hits[0].id}: {self.hits[0].score:.6g}" if self.hits else "none"
        price = str(self.answer.guarantee or "no guarantee") if self.answer else "nothing asked"
        marks = self.answer.marks if self.answer else ()
        return "; ".join((f"{len(self.hits)} records, the first {first}", price, *marks))

    def chart(self) -> Any:
        """Draw the first records."""
        from noren.similarity.charts import ranked

        exact = self.answer is None or self.similarity != COMMON
        margin = 0 if exact else self.answer.uncertainty.margin_95  # type: ignore[union-attr]
        rows = [(hit.id, hit.score, margin or 0) for hit in self.hits[:20]]
        return ranked(rows, f"noisy {self.similarity} score")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How a stored answer is looked at."""

    k: int | None
    threshold: float | None
    similarity: str
    weights: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, k: int | None, threshold: Any, name: str, weights: Mapping[str, float], n: int
    ) -> View:
        """Take k or a threshold, one of them."""
        if (k is None) == (threshold is None):
            raise ParameterError("k", k, "given, or a threshold: exactly one of them")
        size = None if k is None else read_k(k, n)
        check_weights(**weights)
        least = threshold
        if least is not None and read_similarity(name) == COMMON:
            least = whole("threshold", threshold)
        elif least is not None and not np.isfinite(least):
            raise ParameterError("threshold", threshold, "a finite number")
        return cls(k=size, threshold=least, similarity=name, weights=weights)

    def is_served_by(self, answer: NoisyScoresAnswer) -> bool:
        """Tell whether an answer reaches deep enough; that was released, so it may be looked at."""
        if self.k is not None:
            return True
        return answer.reach is None or answer.reach <= whole("threshold", self.threshold)

    def of_scores(self, session: Session, answer: NoisyScoresAnswer, repeated: bool) -> Found:
        """Look at noisy scores."""
        if self.k is not None:
            pairs: list[tuple[int, int]] = answer.top(self.k)
        else:
            pairs = answer.above(whole("threshold", self.threshold))
        return self.found(session, answer, pairs, repeated)

    def of_pairs(self, session: Session, answer: ScorePairsAnswer, repeated: bool) -> Found:
        """Look at pairs of counts."""
        values = answer.similarity(self.similarity, **self.weights)
        rows = np.arange(len(values))
        return self.found(session, answer, self.chosen(rows, values), repeated)

    def of_weights(
        self,
        session: Session,
        answer: NoisyScoresAnswer,
        known: RowWeightsAnswer,
        repeated: bool,
    ) -> Found:
        """Look at noisy scores together with row weights."""
        values = known.similarity(answer, self.similarity, **self.weights)
        return self.found(session, answer, self.chosen(answer.rows, values), repeated)

    def chosen(self, rows: Any, values: Any) -> list[tuple[int, float]]:
        """Give the best k, or all that reach the threshold; of distances the least."""
        away = self.similarity == "hamming"
        order = np.argsort(values if away else -values, kind="stable")
        if self.threshold is not None:
            ordered = values[order]
            order = order[ordered <= self.threshold if away else ordered >= self.threshold]
        kept = order[: self.k]
        return list(zip(rows[kept].tolist(), values[kept].tolist(), strict=True))

    def found(
        self, session: Session, answer: Answer, pairs: Sequence[tuple[int, float]], repeated: bool
    ) -> Found:
        """Name the records."""
        question = answer.question
        away = -1 if self.similarity == "hamming" else 1
        ranks = dense_ranks([away * value for _, value in pairs]).tolist() if pairs else []
        return Found(
            hits=tuple(
                Hit(session.records.id_of(row), value, rank)
                for (row, value), rank in zip(pairs, ranks, strict=True)
            ),
            similarity=self.similarity,
            answer=answer,
            charged=Fraction(0) if repeated else question.epsilon,
            columns=question.columns,
            remaining=session.remaining(question.columns),
            record_loss=question.record_loss,
        )


def nothing_asked(session: Session, view: View) -> Found:
    """Answer the empty query: all scores are 0, all ranks are 1, and nothing is charged."""
    q_none = np.zeros(len(session.records), np.int64)
    values = similarity(view.similarity, q_none, q_none, 0, **view.weights)
    rows = view.chosen(np.arange(len(values)), values)
    hits = tuple(Hit(session.records.id_of(row), value, 1) for row, value in rows)
    return Found(
        hits=hits,
        similarity=view.similarity,
        answer=None,
        charged=Fraction(0),
        columns=(),
        remaining=session.remaining(()),
        record_loss=Fraction(0),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStatus:
    """What a session may spend and has spent; `columns` is None where one budget serves all."""

    account: str
    adjacency: Adjacency
    cap: Fraction
    spent: Fraction
    columns: Mapping[str, Fraction] | None
    record_loss: Fraction | None

    @property
    def belief(self) -> tuple[float, float]:
        """Bound what is believed of a bit of the most read column that was held for even before."""
        return confidence_bounds(0.5, float(self.spent))

    @property
    def untouched(self) -> int | None:
        """Count the columns that have spent nothing."""
        if self.columns is None:
            return None
        return sum(spent == 0 for spent in self.columns.values())

    def most_read(self, count: int = 10) -> list[tuple[str, Fraction]]:
        """Give the columns that spent most."""
        spent = self.columns or {}
        return sorted(spent.items(), key=lambda pair: (-pair[1], pair[0]))[:count]

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        low, high = self.belief
        return {
            "account": self.account,
            "adjacency": str(self.adjacency),
            "cap_epsilon": float(self.cap),
            "largest_spent_epsilon": float(self.spent),
            "columns": None
            if self.columns is None
            else {name: float(spent) for name, spent in self.columns.items()},
            "untouched_columns": self.untouched,
            "record_epsilon": None if self.record_loss is None else float(self.record_loss),
            "belief_in_a_bit_of_prior_one_half": {"from": low, "to": high, "assumes": INDEPENDENT},
        }

    def __str__(self) -> str:
        of = "the most read column" if self.columns is not None else "all columns together"
        loss = "unknown" if self.record_loss is None else f"epsilon {shown(self.record_loss)}"
        return (
            f"account '{self.account}' ({self.adjacency}): epsilon {shown(self.spent)} of "
            f"{shown(self.cap)} spent by {of}; for a whole record: {loss}"
        )

    def chart(self) -> Any:
        """Draw what the columns that spent most have spent."""
        from noren.similarity.charts import bars

        spent = self.most_read(30) or [("all", self.spent)]
        rows = [{"column": name, "epsilon": float(used)} for name, used in spent]
        return bars(rows, "column", "epsilon", f"epsilon spent, of {shown(self.cap)}")


INDEPENDENT = (
    "the bit is independent of all others for the attacker; if it depends only on some bits, add "
    "up what their columns spent"
)


def status_of(keeper: Any, account: str, n_columns: int | None = None) -> SessionStatus:
    """Read an account of searches; the number of columns is the account's own where it has any."""
    balance = keeper.balance(account)
    width = n_columns if balance.columns is None else len(balance.columns)
    return SessionStatus(
        account=balance.account,
        adjacency=balance.adjacency,
        cap=balance.budget.epsilon,
        spent=balance.spent.epsilon,
        columns=balance.columns,
        record_loss=record_loss(keeper.history(account), balance.adjacency, width),
    )


def record_loss(
    entries: Iterable[Any], adjacency: Adjacency, n_columns: int | None
) -> Fraction | None:
    """Add up what charged requests cost a whole record; None where the columns are not known.

    Under BIT: |q| epsilon for functions of the scores, epsilon for counts of records, and l epsilon
    for all that reads whole rows.
    """
    total = Fraction(0)
    for entry in entries:
        if entry.price is None:
            continue
        factor: int | None = 1
        if adjacency == ONE_BIT and entry.question not in COUNTS:
            by_scores = entry.question in BY_SCORES and entry.columns is not None
            factor = len(entry.columns) if by_scores else n_columns
        if factor is None:
            return None
        total += factor * entry.price.epsilon
    return total
