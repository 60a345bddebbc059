"""Search records that were published with every bit randomized: all of it is free.

Maths (f the probability of a flip, N the published bits, D = (N - f) / (1 - 2 f))
    unbiased   score = sum over the query of D
    shrunk     L = truncated singular value decomposition of D (rank 5), clipped to [0.001, 0.97],
               is taken as the prior of each bit; with the likelihoods of N,
               E = L l1 / (L l1 + (1 - L) l0), l1 = 1 - f where N = 1 else f, l0 the other way;
               score = sum over the query of E. Rank and clips are public constants.
    D is never formed: `noren.similarity.published_prior` works on packed N. The two factors are
    computed once, in single precision, and kept in the file.

Nothing here sees the protected records: the input is a released answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from noren.privacy.guarantee import Guarantee
from noren.privacy.numbers import read_epsilon
from noren.similarity import published_files
from noren.similarity.laws import Floats, flip_probability, read_k
from noren.similarity.published_prior import BLOCK, truncated
from noren.similarity.queries import read_columns
from noren.similarity.scoring import Words, score_columns
from noren.similarity.statistic import Records

CLIP = (0.001, 0.97)


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """Randomized records and the price at which they were made.

    Examples
    --------
    >>> from noren.similarity import publish_randomised
    >>> found = publish_randomised(Records.of(["110", "011"]), 8).published()
    >>> found.scores("110", shrunk=False).shape
    (2,)
    """

    records: Records
    epsilon: Fraction
    secure: bool = False
    marks: tuple[str, ...] = ()
    receipts: tuple[Mapping[str, Any], ...] = ()
    _factors: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))

    @property
    def flip(self) -> float:
        """The probability with which each bit was flipped."""
        return flip_probability(self.epsilon)

    def scores(self, query: Any, *, shrunk: bool = True) -> Floats:
        """Estimate the common ones of a query and each record; shrunk is far better in rank."""
        columns = list(read_columns(self.records, query))
        if shrunk:
            return self._expected(columns)
        found = score_columns(self.records, columns)
        moved = found.astype(np.float64) - len(columns) * self.flip
        unbiased: Floats = moved / (1 - 2 * self.flip)
        return unbiased

    def top(self, query: Any, k: int, *, shrunk: bool = True) -> list[tuple[str, float]]:
        """Name the k records with the highest estimates, ties by their place in the list."""
        wanted = read_k(k, len(self.records))
        scores = self.scores(query, shrunk=shrunk)
        order = np.argsort(-scores, kind="stable")[:wanted]
        return [(self.records.id_of(int(row)), float(scores[row])) for row in order]

    def _expected(self, columns: list[int]) -> Floats:
        """Add up E over the query."""
        left, right = self.factors()
        total = np.zeros(len(self.records))
        if not columns:
            return total
        for first in range(0, len(total), BLOCK):
            part = slice(first, first + BLOCK)
            seen = bits_of(self.records.words[part], columns)
            prior = np.clip(left[part] @ right[:, columns], *CLIP)
            one = np.where(seen, 1 - self.flip, self.flip) * prior
            zero = np.where(seen, self.flip, 1 - self.flip) * (1 - prior)
            total[part] = (one / (one + zero)).sum(axis=1)
        return total

    def factors(self) -> tuple[Floats, Floats]:
        """Give two thin matrices whose product is the truncated decomposition of D."""
        if "pair" not in self._factors:
            pair = truncated(self.records, self.flip)
            self._factors["pair"] = tuple(part.astype(np.float32) for part in pair)
        kept: tuple[Floats, Floats] = self._factors["pair"]
        return kept

    def save(self, path: Any) -> Path:
        """Write an NPZ file that `Published.read` and NumPy can read, and a manifest beside it."""
        return published_files.save(self, path)

    @classmethod
    def read(cls, path: Any) -> Published:
        """Read what `save` wrote."""
        records, made, factors = published_files.read(path)
        found = cls(
            records,
            Fraction(made["epsilon"]),
            secure=made["guarantee"] is not None,
            marks=tuple(made["marks"]),
            receipts=tuple(made["receipts"]),
        )
        found._factors["pair"] = factors
        return found

    @classmethod
    def join(cls, parts: Sequence[Published]) -> Published:
        """Put together what holders of different records published at one price.

        Examples
        --------
        >>> from noren.similarity import publish_randomised
        >>> own = [publish_randomised(Records.of([bits]), 2).published() for bits in ("110", "011")]
        >>> Published.join(own).records
        Records(2 records, 3 columns)
        """
        return cls(**published_files.joined(parts))

    @property
    def guarantee(self) -> Guarantee | None:
        """What each bit paid, once; None where the flips could be predicted."""
        return published_files.price_of(self.epsilon, self.secure)

    @property
    def manifest(self) -> dict[str, Any]:
        """Say what was published, at which price, with its digest."""
        return published_files.manifest_of(self)


def bits_of(words: Words, columns: Sequence[int]) -> Any:
    """Take some columns out of packed rows."""
    chosen = np.asarray(columns, np.int64)
    own = words[:, chosen // 64] >> (chosen % 64).astype(np.uint64)
    return (own & np.uint64(1)).astype(bool)
