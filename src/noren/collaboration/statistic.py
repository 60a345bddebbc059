"""What a fit needs of the data: the encoded rows, in blocks that can be read again. Secret.

Training looks at rows more than once, so the statistic is the rows themselves, encoded by the
public task: blocks put side by side. Sums over rows (gradients, Hessians, Gram matrices) are
taken block by block. Its `repr` shows how many features, not how many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from noren.collaboration.task import Task
from noren.data.blocks import Block, block_of
from noren.errors import ParameterError

LONGEST = 1 + 1e-12  # of an encoded row, float errors included
CHUNK = 4096  # rows worked on at once: they fit a processor's cache

Floats = npt.NDArray[np.float64]
Part = tuple[Floats, npt.NDArray[Any], Floats | None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrainingRows:
    """Encoded rows with their targets, and weights where there are any.

    Examples
    --------
    >>> task = Task.of_bounds([0], [100], classes=("well", "ill"))
    >>> here = TrainingRows.of(task, {"x0": [20, 80], "y": ["well", "ill"]})
    >>> here + TrainingRows.of(task, {"x0": [55], "y": ["ill"]})
    TrainingRows(2 features)
    """

    task: Task
    parts: tuple[Part, ...]

    @classmethod
    def of(
        cls, task: Task, table: Any, labels: Any = None, weights: npt.ArrayLike | None = None
    ) -> TrainingRows:
        """Encode a table in memory; with `labels` apart, the table holds the features alone.

        Labels are words of the task's classes, truth values or numbers, as its column reads them.
        """
        if labels is None:
            block = table if isinstance(table, Block) else block_of(table, task.schema)
            rows, targets = task.rows(block), task.targets(block)
        else:
            rows = task.rows(table)
            targets = task.targets(block_of({task.label.name: labels}, task.label_schema))
        given = None if weights is None else np.array(weights, np.float64)
        if len(targets) != len(rows) or (given is not None and given.shape != targets.shape):
            raise ParameterError(
                "the table",
                "of another length than its labels or weights",
                "one label, and one weight if any, for each row",
                "Where rows may be dropped for what they hold, pass labels in the same table.",
            )
        return cls(task, ((rows, targets, given),))

    @classmethod
    def counted(cls, task: Task, blocks: Iterable[Block]) -> TrainingRows:
        """Encode clean blocks, one after the other (`noren.data.read(path, task.schema)`)."""
        parts = [cls.of(task, block).parts for block in blocks]
        empty = cls.empty(task).parts if not parts else ()
        return cls(task, empty + tuple(part for some in parts for part in some))

    @classmethod
    def empty(cls, task: Task) -> TrainingRows:
        """Give no rows at all: a legitimate data set under 'add-remove'."""
        kind = np.int64 if task.kind == "multiclass" else np.float64
        return cls(task, ((np.zeros((0, task.dimension)), np.zeros(0, kind), None),))

    def __add__(self, other: TrainingRows) -> TrainingRows:
        require_task(other.task, self.task)
        return TrainingRows(self.task, self.parts + other.parts)

    def __repr__(self) -> str:
        return f"TrainingRows({self.task.dimension} features)"

    @property
    def records(self) -> int:
        """How many rows there are. Secret under 'add-remove'."""
        return sum(len(rows) for rows, _, _ in self.parts)

    def chunks(self, bound: float = 1.0) -> Iterator[tuple[Floats, npt.NDArray[Any], Any]]:
        """Yield some rows at a time: rows, targets, weights (clipped to the bound; None: all 1)."""
        for rows, targets, weights in self.parts:
            for start in range(0, len(rows), CHUNK):
                some = slice(start, start + CHUNK)
                own = None if weights is None else read_weights(weights[some], bound)
                yield rows[some], targets[some], own

    def summed(self, of: Callable[[Any, Any, Any], Any], bound: float = 1.0) -> Any:
        """Add up what a function gives for some rows at a time (an array: rows, targets, weights).

        The function must be pure and travel well: rows may lie elsewhere (`filed_rows`).
        """
        rows, targets, _ = self.parts[0]
        total = of(rows[:0], targets[:0], None)
        for some in self.chunks(bound):
            total = total + of(*some)
        return total

    def sample(self, most: int) -> TrainingRows:
        """Give every so many-th row: a start for a solver, never anything released."""
        step = max(1, -(-self.records // most))
        return TrainingRows(
            self.task,
            tuple(
                (r[::step], t[::step], None if w is None else w[::step]) for r, t, w in self.parts
            ),
        )


def read_weights(weights: Floats, bound: float) -> Floats:
    """Move weights into 0..bound; one that is no number counts as 0."""
    return np.clip(np.nan_to_num(weights, nan=0.0), 0.0, bound)


def require_short(rows: TrainingRows) -> None:
    """Refuse rows that no task encodes: longer than 1, or with what is no number.

    The task shortens every row, so this finds a programmer's mistake and never depends on what a
    record says; without it such a mistake would void the guarantee in silence.
    """
    if rows.summed(too_long).any():
        raise ParameterError(
            "the statistic", "not of encoded rows", "rows of length at most 1",
            "Encode the table with TrainingRows.of or TrainingRows.counted.",
        )  # fmt: skip


def too_long(encoded: Floats, targets: Any, weights: Any) -> npt.NDArray[np.int64]:
    """Count rows that are longer than 1, or hold what is no number."""
    lengths = np.einsum("ij,ij->i", encoded, encoded)
    return np.array([np.count_nonzero(~(lengths <= LONGEST**2))], np.int64)


def require_task(given: Task, wanted: Task) -> None:
    """Refuse rows of another task."""
    if given is not wanted and given.identity != wanted.identity:
        raise ParameterError(
            "the statistic's task", "another one", "the question's own", "Encode it with that one."
        )
