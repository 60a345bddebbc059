"""Encoded training rows as a statistic file: fits look at rows more than once. Secret.

    y, x0, x1, ...    the target (-1 and 1, a class number, or y / B) and the encoded row
    public            the task's identity, its dimension, the kind of target, how many classes

What comes from elsewhere is held to the bounds that the price is proved for: a longer row is scaled
down to norm 1, a target moved into its range, and what is no number counts as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from noren.collaboration.statistic import Floats, Part
from noren.collaboration.task import SAFE, Task
from noren.data.handover import (
    Kind,
    StatisticFile,
    open_statistic,
    public_text,
    public_whole,
    write_statistic,
)
from noren.errors import ParameterError, SchemaError

KIND = Kind("training-rows", {"y": pa.float64()}, numbered="x")
TARGETS = ("binary", "multiclass", "regression")


def write_rows(path: str | Path, task: Task, parts: Iterable[Part]) -> Path:
    """Write encoded rows, a part at a time."""
    width = task.dimension
    names = ["y", *(f"x{place}" for place in range(width))]

    def tables() -> Iterator[dict[str, Any]]:
        for rows, targets, weights in parts:
            if weights is not None:
                raise ParameterError("rows", "with weights", "without weights", "Leave them out.")
            columns = {f"x{place}": rows[:, place] for place in range(width)}
            yield {"y": targets.astype(np.float64), **columns}

    public = {
        "task": task.identity,
        "dimension": width,
        "target": task.kind,
        "classes": len(task.classes),
    }
    return write_statistic(path, KIND, public, tables(), names)


@dataclass(frozen=True, slots=True, repr=False)
class RowsRange:
    """Some row groups of a statistic file: a name and a range, no rows."""

    file: StatisticFile
    start: int
    stop: int

    @property
    def id(self) -> str:
        """The piece's name."""
        return f"{self.file.path}#groups={self.start}-{self.stop}"

    def read(self) -> Iterator[Part]:
        """Yield encoded rows, held to their bounds."""
        target, classes = self.file.public["target"], self.file.public["classes"]
        for columns in self.file.read(range(self.start, self.stop)):
            rows = np.empty((len(columns["y"]), len(columns) - 1))
            for place in range(rows.shape[1]):
                rows[:, place] = columns[f"x{place}"].to_numpy()
            yield bounded(rows), held_targets(columns["y"].to_numpy(), target, classes), None


def bounded(rows: Floats) -> Floats:
    """Scale rows that are longer than 1 down to it; others keep their bits."""
    if not np.isfinite(rows).all():
        rows = np.where(np.isfinite(rows), rows, 0.0)
    with np.errstate(over="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    long = norms > 1
    if long.any():
        top = np.abs(rows[long]).max(axis=1, keepdims=True)  # a square may have overflowed
        small = rows[long] / top
        rows[long] = small * (SAFE / np.sqrt(np.einsum("ij,ij->i", small, small)))[:, None]
    return rows


def held_targets(y: Floats, target: str, classes: int) -> Any:
    """Move targets into their range."""
    found = np.where(np.isfinite(y), y, 0.0)
    if target == "regression":
        return np.clip(found, -1.0, 1.0)
    if target == "binary":
        return np.where(found > 0, 1.0, -1.0)
    return np.clip(found, 0, classes - 1).astype(np.int64)


def open_rows(path: str | Path, task: Task | None = None) -> list[RowsRange]:
    """Open encoded rows of a task, to be read in pieces; without a task, of any."""
    file = open_statistic(path, KIND)
    width, target = public_whole(file, "dimension", 1), public_text(file, "target")
    classes = public_whole(file, "classes")
    if len(file.columns) != width + 1 or target not in TARGETS or (target == "binary") != (
        classes == 2
    ):  # fmt: skip
        raise SchemaError(f"{file.path} contradicts itself about its rows. Write it again.")
    if task is not None and public_text(file, "task") != task.identity:
        raise SchemaError(
            f"{file.path} holds rows of another task than the consortium's, but they must be "
            "encoded by it. Write it again with its file: noren statistic write collaborate"
        )
    return [RowsRange(file, group, group + 1) for group in range(file.groups)] or [
        RowsRange(file, 0, 0)
    ]


def checked(path: str | Path) -> dict[str, Any]:
    """Read a file whole, and give what is public of it."""
    parts = open_rows(path)
    for part in parts:
        for _ in part.read():
            pass
    return {name: parts[0].file.public[name] for name in ("task", "dimension", "target", "classes")}
