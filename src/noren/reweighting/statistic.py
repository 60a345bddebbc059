"""What the private table says about a public basis: integer sums, merged bit for bit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.reweighting.rows import Integers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BasisSums:
    """The sums of a public basis over a private table, in steps, and its number of rows. Secret.

    Examples
    --------
    >>> from noren.reweighting import NormalizedBasis
    >>> basis = NormalizedBasis([0.0, 1.0], 1)
    >>> one, two = BasisSums.of([0.3, 0.9], basis), BasisSums.of([0.5], basis)
    >>> (one + two).steps.tolist() == BasisSums.of([0.9, 0.5, 0.3], basis).steps.tolist()
    True
    >>> one
    BasisSums(of NormalizedBasis(2 centres in 1 dimensions))
    """

    basis: Any
    steps: Integers
    records: int

    @classmethod
    def of(cls, rows: ArrayLike, basis: Any) -> BasisSums:
        """Count rows that are in memory."""
        given = np.asarray(rows)
        return cls(basis, basis.total(given), len(given))

    @classmethod
    def counted(cls, blocks: Iterable[ArrayLike], basis: Any) -> BasisSums:
        """Count blocks of rows, one after the other."""
        counted = cls(basis, np.zeros(basis.size, np.int64), 0)
        for rows in blocks:
            counted = counted + cls.of(rows, basis)
        return counted

    def __add__(self, other: BasisSums) -> BasisSums:
        require_basis(other.basis, self.basis)
        return BasisSums(self.basis, self.steps + other.steps, self.records + other.records)

    def __repr__(self) -> str:
        return f"BasisSums(of {self.basis!r})"


def require_basis(given: Any, wanted: Any) -> None:
    """Refuse sums of another basis."""
    if given is not wanted and given.identity != wanted.identity:
        raise ParameterError(
            "the statistic's basis", f"{given!r}", "the question's own", "Count it with that one."
        )
