"""Counts of accepted reports by slot and class: all that is kept of them.

Reports are noisy when they arrive, so unlike other statistics these counts are not secret. They
add up over shards, machines and partitions, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.privacy.numbers import whole

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SlotCounts:
    """How many reports each slot and class has, and how many of them say 1.

    `reports` and `ones` have a row for each slot (1..horizon) and a column for each class;
    `strange` counts rows that were no report of these slots and classes.

    Examples
    --------
    >>> day = SlotCounts.of([1, 1, 2], [1, 0, 1], horizon=2)
    >>> (day + day).ones[:, 0].tolist(), day.reports[:, 0].tolist()
    ([2, 2], [2, 1])
    """

    reports: Counts
    ones: Counts
    strange: int = 0

    @classmethod
    def zero(cls, horizon: int, classes: int = 1) -> SlotCounts:
        """Give the counts of nothing."""
        shape = whole("horizon", horizon, 1), whole("classes", classes, 1)
        return cls(np.zeros(shape, np.int64), np.zeros(shape, np.int64))

    @classmethod
    def of(cls, slots: object, bits: object, *, horizon: int, kinds: object = None,
           classes: int = 1) -> SlotCounts:  # fmt: skip
        """Count reports: slots from 1, bits 0 or 1, and the class of each (0 unless given)."""
        slot, bit = np.asarray(slots), np.asarray(bits)
        kind = np.zeros(1, slot.dtype) if kinds is None else np.asarray(kinds)
        if slot.shape != bit.shape or slot.ndim != 1:
            raise ParameterError("bits", "another length", "as long as the slots")
        known = (slot >= 1) & (slot <= horizon) & ((bit == 0) | (bit == 1))
        known &= (kind >= 0) & (kind < classes)
        place = (slot.astype(np.int64) - 1) * classes + kind
        code = np.where(known, 2 * place + bit, 2 * horizon * classes).astype(np.int64)
        counted = np.bincount(code, minlength=2 * horizon * classes + 1)
        cells = counted[:-1].reshape(horizon, classes, 2).astype(np.int64)
        return cls(cells.sum(axis=2), cells[:, :, 1], int(counted[-1]))

    def __add__(self, other: SlotCounts) -> SlotCounts:
        """Merge the counts of two sets of reports."""
        if not isinstance(other, SlotCounts):
            return NotImplemented
        if self.reports.shape != other.reports.shape:
            raise ParameterError(
                "counts", other.reports.shape, f"of the same slots and classes {self.reports.shape}"
            )
        return SlotCounts(
            self.reports + other.reports, self.ones + other.ones, self.strange + other.strange
        )
