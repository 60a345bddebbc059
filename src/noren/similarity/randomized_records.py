"""Publish the records once, every bit randomized; then search them for ever.

Maths
    N_ih = a_ih, flipped with probability f = 1 / (1 + e^epsilon), all independent.
    D = (N - f) / (1 - 2 f) is unbiased for A, and the sum of D over a query for its score.

Privacy (pure, BIT; tight)
    Pr(N_ih | a_ih) is 1 - f or f: the ratio is e^epsilon, attained, for any number of queries and
    searchers: all are functions of N. Every mechanism for one bit at this price can be simulated
    from this one, so per bit nothing better can be released. A whole record pays epsilon for each
    of its bits. It reads every column, so every column is charged. The flips are drawn once: a
    second draw costs epsilon again. Each record holder may also run it on the own record alone.

Accuracy
    An unbiased score has standard deviation sqrt(|q| f (1 - f)) / (1 - 2 f).
    `noren.similarity.published` also shrinks scores by the structure of N itself, for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.data.bits import words_for
from noren.mechanisms.additive import require_noise
from noren.noise import Noise
from noren.noise.reals import decimal, precision
from noren.privacy import Adjacency, Guarantee
from noren.privacy.numbers import Number, read_epsilon
from noren.question import Answer, Forecast, Mechanism, as_json, was_secure
from noren.similarity.asked import PUBLIC, columns_of, only_bits, pure
from noren.similarity.laws import flip_probability, randomized_deviation
from noren.similarity.published import Published
from noren.similarity.scoring import Words
from noren.similarity.statistic import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedRecords:
    """Ask for all records with every bit randomized.

    Parameters
    ----------
    epsilon : number
        The price of each bit.
    adjacency : Adjacency or str
        "bit": the only one for which releasing every bit is affordable.

    Examples
    --------
    >>> question = RandomizedRecords(epsilon=2, adjacency="bit")
    >>> print(question.forecast({"query": 16}))
    each score of 16 columns within +-3.336 with probability 0.95
    >>> from noren import Noise
    >>> question.answer(Records.of(["110", "011"]), Noise()).words.shape
    (2, 1)
    """

    kind: ClassVar[str] = "randomized-records"
    columns: ClassVar[None] = None

    epsilon: Fraction
    adjacency: Adjacency

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))
        object.__setattr__(self, "adjacency", only_bits(self.adjacency))

    @property
    def guarantee(self) -> Guarantee:
        """State the price of each bit."""
        return pure(self.adjacency, self.epsilon)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what a bit's price means for a whole record."""
        return ("for a whole record: epsilon times the number of columns",)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return PUBLIC[1:]

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the law."""
        law = "randomized response of 2 categories for each bit"
        return (Mechanism(law=law, sensitivity=Fraction(1), norm="Linf", epsilon=self.epsilon),)

    @property
    def flip(self) -> Callable[[int], Decimal]:
        """Give f to any number of digits."""
        rate = self.epsilon

        def at(digits: int) -> Decimal:
            with precision(digits + 20):
                small = (-decimal(rate)).exp()
                return small / (1 + small)

        return at

    def forecast(self, facts: Any = None) -> Forecast:
        """Say how far off an unbiased score may be; facts: {"query": the number of columns}."""
        q = int((facts or {}).get("query", 1))
        deviation = randomized_deviation(q, self.epsilon)
        return Forecast(
            sentence=f"each score of {q} columns within +-{1.96 * deviation:.4g} "
            "with probability 0.95",
            variance=deviation**2,
            margin_95=1.96 * deviation,
        )

    def check(self, records: Records) -> None:
        """Refuse what is no records."""
        columns_of((), records)

    def answer(self, records: Records, noise: Noise) -> RandomizedRecordsAnswer:
        """Flip every bit by a coin of its own."""
        require_noise(noise)
        self.check(records)
        words = np.empty((len(records), words_for(records.n_columns)), np.uint64)
        last = np.uint64((1 << ((records.n_columns - 1) % 64 + 1)) - 1)
        done = 0
        for part in records.word_blocks():
            flips = noise.packed_bernoulli(self.flip, part.shape)
            words[done : done + len(part)] = part ^ flips
            done += len(part)
        words[:, -1] &= last  # there is no column there
        return RandomizedRecordsAnswer(
            question=self, secure=noise.secure, words=words, n_columns=records.n_columns
        )

    def restore(self, record: dict[str, Any]) -> RandomizedRecordsAnswer:
        """Give back the answer that a ledger stored."""
        words = np.asarray(record["words"], np.uint64)
        return RandomizedRecordsAnswer(
            question=self, secure=was_secure(record), words=words, n_columns=record["n_columns"]
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomizedRecordsAnswer(Answer):
    """Records with every bit randomized; anything may be done with them."""

    words: Words
    n_columns: int

    def published(
        self, ids: tuple[str, ...] | None = None, names: tuple[str, ...] | None = None
    ) -> Published:
        """Give what searchers use, with public names."""
        receipt = as_json(self.receipt)
        return Published(
            Records(self.words, self.n_columns, ids, names),
            self.question.epsilon,
            secure=self.secure,
            marks=self.marks,
            receipts=(receipt,) if receipt else (),
        )

    @property
    def headline(self) -> str:
        """Say what was released."""
        f = flip_probability(self.question.epsilon)
        return (
            f"{len(self.words)} records of {self.n_columns} bits, each flipped with probability "
            f"{f:.4g}"
        )

    def chart(self) -> Any:
        """Draw how many randomized records have how many ones."""
        from noren.data.bits import row_counts
        from noren.similarity.charts import bars

        counts, edges = np.histogram(row_counts(self.words), bins=20)
        rows = [
            {"ones": f"{low:.0f}", "records": int(count)}
            for low, count in zip(edges, counts, strict=False)
        ]
        return bars(rows, "ones", "records", "randomized records")


def publish_randomised(
    records: Records, epsilon: Number, *, noise: Noise | None = None
) -> RandomizedRecordsAnswer:
    """Randomize every bit of the records, charged to no ledger (one bit pays epsilon).

    With a ledger, ask `RandomizedRecords` through it.

    Examples
    --------
    >>> answer = publish_randomised(Records.of(["110", "011"]), 1)
    >>> print(answer)
    2 records of 3 bits, each flipped with probability 0.2689; epsilon 1, ...
    """
    question = RandomizedRecords(epsilon=read_epsilon(epsilon), adjacency=only_bits("bit"))
    return question.answer(records, noise or Noise())
