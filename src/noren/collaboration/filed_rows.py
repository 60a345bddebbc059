"""Training rows that stay where they lie: each sum over them is one round of an engine.

A round sends out a pure function (a few thousand coefficients at most) and brings back a sum; no
row comes to the driver. In this process every round reads the files anew, so that memory does not
grow with the rows; on a cluster the workers keep their encoded rows until the fit is over. Parts
are merged by their ids in one order and one tree, so both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from noren.collaboration.statistic import CHUNK, Part, TrainingRows, read_weights
from noren.collaboration.task import Task
from noren.engine import Engine, LocalEngine, Rounds, distinct


@dataclass(frozen=True, slots=True, repr=False)
class EncodedPart:
    """A piece of a table whose blocks are encoded as they are read."""

    task: Task
    source: Any  # a TablePartition of the task's columns

    @property
    def id(self) -> str:
        """The piece's name."""
        return str(self.source.id)

    def read(self) -> Iterator[Part]:
        """Yield encoded rows."""
        for block in self.source.read():
            yield from TrainingRows.of(self.task, block).parts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FiledRows:
    """Stand for training rows: what only adds up over them never holds them."""

    task: Task
    rounds: Rounds
    sources: tuple[Any, ...]
    stride: int = 1
    _cache: dict[str, int] = field(default_factory=dict, init=False)

    @property
    def records(self) -> int:
        """How many rows there are. Secret under 'add-remove'."""
        if "records" not in self._cache:
            self._cache["records"] = int(self.summed(how_many)[0])
        return self._cache["records"]

    def summed(self, of: Callable[[Any, Any, Any], Any], bound: float = 1.0) -> Any:
        """Add up what a function gives for some rows at a time."""
        own = partial(sum_of, of=of, bound=bound, stride=self.stride, task=self.task)
        return self.rounds(own)

    def sample(self, most: int) -> FiledRows:
        """Give about every so many-th row of each part, taken where it lies."""
        return replace(self, stride=self.stride * max(1, -(-self.records // most)))

    @property
    def parts(self) -> tuple[Part, ...]:
        """Read the rows into this process's memory, for a way of learning that takes them apart."""
        return tuple(part for source in self.sources for part in source.read())

    def chunks(self, bound: float = 1.0) -> Iterator[Any]:
        """Yield some rows at a time, likewise."""
        return TrainingRows(self.task, self.parts).chunks(bound)

    def __repr__(self) -> str:
        return f"FiledRows({self.task.dimension} features)"


def sum_of(
    parts: Iterable[Part], of: Callable[[Any, Any, Any], Any], bound: float, stride: int, task: Task
) -> Any:
    """Add up over the rows of a piece, some thousand at a time."""
    rows, targets, _ = TrainingRows.empty(task).parts[0]
    total = of(rows, targets, None)
    for rows, targets, weights in parts:
        for start in range(0, len(rows), stride * CHUNK):
            some = slice(start, start + stride * CHUNK, stride)
            own = None if weights is None else read_weights(weights[some], bound)
            total = total + of(rows[some], targets[some], own)
    return total


def how_many(x: Any, y: Any, w: Any) -> Any:
    """Count some rows."""
    return np.array([len(y)], np.int64)


@contextmanager
def opened_rows(
    task: Task, parts: Iterable[Any], engine: Engine | None = None
) -> Iterator[FiledRows]:
    """Open pieces of a table (or of a statistic file) for the rounds of a fit."""
    sources = distinct(parts)
    with (engine or LocalEngine()).rounds(sources) as rounds:
        yield FiledRows(task, rounds, tuple(sources))
