"""One point of the growth curves, in a process of its own: `python -m benchmarks.growth_work ...`.

    make NAME SIZE PATH    write made-up data
    run NAME SIZE PATH     count or answer from these files, and print seconds and peak memory

The work is done once on a smaller file first, large enough that all is compiled.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PEOPLE, SLOTS, BITS, COLUMNS, FEATURES = 2_000, 96, 1024, 10, 20


class Work(NamedTuple):
    """What grows, how much of it makes the work warm, and what is done with it."""

    title: str
    unit: str
    sizes: tuple[int, ...]
    warm: int
    make: Callable[[Path, int], object]
    run: Callable[[Path], object]


def make_cohort(path: Path, size: int) -> None:
    """Write PLINK files."""
    from noren.association import simulate

    simulate(path, cases=PEOPLE // 2, controls=PEOPLE // 2, variants=size, seed=1)


def count_cohort(path: Path) -> object:
    """Count every table."""
    from noren.association import count_tables

    return count_tables(f"{path}.bed")


def make_reports(path: Path, size: int) -> None:
    """Write stored reports, in the order of slots."""
    rng, schema = np.random.default_rng(1), pa.schema([("slot", pa.int32()), ("y", pa.uint8())])
    piece = min(size, 10**6)
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, size, piece):
            low = 1 + start * SLOTS // size
            slots = rng.integers(low, min(SLOTS, low + 1) + 1, piece, dtype=np.int32)
            bits = rng.integers(0, 2, piece, dtype=np.uint8)
            writer.write_table(pa.table({"slot": slots, "y": bits}, schema), row_group_size=piece)


def count_stored(path: Path) -> object:
    """Count every report."""
    from noren.monitoring.batch import count_reports

    return count_reports(path, SLOTS)


def make_records(path: Path, size: int) -> None:
    """Write a statistic file of records, of which one bit in 16 is a one."""
    from noren.similarity import Records
    from noren.similarity.handover import write_records

    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, (size, BITS // 64), dtype=np.uint64)
    for _ in range(3):
        words &= rng.integers(0, 2**64, words.shape, dtype=np.uint64)
    write_records(path, Records(words, BITS))


def search_records(path: Path) -> object:
    """Search the best ten, privately, in records that stay in their file."""
    from noren import Noise
    from noren.similarity import NoisyScores
    from noren.similarity.handover import open_records

    query = tuple(str(column) for column in range(0, BITS, 16))
    asked = NoisyScores(query=query, epsilon=1, adjacency="bit", depth=10)
    return asked.answer(open_records(path), Noise())


def make_table(path: Path, size: int, columns: int = COLUMNS, label: bool = False) -> None:
    """Write a table of numbers, with a label of two words if one is asked for."""
    rng, piece = np.random.default_rng(1), min(size, 10**6)
    names = [f"x{i}" for i in range(columns)]
    schema = pa.schema([(name, pa.float64()) for name in names] + [("y", pa.string())] * label)
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(0, size, piece):
            rows = rng.uniform(-1, 1, (piece, columns))
            table: dict[str, Any] = dict(zip(names, rows.T, strict=True))
            if label:
                table["y"] = np.where(rows[:, 0] + rng.normal(0, 0.5, piece) > 0, "ill", "well")
            writer.write_table(pa.table(table, schema), row_group_size=piece // 10)


def sum_table(path: Path) -> object:
    """Take the sums of a basis of 100 functions."""
    from noren.data import OWN, Numeric, Schema
    from noren.reweighting.weighting import prepare

    schema = Schema([Numeric(name=f"x{i}", lower=-1, upper=1, missing=OWN) for i in range(COLUMNS)])
    public = {f"x{i}": np.random.default_rng(i).uniform(-1, 1, 2000) for i in range(COLUMNS)}
    made = prepare(
        public, schema, epsilon=1, adjacency="add-remove", about=10_000, method="kriging"
    )
    return made.count(str(path))


def make_rows(path: Path, size: int) -> None:
    """Write training rows."""
    make_table(path, size, FEATURES, label=True)


def train(path: Path) -> object:
    """Train one private model on rows that stay in their file."""
    from noren import Noise
    from noren.collaboration import LogisticTraining, Task
    from noren.collaboration.filed_rows import EncodedPart, opened_rows
    from noren.data import partitions

    task = Task.of_bounds([-1] * FEATURES, [1] * FEATURES, classes=("well", "ill"))
    asked = LogisticTraining(
        task=task, epsilon=1, delta="1e-6", adjacency="add-remove", size=10_000
    )
    pieces = [EncodedPart(task, part) for part in partitions(str(path), task.schema)]
    with opened_rows(task, pieces) as rows:
        return asked.answer(rows, Noise())


WORKS = {
    "association": Work(f"Counting variants of {PEOPLE:,} people from a .bed", "variants",
                        (10**3, 10**4, 10**5, 10**6), 50_000, make_cohort, count_cohort),
    "monitoring": Work("Counting stored reports", "reports",
                       (10**5, 10**6, 10**7, 10**8), 2_000, make_reports, count_stored),
    "similarity": Work(f"Private top 10 of records of {BITS} bits, in their file", "records",
                       (10**3, 10**4, 10**5, 10**6), 100_000, make_records, search_records),
    "reweighting": Work(f"Sums of a basis over rows of {COLUMNS} columns", "rows",
                        (10**4, 10**5, 10**6, 10**7), 2_000, make_table, sum_table),
    "collaboration": Work(f"A private model from rows of {FEATURES} features, in their file",
                          "rows", (10**3, 10**4, 10**5, 10**6), 2_000, make_rows, train),
}  # fmt: skip


def peak() -> float:
    """Give the largest memory this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(what: str, name: str, size: str, path: str) -> None:
    """Make data, or work on it and print figures."""
    work = WORKS[name]
    small = Path(path).with_name(f"small-{Path(path).name}")
    if what == "make":
        work.make(Path(path), int(size))
        work.make(small, work.warm)
        return
    work.run(small)
    before, begun = peak(), time.perf_counter()
    work.run(Path(path))
    print(json.dumps({"seconds": time.perf_counter() - begun, "before": before, "peak": peak()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
