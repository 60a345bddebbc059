"""What the questions of this room share: a query, a price, and who is protected.

Two adjacencies: BIT, one cell of one record is flipped (unit BIT), and SUBSTITUTE, one whole record
is replaced. The caller must choose. The query, the number of records and the ids are public. A
question that reads scores only (functions of u = a . q) is charged, under BIT, to the columns of
its query: no other bit can move its answer. Under SUBSTITUTE a record moves all its columns at
once, so everything is charged.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noren.errors import ParameterError
from noren.mechanisms.additive import require_noise
from noren.noise import Noise
from noren.privacy import BIT, SUBSTITUTE, Adjacency, Guarantee, Unit
from noren.privacy.charges import pure_to_zcdp_charge
from noren.privacy.numbers import read_epsilon, shown
from noren.similarity.filed_records import FiledRecords
from noren.similarity.queries import canonical
from noren.similarity.scoring import Scores, score_columns
from noren.similarity.statistic import Records

ONE_BIT = Adjacency(SUBSTITUTE, BIT)
ONE_RECORD = Adjacency(SUBSTITUTE)
PUBLIC = ("the query", "the number and the ids of the records", "the columns and their names")


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutQuery:
    """A question about one public query; subclasses say what is drawn, and prove its price."""

    query: tuple[str, ...]
    epsilon: Fraction
    adjacency: Adjacency

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "query", read_query(self.query))
        put(self, "epsilon", read_epsilon(self.epsilon))
        put(self, "adjacency", read_adjacency(self.adjacency))

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Give the columns to charge: the query's, under BIT; else all."""
        return self.query if self.adjacency == ONE_BIT else None

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking."""
        return pure(self.adjacency, self.epsilon)

    @property
    def reach_of_one(self) -> int:
        """Give by how much one bit, or one record, can move the one score that it moves."""
        return 1 if self.adjacency == ONE_BIT else max(1, len(self.query))

    @property
    def per_step(self) -> Fraction:
        """Give the epsilon for each step of a score."""
        return self.epsilon / self.reach_of_one

    @property
    def record_loss(self) -> Fraction:
        """Give what one asking costs a whole record."""
        return self.epsilon * len(self.query) if self.adjacency == ONE_BIT else self.epsilon

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what a bit's price means for a whole record."""
        if self.adjacency != ONE_BIT:
            return ()
        return (f"for a whole record: epsilon {shown(self.record_loss)}",)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return PUBLIC

    def check(self, records: Records) -> None:
        """Refuse records that lack a column of the query: names and sizes are public."""
        columns_of(self.query, records)

    def scores_of(self, records: Records, noise: Noise) -> Scores:
        """Score the records, having checked what was handed in."""
        require_noise(noise)
        self.check(records)
        return score_columns(records, columns_of(self.query, records))


def pure(adjacency: Adjacency, epsilon: Fraction) -> Guarantee:
    """State a pure price, with the rho that any such mechanism has."""
    return Guarantee(adjacency, epsilon=epsilon, rho=pure_to_zcdp_charge(epsilon))


def read_adjacency(given: Any) -> Adjacency:
    """Take one bit or one record; nothing else is covered, and there is no default."""
    adjacency = Adjacency.read(given)
    if adjacency not in (ONE_BIT, ONE_RECORD):
        raise ParameterError(
            "adjacency",
            f"'{adjacency.word}'",
            "'bit' (one cell of one record) or 'substitute' (one whole record)",
            "Records are named, so adding or removing one is not covered.",
        )
    return adjacency


def only_bits(given: Any) -> Adjacency:
    """Take one bit."""
    adjacency = read_adjacency(given)
    if adjacency.unit is not Unit.BIT:
        raise ParameterError(
            "adjacency", f"'{adjacency.word}'", "'bit'", "It releases every bit of a record."
        )
    return adjacency


def read_query(given: Any) -> tuple[str, ...]:
    """Take the column names of a query, as a set: equal sets are one question."""
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise ParameterError(
            "query", "not a list of names", "a list of column names",
            "Let canonical(records, query) name the columns.",
        )  # fmt: skip
    return tuple(sorted(set(given)))


def columns_of(names: tuple[str, ...], records: Records) -> list[int]:
    """Find the columns of a question in the records that it is asked of."""
    if not isinstance(records, Records | FiledRecords):
        raise ParameterError(
            "the statistic", f"a {type(records).__name__}", "Records", "Load them first."
        )
    numbers = [records.column(name) for name in names]
    if None in numbers:
        raise ParameterError(
            "query", f"about a column {names[numbers.index(None)]!r}", "about the records' columns"
        )
    return sorted(number for number in numbers if number is not None)


def about(records: Records, query: Any) -> tuple[str, ...]:
    """Name the columns of any query, as a question holds them.

    Examples
    --------
    >>> about(Records.of(["110", "011"]), [0, 1, 1])
    ('1', '2')
    """
    return canonical(records, query)
